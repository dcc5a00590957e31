/* software_pipeline.c - the last stage of an outer point runs in the loop of a stage of the next point.
 *
 * softmax keeps a row of exponentials on chip, and its last stage only scales and stores that row: it
 * waits for memory, which is idle while the exponentials of the next row are computed.  Where stores are
 * nontemporal the two run in one loop: at each place an element of the old row is stored, then the
 * new one takes its place on chip.  The vectors of the old row may be shifted by up to a line, so that
 * they fill whole lines; what lies in front of the first and behind the last is stored before the loop. */
#include "backends/openmp/nest/nest.h"

#include <stdlib.h>
#include <string.h>

/* One element of a row of this kernel's own at each place of the vector axis. */
static bool is_place(const tc_omp_nest *x, const tc_address *a) {
  for (int i = 0; i < x->nest->naxis; ++i)
    if (!tc_dim_is(a->coef[i], i == x->nest->vector)) return false;
  return !a->nterm;
}

/* Does the last stage do without what memory holds of this outer point, but for single values?
 * *rows: it reads LOCAL rows. */
static bool is_on_chip(const tc_omp_nest *x, const uint8_t *need, bool *rows) {
  const uint32_t lanes = 1u << x->nest->vector;
  for (uint32_t id = 1; id < x->s.k->nexpr; ++id) {
    const tc_expr *e = &x->s.k->expr[id];
    if (!need[id]) continue;
    if (e->kind == TC_EX_RANDOM || e->guard.id || e->address.nterm) return false;
    if (e->kind != TC_EX_LOAD) continue;
    const bool local = tc_omp_buffer(x, e->buffer)->kind == TC_BUF_LOCAL;
    if (local ? !is_place(x, &e->address)
              : (x->s.depends[id] & lanes) && (x->s.depends[id] & x->parallel))
      return false;
    *rows |= local;
  }
  return *rows;
}

static bool stores_results(const tc_omp_nest *x, const tc_stage *st) {
  for (uint32_t i = 0; i < st->naction; ++i) {
    const tc_action *a = &st->action[i];
    if (a->kind != TC_ACT_STORE || a->guard.id || a->address.nterm ||
        tc_omp_buffer(x, a->buffer)->kind != TC_BUF_OUTPUT ||
        !tc_dim_is(a->address.coef[x->nest->vector], 1))
      return false;
  }
  return st->axes == 1u << x->nest->vector;
}

/* The one stage that makes all LOCAL rows which the last one reads, place by place, or -1. */
static int producer(const tc_omp_nest *x, const uint8_t *need) {
  const tc_nest *n = x->nest;
  int stage = -1;
  for (uint32_t i = 0; i < n->nstage; ++i)
    for (uint32_t j = 0; j < n->stage[i].naction; ++j) {
      const tc_action *a = &n->stage[i].action[j];
      bool read = false;
      if (a->kind == TC_ACT_SCAN) return -1;
      if (a->kind != TC_ACT_STORE) continue;
      for (uint32_t id = 1; id < x->s.k->nexpr; ++id)
        read |=
            need[id] && x->s.k->expr[id].kind == TC_EX_LOAD && x->s.k->expr[id].buffer == a->buffer;
      if (!read) continue;
      if ((stage >= 0 && stage != (int)i) || !is_place(x, &a->address)) return -1;
      stage = (int)i;
    }
  if (stage < 0 || n->stage[stage].axes != 1u << n->vector) return -1;
  return tc_omp_can_deinterleave(x, &n->stage[stage]) ? -1 : stage;
}

static bool has_parts(const tc_nest *n) {
  for (int i = 0; i < n->naxis; ++i)
    if (n->axis[i].of >= 0) return true;
  return false;
}

bool tc_omp_plan_pipeline(tc_omp_nest *x) {
  const tc_nest *n = x->nest;
  bool rows = false;
  x->pipeline_stage = -1;
  if (n->nstage < 2 || n->serial || x->grouped || n->vector < n->nparallel || has_parts(n))
    return true;
  const tc_stage *last = &n->stage[n->nstage - 1];
  uint8_t *need = calloc(x->s.k->nexpr + 1, 1);
  if (!need) return false;
  tc_omp_mark_stage(x, last, need);
  if (stores_results(x, last) && is_on_chip(x, need, &rows)) x->pipeline_stage = producer(x, need);
  free(need);
  return true;
}

/* Lines of 16-bit elements take so much more arithmetic that the edges cost more than they save. */
static bool stores_words(const tc_omp_nest *x) {
  const tc_stage *last = &x->nest->stage[x->nest->nstage - 1];
  return tc_dtype_bytes(tc_omp_buffer(x, last->action[0].buffer)->dtype) >= 4;
}

/* Prints where the first line of the row begins. */
static bool put_shift(tc_omp_nest *x, tc_buf *out) {
  return stores_words(x) &&
         tc_omp_put_head_length(x, &x->nest->stage[x->nest->nstage - 1], "0", out);
}

/* The state that the last stage takes from one outer point to the next: h<a>, the axes, and p<i>, the
 * results. */
void tc_omp_declare_pipeline(tc_omp_nest *x) {
  tc_buf shift = {0};
  x->shifted = put_shift(x, &shift);
  tc_buf_free(&shift);
  tc_print_line(&x->s,
                "int64_t pending = 0; /* elements that the task before has still to store */");
  if (x->shifted)
    tc_print_line(&x->s, "int64_t shift = 0; /* of them lie in front of the first whole line */");
  for (int i = 0; i < x->nest->nparallel; ++i) tc_print_line(&x->s, "int64_t h%d = 0;", i);
  for (uint32_t i = 0; i + 1 < x->nest->nstage; ++i)
    for (uint32_t j = 0; j < x->nest->stage[i].naction; ++j) {
      const tc_action *a = &x->nest->stage[i].action[j];
      if (a->kind == TC_ACT_REDUCE) tc_omp_declare_results(x, a, "p", " = {0}");
    }
}

void tc_omp_carry_pipeline(tc_omp_nest *x) {
  const int v = x->nest->vector;
  tc_buf end = {0}, distance = {0};
  tc_print_extent(&x->s, &x->nest->axis[v], &end);
  tc_print_line(&x->s, "pending = %s;", end.text);
  if (put_shift(x, &distance)) tc_print_line(&x->s, "shift = TC_MIN(%s, pending);", distance.text);
  for (int i = 0; i < x->nest->nparallel; ++i)
    tc_print_line(&x->s, "h%d = %s;", i, x->axis_text[i]);
  for (uint32_t i = 0; i < x->nest->nresult; ++i)
    tc_print_line(&x->s, "p%u = %s;", i, x->result[i]);
  tc_buf_free(&end);
  tc_buf_free(&distance);
}
