/* known.c - stages whose result may follow from that of an earlier one, which sums something more for
 * it (lower/nest/single_pass_variance.c).
 *
 * The look at it is worth some operations at each point of the earlier stage and some more at its end,
 * so short rows do without: both ways are there where the length is a symbol. */
#include "backends/openmp/nest/nest.h"

#include <stdio.h>

/* Is a result that may stand for a stage's looked at here?  It is the same in all lanes. */
bool tc_omp_looks(const tc_omp_nest *x) { return !x->lanes_are_points && !x->jammed; }

/* Prints the condition under which a look costs less than the stage; false: it always does. */
bool tc_omp_put_worth(tc_omp_nest *x, const tc_stage *st, tc_buf *out) {
  int64_t least, most;
  tc_dim_range(tc_graph_dims(x->s.p->graph), st->points, &least, &most);
  if (least >= st->worth) return false;
  tc_put(out, "TC_LOOKS(");
  tc_print_dim(x->s.p, st->points, out);
  tc_putf(out, ", %lld)", (long long)st->worth);
  return true;
}

/* known<i>, one for each point of a group: r<i> was found without its stage. */
void tc_omp_known(const tc_omp_nest *x, uint32_t result, char text[24]) {
  snprintf(text, 24, "known%s", x->result[result] + 1);
}

/* r<i> = what may stand for the stage's result; known<i> says whether it does. */
void tc_omp_put_known(tc_omp_nest *x, const tc_stage *st) {
  const uint32_t i = st->action[0].index;
  char known[24];
  tc_buf worth = {0};
  tc_omp_known(x, i, known);
  if (tc_omp_put_worth(x, st, &worth)) tc_print_line(&x->s, "if (%s) {", worth.text);
  else tc_print_line(&x->s, "{");
  x->s.indent += 2;
  uint8_t *outer = tc_print_enter(&x->s);
  tc_print_one(&x->s, st->known);
  tc_print_value(&x->s, st->instead);
  tc_print_line(&x->s, "%s = u%u;", known, st->known.id);
  tc_print_line(&x->s, "%s = v%u;", x->result[i], st->instead.id);
  tc_print_leave(&x->s, outer);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_print_line(&x->s, "if (!%s)", known);
  tc_buf_free(&worth);
}

/* The later stage that the stage helps to know, or NULL; all that it helps have the same points. */
const tc_stage *tc_omp_helped(const tc_omp_nest *x, const tc_stage *st) {
  for (uint32_t i = 0; i < st->naction; ++i)
    if (st->action[i].helps)
      for (const tc_stage *late = st + 1; late < x->nest->stage + x->nest->nstage; ++late)
        if (late->known.id && late->action[0].index + 1 == st->action[i].helps) return late;
  return NULL;
}
