/* fill_rows.c - a tile of an operand on its way to rows in shared memory, in the type that it has in
 * memory: an array as it is by copies in the background, of 16 bytes where it lies along the tile's
 * rows and is aligned, else of single elements in the order that it has; any other value is computed
 * and stored.  Outside of the operand are zeros. */
#include "backends/cuda/gemm/matmul.h"

/* Do the operand's neighbours lie along the tile's rows? */
static bool is_along(const tc_cuda_fill *f) { return f->o->along == f->deep.axis; }

/* Opens the loop over items of L neighbours along the operand's own axis: `row` and `near` are where
 * they are in the tile. */
static void open_items(tc_cuda_product *x, const tc_cuda_fill *f) {
  const char *rows = f->outer.count, *wide = f->deep.count;
  const char *outer = x->text[f->outer.axis], *k = x->text[f->deep.axis];
  tc_print_line(&x->s, "_Pragma(\"unroll 4\") for (int item = (int)threadIdx.x * L; item < %s * %s; item += THREADS * L) {", rows, wide);
  x->s.indent += 2;
  if (is_along(f)) tc_print_line(&x->s, "const int row = item / %s, near = item %% %s;", wide, wide);
  else tc_print_line(&x->s, "const int row = item %% %s, near = item / %s;", rows, rows);
  tc_print_line(&x->s, "const tc_int %s = %s + row, %s = %s + near;", outer, f->outer.from, k,
                f->deep.from);
  tc_print_line(&x->s, "const bool live = %s < %s && %s < %s;", outer, f->outer.end, k,
                f->deep.end);
}

static void close_items(tc_cuda_product *x) {
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

static void put_copies(tc_cuda_product *x, const tc_cuda_fill *f, const char *tile,
                       const char *row_at) {
  const tc_expr *e = &x->k->expr[f->o->value.id];
  tc_buf at = {0};
  tc_print_line(&x->s, "constexpr int L = %s%s;", is_along(f) ? (char[]){f->name, 0} : "1",
                is_along(f) ? "_lanes" : "");
  open_items(x, f);
  uint8_t *outer = tc_print_enter(&x->s);
  tc_print_address(&x->s, &e->address, &at);
  if (e->guard.id) {
    tc_print_value(&x->s, e->guard);
    tc_print_line(&x->s, "const bool there = live && v%u[0];", e->guard.id);
  }
  const char *live = e->guard.id ? "there" : "live";
  if (is_along(f))
    tc_print_line(&x->s, "const int some = %s ? (int)TC_MIN((tc_int)L, %s - %s) : 0;", live,
                  f->deep.end, x->text[f->deep.axis]);
  else tc_print_line(&x->s, "const int some = %s;", live);
  tc_print_line(&x->s, "tc_copy_few<L>(%s + %s(row) + near, b%u + (%s ? %s : 0), some);", tile,
                row_at, e->buffer, live, at.text ? at.text : "0");
  tc_print_leave(&x->s, outer);
  close_items(x);
  tc_buf_free(&at);
}

static void put_values(tc_cuda_product *x, const tc_cuda_fill *f, const char *tile,
                       const char *row_at) {
  const char *t = tc_cuda_acc(x);
  tc_print_line(&x->s, "constexpr int TC_L = %c_lanes, L = TC_L;", f->name);
  tc_print_line(&x->s, "TC_TYPES");
  open_items(x, f);
  tc_print_line(&x->s, "tc_v%s part = tc_set_%s(0);", t, t);
  tc_print_line(&x->s, "if (live) {");
  x->s.indent += 2;
  tc_cuda_put_part(x, f->o, (int)f->o->plan.width);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  if (is_along(f)) tc_print_line(&x->s, "tc_store_%s(%s + %s(row) + near, part);", t, tile, row_at);
  else
    tc_print_line(&x->s, "TC_UNROLL for (int l = 0; l < L; ++l) %s[%s(row + l) + near] = part[l];",
                  tile, row_at);
  close_items(x);
}

void tc_cuda_put_tile_rows(tc_cuda_product *x, const tc_cuda_fill *f, const char *tile,
                      const char *row_at) {
  tc_print_line(&x->s, "{ /* %s */", f->what);
  x->s.indent += 2;
  if (f->o->plain) put_copies(x, f, tile, row_at);
  else put_values(x, f, tile, row_at);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}
