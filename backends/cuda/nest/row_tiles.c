/* row_tiles.c - the rows of a block, which are one piece of memory, in shared memory: what the
 * stages load is brought there in front of them, and what they store is taken from there behind
 * them, 16 bytes at a time. */
#include "backends/cuda/nest/nest.h"

#include "backends/print/print_impl.h"

static const tc_address *tile_of(const tc_cuda_nest *x, uint32_t buffer) {
  return tc_cuda_row_tile(x->s.k, x->s.p, x->nest, x->need, buffer);
}

static const char *storage_of(const tc_cuda_nest *x, uint32_t buffer) {
  return tc_print_storage(x->s.p->buffer[x->s.k->buffer[buffer]].dtype);
}

static bool is_stored(const tc_cuda_nest *x, uint32_t buffer) {
  return tc_kernel_writes(x->s.k, buffer);
}

/* The elements from the end of a row to the next one, of an operand with a pitch: empty text. */
static void put_gap(const tc_cuda_nest *x, const tc_address *a, const char *length, tc_buf *out) {
  const int inner = x->nest->nparallel - 1; /* its points are rows one behind the other */
  if (tc_dim_same(a->coef[inner], tc_dense_step(x->s.p, a->coef[inner]))) return;
  tc_print_dim(x->s.p, a->coef[inner], out);
  tc_putf(out, " - (%s)", length);
}

/* tile<b>: the elements of the rows from `first` on. */
static void declare_tile(tc_cuda_nest *x, uint32_t buffer, const tc_address *a) {
  tc_buf length = {0}, offset = {0}, gap = {0};
  tc_print_extent(&x->s, &x->nest->axis[x->nest->vector], &length);
  tc_print_dim(x->s.p, a->offset, &offset);
  put_gap(x, a, length.text, &gap);
  tc_print_line(&x->s,
                "tc_row_tile<tc_%s, tc_int> tile%u(b%u + (%s)%s%s%s, (tc_int)(%s) * first, rows * (tc_int)(%s), "
                "most * (tc_int)(%s), &room);",
                storage_of(x, buffer), buffer, buffer, offset.text, gap.len ? " + (tc_int)(" : "",
                gap.len ? gap.text : "", gap.len ? ") * first" : "", length.text, length.text, length.text);
  if (!is_stored(x, buffer) && gap.len)
    tc_print_line(&x->s, "tile%u.fill((tc_int)(%s), (tc_int)(%s));", buffer, length.text, gap.text);
  else if (!is_stored(x, buffer)) tc_print_line(&x->s, "tile%u.fill();", buffer);
  tc_buf_free(&length);
  tc_buf_free(&offset);
  tc_buf_free(&gap);
}

void tc_cuda_open_row_tiles(tc_cuda_nest *x) {
  tc_print_line(&x->s, "const tc_int most = threads.rows * (tc_int)(group >> 32); /* rows of a tile */");
  tc_print_line(&x->s, "for (tc_int first = (tc_int)blockIdx.x * most; first < points; first += (tc_int)gridDim.x * most) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_int rows = TC_MIN(most, points - first);");
  tc_print_line(&x->s, "uint4 *room = tc_shared;");
  for (uint32_t b = 0; b < x->s.k->nbuffer; ++b)
    if (tile_of(x, b)) declare_tile(x, b, tile_of(x, b));
  tc_print_line(&x->s, "__syncthreads();");
  tc_print_line(&x->s, "for (tc_int base = 0; base < rows; base += threads.rows) {");
  x->s.indent += 2;
  tc_print_line(&x->s,
                "const tc_int own = base + threads.row, point = first + TC_MIN(own, rows - 1);");
  tc_print_line(&x->s, "const bool live = own < rows;");
  tc_buf length = {0};
  tc_print_extent(&x->s, &x->nest->axis[x->nest->vector], &length);
  tc_print_line(&x->s, "const int row = (int)(point - first) * (int)(%s); /* where it is in each tile */", length.text);
  tc_buf_free(&length);
}

void tc_cuda_close_row_tiles(tc_cuda_nest *x) {
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_print_line(&x->s, "__syncthreads();");
  for (uint32_t b = 0; b < x->s.k->nbuffer; ++b)
    if (tile_of(x, b) && is_stored(x, b)) tc_print_line(&x->s, "tile%u.drain();", b);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

bool tc_cuda_take_tiled_load(const tc_cuda_nest *x, uint32_t id, tc_buf *out) {
  if (!x->tiled || !tc_cuda_loads_by_tile(x->s.k, x->s.p, x->nest, x->need, id)) return false;
  const tc_expr *e = &x->s.k->expr[id];
  tc_putf(out, "tc_load_%s(tile%u.at(row + %s))", storage_of(x, e->buffer), e->buffer, x->axis_text[x->nest->vector]);
  return true;
}

bool tc_cuda_take_tiled_store(tc_cuda_nest *x, const tc_action *a) {
  if (!x->tiled || !tc_cuda_stores_by_tile(x->s.k, x->s.p, x->nest, x->need, a)) return false;
  tc_print_line(&x->s, "tc_store_%s(tile%u.at(row + %s), v%u);", storage_of(x, a->buffer), a->buffer,
                x->axis_text[x->nest->vector], a->value.id);
  return true;
}
