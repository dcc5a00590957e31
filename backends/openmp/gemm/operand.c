/* operand.c - how a matmul kernel reads A and B: their addresses where micro-kernels read
 * them in place, and the functions that pack them.  A packer evaluates the operand's expression, so
 * a plain matrix, another dtype and a fused producer are one case.  Vectors run along the axis that
 * most matrices have contiguous; where the packed form has the other one contiguous, a block is
 * transposed in registers. */
#include "backends/openmp/gemm/matmul.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const tc_expr *tc_omp_mm_plain(const tc_omp_matmul *x, tc_val v) {
  const tc_expr *e = &x->k->expr[v.id];
  return e->kind == TC_EX_LOAD && !e->guard.id && !e->address.nterm &&
                 !tc_mm_by_parts(x->mm, &e->address)
             ? e
             : NULL;
}

/* The bytes that v widens to i32; 0: it is no such value. */
static tc_val bytes_of(const tc_omp_matmul *x, tc_val v) {
  const tc_expr *e = &x->k->expr[v.id],
                *of = e->kind == TC_EX_CAST ? &x->k->expr[e->in[0].id] : NULL;
  return of && (of->dtype == TC_I8 || of->dtype == TC_U8) ? e->in[0] : (tc_val){0};
}

bool tc_omp_mm_take_bytes(tc_omp_matmul *x) {
  const tc_val a = bytes_of(x, x->mm->a), b = bytes_of(x, x->mm->b);
  if (x->mm->operand != TC_I32 || !a.id || !b.id || x->k->expr[b.id].dtype != TC_I8) return false;
  x->own = *x->mm;
  x->own.a = a;
  x->own.b = b;
  x->mm = &x->own;
  x->bytes = x->k->expr[a.id].dtype;
  return true;
}

uint8_t *tc_omp_mm_reach(const tc_omp_matmul *x, tc_val v) {
  uint8_t *seen = calloc(x->k->nexpr + 1, 1);
  if (!seen) return NULL;
  seen[v.id] = 1;
  tc_mark_operands(x->k, seen);
  return seen;
}

/* Does value i change along the axis, or along a part of it? */
static bool steps_along(const tc_omp_matmul *x, uint32_t i, int axis) {
  return x->s.depends[i] & (1u << axis | tc_mm_parts(x->mm, axis));
}

int tc_omp_mm_lanes(const tc_omp_matmul *x, tc_val v, int usual, int other) {
  enum { MATRIX = 256 }; /* against so many loads of vectors, which are in the nearest cache */
  tc_dims *dims = tc_graph_dims(x->p->graph);
  uint8_t *seen = tc_omp_mm_reach(x, v);
  int votes = 0;
  for (uint32_t i = 1; seen && i <= v.id; ++i) {
    const tc_expr *e = &x->k->expr[i];
    if (!seen[i] || e->kind != TC_EX_LOAD) continue;
    const bool both = steps_along(x, i, usual) && steps_along(x, i, other);
    const int weight = both ? MATRIX : 1;
    if (tc_mm_has_neighbours(dims, x->mm, &e->address, usual)) votes += weight;
    if (tc_mm_has_neighbours(dims, x->mm, &e->address, other)) votes -= weight;
  }
  free(seen);
  return votes < 0 ? other : usual;
}

const tc_expr *tc_omp_mm_b_source(const tc_omp_matmul *x) {
  const int axis = tc_omp_mm_lanes(x, x->mm->b, x->an, x->ak);
  uint8_t *seen = tc_omp_mm_reach(x, x->mm->b);
  const tc_expr *most = NULL;
  size_t size = 0;
  for (uint32_t i = 1; seen && i <= x->mm->b.id; ++i) {
    const tc_expr *e = &x->k->expr[i];
    if (!seen[i] || e->kind != TC_EX_LOAD || e->guard.id || e->address.nterm ||
        tc_mm_by_parts(x->mm, &e->address))
      continue;
    const bool both = x->s.depends[i] >> x->an & x->s.depends[i] >> x->ak & 1;
    const size_t bytes = tc_dtype_bytes(x->p->buffer[x->k->buffer[e->buffer]].dtype);
    if (both && bytes > size && tc_dim_is(e->address.coef[axis], 1)) most = e, size = bytes;
  }
  free(seen);
  return most;
}

/* Is A a load of short runs along k, such as a transposed weight, which is contiguous along neither
 * axis? */
static bool has_short_runs(const tc_omp_matmul *x) {
  tc_dims *d = tc_graph_dims(x->p->graph);
  const tc_expr *e = &x->k->expr[x->mm->a.id];
  return e->kind == TC_EX_LOAD && tc_omp_mm_by_parts(x, x->mm->a, x->ak) &&
         !tc_omp_mm_by_parts(x, x->mm->a, x->am) &&
         !tc_mm_has_neighbours(d, x->mm, &e->address, x->ak);
}

bool tc_omp_mm_a_cols(const tc_omp_matmul *x) {
  return has_short_runs(x) || tc_omp_mm_lanes(x, x->mm->a, x->ak, x->am) == x->am;
}

/* ---- in place -------------------------------------------------------------------------------- */

static void put_at(tc_omp_matmul *x, const char *name, const tc_expr *load, const char *signature) {
  tc_buf head = {0}, address = {0};
  tc_putf(&head, "static const char *@NAME@_%s(const tc_mm *g, int64_t batch, %s)", name,
          signature);
  tc_omp_mm_open(x, head.text);
  tc_print_address(&x->s, &load->address, &address);
  tc_print_line(&x->s, "return (const char *)(b%u + %s);", load->buffer, address.text);
  tc_put(x->out, "}\n");
  tc_buf_free(&head);
  tc_buf_free(&address);
}

/* ---- A --------------------------------------------------------------------------------------- */

#define A_PACK                                                                                     \
  "static TC_VECTOR_WIDTH void @NAME@_a_pack(const tc_mm *g, int64_t batch, int64_t m0, int64_t "  \
  "rows, "                                                                                         \
  "int64_t k0,\n                                 int64_t kn, char *dst, int64_t stride, int64_t "  \
  "step)"

/* `v<id>` as the packed element. */
static void put_element(const tc_omp_matmul *x, tc_val v, const char *store, tc_buf *out) {
  const bool widened = x->bytes && strcmp(store, tc_dtype_text(x->k->expr[v.id].dtype)) != 0;
  if (widened) tc_putf(out, "TC_CAST(%s, v%u)", store, v.id);
  else if (x->e.sum == 2 && x->k->expr[v.id].dtype != TC_I16)
    tc_putf(out, "TC_CAST(i16, v%u)", v.id);
  else tc_putf(out, "v%u", v.id);
}

static void open_lanes(tc_omp_matmul *x, int axis, tc_val v, const char *from, const char *to) {
  tc_omp_mm_open_lanes(x, axis, x->s.depends[v.id], from, to, false);
}

/* Values of one vector, stored by `format` with the store's suffix and the element's text. */
static void put_vector(tc_omp_matmul *x, tc_val v, const char *store, const char *place) {
  uint8_t *outer = tc_print_enter(&x->s);
  tc_buf e = {0};
  tc_print_value(&x->s, v);
  put_element(x, v, store, &e);
  tc_print_line(&x->s, "tc_storen_%s(%s, %s, rest);", store, place, e.text);
  tc_buf_free(&e);
  tc_print_leave(&x->s, outer);
}

/* Memory of the packed type, contiguous along `axis`: its bytes are copied.  words: of several
 * elements, from level bf16 on. */
static const tc_expr *copied(const tc_omp_matmul *x, tc_val v, int axis, bool words) {
  const tc_expr *e = tc_omp_mm_plain(x, v);
  if (!e || !tc_dim_is(e->address.coef[axis], 1)) return NULL;
  const tc_dtype d = x->p->buffer[x->k->buffer[e->buffer]].dtype;
  const tc_dtype word = x->bytes ? x->k->expr[v.id].dtype : TC_BF16;
  return (words ? d == word : tc_omp_mm_same(x, d)) ? e : NULL;
}

/* `(const char *)(address of e)` at row or column i, at k. */
static void put_source(tc_omp_matmul *x, const tc_expr *e, const char *i, const char *k,
                       tc_buf *out) {
  const char *const m = x->s.axis[x->am], *const n = x->s.axis[x->an],
                    *const old = x->s.axis[x->ak];
  x->s.axis[x->am] = x->s.axis[x->an] = i, x->s.axis[x->ak] = k;
  tc_putf(out, "(const char *)(b%u + ", e->buffer);
  tc_print_address(&x->s, &e->address, out);
  tc_put(out, ")");
  x->s.axis[x->am] = m, x->s.axis[x->an] = n, x->s.axis[x->ak] = old;
}

/* Bytes between neighbours of e along the axis. */
static void put_pitch(const tc_omp_matmul *x, const tc_expr *e, int axis, tc_buf *out) {
  tc_put(out, "(");
  tc_print_dim(x->p, e->address.coef[axis], out);
  tc_putf(out, ") * %d", (int)tc_dtype_bytes(x->p->buffer[x->k->buffer[e->buffer]].dtype));
}

/* Both, as arguments of what moves rows along the axis. */
static void put_rows_of(tc_omp_matmul *x, const tc_expr *e, const char *i, const char *k, int axis,
                        tc_buf *out) {
  put_source(x, e, i, k, out);
  tc_put(out, ", ");
  put_pitch(x, e, axis, out);
}

/* dst[i][k], vectors along k.  Pieces of 64 bytes of a row are `step` bytes apart. */
static void put_a_rows(tc_omp_matmul *x, const char *store, int bytes) {
  char place[120], longest[64];
  const tc_expr *e = copied(x, x->mm->a, x->ak, bytes < 4 && tc_omp_mm_quads(x) > 1);
  if (e) {
    tc_buf from = {0};
    put_rows_of(x, e, "m0", "k0", x->am, &from);
    tc_print_line(&x->s, "tc_mm_copy(%s, dst, stride, step, rows, kn * %d);", from.text, bytes);
    tc_buf_free(&from);
    return;
  }
  snprintf(place, sizeof place,
           "(tc_%s *)(dst + (m - m0) * stride + (k - k0) / %d * step) + (k - k0) %% %d", store,
           64 / bytes, 64 / bytes);
  tc_omp_mm_open_points(x, x->mm->a, x->am, "m0", "for (int64_t m = m0; m < m0 + rows; ++m)");
  snprintf(longest, sizeof longest, "TC_MIN(TC_L, %d - (k - k0) %% %d)", 64 / bytes, 64 / bytes);
  x->longest = longest; /* no run goes on behind a piece */
  open_lanes(x, x->ak, x->mm->a, "k0", "k0 + kn");
  x->longest = NULL;
  put_vector(x, x->mm->a, store, place);
  tc_omp_mm_close_lanes(x);
  tc_omp_mm_close_points(x, x->mm->a, x->am);
}

/* dst[k][i], vectors along m. */
static void put_a_cols(tc_omp_matmul *x) {
  char place[80];
  snprintf(place, sizeof place, "(tc_%s *)(dst + (k - k0) * stride) + (m - m0)", x->e.store);
  tc_omp_mm_open_points(x, x->mm->a, x->ak, "k0", "for (int64_t k = k0; k < k0 + kn; ++k)");
  open_lanes(x, x->am, x->mm->a, "m0", "m0 + rows");
  put_vector(x, x->mm->a, x->e.store, place);
  tc_omp_mm_close_lanes(x);
  tc_omp_mm_close_points(x, x->mm->a, x->ak);
}

/* A loop over words of n neighbouring values of k. */
static void open_words(tc_omp_matmul *x, int n) {
  tc_print_line(&x->s, "for (int64_t kb = k0; kb < k0 + kn; kb += %d) {", n);
  x->s.indent += 2;
}

static void close_words(tc_omp_matmul *x) {
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* A vector of words of v at kb and kb + 1, the second zero past the last k. */
static void put_pair(tc_omp_matmul *x, tc_val v, const char *place) {
  tc_print_line(&x->s, "tc_vf32 half[2] = {{0}, {0}};");
  tc_print_line(&x->s, "TC_UNROLL for (int h = 0; h < 2; ++h) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "const int64_t k = kb + h;");
  tc_print_line(&x->s, "if (k == k0 + kn) break;");
  uint8_t *outer = tc_print_enter(&x->s);
  tc_print_value(&x->s, v);
  tc_print_line(&x->s, "half[h] = v%u;", v.id);
  tc_print_leave(&x->s, outer);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_print_line(&x->s, "tc_mm_bf16_pair_n(%s, half[0], half[1], rest);", place);
}

/* dst[k / 2][i][2] of bf16, vectors along m. */
static void put_a_pairs(tc_omp_matmul *x) {
  const tc_expr *e = copied(x, x->mm->a, x->am, true);
  tc_buf from = {0};
  if (e) {
    put_rows_of(x, e, "m0", "k0", x->ak, &from);
    tc_print_line(&x->s, "tc_mm_bf16_rows(%s, (tc_u32 *)dst, stride / 2, kn, rows);", from.text);
    tc_buf_free(&from);
    return;
  }
  open_words(x, 2);
  open_lanes(x, x->am, x->mm->a, "m0", "m0 + rows");
  put_pair(x, x->mm->a, "(tc_u32 *)(dst + (kb - k0) * stride) + (m - m0)");
  tc_omp_mm_close_lanes(x);
  close_words(x);
}

/* dst[i][k] of bf16, where memory has m side by side: blocks are transposed. */
static void put_a_blocks(tc_omp_matmul *x, const tc_expr *e) {
  tc_buf from = {0};
  put_rows_of(x, e, "m", "kb", x->ak, &from);
  tc_print_line(&x->s, "tc_mm_u16_transpose_padded(%s, to, stride, rest * 2, deep, deep);",
                from.text);
  tc_buf_free(&from);
}

/* dst[i][k] of bf16, vectors along m: blocks of TC_L rows by TC_L values of k are transposed. */
static void put_a_transposed(tc_omp_matmul *x) {
  const tc_expr *e = copied(x, x->mm->a, x->am, true);
  open_lanes(x, x->am, x->mm->a, "m0", "m0 + rows");
  tc_print_line(&x->s, "for (int64_t kb = k0; kb < k0 + kn; kb += TC_L) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "const int64_t deep = TC_MIN(TC_L, k0 + kn - kb);");
  tc_print_line(
      &x->s,
      "char *const to = dst + (m - m0) * stride + (kb - k0) / 32 * step + (kb - k0) %% 32 * 2;");
  if (e) {
    put_a_blocks(x, e);
  } else {
    tc_print_line(&x->s, "tc_u16 t[TC_L][TC_L] = {{0}}; /* [k][m] */");
    tc_omp_mm_open_points(x, x->mm->a, x->ak, "kb", "for (int64_t k = kb; k < kb + deep; ++k)");
    put_vector(x, x->mm->a, "bf16", "t[k - kb]");
    tc_omp_mm_close_points(x, x->mm->a, x->ak);
    tc_print_line(&x->s,
                  "tc_mm_u16_transpose((const char *)t, sizeof t[0], to, stride, rest, deep);");
  }
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_omp_mm_close_lanes(x);
}

static void put_a_pack(tc_omp_matmul *x) {
  const bool cols = tc_omp_mm_a_cols(x);
  tc_omp_mm_open(x, A_PACK);
  if (x->vnni && cols) {
    tc_put(x->out, "#if TC_ISA == TC_LEVEL_amx\n");
    put_a_transposed(x);
    tc_put(x->out, "#elif TC_ISA == TC_LEVEL_bf16\n");
    put_a_pairs(x);
    tc_put(x->out, "#else\n");
  } else if (x->vnni) {
    tc_put(x->out, "#if TC_ISA >= TC_LEVEL_bf16\n");
    put_a_rows(x, "bf16", 2);
    tc_put(x->out, "#else\n");
  } else if (x->bytes) {
    tc_put(x->out, "#if TC_ISA >= TC_LEVEL_bf16\n");
    put_a_rows(x, tc_dtype_text(x->bytes), 1);
    tc_put(x->out, "#else\n");
  }
  if (cols) put_a_cols(x);
  else put_a_rows(x, x->e.store, x->e.bytes);
  if (tc_omp_mm_quads(x) > 1) tc_put(x->out, "#endif\n");
  tc_omp_mm_close(x);
}

/* ---- B --------------------------------------------------------------------------------------- */

#define B_PACK                                                                                     \
  "static TC_VECTOR_WIDTH void @NAME@_b_pack(const tc_mm *g, int64_t batch, int64_t n0, int64_t "  \
  "cols, "                                                                                         \
  "int64_t nr,\n                                 int64_t k0, int64_t kn, char *dst)"

/* Rows of B that a panel needs are far apart: prefetches row `row` at that column. */
static void put_b_prefetch(tc_omp_matmul *x, const char *row, const char *column) {
  const tc_expr *b = tc_omp_mm_plain(x, x->mm->b);
  const char *const n = x->s.axis[x->an], *const k = x->s.axis[x->ak];
  tc_buf at = {0};
  if (!b) return;
  x->s.axis[x->ak] = row, x->s.axis[x->an] = column;
  tc_print_address(&x->s, &b->address, &at);
  tc_print_line(&x->s, "__builtin_prefetch(b%u + %s);", b->buffer, at.text);
  x->s.axis[x->ak] = k, x->s.axis[x->an] = n;
  tc_buf_free(&at);
}

/* B as memory holds it: a helper of the prelude moves whole vectors. */
static bool put_b_moved(tc_omp_matmul *x, bool vnni) {
  const tc_expr *e = copied(x, x->mm->b, x->an, vnni);
  tc_buf from = {0};
  if (!e) return false;
  put_rows_of(x, e, "n0", "k0", x->ak, &from);
  if (vnni) tc_print_line(&x->s, "tc_mm_bf16_rows(%s, (tc_u32 *)dst, nr, kn, cols);", from.text);
  else
    tc_print_line(&x->s, "tc_mm_rows(%s, dst, nr * %d, kn, cols * %d);", from.text, x->e.bytes,
                  x->e.bytes);
  tc_buf_free(&from);
  return true;
}

/* dst[k][nr], vectors along n. */
static void put_b_rows(tc_omp_matmul *x) {
  if (put_b_moved(x, false) || tc_omp_mm_put_spans(x, false)) return;
  char place[96];
  snprintf(place, sizeof place, "(tc_%s *)dst + (k - k0) * nr + (n - n0)", x->e.store);
  tc_omp_mm_open_points(x, x->mm->b, x->ak, "k0", "for (int64_t k = k0; k < k0 + kn; ++k)");
  put_b_prefetch(x, "(k + 16)", "n0");
  put_b_prefetch(x, "(k + 16)", "(n0 + cols - 1)");
  open_lanes(x, x->an, x->mm->b, "n0", "n0 + cols");
  put_vector(x, x->mm->b, x->e.store, place);
  tc_omp_mm_close_lanes(x);
  tc_omp_mm_close_points(x, x->mm->b, x->ak);
}

/* dst[k / 2][nr][2] of bf16, vectors along n. */
static void put_b_vnni(tc_omp_matmul *x) {
  if (put_b_moved(x, true) || tc_omp_mm_put_spans(x, true)) return;
  open_words(x, 2);
  put_b_prefetch(x, "(kb + 32)", "n0");
  put_b_prefetch(x, "(kb + 33)", "n0");
  open_lanes(x, x->an, x->mm->b, "n0", "n0 + cols");
  put_pair(x, x->mm->b, "(tc_u32 *)dst + (kb - k0) / 2 * nr + (n - n0)");
  tc_omp_mm_close_lanes(x);
  close_words(x);
}

/* dst[k / 4][nr][4] of i8, vectors along n: four neighbouring k are the bytes of a word. */
static void put_b_words(tc_omp_matmul *x) {
  open_words(x, 4);
  open_lanes(x, x->an, x->mm->b, "n0", "n0 + cols");
  tc_print_line(&x->s, "tc_vi32 word = {0};");
  tc_print_line(&x->s, "TC_UNROLL for (int h = 0; h < 4; ++h) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "const int64_t k = kb + h;");
  tc_print_line(&x->s, "if (k >= k0 + kn) break;");
  uint8_t *outer = tc_print_enter(&x->s);
  tc_print_value(&x->s, x->mm->b);
  tc_print_line(&x->s, "word |= (TC_CAST(i32, v%u) & 255) << 8 * h;", x->mm->b.id);
  tc_print_leave(&x->s, outer);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_print_line(&x->s, "tc_storen_i32((tc_i32 *)dst + (kb - k0) / 4 * nr + (n - n0), word, rest);");
  tc_omp_mm_close_lanes(x);
  close_words(x);
}

/* Vectors along k of TC_L columns to t[r]; columns past the last are zero. */
static void put_b_columns(tc_omp_matmul *x, const char *store, const char *from, const char *to,
                          const char *place) {
  tc_omp_mm_open_points(x, x->mm->b, x->an, "nb",
                        "for (int64_t r = 0; r < TC_MIN(TC_L, n0 + cols - nb); ++r)");
  tc_print_line(&x->s, "const int64_t n = nb + r;");
  open_lanes(x, x->ak, x->mm->b, from, to);
  put_vector(x, x->mm->b, store, place);
  tc_omp_mm_close_lanes(x);
  tc_omp_mm_close_points(x, x->mm->b, x->an);
}

/* Prefetches the block that is transposed four blocks later: of the same columns or, past their
 * end, of the next ones. */
static void put_b_block_prefetch(tc_omp_matmul *x, const tc_expr *e, int depth) {
  tc_buf same = {0}, next = {0}, pitch = {0};
  put_source(x, e, "nb", "(kb + later)", &same);
  put_source(x, e, "(nb + TC_L)", "(kb + later - kn)", &next);
  put_pitch(x, e, x->an, &pitch);
  tc_print_line(&x->s, "enum { later = 4 * %d * TC_L };", depth);
  tc_print_line(&x->s, "tc_mm_fetch(kb + later < k0 + kn ? %s", same.text);
  tc_print_line(&x->s, "                                 : %s, %s);", next.text, pitch.text);
  tc_buf_free(&same);
  tc_buf_free(&next);
  tc_buf_free(&pitch);
}

/* dst[k / depth][nr][depth], depth 1, 2 or 4, vectors along k: blocks are transposed. */
static void put_b_transposed(tc_omp_matmul *x, const char *store, const char *word, int depth) {
  const tc_expr *e = copied(x, x->mm->b, x->ak, depth > 1);
  tc_buf from = {0};
  tc_print_line(&x->s, "for (int64_t nb = n0; nb < n0 + cols; nb += TC_L)");
  tc_print_line(&x->s, "  for (int64_t kb = k0; kb < k0 + kn; kb += %d * TC_L) {", depth);
  x->s.indent += 4;
  tc_print_line(&x->s, "const int64_t stop = TC_MIN(kb + %d * TC_L, k0 + kn);", depth);
  tc_print_line(&x->s, "char *const to = (char *)((tc_%s *)dst + (kb - k0) / %d * nr + (nb - n0));",
                word, depth);
  if (e) {
    put_b_block_prefetch(x, e, depth);
    put_rows_of(x, e, "nb", "kb", x->an, &from);
    tc_print_line(
        &x->s,
        "tc_mm_%s_transpose_padded(%s, to, nr * (int64_t)sizeof(tc_%s), (stop - kb) * "
        "(int64_t)sizeof(tc_%s), TC_MIN(TC_L, n0 + cols - nb), TC_MIN(TC_L, n0 + nr - nb));",
        word, from.text, word, store);
  } else {
    tc_print_line(&x->s, "_Alignas(64) tc_%s t[TC_L][%d * TC_L] = {{0}}; /* [n][k] */", store,
                  depth);
    put_b_columns(x, store, "kb", "stop", "t[r] + (k - kb)");
    tc_print_line(
        &x->s,
        "tc_mm_%s_transpose((const char *)t, sizeof t[0], to, nr * (int64_t)sizeof(tc_%s), "
        "(stop - kb + %d) / %d, TC_MIN(TC_L, n0 + nr - nb));",
        word, word, depth - 1, depth);
  }
  tc_buf_free(&from);
  x->s.indent -= 4;
  tc_print_line(&x->s, "  }");
}

/* The word that transposition moves for an element of b bytes. */
static const char *word_of(int bytes) { return bytes == 2 ? "u16" : bytes == 4 ? "u32" : "u64"; }

bool tc_omp_mm_has_spans(const tc_omp_matmul *x) {
  return !tc_mm_is_chain(x->mm) && tc_omp_mm_may_have_spans(x) &&
         tc_omp_mm_lanes(x, x->mm->b, x->an, x->ak) == x->an;
}

static void put_b_pack(tc_omp_matmul *x) {
  const bool cols = tc_omp_mm_lanes(x, x->mm->b, x->an, x->ak) == x->ak;
  tc_omp_mm_open(x, B_PACK);
  if (x->vnni) {
    tc_put(x->out, "#if TC_ISA >= TC_LEVEL_bf16\n");
    tc_print_line(&x->s, "const int64_t pad = -kn & (g->kp - 1); /* kp is a power of two */");
    tc_print_line(&x->s,
                  "if (pad) __builtin_memset(dst + kn / 2 * nr * 4, 0, (kn %% 2 + pad) * nr * 2);");
    if (cols) put_b_transposed(x, "bf16", "u32", 2);
    else put_b_vnni(x);
    tc_put(x->out, "#else\n");
  } else if (x->bytes) {
    tc_put(x->out, "#if TC_ISA >= TC_LEVEL_bf16\n");
    tc_print_line(&x->s, "if (kn %% 4) __builtin_memset(dst + kn / 4 * nr * 4, 0, nr * 4);");
    if (cols) put_b_transposed(x, "i8", "u32", 4);
    else put_b_words(x);
    tc_put(x->out, "#else\n");
  }
  if (cols) put_b_transposed(x, x->e.store, word_of(x->e.bytes), 1);
  else put_b_rows(x);
  if (tc_omp_mm_quads(x) > 1) tc_put(x->out, "#endif\n");
  tc_omp_mm_close(x);
}

void tc_omp_mm_put_operands(tc_omp_matmul *x) {
  const tc_expr *a = tc_omp_mm_plain(x, x->mm->a), *b = tc_omp_mm_plain(x, x->mm->b);
  if (a) put_at(x, "a_at", a, "int64_t m, int64_t k");
  if (b) put_at(x, "b_at", b, "int64_t k, int64_t n");
  const tc_expr *source = tc_omp_mm_b_source(x);
  if (source && source != b) put_at(x, "b_from", source, "int64_t k, int64_t n");
  if (!tc_mm_is_chain(x->mm) || x->inner) put_a_pack(x);
  put_b_pack(x);
}
