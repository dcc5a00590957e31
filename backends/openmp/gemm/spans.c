/* spans.c - packing of a matrix B whose columns run over parts of n, such as the points of a
 * convolution.  Which columns of a panel are neighbours in memory (a span) is found once for all
 * rows; where rows begin, once for all panels of all batches. */
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

/* The part of an address that neither columns nor rows move. */
static tc_address of_batch(const tc_omp_matmul *x, const tc_address *a) {
  tc_address part = *a;
  part.offset = tc_dim_const(0);
  for (int i = x->mm->nbatch; i < TC_MAX_AXES; ++i) part.coef[i] = tc_dim_const(0);
  return part;
}

/* dst[k][nr], or vnni: dst[k / 2][nr][2] of bf16. */
static void put_rows(tc_omp_matmul *x, const tc_expr *e, bool vnni) {
  const tc_address batch = of_batch(x, &e->address);
  tc_buf step = {0}, from = {0};
  put_step(x, e, &step);
  tc_print_address(&x->s, &batch, &from);
  tc_print_line(&x->s, "tc_mm_%s_spans(b%u + %s, (const int64_t *)buf[%u] + k0, kn, %s, span, spans, (tc_%s *)dst, nr);",
                vnni ? "bf16" : x->e.store, e->buffer, from.text, x->k->nbuffer, step.text, vnni ? "u32" : x->e.store);
  tc_buf_free(&step);
  tc_buf_free(&from);
}

bool tc_omp_mm_put_spans(tc_omp_matmul *x, bool vnni) {
  const tc_expr *e = source(x, vnni);
  if (!e) return false;
  put_spans(x, e, vnni);
  put_rows(x, e, vnni);
  return true;
}

bool tc_omp_mm_may_have_spans(const tc_omp_matmul *x) { return source(x, x->vnni); }

tc_dim tc_omp_mm_spans_bytes(const tc_omp_matmul *x) {
  enum { ROW = sizeof(int64_t), LINE = 64 };
  tc_dims *c = tc_graph_dims(x->p->graph);
  return tc_dim_mul(c, tc_dim_ceildiv(c, x->mm->axis[x->ak].extent, tc_dim_const(LINE / ROW)), tc_dim_const(LINE));
}

void tc_omp_mm_put_b_rows(tc_omp_matmul *x) {
  const tc_address rows = along_columns(x, &x->k->expr[x->mm->b.id].address, false);
  tc_buf row = {0};
  if (x->vnni) tc_put(x->out, "#if TC_ISA >= TC_LEVEL_bf16\n");
  tc_omp_mm_open(x, "static void @NAME@_b_rows(const tc_mm *g, int64_t batch)");
  tc_print_line(&x->s, "int64_t *const row = buf[%u];", x->k->nbuffer);
  tc_omp_mm_open_points(x, x->mm->b, x->ak, "0", "for (int64_t k = 0; k < g->k; ++k)");
  tc_print_address(&x->s, &rows, &row);
  tc_print_line(&x->s, "row[k] = %s;", row.text);
  tc_omp_mm_close_points(x, x->mm->b, x->ak);
  tc_put(x->out, "}\n");
  if (x->vnni) tc_put(x->out, "#endif\n");
  tc_buf_free(&row);
}
