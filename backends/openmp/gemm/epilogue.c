/* epilogue.c - what becomes of a finished tile: the epilogue's actions, row by row, vectors
 * along n, so that whole lines of C are written; or, where nothing is known of a row before its vectors, some rows of one
 * vector after the other. */
#include "backends/openmp/gemm/matmul.h"
#include "backends/openmp/schedule/plan.h"

#include <stdlib.h>

/* The STORE of a bare product as that dtype, with n contiguous; or NULL. */
static const tc_action *bare_store(const tc_omp_matmul *x, tc_dtype d) {
  const tc_stage *st = &x->mm->epilogue;
  const tc_action *a = st->action;
  if (tc_mm_is_chain(x->mm)) return NULL;
  if (st->naction != 1 || a->kind != TC_ACT_STORE || a->guard.id || a->address.nterm) return NULL;
  if (x->k->expr[a->value.id].kind != TC_EX_RESULT) return NULL;
  if (x->p->buffer[x->k->buffer[a->buffer]].dtype != d) return NULL;
  return tc_dim_is(a->address.coef[x->an], 1) && !tc_mm_by_parts(x->mm, &a->address) ? a : NULL;
}

const tc_action *tc_omp_mm_direct(const tc_omp_matmul *x) {
  return x->e.sum == (int)tc_dtype_bytes(x->mm->acc) ? bare_store(x, x->mm->acc) : NULL;
}

const tc_action *tc_omp_mm_rounded(const tc_omp_matmul *x) {
  return x->vnni && x->mm->acc == TC_F32 ? bare_store(x, TC_BF16) : NULL;
}

static void put_c_at(tc_omp_matmul *x, const tc_action *a) {
  tc_buf address = {0};
  tc_omp_mm_open(x,
                 "static char *@NAME@_c_at(const tc_mm *g, int64_t batch, int64_t m, int64_t n)");
  tc_print_address(&x->s, &a->address, &address);
  tc_print_line(&x->s, "return (char *)(b%u + %s);", a->buffer, address.text);
  tc_put(x->out, "}\n");
  tc_buf_free(&address);
}

/* All values first, so that a store in place cannot reach a value of the same point. */
static void put_point(tc_omp_matmul *x) {
  const tc_dtype d = x->mm->acc;
  const char *t = tc_print_compute(d);
  const bool narrow = d == TC_I8 || d == TC_U8;
  tc_print_line(
      &x->s,
      "const tc_v%s r0 = %stc_load_%s((const tc_%s *)(tile + (m - m0) * stride) + (n - n0))%s;", t,
      narrow ? d == TC_I8 ? "TC_CAST(i8, " : "TC_CAST(u8, " : "", x->e.sums, x->e.sums,
      narrow ? ")" : "");
  tc_print_hoist_stage(&x->s, &x->mm->epilogue, ~0u);
  for (uint32_t i = 0; i < x->mm->epilogue.naction; ++i)
    tc_print_store(&x->s, &x->mm->epilogue.action[i]);
}

/* ---- prefetch of what the epilogue touches --------------------------------------------------- */

/* One line per row and 64 bytes: a tile's rows are far apart, which no hardware prefetcher follows.
 * What is written later goes no nearer than the second-level cache: the first holds B's panel. */
static void put_line_prefetches(tc_omp_matmul *x, uint32_t buffer, const tc_address *a,
                                bool write) {
  if (a->nterm || tc_mm_by_parts(x->mm, a) || !tc_dim_is(a->coef[x->an], 1) ||
      tc_dim_is(a->coef[x->am], 0))
    return;
  tc_buf at = {0};
  tc_print_address(&x->s, a, &at);
  const int64_t line = 64 / (int64_t)tc_dtype_bytes(x->p->buffer[x->k->buffer[buffer]].dtype);
  tc_print_line(
      &x->s, "for (int64_t n = n0; n < n0 + cols; n += %lld) __builtin_prefetch(b%u + %s, 0, %d);",
      (long long)line, buffer, at.text, write ? 2 : 3);
  tc_buf_free(&at);
}

void tc_omp_mm_put_prefetch(tc_omp_matmul *x) {
  const tc_stage *st = &x->mm->epilogue;
  tc_omp_mm_open(x,
                 "static void @NAME@_prefetch(const tc_mm *g, int64_t batch, int64_t m0, int64_t "
                 "rows, int64_t n0, int64_t cols)");
  tc_print_line(&x->s, "for (int64_t m = m0; m < m0 + rows; ++m) {");
  x->s.indent += 2;
  for (uint32_t i = 1; i < x->k->nexpr; ++i) {
    const tc_expr *e = &x->k->expr[i];
    const bool column = x->s.depends[i] >> x->ak & 1; /* of A or B */
    if (e->kind == TC_EX_LOAD && !e->guard.id && !column)
      put_line_prefetches(x, e->buffer, &e->address, false);
  }
  for (uint32_t i = 0; i < st->naction; ++i)
    if (st->action[i].kind == TC_ACT_STORE)
      put_line_prefetches(x, st->action[i].buffer, &st->action[i].address, true);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_put(x->out, "}\n");
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* Does the address step along two neighbouring parts as if they were one? */
static bool is_one(const tc_omp_matmul *x, const tc_mm_loop *mm, const tc_address *a, int outer, int inner) {
  tc_dims *c = tc_graph_dims(x->p->graph);
  return tc_dim_same(a->coef[outer], tc_dim_mul(c, a->coef[inner], mm->axis[inner].extent));
}

/* Do all that the epilogue has? */
static bool are_one(const tc_omp_matmul *x, const tc_mm_loop *mm, const uint8_t *needed, int outer, int inner) {
  for (uint32_t i = 0; i < mm->epilogue.naction; ++i)
    if (!is_one(x, mm, &mm->epilogue.action[i].address, outer, inner)) return false;
  for (uint32_t i = 1; i < x->k->nexpr; ++i)
    if (needed[i] && tc_expr_has_address(&x->k->expr[i]) && !is_one(x, mm, &x->k->expr[i].address, outer, inner))
      return false;
  return true;
}

/* Values that the epilogue's actions need; NULL: out of memory. */
static uint8_t *find_needed(const tc_omp_matmul *x) {
  uint8_t *needed = calloc(x->k->nexpr + 1, 1);
  if (!needed) return NULL;
  tc_mark_stage(&x->mm->epilogue, needed);
  tc_mark_operands(x->k, needed);
  return needed;
}

/* The loop as its epilogue may see it: the innermost part of n has the points of those around it, too, that are one with
 * it.  So a vector ends with fewer parts, such as with the image in place of its row. */
static tc_mm_loop with_joined_parts(const tc_omp_matmul *x) {
  tc_dims *c = tc_graph_dims(x->p->graph);
  tc_mm_loop mm = *x->mm;
  const uint32_t parts = tc_mm_parts(&mm, x->an);
  uint8_t *needed = find_needed(x);
  const int last = tc_mm_innermost(&mm, x->an);
  for (int p = last - 1; needed && p >= 0; --p) {
    if (!(parts >> p & 1)) continue;
    if (!are_one(x, &mm, needed, p, last)) break;
    mm.axis[last].extent = tc_dim_mul(c, mm.axis[p].extent, mm.axis[last].extent);
    mm.axis[p].extent = tc_dim_const(1);
  }
  free(needed);
  return mm;
}

/* ---- loops ----------------------------------------------------------------------------------- */

/* Rows whose vectors are finished side by side: lines of C that are far apart share a set of a first-level cache of 8 ways
 * at worst, and are whole before others take their places. */
enum { SIDE_BY_SIDE = 8 };

/* Does a value of the epilogue change along one of the axes, or a part of it, but not along the other? */
static bool has_values_of(const tc_omp_matmul *x, int axis, int other) {
  const uint32_t with = 1u << axis | tc_mm_parts(x->mm, axis), without = 1u << other | tc_mm_parts(x->mm, other);
  uint8_t *needed = find_needed(x);
  bool any = false;
  for (uint32_t i = 1; needed && i < x->k->nexpr; ++i)
    any |= needed[i] && (x->s.depends[i] & with) && !(x->s.depends[i] & without);
  free(needed);
  return any;
}

/* Are there values of columns, such as a bias, and none of rows?  With rows inside of columns they, and how many lanes a
 * vector has, are there once for all rows. */
static bool has_columns_outside(const tc_omp_matmul *x, uint32_t depends) {
  return !tc_mm_is_chain(x->mm) && !(depends & (tc_mm_parts(x->mm, x->am) | tc_mm_parts(x->mm, x->an))) &&
         has_values_of(x, x->an, x->am) && !has_values_of(x, x->am, x->an);
}

static void put_rows_outside(tc_omp_matmul *x, uint32_t depends, uint32_t row, bool whole) {
  tc_print_line(&x->s, "for (int64_t m = m0; m < m0 + rows; ++m) {");
  x->s.indent += 2;
  tc_omp_mm_put_row_results(x);
  tc_print_hoist_stage(&x->s, &x->mm->epilogue, row);
  tc_omp_mm_open_lanes(x, x->an, depends, "n0", "n0 + cols", whole);
  put_point(x);
  tc_omp_mm_close_lanes(x);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

static void put_columns_outside(tc_omp_matmul *x, uint32_t depends, uint32_t column, bool whole) {
  tc_print_line(&x->s, "for (int64_t mb = m0, end; mb < m0 + rows; mb = end) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "end = TC_MIN(mb + %d, m0 + rows);", SIDE_BY_SIDE);
  tc_omp_mm_open_lanes(x, x->an, depends, "n0", "n0 + cols", whole);
  uint8_t *outer = tc_print_enter(&x->s);
  tc_print_hoist_stage(&x->s, &x->mm->epilogue, column);
  tc_print_line(&x->s, "for (int64_t m = mb; m < end; ++m) {");
  x->s.indent += 2;
  put_point(x);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_print_leave(&x->s, outer);
  tc_omp_mm_close_lanes(x);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* What is stored in 16 bits alone needs no more; a chain's epilogue may have totals of its rows. */
static uint8_t *find_reduced(const tc_omp_matmul *x) {
  uint8_t *reduced = tc_mm_is_chain(x->mm) ? NULL : calloc(x->k->nexpr + 1, 1);
  if (reduced) tc_omp_find_reduced_precision(x->k, x->p, reduced);
  return reduced;
}

void tc_omp_mm_put_epilogue(tc_omp_matmul *x) {
  const tc_action *direct = tc_omp_mm_direct(x), *rounded = tc_omp_mm_rounded(x);
  const uint32_t batch = (1u << x->mm->nbatch) - 1;
  const uint32_t row = batch | 1u << x->am | tc_mm_parts(x->mm, x->am);
  const uint32_t depends = tc_print_stage_axes(&x->mm->epilogue, x->s.depends);
  /* Panels of 8-byte elements need not be a multiple of TC_L wide, and rows of tiles are none. */
  const bool whole = !tc_omp_mm_is_winograd(x) && !(depends & tc_mm_parts(x->mm, x->an)) &&
      tc_dim_multiple(tc_graph_dims(x->p->graph), x->mm->axis[x->an].extent) % 16 == 0 &&
      x->e.sum <= 4;
  if (direct) put_c_at(x, direct);
  if (rounded) {
    tc_put(x->out, "#if TC_ISA == TC_LEVEL_bf16\n");
    put_c_at(x, rounded);
    tc_put(x->out, "#endif\n");
  }
  tc_omp_mm_open(
      x, "static TC_VECTOR_WIDTH void @NAME@_epilogue(const tc_mm *g, int64_t batch, int64_t "
         "m0, int64_t rows,\n"
         "                                    int64_t n0, int64_t cols, const char "
         "*tile, int64_t stride)");
  uint8_t *outer = tc_print_enter(&x->s), *reduced = find_reduced(x);
  const tc_mm_loop joined = with_joined_parts(x), *const parts = x->mm;
  x->s.reduced_precision = reduced;
  x->mm = &joined;
  tc_print_hoist_stage(&x->s, &x->mm->epilogue, batch);
  if (has_columns_outside(x, depends)) put_columns_outside(x, depends, batch | 1u << x->an, whole);
  else put_rows_outside(x, depends, row, whole);
  x->mm = parts;
  x->s.reduced_precision = NULL;
  free(reduced);
  tc_print_leave(&x->s, outer);
  tc_omp_mm_close(x);
}
