/* winograd.c - convolutions with windows of 3 x 3 neighbours in f32, which need fewer multiplications than the product that
 * they are (prelude/85_winograd.c): where that costs less is decided from their sizes when they run. */
#include "backends/openmp/gemm/matmul.h"

enum { WINDOW = 3 };

/* k runs over channels and the rows and columns of windows, n over images, where these are no batches (-1), and the rows
 * and columns of results. */
typedef struct places {
  int c, r, s, i, y, x;
} places;

/* The parts of an axis in their order; false: they are not so many. */
static bool find_parts(const tc_omp_matmul *x, int axis, int n, int *const part[]) {
  const uint32_t parts = tc_mm_parts(x->mm, axis);
  if (__builtin_popcount(parts) != n) return false;
  for (int i = 0, at = 0; at < n; ++i)
    if (parts >> i & 1) *part[at++] = i;
  return true;
}

static bool find_places(const tc_omp_matmul *x, places *p) {
  int *const deep[] = {&p->c, &p->r, &p->s}, *const points[] = {&p->i, &p->y, &p->x};
  p->i = -1;
  return find_parts(x, x->ak, 3, deep) && (find_parts(x, x->an, 2, points + 1) || find_parts(x, x->an, 3, points));
}

/* The load of the image, of which windows are neighbours along its last two axes; NULL: B is none. */
static const tc_expr *image_of(const tc_omp_matmul *x, places *p) {
  const tc_expr *e = &x->k->expr[x->mm->b.id];
  if (e->kind != TC_EX_LOAD || e->guard.id || e->address.nterm || !find_places(x, p)) return NULL;
  const tc_dim *coef = e->address.coef;
  const tc_axis *axis = x->mm->axis;
  const bool windows = tc_dim_is(axis[p->r].extent, WINDOW) && tc_dim_is(axis[p->s].extent, WINDOW);
  const bool apart = tc_dim_is(coef[p->s], 1) && tc_dim_is(coef[p->x], 1) && tc_dim_same(coef[p->r], coef[p->y]);
  const bool whole = tc_dim_is(coef[x->an], 0) && tc_dim_is(coef[x->ak], 0);
  return windows && apart && whole && tc_omp_mm_same(x, x->p->buffer[x->k->buffer[e->buffer]].dtype) ? e : NULL;
}

bool tc_omp_mm_is_winograd(const tc_omp_matmul *x) {
  enum { FEW_ROWS = 8 };
  places p;
  const tc_dim rows = x->mm->axis[x->am].extent;
  const bool few = tc_dim_is_const(rows) && tc_dim_value(rows) < FEW_ROWS;
  const bool one = !(x->s.depends[x->mm->a.id] & ((1u << x->mm->nbatch) - 1)); /* the same weights for all images */
  return x->mm->operand == TC_F32 && !tc_mm_is_chain(x->mm) && !x->mm->packed && !few && one && image_of(x, &p);
}

tc_dim tc_omp_mm_winograd_bytes(const tc_omp_matmul *x) {
  enum { BYTES = 16 * 4, TALLEST = 8, SPARE = 16 }; /* each of 16 positions has room for a vector more in a row panel */
  tc_dims *d = tc_graph_dims(x->p->graph);
  places p;
  image_of(x, &p);
  const tc_dim rows = tc_dim_add(d, x->mm->axis[x->am].extent, tc_dim_const(TALLEST));
  const tc_dim deep = tc_dim_add(d, x->mm->axis[p.c].extent, tc_dim_const(SPARE / 2));
  return tc_dim_mul(d, tc_dim_mul(d, deep, rows), tc_dim_const(BYTES));
}

void tc_omp_mm_put_image(tc_omp_matmul *x) {
  places p;
  const tc_expr *e = image_of(x, &p);
  tc_address first = e->address;
  tc_buf address = {0};
  for (int i = x->mm->nbatch; i < TC_MAX_AXES; ++i) first.coef[i] = tc_dim_const(0);
  tc_omp_mm_open(x, "static const char *@NAME@_image(const tc_mm *g, int64_t batch)");
  tc_print_address(&x->s, &first, &address);
  tc_print_line(&x->s, "return (const char *)(b%u + %s);", e->buffer, address.text);
  tc_put(x->out, "}\n");
  tc_buf_free(&address);
}

static void put_size(const tc_omp_matmul *x, const char *name, tc_dim size, int bytes) {
  tc_putf(x->out, ".%s = (", name);
  tc_print_dim(x->p, size, x->out);
  tc_putf(x->out, ") * %d, ", bytes);
}

void tc_omp_mm_put_winograd(const tc_omp_matmul *x) {
  places p;
  const tc_dim *coef = image_of(x, &p)->address.coef;
  tc_put(x->out, "  const tc_mm_winograd w = {\n      .g = &g, ");
  put_size(x, "images", p.i < 0 ? tc_dim_const(1) : x->mm->axis[p.i].extent, 1);
  put_size(x, "image_step", p.i < 0 ? tc_dim_const(0) : coef[p.i], x->e.bytes);
  put_size(x, "c", x->mm->axis[p.c].extent, 1);
  put_size(x, "h", x->mm->axis[p.y].extent, 1);
  put_size(x, "w", x->mm->axis[p.x].extent, 1);
  put_size(x, "c_step", coef[p.c], x->e.bytes);
  put_size(x, "row_step", coef[p.y], x->e.bytes);
  tc_put(x->out, "\n      .lanes = TC_L, .image = @NAME@_image, .weights = tc_mm_winograd_weights, "
                 ".tiles = tc_mm_winograd_tiles,\n      .results = tc_mm_winograd_results};\n");
}
