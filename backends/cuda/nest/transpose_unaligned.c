/* transpose_unaligned.c - transposes of arrays whose rows begin anywhere: sizes that are no
 * multiples of the lanes, views that begin inside of a row.
 *
 * A tile is read 16 bytes at a time from the last boundary in front of each of its rows, and lies
 * in shared memory as it was read.  Stores begin at boundaries of 32 bytes, the unit of the second
 * cache: a row of the result leaves up to `over` - 1 of the tile's points to the tile in front,
 * which therefore reads as many rows more.  How far a row is shifted repeats with 32 bytes of rows:
 * a thread finds out once, for its rows of the source and its column of the result. */
#include "backends/cuda/nest/nest.h"

#include <stdio.h>

/* ---- text ------------------------------------------------------------------------------------ */

static void put_address(tc_cuda_nest *x, const tc_address *a, const char *along, const char *across,
                        tc_buf *out) {
  const char *const was[2] = {x->s.axis[x->plan->along], x->s.axis[x->plan->across]};
  x->s.axis[x->plan->along] = along;
  x->s.axis[x->plan->across] = across;
  tc_print_address(&x->s, a, out);
  x->s.axis[x->plan->along] = was[0];
  x->s.axis[x->plan->across] = was[1];
}

/* Element (i, j) of what load `id` reads is f<id>[i * n<id> + j]. */
static void put_fill(tc_cuda_nest *x, uint32_t id) {
  const int v = x->plan->along, w = x->plan->across, over = (int)x->plan->overlap;
  const tc_expr *e = &x->s.k->expr[id];
  const tc_dtype d = x->s.p->buffer[x->s.k->buffer[e->buffer]].dtype;
  tc_buf at = {0}, step = {0};
  put_address(x, &e->address, "0", "0", &at);
  tc_print_dim(x->s.p, e->address.coef[v], &step);
  tc_print_line(&x->s, "const tc_%s *const f%u = b%u + (%s);", tc_print_storage(d), id, e->buffer,
                at.text ? at.text : "0");
  tc_print_line(&x->s, "const tc_int n%u = (tc_int)(%s);", id, step.text ? step.text : "0");
  tc_print_line(&x->s,
                "tc_tile_fill<%d>(t%u, f%u, n%u, (tc_int)(first%d - %d), end%d, first%d, end%d);",
                TC_CUDA_SIDE + over, id, id, id, v, over, v, w, w);
  tc_buf_free(&at);
  tc_buf_free(&step);
}

/* p<id>[l]: the row of lane l in the tile. */
static void put_places(tc_cuda_nest *x, uint32_t id) {
  const int v = x->plan->along, w = x->plan->across;
  const tc_expr *e = &x->s.k->expr[id];
  const tc_dtype d = x->s.p->buffer[x->s.k->buffer[e->buffer]].dtype;
  tc_print_line(&x->s, "const tc_%s *p%u[TC_L];", tc_print_storage(d), id);
  tc_print_line(&x->s,
                "TC_UNROLL for (int l = 0; l < TC_L; ++l) p%u[l] = tc_tile_place(t%u, f%u, n%u, "
                "(tc_int)(first%d - %d), (tc_int)(near + l), first%d);",
                id, id, id, id, v, (int)x->plan->overlap, w);
}

/* What is stored one by one is loaded so, too. */
bool tc_cuda_take_unaligned_load(const tc_cuda_nest *x, uint32_t id, tc_buf *out) {
  const tc_expr *e = &x->s.k->expr[id];
  if (x->s.vector < 0) return false;
  if (x->early[id]) {
    tc_putf(out, "tc_arrived(tc_picked(p%u, far))", id);
    return true;
  }
  if (e->guard.id || e->address.nterm || !tc_dim_is(e->address.coef[x->plan->along], 1))
    return false;
  tc_putf(out, "tc_gathered(b%u + (", e->buffer); /* its rows may begin elsewhere */
  tc_print_address(&x->s, &e->address, out);
  tc_put(out, "), TC_LANES_IDX)");
  return true;
}

static bool take_copy(tc_print_scope *s, const tc_action *a) {
  const uint32_t id = s->vector < 0 ? 0 : tc_cuda_copied(s->self, a);
  tc_buf at = {0};
  if (!id) return false;
  tc_print_address(s, &a->address, &at);
  tc_print_line(s, "tc_put_held(b%u + (%s), tc_picked(p%u, far));", a->buffer,
                at.text ? at.text : "0", id);
  tc_buf_free(&at);
  return true;
}

static void put_actions(tc_cuda_nest *x, int vector) {
  x->s.indent += 2;
  x->s.vector = vector;
  uint8_t *outer = tc_print_enter(&x->s);
  if (vector >= 0) tc_cuda_skip_copied(x);
  tc_cuda_put_actions(x, x->nest->stage);
  tc_print_leave(&x->s, outer);
  x->s.vector = -1;
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* Of the columns that the head of a loop names. */
static void put_columns(tc_cuda_nest *x, const char *loop) {
  const int w = x->plan->across;
  tc_print_line(&x->s, "%s {", loop);
  tc_print_line(&x->s, "  const tc_int i%d = first%d + far;", w, w);
  put_actions(x, x->plan->along);
}

/* The lanes of a store that leaves the result: of a copy from the tile, else as they are. */
static void put_edges(tc_cuda_nest *x, uint32_t copied) {
  const int v = x->plan->along, w = x->plan->across;
  const tc_action *a = x->nest->stage[0].action;
  tc_print_line(&x->s, "TC_ROLLED for (int far = column; far < most; far += step) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_int i%d = first%d + far;", w, w);
  if (copied) {
    tc_buf at = {0};
    tc_print_address(&x->s, &a->address, &at);
    tc_print_line(&x->s, "TC_UNROLL for (int l = 0; l < TC_L; ++l) {");
    tc_print_line(&x->s, "  const tc_int i%d = near + l;", v);
    tc_print_line(&x->s, "  if (i%d >= 0 && i%d < end%d) b%u[%s] = p%u[l][far];", v, v, v,
                  a->buffer, at.text ? at.text : "0", copied);
    tc_print_line(&x->s, "}");
    tc_buf_free(&at);
  } else {
    tc_print_line(&x->s,
                  "TC_ROLLED for (tc_int i%d = near < 0 ? 0 : near; i%d < TC_MIN(near + TC_L, "
                  "end%d); ++i%d) {",
                  v, v, v, v);
    put_actions(x, -1);
  }
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* The thread's points: TC_L along the stores from `near` on, at every `far` across. */
static void put_stores(tc_cuda_nest *x) {
  const int v = x->plan->along, w = x->plan->across;
  const tc_action *a = x->nest->stage[0].action;
  const uint32_t copied = tc_cuda_copied(x, a);
  char first[32], column[80], full[120];
  snprintf(first, sizeof first, "first%d", v);
  snprintf(column, sizeof column, "TC_MIN(first%d + column, end%d - 1)", w, w);
  snprintf(full, sizeof full,
           "if (most == %d) TC_UNROLL for (int n = 0; n < %d / step; ++n, far += step)",
           (int)x->plan->side, (int)x->plan->side);
  tc_buf at = {0};
  put_address(x, &a->address, first, column, &at);
  tc_print_line(&x->s, "constexpr int deep = %d / TC_L, step = %d / deep;", TC_CUDA_SIDE,
                TC_CUDA_THREADS);
  tc_print_line(&x->s, "const int column = (int)threadIdx.x / deep;");
  tc_print_line(&x->s, "const int most = (int)TC_MIN((tc_int)%d, end%d - first%d);",
                (int)x->plan->side, w, w);
  tc_print_line(&x->s,
                "const tc_int near = first%d + (int)threadIdx.x %% deep * TC_L - "
                "tc_tile_shift(b%u + (%s));",
                v, a->buffer, at.text ? at.text : "0");
  tc_buf_free(&at);
  for (uint32_t i = 1; i < x->s.k->nexpr; ++i)
    if (x->early[i]) put_places(x, i);
  tc_print_line(&x->s, "if (near >= 0 && near + TC_L <= end%d) {", v);
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_int i%d = near;", v);
  tc_print_line(&x->s, "int far = column;");
  if (copied) put_columns(x, full); /* without a test */
  put_columns(x, copied ? "TC_ROLLED for (; far < most; far += step)"
                        : "_Pragma(\"unroll 4\") for (; far < most; far += step)");
  x->s.indent -= 2;
  tc_print_line(&x->s, "} else {");
  x->s.indent += 2;
  put_edges(x, copied);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

void tc_cuda_put_unaligned_tile(tc_cuda_nest *x) {
  for (uint32_t i = 1; i < x->s.k->nexpr; ++i)
    if (x->early[i]) put_fill(x, i);
  tc_print_line(&x->s, "__syncthreads();");
  x->s.store = take_copy;
  put_stores(x);
}
