/* ahead.c - asks the memory for the next outer point's rows while this one's are computed.
 *
 * A nest that reads a row in several stages waits for memory in the first of them and for
 * arithmetic in the others.  The last stage that reads a row, which most often stores a result too,
 * asks for the row of the outer point after the next one, into the second-level cache: so memory
 * works all the time, and what is asked for has a whole point's time to arrive. */
#include "backends/openmp/nest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 2 }; /* how far ahead */

void tc_omp_mark_stage(const tc_omp_nest *x, const tc_stage *st, uint8_t *need) {
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
  const tc_buf_kind kind = tc_omp_buffer(x, e->buffer)->kind;
  const tc_dim next = e->address.coef[x->nest->nouter - 1];
  return (kind == TC_BUF_INPUT || kind == TC_BUF_ARENA) &&
         tc_dim_is(e->address.coef[x->nest->vector], 1) && !tc_dim_is(next, 0) && !tc_dim_bad(next);
}

bool tc_omp_plan_ahead(tc_omp_nest *x) {
  const tc_nest *n = x->nest;
  x->reader = calloc(x->s.k->nexpr + 1, sizeof *x->reader);
  uint8_t *need = x->reader ? malloc(x->s.k->nexpr + 1) : NULL;
  if (!need) return false;
  int stages = 0;
  for (uint32_t i = 0; i < n->nstage; ++i) stages += n->stage[i].axes != 0;
  const bool rows = stages > 1 && n->nouter > 0 && n->vector >= n->nouter && !n->serial;
  for (uint32_t i = 0; rows && i < n->nstage; ++i) {
    if (!(n->stage[i].axes >> n->vector & 1)) continue;
    memset(need, 0, x->s.k->nexpr + 1);
    tc_omp_mark_stage(x, &n->stage[i], need);
    for (uint32_t id = 1; id < x->s.k->nexpr; ++id)
      if (need[id] && is_row(x, &x->s.k->expr[id])) x->reader[id] = i + 1;
  }
  free(need);
  return true;
}

static size_t element_bytes(const tc_omp_nest *x, const tc_expr *e) {
  return tc_dtype_bytes(tc_omp_buffer(x, e->buffer)->dtype);
}

void tc_omp_row_bytes(const tc_omp_nest *x, tc_buf *out) {
  for (uint32_t id = 1; id < x->s.k->nexpr; ++id) {
    const tc_expr *e = &x->s.k->expr[id];
    if (!x->reader[id]) continue;
    tc_put(out, out->len ? " + (" : "(");
    tc_print_dim(x->s.p, e->address.coef[x->nest->nouter - 1], out);
    tc_putf(out, ") * %zu", element_bytes(x, e));
  }
}

/* In bytes, or 0: too large to be kept.  Each element then asks for itself, which is at hand. */
void tc_omp_ahead_distance(tc_omp_nest *x, uint32_t stage) {
  for (uint32_t id = 1; id < x->s.k->nexpr; ++id) {
    if (x->reader[id] != stage + 1) continue;
    const tc_expr *e = &x->s.k->expr[id];
    tc_buf step = {0};
    tc_print_dim(x->s.p, e->address.coef[x->nest->nouter - 1], &step);
    tc_print_line(&x->s, "const int64_t step%u = (%s) * %zu%s;", id, step.text, element_bytes(x, e),
                  x->grouped ? " * group" : "");
    tc_print_line(&x->s, "const int64_t ahead%u = step%u <= TC_AHEAD_BYTES ? %d * step%u : 0;", id,
                  id, POINTS, id);
    tc_buf_free(&step);
  }
}

void tc_omp_ahead(tc_omp_nest *x, uint32_t stage, int vectors) {
  for (uint32_t id = 1; id < x->s.k->nexpr; ++id) {
    if (x->reader[id] != stage + 1) continue;
    const tc_expr *e = &x->s.k->expr[id];
    tc_buf at = {0};
    tc_print_address(&x->s, &e->address, &at);
    tc_print_line(&x->s, "tc_ahead(b%u + (%s), ahead%u, %d * TC_L);", e->buffer, at.text, id,
                  vectors * (int)element_bytes(x, e));
    tc_buf_free(&at);
  }
}
