/* padding.c - intermediates with padded rows.
 *
 * Products of halves read matrices and write them several times as fast where rows are aligned to
 * the accesses of the machine, which rows of an odd number of columns are not: logits of a
 * vocabulary of 50,257, and their gradient.  An intermediate that a product has to do with, and
 * that all kernels access by rows (rows.h), gets rows that begin where `row_bytes` of the target
 * divide; what lies between them is never read. */
#include "lower/memory/rows.h"

static int64_t row_elements(const lo *L, const tc_buffer *b) {
  return L->target->row_bytes / (int64_t)tc_dtype_bytes(b->dtype);
}

/* Rows that are not aligned, or may not be, and of which padding is at most an eighth, where their
 * width is known. */
static bool has_unaligned_rows(const lo *L, const tc_buffer *b) {
  if (b->kind != TC_BUF_ARENA || b->layout.strided || !b->node.id || b->type.rank < 2) return false;
  const tc_dim width = b->type.dim[b->type.rank - 1];
  const int64_t each = row_elements(L, b);
  if (each < 2 || !tc_dim_same(b->numel, tc_type_numel(L->dims, &b->type))) return false;
  if (tc_dim_is_const(width))
    return tc_dim_value(width) % each && tc_dim_value(width) >= 8 * (each - 1);
  return tc_dim_multiple(L->dims, width) % each;
}

static bool all_are_by_rows(const lo_rows *r) {
  const tc_program *p = r->L->p;
  for (uint32_t i = 0; i < p->nkernel; i++)
    if (lo_names(&p->kernel[i], r->buffer) && !lo_is_by_rows(r, &p->kernel[i])) return false;
  return true;
}

/* Row-major, with rows `pitch` elements apart. */
static tc_buf_layout layout_of(lo *L, const tc_type *t, tc_dim pitch) {
  tc_buf_layout l = {.strided = true};
  tc_dim stride = tc_dim_const(1);
  for (int i = t->rank; i-- > 0;) {
    l.axis[i] = (tc_buf_axis){.stride = stride, .block = 1, .within = tc_dim_const(0)};
    stride = tc_dim_mul(L->dims, stride, i + 1 == t->rank ? pitch : t->dim[i]);
  }
  return l;
}

static void pad(lo *L, uint32_t buffer) {
  tc_buffer *b = &L->p->buffer[buffer];
  if (!has_unaligned_rows(L, b)) return;
  const lo_rows r = {L, buffer, b->type.dim[b->type.rank - 1]};
  if (!all_are_by_rows(&r)) return;
  const tc_dim each = tc_dim_const(row_elements(L, b));
  const tc_dim pitch = tc_dim_mul(L->dims, tc_dim_ceildiv(L->dims, r.width, each), each);
  const tc_buf_layout layout = layout_of(L, &b->type, pitch);
  const tc_dim numel = tc_layout_numel(L->dims, &b->type, &layout);
  if (tc_dim_bad(numel)) return;
  for (uint32_t i = 0; i < L->p->nkernel; i++)
    if (lo_names(&L->p->kernel[i], buffer)) lo_set_pitch(&r, &L->p->kernel[i], pitch);
  b->layout = layout, b->numel = numel;
}

static bool is_product_of_halves(const tc_kernel *k) {
  return k->kind == TC_KERNEL_MATMUL && tc_dtype_is_half(k->mm.operand);
}

void lo_pad_rows(lo *L) {
  for (uint32_t i = 0; L->target->row_bytes && i < L->p->nkernel; i++) {
    const tc_kernel *k = &L->p->kernel[i];
    for (uint32_t j = 0; is_product_of_halves(k) && j < k->nbuffer; j++) pad(L, k->buffer[j]);
  }
}
