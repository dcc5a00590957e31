/* single_pass_variance.c - stages that are skipped where an earlier one has their result, for which it sums
 * squares, too (lower/nest/single_pass_variance.c).
 *
 * That costs some operations at each point of the earlier stage and some more at its end, which is more
 * than the stage itself costs for short rows: where the length is a symbol, both ways are printed. */
#include "backends/openmp/nest/nest.h"

#include <stdio.h>

/* Are stages skipped in this way of running the nest?  Their condition is one for all lanes. */
bool tc_omp_may_skip(const tc_omp_nest *x) { return !x->lanes_are_points && !x->jammed; }

/* Prints the condition under which skipping pays; false: it always does. */
bool tc_omp_put_skip_pays(tc_omp_nest *x, const tc_stage *st, tc_buf *out) {
  int64_t least, most;
  tc_dim_range(tc_graph_dims(x->s.p->graph), st->points, &least, &most);
  if (least >= st->skip_points) return false;
  tc_put(out, "TC_SINGLE_PASS(");
  tc_print_dim(x->s.p, st->points, out);
  tc_putf(out, ", %lld)", (long long)st->skip_points);
  return true;
}

/* The text of skipped<i>, one for each point of a group: the stage of r<i> was skipped. */
void tc_omp_skipped(const tc_omp_nest *x, uint32_t result, char text[24]) {
  snprintf(text, 24, "skipped%s", x->result[result] + 1);
}

/* r<i> = the value that it has if its stage is skipped; skipped<i> = whether it is. */
void tc_omp_put_skip(tc_omp_nest *x, const tc_stage *st) {
  const uint32_t i = st->action[0].index;
  char skipped[24];
  tc_buf pays = {0};
  tc_omp_skipped(x, i, skipped);
  if (tc_omp_put_skip_pays(x, st, &pays)) tc_print_line(&x->s, "if (%s) {", pays.text);
  else tc_print_line(&x->s, "{");
  x->s.indent += 2;
  uint8_t *outer = tc_print_enter(&x->s);
  tc_print_one(&x->s, st->skip_if);
  tc_print_value(&x->s, st->skip_value);
  tc_print_line(&x->s, "%s = u%u;", skipped, st->skip_if.id);
  tc_print_line(&x->s, "%s = v%u;", x->result[i], st->skip_value.id);
  tc_print_leave(&x->s, outer);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_print_line(&x->s, "if (!%s)", skipped);
  tc_buf_free(&pays);
}

/* The later stage that the stage's sums of squares serve, or NULL; all such have the same points. */
const tc_stage *tc_omp_served_stage(const tc_omp_nest *x, const tc_stage *st) {
  for (uint32_t i = 0; i < st->naction; ++i)
    if (st->action[i].serves)
      for (const tc_stage *late = st + 1; late < x->nest->stage + x->nest->nstage; ++late)
        if (late->skip_if.id && late->action[0].index + 1 == st->action[i].serves) return late;
  return NULL;
}
