/* ahead.c - asks the memory for the next outer point's rows while this one's are computed.
 *
 * A nest that reads a row in several stages waits for memory in the first of them and for
 * arithmetic in the others.  The last stage that reads a row asks, vector by vector, for the same
 * place of the next row: the stages that follow find it in the caches, and memory works all the
 * time. */
#include "backends/openmp/nest.h"

#include <stdlib.h>
#include <string.h>

/* Marks the expressions that a stage computes. */
static void mark_stage(const tc_omp_nest *x, uint32_t stage, uint8_t *need) {
  const tc_stage *st = &x->nest->stage[stage];
  for (uint32_t i = 0; i < st->naction; ++i)
    need[st->action[i].value.id] = need[st->action[i].position.id] = need[st->action[i].guard.id] =
        1;
  for (uint32_t i = x->s.k->nexpr; i-- > 1;) {
    if (!need[i]) continue;
    const tc_expr *e = &x->s.k->expr[i];
    for (int j = 0; j < 3; ++j) need[e->in[j].id] = 1;
  }
}

/* A row of its own for every outer point, read in order. */
static bool is_row(const tc_omp_nest *x, const tc_expr *e) {
  if (e->kind != TC_EX_LOAD || e->guard.id || e->address.nterm) return false;
  const tc_buf_kind kind = x->s.p->buffer[x->s.k->buffer[e->buffer]].kind;
  const tc_dim next = e->address.coef[x->nest->nouter - 1];
  return (kind == TC_BUF_INPUT || kind == TC_BUF_ARENA) &&
         tc_dim_is(e->address.coef[x->nest->vector], 1) && !tc_dim_is(next, 0) && !tc_dim_bad(next);
}

bool tc_omp_plan_ahead(tc_omp_nest *x) {
  const tc_nest *n = x->nest;
  x->last = calloc(x->s.k->nexpr + 1, sizeof *x->last);
  uint8_t *need = x->last ? malloc(x->s.k->nexpr + 1) : NULL;
  if (!need) return false;
  int stages = 0;
  for (uint32_t i = 0; i < n->nstage; ++i) stages += n->stage[i].axes != 0;
  const bool rows = stages > 1 && n->nouter > 0 && n->vector >= n->nouter && !n->serial;
  for (uint32_t i = 0; rows && i < n->nstage; ++i) {
    if (!(n->stage[i].axes >> n->vector & 1)) continue;
    memset(need, 0, x->s.k->nexpr + 1);
    mark_stage(x, i, need);
    for (uint32_t id = 1; id < x->s.k->nexpr; ++id)
      if (need[id] && is_row(x, &x->s.k->expr[id])) x->last[id] = i + 1;
  }
  free(need);
  return true;
}

static void put_each(tc_omp_nest *x, uint32_t stage,
                     void (*put)(tc_omp_nest *, uint32_t, const tc_expr *)) {
  for (uint32_t id = 1; id < x->s.k->nexpr; ++id)
    if (x->last[id] == stage + 1) put(x, id, &x->s.k->expr[id]);
}

static size_t element_bytes(const tc_omp_nest *x, const tc_expr *e) {
  return tc_dtype_bytes(x->s.p->buffer[x->s.k->buffer[e->buffer]].dtype);
}

void tc_omp_row_bytes(const tc_omp_nest *x, tc_buf *out) {
  for (uint32_t id = 1; id < x->s.k->nexpr; ++id) {
    const tc_expr *e = &x->s.k->expr[id];
    if (!x->last[id]) continue;
    tc_put(out, out->len ? " + (" : "(");
    tc_print_dim(x->s.p, e->address.coef[x->nest->nouter - 1], out);
    tc_putf(out, ") * %zu", element_bytes(x, e));
  }
}

static void put_distance(tc_omp_nest *x, uint32_t id, const tc_expr *e) {
  tc_buf step = {0};
  tc_put(&step, "(");
  tc_print_dim(x->s.p, e->address.coef[x->nest->nouter - 1], &step);
  tc_put(&step, x->grouped ? ") * group" : ")");
  tc_print_line(&x->s, "const int64_t next%u = %s * %zu <= TC_AHEAD_BYTES ? %s : 0;", id, step.text,
                element_bytes(x, e), step.text);
  tc_buf_free(&step);
}

static void put_request(tc_omp_nest *x, uint32_t id, const tc_expr *e) {
  tc_buf at = {0};
  tc_print_address(&x->s, &e->address, &at);
  tc_print_line(&x->s, "tc_ahead_%s(b%u + (%s), next%u);",
                tc_print_storage(x->s.p->buffer[x->s.k->buffer[e->buffer]].dtype), e->buffer,
                at.text, id);
  tc_buf_free(&at);
}

void tc_omp_ahead_distance(tc_omp_nest *x, uint32_t stage) { put_each(x, stage, put_distance); }
void tc_omp_ahead(tc_omp_nest *x, uint32_t stage) { put_each(x, stage, put_request); }
