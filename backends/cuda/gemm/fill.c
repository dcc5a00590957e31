/* fill.c - a tile of an operand on its way to shared memory: an array as it is by 16-byte copies in the background or,
 * where it is not aligned, in smaller parts by way of registers; any other value is computed and stored where the copy
 * would have put it.  Outside of the operand are zeros. */
#include "backends/cuda/gemm/matmul.h"

static bool is_deep(const tc_cuda_fill *f) { return f->o->along == f->deep.axis; }

static void put_sides(tc_cuda_product *x, const tc_cuda_fill *f) {
  tc_print_line(&x->s, "constexpr int width = %s, rows = %s;", is_deep(f) ? f->deep.count : f->outer.count,
                is_deep(f) ? f->outer.count : f->deep.count);
}

/* Item `number` of the thread, `step` neighbours along the operand's own axis: `near` and `far` in the tile, the axes'
 * numbers, and whether they are inside. */
static void put_item(tc_cuda_product *x, const tc_cuda_fill *f, const char *number, const char *step) {
  const bool deep = is_deep(f);
  const char *outer = x->text[f->outer.axis], *k = x->text[f->deep.axis];
  tc_print_line(&x->s, "const int item = ((int)threadIdx.x + %s * THREADS) * %s;", number, step);
  tc_print_line(&x->s, "const int near = item %% width, far = item / width;");
  tc_print_line(&x->s, "const tc_int %s = %s + %s, %s = %s + %s;", outer, f->outer.from, deep ? "far" : "near", k,
                f->deep.from, deep ? "near" : "far");
  tc_print_line(&x->s, "const bool live = %s < %s && %s < %s;", outer, f->outer.end, k, f->deep.end);
}

/* Opens the loop over the tile. */
static void open_fill(tc_cuda_product *x, const tc_cuda_fill *f, const char *step) {
  put_sides(x, f);
  tc_print_line(&x->s, "TC_UNROLL for (int e = 0; e < %s * %s / (THREADS * %s); ++e) {", f->deep.count, f->outer.count,
                step);
  x->s.indent += 2;
  put_item(x, f, "e", step);
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

/* Parts of an array as it is that are too small for copies in the background: some of a thread's are loaded before the
 * first is stored.  What is outside loads the array's first element. */
static void put_parts(tc_cuda_product *x, const tc_cuda_fill *f) {
  const tc_expr *e = &x->k->expr[f->o->value.id];
  const char *type = tc_print_storage(x->mm->operand);
  tc_buf at = {0};
  tc_print_address(&x->s, &e->address, &at);
  put_sides(x, f);
  tc_print_line(&x->s, "constexpr int L = %c_lanes, all = %s * %s / (THREADS * L), some = all < 16 ? all : 16;", f->name,
                f->deep.count, f->outer.count);
  tc_print_line(&x->s, "TC_UNROLL for (int chunk = 0; chunk < all; chunk += some) {");
  tc_print_line(&x->s, "  tc_held<tc_%s, L> part[some];", type);
  x->s.indent += 2;
  tc_print_line(&x->s, "TC_UNROLL for (int e = 0; e < some; ++e) {");
  x->s.indent += 2;
  put_item(x, f, "(chunk + e)", "L");
  tc_print_line(&x->s, "part[e] = tc_hold<L>(b%u + (live ? %s : 0));", e->buffer, at.text ? at.text : "0");
  close_fill(x);
  tc_print_line(&x->s, "TC_UNROLL for (int e = 0; e < some; ++e) {");
  x->s.indent += 2;
  put_item(x, f, "(chunk + e)", "L");
  tc_print_line(&x->s, "if (!live) part[e] = {};");
  tc_print_line(&x->s, "tc_put_held((tc_%s *)(%c_tile + tc_place<rows>(far, near)), part[e]);", type, f->name);
  close_fill(x);
  close_fill(x);
  tc_buf_free(&at);
}

void tc_cuda_put_fill(tc_cuda_product *x, const tc_cuda_fill *f) {
  if (!f->o->plain) {
    put_values(x, f);
    return;
  }
  tc_print_line(&x->s, "if constexpr (%c_lanes == 8) {", f->name);
  x->s.indent += 2;
  put_copies(x, f);
  x->s.indent -= 2;
  tc_print_line(&x->s, "} else {");
  x->s.indent += 2;
  put_parts(x, f);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}
