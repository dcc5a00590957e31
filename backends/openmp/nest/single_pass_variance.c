/* single_pass_variance.c - stages that are skipped where an earlier one has their result, for which
 * it sums squares, too (lower/nest/single_pass_variance.c).
 *
 * That costs some operations at each point of the earlier stage and some more at its end, which is
 * more than the stage itself costs for short rows: where the length is a symbol, both ways are
 * printed. */
#include "backends/openmp/nest/nest.h"

#include <stdio.h>

/* Loops over jammed points run all stages. */
bool tc_omp_may_skip(const tc_omp_nest *x, uint32_t stage) {
  return x->stage[stage].skip > 0 && !x->jammed;
}

bool tc_omp_skips_result(const tc_omp_nest *x, uint32_t result) {
  for (uint32_t i = 0; i < x->nest->nstage; ++i)
    if (x->nest->stage[i].skip_if.id && x->nest->stage[i].action[0].index == result)
      return tc_omp_may_skip(x, i);
  return false;
}

/* Prints the condition under which skipping pays; false: it always does. */
bool tc_omp_put_skip_pays(tc_omp_nest *x, uint32_t stage, tc_buf *out) {
  const tc_dim points = x->nest->stage[stage].points;
  const int64_t from = x->stage[stage].skip;
  int64_t least, most;
  tc_dim_range(tc_graph_dims(x->s.p->graph), points, &least, &most);
  if (least >= from) return false;
  tc_put(out, "TC_SINGLE_PASS(");
  tc_print_dim(x->s.p, points, out);
  tc_putf(out, ", %lld)", (long long)from);
  return true;
}

/* The text of skipped<i>, one for each point of a group: the stage of r<i> was skipped. */
void tc_omp_skipped(const tc_omp_nest *x, uint32_t result, char text[24]) {
  snprintf(text, 24, "skipped%s", x->result[result] + 1);
}

/* r<i> = the value that it has if its stage is skipped; skipped<i> = whether it is. */
void tc_omp_put_skip(tc_omp_nest *x, uint32_t stage) {
  const tc_stage *st = &x->nest->stage[stage];
  const uint32_t i = st->action[0].index;
  char skipped[24];
  tc_buf pays = {0};
  tc_omp_skipped(x, i, skipped);
  if (tc_omp_put_skip_pays(x, stage, &pays)) tc_print_line(&x->s, "if (%s) {", pays.text);
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

/* The later stage that the stage's sums of squares serve, or -1; all such have the same points. */
int tc_omp_served_stage(const tc_omp_nest *x, const tc_stage *st) {
  const tc_nest *n = x->nest;
  for (uint32_t i = 0; i < st->naction; ++i)
    if (st->action[i].serves)
      for (uint32_t late = (uint32_t)(st - n->stage) + 1; late < n->nstage; ++late)
        if (n->stage[late].skip_if.id && n->stage[late].action[0].index + 1 == st->action[i].serves)
          return (int)late;
  return -1;
}
