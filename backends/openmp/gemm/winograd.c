/* winograd.c - convolutions with windows of 3 x 3 neighbours in f32, which need fewer
 * multiplications than the product that they are (prelude/85_winograd.c): where that costs less is
 * decided from their sizes when they run. */
#include "backends/openmp/gemm/matmul.h"

enum { WINDOW = 3 };

/* A window is over channels and its rows and columns; a place is in an image, where these are no
 * batches (-1), and its rows and columns.  A convolution sums up over windows and has results at
 * places, the gradient of its weights the other way round. */
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

static bool find_places(const tc_omp_matmul *x, int windows, int results, places *p) {
  int *const deep[] = {&p->c, &p->r, &p->s}, *const points[] = {&p->i, &p->y, &p->x};
  p->i = -1;
  return find_parts(x, windows, 3, deep) &&
         (find_parts(x, results, 2, points + 1) || find_parts(x, results, 3, points));
}

/* v as a bare load of f32 that steps along parts of k alone. */
static const tc_expr *load_of(const tc_omp_matmul *x, tc_val v) {
  const tc_expr *e = &x->k->expr[v.id];
  const bool bare = e->kind == TC_EX_LOAD && !e->guard.id && !e->address.nterm;
  if (!bare || !tc_dim_is(e->address.coef[x->ak], 0)) return NULL;
  return tc_omp_mm_same(x, x->p->buffer[x->k->buffer[e->buffer]].dtype) ? e : NULL;
}

/* The load of the images, of which windows are neighbours along the last two axes; NULL: B is
 * none. */
static const tc_expr *image_of(const tc_omp_matmul *x, const places *p) {
  const tc_expr *e = load_of(x, x->mm->b);
  if (!e) return NULL;
  const tc_dim *coef = e->address.coef;
  const tc_axis *axis = x->mm->axis;
  const bool windows = tc_dim_is(axis[p->r].extent, WINDOW) && tc_dim_is(axis[p->s].extent, WINDOW);
  const bool apart =
      tc_dim_is(coef[p->s], 1) && tc_dim_is(coef[p->x], 1) && tc_dim_same(coef[p->r], coef[p->y]);
  return windows && apart && tc_dim_is(coef[x->an], 0) ? e : NULL;
}

/* The load of what is multiplied with the images of a gradient, of which columns are neighbours;
 * NULL: A is none. */
static const tc_expr *rows_of(const tc_omp_matmul *x, const places *p) {
  const tc_expr *e = load_of(x, x->mm->a);
  return e && tc_dim_is(e->address.coef[p->x], 1) && !tc_omp_mm_by_parts(x, x->mm->a, x->am) ? e
                                                                                             : NULL;
}

static bool is_f32_product(const tc_omp_matmul *x) {
  enum { FEW_ROWS = 8 };
  const tc_dim rows = x->mm->axis[x->am].extent;
  const bool few = tc_dim_is_const(rows) && tc_dim_value(rows) < FEW_ROWS;
  return x->mm->operand == TC_F32 && !tc_mm_is_chain(x->mm) && !x->mm->packed && !few;
}

bool tc_omp_mm_is_winograd_gradient(const tc_omp_matmul *x) {
  places p;
  return is_f32_product(x) && x->mm->nbatch == 0 && find_places(x, x->an, x->ak, &p) &&
         image_of(x, &p) && rows_of(x, &p);
}

bool tc_omp_mm_is_winograd(const tc_omp_matmul *x) {
  places p;
  /* the same weights for all images */
  const bool one = !(x->s.depends[x->mm->a.id] & ((1u << x->mm->nbatch) - 1));
  return is_f32_product(x) && one && find_places(x, x->ak, x->an, &p) && image_of(x, &p);
}

tc_dim tc_omp_mm_winograd_bytes(const tc_omp_matmul *x) {
  /* each of 16 positions has room for a vector more in a row panel */
  enum { BYTES = 16 * 4, TALLEST = 8, SPARE = 16 };
  tc_dims *d = tc_graph_dims(x->p->graph);
  places p;
  find_places(x, x->ak, x->an, &p);
  const tc_dim rows = tc_dim_add(d, x->mm->axis[x->am].extent, tc_dim_const(TALLEST));
  const tc_dim deep = tc_dim_add(d, x->mm->axis[p.c].extent, tc_dim_const(SPARE / 2));
  return tc_dim_mul(d, tc_dim_mul(d, deep, rows), tc_dim_const(BYTES));
}

/* `name`: the address of e's first element of a batch. */
static void put_first(tc_omp_matmul *x, const char *name, const tc_expr *e) {
  tc_address first = e->address;
  tc_buf address = {0}, head = {0};
  for (int i = x->mm->nbatch; i < TC_MAX_AXES; ++i) first.coef[i] = tc_dim_const(0);
  tc_putf(&head, "static const char *@NAME@_%s(const tc_mm *g, int64_t batch)", name);
  tc_omp_mm_open(x, head.text);
  tc_print_address(&x->s, &first, &address);
  tc_print_line(&x->s, "return (const char *)(b%u + %s);", e->buffer, address.text);
  tc_put(x->out, "}\n");
  tc_buf_free(&address);
  tc_buf_free(&head);
}

void tc_omp_mm_put_image(tc_omp_matmul *x) {
  places p;
  const bool gradient = tc_omp_mm_is_winograd_gradient(x);
  find_places(x, gradient ? x->an : x->ak, gradient ? x->ak : x->an, &p);
  put_first(x, "image", image_of(x, &p));
  if (gradient) put_first(x, "rows", rows_of(x, &p));
}

static void put_size(const tc_omp_matmul *x, const char *name, tc_dim size, int bytes) {
  tc_putf(x->out, ".%s = (", name);
  tc_print_dim(x->p, size, x->out);
  tc_putf(x->out, ") * %d, ", bytes);
}

static void put_images(const tc_omp_matmul *x, const places *p) {
  const tc_dim *coef = image_of(x, p)->address.coef;
  put_size(x, "images", p->i < 0 ? tc_dim_const(1) : x->mm->axis[p->i].extent, 1);
  put_size(x, "c", x->mm->axis[p->c].extent, 1);
  put_size(x, "h", x->mm->axis[p->y].extent, 1);
  put_size(x, "w", x->mm->axis[p->x].extent, 1);
  put_size(x, "image_step", p->i < 0 ? tc_dim_const(0) : coef[p->i], x->e.bytes);
  put_size(x, "c_step", coef[p->c], x->e.bytes);
  put_size(x, "row_step", coef[p->y], x->e.bytes);
}

void tc_omp_mm_put_winograd(const tc_omp_matmul *x) {
  places p;
  find_places(x, x->ak, x->an, &p);
  tc_put(x->out, "  const tc_mm_winograd w = {\n      .g = &g, ");
  put_images(x, &p);
  tc_put(x->out, "\n      .lanes = TC_L, .image = @NAME@_image, .weights = tc_mm_winograd_weights, "
                 ".tiles = tc_mm_winograd_tiles,\n      .results = tc_mm_winograd_results};\n");
}

void tc_omp_mm_put_winograd_gradient(const tc_omp_matmul *x) {
  places p;
  find_places(x, x->an, x->ak, &p);
  const tc_dim *coef = rows_of(x, &p)->address.coef;
  tc_put(x->out, "  const tc_mm_winograd_gradient w = {\n      .g = &g, ");
  put_images(x, &p);
  put_size(x, "a_image_step", p.i < 0 ? tc_dim_const(0) : coef[p.i], x->e.bytes);
  put_size(x, "m_step", coef[x->am], x->e.bytes);
  put_size(x, "a_row_step", coef[p.y], x->e.bytes);
  tc_put(x->out, "\n      .lanes = TC_L, .image = @NAME@_image, .rows = @NAME@_rows, .tiles = tc_mm_winograd_tiles, "
                 ".places = tc_mm_winograd_places,\n      .transpose = tc_mm_winograd_transpose, .weights = tc_mm_winograd_sums};\n");
}
