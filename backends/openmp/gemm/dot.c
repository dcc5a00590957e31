/* dot.c - a product with few rows (or few columns): bound by reading the large operand once.
 * Packing would move it twice more, so it is printed as a nest that reduces along k.  Where that
 * operand has k contiguous, every element is a dot product of two rows; where it has n contiguous,
 * the result is a sum of its rows, each times a number.  So is a product of few terms, whose tiles
 * are finished as soon as they are begun: nothing is kept in registers, and the epilogue would read
 * them again. */
#include <stdlib.h>
#include <string.h>

#include "backends/openmp/gemm/matmul.h"
#include "backends/openmp/schedule/plan.h"
#include "backends/schedule/schedule.h"

enum {
  /* Rows of A for which reading B, or a B of bytes, for each of them costs less than transposing
   * it. */
  FEW_ROWS = 2,
  FEW_ROWS_OF_BYTES = 4,
  /* Elements of k from which on adding up the lanes of each result is a small part of it; and of
   * words of several, which micro-kernels multiply faster. */
  LONG = 64,
  LONG_WORDS = 512,
  /* The same for so many rows as are jammed, which B is read once for. */
  LONG_JAMMED = 128,
  /* Results for which transposing a B of NEAR bytes, which stays in a second-level cache, costs
   * more than reading it for each row. */
  FEW_RESULTS = 64,
  NEAR = 1 << 18,
  /* Columns of B for which multiplying vectors along k costs less than vectors of columns that are
   * mostly empty. */
  FEW_COLUMNS = 4,
  /* Rows and terms from which on reading an A that is stored by columns for each of FEW_ROWS columns of B
   * costs less than transposing it, and for few more, where the work is too little for a team. */
  LEAST_ROWS = 64,
  LEAST_TERMS = 32,
  ALONE = 500000,
  /* Terms of a result, loaded and added in a nest, that cost less than storing its tile and loading
   * that again. */
  FEW_TERMS = 4,
  COLUMNS = TC_OMP_FULL_VECTORS * TC_OMP_SHORT, /* for these, at least */
  /* Where a tile's sums go into C: rows for which a panel of B is packed for a tile or two, and bytes
   * between rows of C of which a tile's share the sets of a cache. */
  TILE_ROWS = 16,
  SETS = 4096,
  /* Columns from which on, and terms up to which, whole rows of C, one after the other, are written faster than tiles of it,
   * as long as all of B and a row of C stay in a first-level cache.  Loads of more rows of B, of which most cross lines, take
   * longer than the stores. */
  WIDE = 128,
  WIDE_TERMS = 2,
  FIRST_LEVEL = 32 << 10,
  /* Where micro-kernels round their sums: rows times terms after the first, for which the nest takes
   * less than what is packed of B. */
  ROUNDED_WORK = 64
};

/* Has n one part? */
static bool has_columns(const tc_omp_matmul *x) {
  return !tc_mm_is_chain(x->mm) && !tc_mm_parts(x->mm, x->an);
}

/* Can the axis have no more points than that? */
static bool may_be(const tc_omp_matmul *x, int axis, int64_t points) {
  int64_t least, most;
  tc_dim_range(tc_graph_dims(x->p->graph), x->mm->axis[axis].extent, &least, &most);
  return least <= points && most != 0;
}

/* Has it no more? */
static bool is_at_most(const tc_omp_matmul *x, int axis, int64_t points) {
  const tc_dim extent = x->mm->axis[axis].extent;
  return tc_dim_is_const(extent) && tc_dim_value(extent) <= points;
}

/* The axis that A, or B, has contiguous: k, or its other one. */
static int lanes_of_a(const tc_omp_matmul *x) { return tc_omp_mm_lanes(x, x->mm->a, x->ak, x->am); }
static int lanes_of_b(const tc_omp_matmul *x) { return tc_omp_mm_lanes(x, x->mm->b, x->an, x->ak); }

/* Is more done with what is loaded than to widen it?  Packing does that once for each element. */
static bool has_operations(const tc_omp_matmul *x, tc_val v) {
  uint8_t *need = tc_omp_mm_reach(x, v);
  bool any = false;
  for (uint32_t i = 1; need && i <= v.id; ++i) any |= need[i] && x->k->expr[i].kind == TC_EX_OP;
  free(need);
  return any;
}

/* Rows of one operand for which the other one is not worth packing: each part of it is read for all
 * of them before the next one.  Words of several elements are multiplied faster than their elements
 * one by one. */
static int near_rows(const tc_omp_matmul *x) {
  if (!tc_dtype_is_float(x->mm->operand) || has_operations(x, x->mm->a) ||
      has_operations(x, x->mm->b))
    return 1;
  return x->mm->operand == TC_BF16 ? TC_OMP_OUTER - 1 : TC_OMP_OUTER;
}

/* Most rows and columns of a product that is such a nest for them, however large the rest is. */
static int few_rows(const tc_omp_matmul *x) {
  return lanes_of_b(x) == x->an && !x->mm->npart ? near_rows(x) : 1;
}
static int few_columns(const tc_omp_matmul *x) {
  return lanes_of_a(x) == x->am && !x->mm->npart ? near_rows(x) : 1;
}

/* Columns of which a multiple, in rows of C, has these share sets of a cache. */
static int64_t shared_sets(const tc_omp_matmul *x) { return SETS / x->e.sum; }

static tc_dim columns(const tc_omp_matmul *x) { return x->mm->axis[x->an].extent; }

static bool shares_sets(const tc_omp_matmul *x) {
  return tc_dim_multiple(tc_graph_dims(x->p->graph), columns(x)) % shared_sets(x) == 0;
}

/* Are rows of C written one after the other, in all products of so many terms? */
static bool has_wide_rows(const tc_omp_matmul *x, int64_t terms) {
  const tc_dim n = columns(x);
  return terms <= WIDE_TERMS && tc_dim_is_const(n) && tc_dim_value(n) >= WIDE &&
         (terms + 1) * tc_dim_value(n) * x->e.sum <= FIRST_LEVEL;
}

/* May the nest be faster than tiles of few terms; is it for all sizes? */
static bool may_beat_tiles(const tc_omp_matmul *x) {
  return !tc_omp_mm_direct(x) || may_be(x, x->am, TILE_ROWS) || shares_sets(x) ||
         !tc_dim_is_const(columns(x)) || has_wide_rows(x, 1);
}
static bool beats_tiles(const tc_omp_matmul *x) {
  const tc_dim k = x->mm->axis[x->ak].extent;
  if (tc_omp_mm_rounded(x)) return is_at_most(x, x->ak, 1);
  return !tc_omp_mm_direct(x) || is_at_most(x, x->am, TILE_ROWS) || shares_sets(x) ||
         has_wide_rows(x, tc_dim_is_const(k) ? tc_dim_value(k) : FEW_TERMS);
}

/* May a result be of few terms, of which the nest is a loop over rows of B? */
static bool may_have_few_terms(const tc_omp_matmul *x) {
  return !is_at_most(x, x->an, COLUMNS - 1) && tc_dtype_is_float(x->mm->operand) &&
         lanes_of_b(x) == x->an && !tc_mm_parts(x->mm, x->ak) && !tc_mm_parts(x->mm, x->an) &&
         may_be(x, x->ak, FEW_TERMS) && may_beat_tiles(x) && !has_operations(x, x->mm->a) && !has_operations(x, x->mm->b);
}

/* Of few rows B is the large operand, of few columns A.  Where either can be, the planner has lanes
 * for columns. */
static int contiguous_axis(const tc_omp_matmul *x) {
  if (is_at_most(x, x->ak, FEW_TERMS) && may_have_few_terms(x)) return x->an;
  const bool column = is_at_most(x, x->an, few_columns(x)) && !is_at_most(x, x->am, 1);
  return !column && may_be(x, x->am, few_rows(x)) ? lanes_of_b(x) : lanes_of_a(x);
}

/* Lanes run along parts of k, where it has several. */
static bool has_lanes(const tc_omp_matmul *x) {
  return has_columns(x) && (!tc_mm_parts(x->mm, x->ak) || contiguous_axis(x) == x->ak);
}

bool tc_omp_mm_is_dot(const tc_omp_matmul *x) {
  return has_lanes(x) && (is_at_most(x, x->am, 1) || is_at_most(x, x->an, 1) ||
                          (is_at_most(x, x->ak, FEW_TERMS) && !may_be(x, x->an, COLUMNS - 1) &&
                           beats_tiles(x) && may_have_few_terms(x)));
}

bool tc_omp_mm_may_be_dot(const tc_omp_matmul *x) {
  return has_lanes(x) && !tc_omp_mm_is_dot(x) &&
         (may_be(x, x->am, few_rows(x)) || may_be(x, x->an, few_columns(x)) ||
          may_have_few_terms(x));
}

static void put_or(tc_buf *out, bool *first) {
  if (!*first) tc_put(out, " || ");
  *first = false;
}

/* Is B made of bytes alone, which are converted as they are loaded? */
static bool is_b_of_bytes(const tc_omp_matmul *x) {
  uint8_t *need = tc_omp_mm_reach(x, x->mm->b);
  bool all = need && !has_operations(x, x->mm->b);
  for (uint32_t i = 1; all && i <= x->mm->b.id; ++i)
    all = !need[i] || x->k->expr[i].kind != TC_EX_LOAD ||
          tc_dtype_bytes(x->p->buffer[x->k->buffer[x->k->expr[i].buffer]].dtype) == 1;
  free(need);
  return all;
}

/* Both operands have k contiguous. */
static void put_is_few_dots(const tc_omp_matmul *x, const char *m, const char *n, bool *first,
                            tc_buf *out) {
  const bool words = tc_omp_mm_quads(x) > 1;
  tc_buf k = {0};
  tc_print_dim(x->p, x->mm->axis[x->ak].extent, &k);
  put_or(out, first);
  const bool bytes = !words && is_b_of_bytes(x);
  if (!words && !bytes) tc_putf(out, "(%s <= %d && %s >= %d) || ", m, TC_OMP_JAM_ROWS, k.text, LONG_JAMMED);
  tc_putf(out,
          "(%s <= %d && %s >= %d) || (((%s <= %d && %s >= %d) || (%s) * (%s) <= %d) && (%s) * (%s) "
          "<= %d)",
          m, bytes ? FEW_ROWS_OF_BYTES : FEW_ROWS, k.text, LONG, n, FEW_COLUMNS - words, k.text,
          words ? LONG_WORDS : LONG, m, n, FEW_RESULTS, n, k.text, NEAR / x->e.bytes);
  tc_buf_free(&k);
}

/* One row, or up to `few` where the large operand has the columns and rows that loops are
 * interchanged for, and columns for several tasks; `others`: of the columns.  turned: columns, of an
 * A that would be transposed. */
static void put_is_few(const tc_omp_matmul *x, int few, const char *rows, const char *others,
                       bool turned, bool *first, tc_buf *out) {
  enum { TASKS = 2 };
  tc_buf k = {0};
  put_or(out, first);
  tc_print_dim(x->p, x->mm->axis[x->ak].extent, &k);
  tc_putf(out, "%s <= 1", rows);
  if (few > 1)
    tc_putf(out, " || (%s <= %d && %s >= %d && %s >= %d)", rows, few, others,
            TASKS * TC_OMP_RESIDENT, k.text, TC_OMP_LEAST_ROWS);
  if (few > 1 && turned)
    tc_putf(out, " || (%s <= %d && %s >= %d && %s >= %d && (%s <= %d || (%s) * (%s) < %d / (%s)))",
            rows, few, others, LEAST_ROWS, k.text, LEAST_TERMS, rows, FEW_ROWS, rows, others, ALONE,
            k.text);
  tc_buf_free(&k);
}

void tc_omp_mm_put_is_dot(const tc_omp_matmul *x, tc_buf *out) {
  tc_buf m = {0}, n = {0};
  bool first = true;
  tc_print_dim(x->p, x->mm->axis[x->am].extent, &m);
  tc_print_dim(x->p, x->mm->axis[x->an].extent, &n);
  if (may_be(x, x->am, few_rows(x))) put_is_few(x, few_rows(x), m.text, n.text, false, &first, out);
  if (may_be(x, x->an, few_columns(x)) && (!tc_mm_parts(x->mm, x->ak) || lanes_of_a(x) == x->ak))
    put_is_few(x, few_columns(x), n.text, m.text, true, &first, out);
  if (lanes_of_a(x) == x->ak && lanes_of_b(x) == x->ak)
    put_is_few_dots(x, m.text, n.text, &first, out);
  if (contiguous_axis(x) == x->an && may_have_few_terms(x)) {
    tc_buf k = {0};
    put_or(out, &first);
    tc_print_dim(x->p, x->mm->axis[x->ak].extent, &k);
    tc_putf(out, "(%s <= %d && %s >= %d", k.text, FEW_TERMS, n.text, COLUMNS);
    if (tc_omp_mm_rounded(x))
      tc_putf(out, " && (TC_ISA != TC_LEVEL_bf16 || (%s) * ((%s) - 1) <= %d)", m.text, k.text,
              ROUNDED_WORK);
    else if (!beats_tiles(x))
      tc_putf(out, " && (%s <= %d || (%s) %% %lld == 0 || (%s >= %d && %s <= %d && (%s + 1) * (%s) <= %d))", m.text,
              TILE_ROWS, n.text, (long long)shared_sets(x), n.text, WIDE, k.text, WIDE_TERMS, k.text, n.text,
              FIRST_LEVEL / x->e.sum);
    tc_put(out, ")");
    tc_buf_free(&k);
  }
  if (first) tc_put(out, "0");
  tc_buf_free(&m);
  tc_buf_free(&n);
}

static void *copy(tc_program *p, const void *of, size_t bytes, size_t room) {
  void *to = tc_arena_alloc(p->arena, room);
  return to ? memcpy(to, of, bytes) : NULL;
}

/* The axes of the nest: those of the product, each of several parts in place of itself. */
typedef struct dot_axes {
  int n, nparallel, from[TC_MAX_AXES];
} dot_axes;

static dot_axes axes_of(const tc_omp_matmul *x) {
  dot_axes d = {0};
  for (int i = 0; i <= x->ak; ++i) {
    const uint32_t parts = tc_mm_parts(x->mm, i);
    if (i == x->ak) d.nparallel = d.n;
    if (!parts) d.from[d.n++] = i;
    for (int j = tc_mm_first_part(x->mm); j < tc_mm_axes(x->mm); ++j)
      if (parts >> j & 1) d.from[d.n++] = j;
  }
  return d;
}

/* The innermost axis of the nest that the product's axis became. */
static int innermost(const tc_omp_matmul *x, const dot_axes *d, int axis) {
  int at = 0;
  for (int i = 0; i < d->n; ++i)
    if (d->from[i] == axis || x->mm->axis[d->from[i]].of == axis) at = i;
  return at;
}

/* In axes of the nest: a step along an axis is one along each of its parts. */
static void by_parts(const tc_omp_matmul *x, const dot_axes *d, tc_dims *c, tc_address *a) {
  const tc_address product = *a;
  for (int i = 0; i < TC_MAX_AXES; ++i) a->coef[i] = tc_dim_const(0);
  for (int i = 0; i < d->n; ++i) {
    const int of = x->mm->axis[d->from[i]].of;
    a->coef[i] = product.coef[d->from[i]];
    if (d->from[i] > x->ak)
      a->coef[i] = tc_dim_add(c, a->coef[i],
                              tc_dim_mul(c, product.coef[of], tc_mm_inner(c, x->mm, d->from[i])));
  }
}

/* outer batch, m, n; inner k: reduce #0 = sum of a * b; then the epilogue. */
static bool make_nest(const tc_omp_matmul *x, tc_program *p, tc_val product, tc_nest *nest) {
  tc_dims *c = tc_graph_dims(p->graph);
  const tc_action sum = {
      .kind = TC_ACT_REDUCE, .reducer = TC_REDUCE_SUM, .value = product, .dtype = x->mm->acc};
  const dot_axes d = axes_of(x);
  const uint32_t deep = (1u << d.n) - (1u << d.nparallel);
  tc_stage stage[2] = {{.axes = deep, .naction = 1}, x->mm->epilogue};
  const size_t bytes = stage[1].naction * sizeof *stage[1].action;
  stage[0].action = copy(p, &sum, sizeof sum, sizeof sum);
  stage[1].action = copy(p, stage[1].action, bytes, bytes);
  stage[1].axes = 0;
  *nest = (tc_nest){.naxis = d.n,
                    .nparallel = d.nparallel,
                    .nstage = 2,
                    .stage = copy(p, stage, sizeof stage, sizeof stage),
                    .nresult = 1,
                    .vector = innermost(x, &d, contiguous_axis(x)),
                    .work = tc_dim_const(1)};
  for (int i = 0; i < nest->naxis; ++i) {
    nest->axis[i] = x->mm->axis[d.from[i]];
    nest->axis[i].of = -1;
    nest->work = tc_dim_mul(c, nest->work, nest->axis[i].extent);
  }
  for (uint32_t i = 0; stage[1].action && i < stage[1].naction; ++i)
    by_parts(x, &d, c, &stage[1].action[i].address);
  return nest->stage && stage[0].action && stage[1].action;
}

tc_kernel *tc_omp_mm_make_dot(const tc_omp_matmul *x, tc_program *p) {
  const uint32_t n = x->k->nexpr;
  tc_kernel *k = copy(p, x->k, sizeof *k, sizeof *k);
  if (!k) return NULL;
  k->kind = TC_KERNEL_NESTS;
  k->expr = copy(p, x->k->expr, n * sizeof *k->expr, (n + 1) * sizeof *k->expr);
  k->nexpr = n + 1;
  k->nest = tc_arena_alloc(p->arena, sizeof *k->nest);
  k->nnest = 1;
  if (!k->expr || !k->nest || !make_nest(x, p, (tc_val){n}, k->nest)) return NULL;
  const dot_axes d = axes_of(x);
  for (uint32_t i = 1; i < n; ++i)
    if (tc_expr_has_address(&k->expr[i]))
      by_parts(x, &d, tc_graph_dims(p->graph), &k->expr[i].address);
  k->expr[n] =
      (tc_expr){.kind = TC_EX_OP, .op = OP_MUL, .dtype = x->mm->acc, .in = {x->mm->a, x->mm->b}};
  return k;
}

bool tc_omp_mm_emit_dot(const tc_omp_matmul *x) {
  const tc_schedule *s = x->k->schedule;
  return s && s->product && tc_omp_emit_nests(s->product, x->p, x->out);
}
