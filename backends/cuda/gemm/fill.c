/* fill.c - a tile of an operand on its way to shared memory: by 16-byte copies in the background where it is an array as
 * it is, else computed and stored where the copy would have put it.  Outside of the operand are zeros. */
#include "backends/cuda/gemm/matmul.h"

/* Opens the loop over the tile, `step` neighbours along the operand's own axis at a time: `near` and `far` in the
 * tile, the axes' numbers, and whether they are inside. */
static void open_fill(tc_cuda_product *x, const tc_cuda_fill *f, const char *step) {
  const bool deep = f->o->along == f->deep.axis;
  const char *outer = x->text[f->outer.axis], *k = x->text[f->deep.axis];
  tc_print_line(&x->s, "constexpr int width = %s, rows = %s;", deep ? f->deep.count : f->outer.count,
                deep ? f->outer.count : f->deep.count);
  tc_print_line(&x->s, "TC_UNROLL for (int e = 0; e < %s * %s / (THREADS * %s); ++e) {", f->deep.count, f->outer.count,
                step);
  x->s.indent += 2;
  tc_print_line(&x->s, "const int item = ((int)threadIdx.x + e * THREADS) * %s;", step);
  tc_print_line(&x->s, "const int near = item %% width, far = item / width;");
  tc_print_line(&x->s, "const tc_int %s = %s + %s, %s = %s + %s;", outer, f->outer.from, deep ? "far" : "near", k,
                f->deep.from, deep ? "near" : "far");
  tc_print_line(&x->s, "const bool live = %s < %s && %s < %s;", outer, f->outer.end, k, f->deep.end);
}

static void close_fill(tc_cuda_product *x) {
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

static void put_copies(tc_cuda_product *x, const tc_cuda_fill *f) {
  const tc_expr *e = &x->k->expr[f->o->value.id];
  tc_buf at = {0};
  open_fill(x, f, "8");
  tc_print_address(&x->s, &e->address, &at);
  tc_print_line(&x->s, "tc_copy_async(%c_tile + tc_place<rows>(far, near), b%u + (live ? %s : 0), live);", f->name,
                e->buffer, at.text ? at.text : "0");
  close_fill(x);
  tc_buf_free(&at);
}

static void put_values(tc_cuda_product *x, const tc_cuda_fill *f) {
  const char *type = tc_print_storage(x->mm->operand);
  tc_print_line(&x->s, "constexpr int TC_L = %c_lanes;", f->name);
  tc_print_line(&x->s, "TC_TYPES");
  open_fill(x, f, "TC_L");
  tc_print_line(&x->s, "tc_vf32 part = tc_set_f32(0);");
  tc_print_line(&x->s, "if (live) {");
  x->s.indent += 2;
  tc_cuda_put_part(x, f->o, (int)f->o->plan.width);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_print_line(&x->s, "tc_store_%s((tc_%s *)(%c_tile + tc_place<rows>(far, near)), part);", type, type, f->name);
  close_fill(x);
}

void tc_cuda_put_fill(tc_cuda_product *x, const tc_cuda_fill *f) {
  if (f->o->plain) {
    tc_print_line(&x->s, "if (%c_lanes == 8) {", f->name);
    x->s.indent += 2;
    put_copies(x, f);
    x->s.indent -= 2;
    tc_print_line(&x->s, "} else {");
    x->s.indent += 2;
  }
  put_values(x, f);
  if (f->o->plain) {
    x->s.indent -= 2;
    tc_print_line(&x->s, "}");
  }
}
