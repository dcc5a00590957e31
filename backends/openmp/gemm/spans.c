/* spans.c - packing of a matrix B whose columns run over parts of n, such as the points of a
 * convolution.  Which columns of a panel are neighbours in memory (a span) is found once for all
 * rows. */
#include "backends/openmp/gemm/matmul.h"

/* The load that B is, where its address is a sum of one of k and one of n, and memory has the
 * packed type. */
static const tc_expr *source(const tc_omp_matmul *x, bool vnni) {
  const tc_expr *e = &x->k->expr[x->mm->b.id];
  if (e->kind != TC_EX_LOAD || e->guard.id || e->address.nterm ||
      !tc_omp_mm_by_parts(x, x->mm->b, x->an))
    return NULL;
  const tc_dtype d = x->p->buffer[x->k->buffer[e->buffer]].dtype;
  return (vnni ? d == TC_BF16 : tc_omp_mm_same(x, d)) ? e : NULL;
}

/* The part of an address that steps along n, or all but that. */
static tc_address along_columns(const tc_omp_matmul *x, const tc_address *a, bool columns) {
  const uint32_t axes = 1u << x->an | tc_mm_parts(x->mm, x->an);
  tc_address part = *a;
  if (columns) part.offset = tc_dim_const(0);
  for (int i = 0; i < TC_MAX_AXES; ++i)
    if ((axes >> i & 1) != columns) part.coef[i] = tc_dim_const(0);
  return part;
}

static void put_step(const tc_omp_matmul *x, const tc_expr *e, tc_buf *out) {
  tc_print_dim(x->p, tc_mm_step(tc_graph_dims(x->p->graph), x->mm, &e->address, x->an), out);
}

/* Declares the spans of the panel; vnni: their pieces. */
static void put_spans(tc_omp_matmul *x, const tc_expr *e, bool vnni) {
  const tc_address columns = along_columns(x, &e->address, true);
  tc_buf from = {0}, step = {0};
  put_step(x, e, &step);
  tc_print_line(&x->s, "%s span[TC_MM_WIDEST];", vnni ? "tc_mm_piece" : "tc_mm_span");
  tc_print_line(&x->s, "int64_t spans = 0;");
  tc_omp_mm_open_runs(x, x->an, NULL, "n0", "n0 + cols");
  tc_print_address(&x->s, &columns, &from);
  if (vnni) tc_print_line(&x->s, "spans = tc_mm_add_pieces(span, spans, %s, n - n0, rest, %s, nr);", from.text, step.text);
  else tc_print_line(&x->s, "span[spans++] = (tc_mm_span){%s, n - n0, rest};", from.text);
  tc_omp_mm_close_lanes(x);
  tc_buf_free(&from);
  tc_buf_free(&step);
}

/* `b<i> + ` where row k begins. */
static void put_row(tc_omp_matmul *x, const tc_expr *e, tc_buf *out) {
  const tc_address rows = along_columns(x, &e->address, false);
  tc_putf(out, "b%u + ", e->buffer);
  tc_print_address(&x->s, &rows, out);
}

/* dst[k][nr], or vnni: dst[k / 2][nr][2] of bf16.  Of some rows it is found where they begin, then all of them are
 * packed, a vector of columns after the other. */
static void put_rows(tc_omp_matmul *x, const tc_expr *e, bool vnni) {
  const bool parts = tc_omp_mm_by_parts(x, x->mm->b, x->ak);
  tc_buf row = {0}, step = {0};
  put_step(x, e, &step);
  if (parts) tc_omp_mm_open_parts(x, x->ak, "k0");
  tc_print_line(&x->s, "for (int64_t kb = k0, rows; kb < k0 + kn; kb += rows) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_%s *row[TC_MM_AT_ONCE];", vnni ? "bf16" : x->e.store);
  tc_print_line(&x->s, "rows = TC_MIN(TC_MM_AT_ONCE, k0 + kn - kb);");
  tc_print_line(&x->s, "for (int64_t k = kb; k < kb + rows; ++k) {");
  x->s.indent += 2;
  put_row(x, e, &row);
  tc_print_line(&x->s, "row[k - kb] = %s;", row.text);
  if (parts) tc_omp_mm_close_parts(x, x->ak, "1");
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  if (vnni)
    tc_print_line(&x->s, "tc_mm_bf16_spans(row, rows, %s, span, spans, (tc_u32 *)dst + (kb - k0) / 2 * nr, nr);", step.text);
  else
    tc_print_line(&x->s, "tc_mm_spans_%s(row, rows, %s, span, spans, (tc_%s *)dst + (kb - k0) * nr, nr);", x->e.store,
                  step.text, x->e.store);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_buf_free(&row);
  tc_buf_free(&step);
}

bool tc_omp_mm_put_spans(tc_omp_matmul *x, bool vnni) {
  const tc_expr *e = source(x, vnni);
  if (!e) return false;
  put_spans(x, e, vnni);
  put_rows(x, e, vnni);
  return true;
}
