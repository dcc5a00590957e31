/* product.c - see product.h. */
#include "backends/cuda/schedule/product.h"

#include "backends/cuda/schedule/plan.h"
#include "backends/print/print.h"

#include <stdlib.h>
#include <string.h>

/* ---- operands as nests ----------------------------------------------------------------------- */

/* Of mm.axis, for an operand. */
static int axis_of(const tc_mm_loop *mm, int which, tc_cuda_along along) {
  return mm->nbatch + (int)along + (along == TC_CUDA_ALONG_D && which >= TC_CUDA_SECOND_A);
}

int tc_cuda_operands(const tc_mm_loop *mm) { return TC_CUDA_INNER_A + 2 * mm->inner.n; }

/* Its two axes: across what is summed, and along. */
static tc_cuda_along outer_of(int which) {
  switch (which) {
  case TC_CUDA_A:
  case TC_CUDA_INNER_A:
  case TC_CUDA_SECOND_A: return TC_CUDA_ALONG_M;
  case TC_CUDA_B: return TC_CUDA_ALONG_N;
  default: return TC_CUDA_ALONG_K;
  }
}

static tc_cuda_along deep_of(int which) {
  return which < TC_CUDA_INNER_A ? TC_CUDA_ALONG_K : TC_CUDA_ALONG_D;
}

tc_val tc_cuda_operand_value(const tc_mm_loop *mm, int which) {
  switch (which) {
  case TC_CUDA_A: return tc_mm_is_chain(mm) ? (tc_val){0} : mm->a;
  case TC_CUDA_EPILOGUE: return (tc_val){0};
  case TC_CUDA_B: return mm->b;
  case TC_CUDA_INNER_A: return mm->inner.a[0];
  case TC_CUDA_INNER_B: return mm->inner.b[0];
  case TC_CUDA_SECOND_A: return mm->inner.a[1];
  default: return mm->inner.b[1];
  }
}

static bool open_value(const tc_kernel *k, const tc_program *p, int which, int along,
                       tc_cuda_operand *o) {
  const tc_mm_loop *mm = &k->mm;
  const int deep = axis_of(mm, which, deep_of(which)), outer = axis_of(mm, which, outer_of(which));
  o->value = tc_cuda_operand_value(mm, which);
  o->along = along == (int)deep_of(which) ? deep : outer;
  o->across = along == (int)deep_of(which) ? outer : deep;
  const int plain = tc_cuda_is_plain(k, p, o->value);
  o->plain = plain > 0;
  o->action = (tc_action){
      .kind = TC_ACT_REDUCE, .reducer = TC_REDUCE_SUM, .value = o->value, .dtype = mm->acc};
  o->stage = (tc_stage){.axes = 1, .naction = 1, .action = &o->action};
  o->nest =
      (tc_nest){.naxis = tc_mm_first_part(mm), .nstage = 1, .stage = &o->stage, .vector = o->along};
  return plain >= 0;
}

static void open_epilogue(const tc_mm_loop *mm, tc_cuda_operand *o) {
  const int n = mm->nbatch + TC_CUDA_ALONG_N;
  o->along = n;
  o->across = mm->nbatch + TC_CUDA_ALONG_M;
  o->stage = mm->epilogue;
  o->stage.axes = 1u << n;
  o->nest = (tc_nest){.naxis = n + 1, .nparallel = n, .nstage = 1, .stage = &o->stage, .vector = n};
}

/* Are lanes one by one?  Where what is computed changes along parts of their axis; and where the
 * guard of an array as it is changes from lane to lane.  -1: out of memory. */
static int one_by_one(const tc_kernel *k, const tc_cuda_operand *o) {
  const uint32_t parts = tc_mm_parts(&k->mm, o->along);
  const tc_val guard = o->plain ? k->expr[o->value.id].guard : (tc_val){0};
  if (o->plain ? !guard.id : !parts) return 0;
  uint32_t *depends = calloc(k->nexpr + 1, sizeof *depends);
  if (!depends) return -1;
  tc_print_depends(k, NULL, depends);
  const int part = tc_mm_innermost(&k->mm, o->along);
  const uint32_t lanes = 1u << o->along | (part < 0 ? 0 : 1u << part);
  const bool any =
      o->plain ? depends[guard.id] & lanes : tc_print_stage_axes(&o->stage, depends) & parts;
  free(depends);
  return any;
}

/* Do parts of the axis in memory begin at multiples of 8 of it, if there are any? */
static bool has_neighbours(const tc_kernel *k, const tc_program *p, const tc_cuda_operand *o) {
  tc_dims *c = tc_graph_dims(p->graph);
  const tc_address *a = &k->expr[o->value.id].address;
  const int part = tc_mm_innermost(&k->mm, o->along);
  return tc_mm_has_neighbours(c, &k->mm, a, o->along) &&
         (part < 0 || tc_dim_is(a->coef[part], 0) ||
          tc_dim_multiple(c, k->mm.axis[part].extent) % 8 == 0);
}

bool tc_cuda_open_operand(const tc_kernel *k, const tc_program *p, int which, int along,
                          tc_cuda_operand *o) {
  *o = (tc_cuda_operand){0};
  if (which == TC_CUDA_EPILOGUE) open_epilogue(&k->mm, o);
  else if (!open_value(k, p, which, along, o)) return false;
  memcpy(o->nest.axis, k->mm.axis, sizeof o->nest.axis);
  const int single = one_by_one(k, o);
  if (single < 0 || !tc_cuda_plan_access(k, p, &o->nest, &o->plan)) return false;
  if (single) o->plan.width = 1;
  o->neighbours = o->plain && !single && has_neighbours(k, p, o);
  return true;
}

/* ---- accesses -------------------------------------------------------------------------------- */

/* Loads that v is made of and that are of neighbours along the axis; -1: out of memory. */
static int neighbours(const tc_kernel *k, const tc_program *p, tc_val v, int axis) {
  uint8_t *need = calloc(k->nexpr + 1, 1);
  int n = 0;
  if (!need) return -1;
  need[v.id] = 1;
  tc_mark_operands(k, need);
  for (uint32_t i = 1; i < k->nexpr; ++i)
    n += need[i] && k->expr[i].kind == TC_EX_LOAD &&
         tc_mm_has_neighbours(tc_graph_dims(p->graph), &k->mm, &k->expr[i].address, axis);
  free(need);
  return n;
}

static tc_cuda_along plan_along(const tc_kernel *k, const tc_program *p, int which) {
  const tc_val v = tc_cuda_operand_value(&k->mm, which);
  const tc_cuda_along outer = outer_of(which), deep = deep_of(which);
  return neighbours(k, p, v, axis_of(&k->mm, which, outer)) >
                 neighbours(k, p, v, axis_of(&k->mm, which, deep))
             ? outer
             : deep;
}

/* A chain's A is read by nobody: it keeps what a schedule begins with. */
static bool plan_access(const tc_kernel *k, const tc_program *p, tc_cuda_kernel_schedule *s) {
  for (int i = 0; i < tc_cuda_operands(&k->mm); ++i) {
    tc_cuda_operand o;
    if (i == TC_CUDA_A && tc_mm_is_chain(&k->mm)) continue;
    if (i != TC_CUDA_EPILOGUE) s->along[i] = plan_along(k, p, i);
    if (!tc_cuda_open_operand(k, p, i, s->along[i], &o)) return false;
    s->width[i] = o.plan.width;
    s->index64 |= o.plan.index64;
  }
  return true;
}

bool tc_cuda_multiplies_rows(const tc_kernel *k, const tc_program *p, uint32_t buffer) {
  if (k->kind != TC_KERNEL_MATMUL || !tc_cuda_may_mma(&k->mm)) return false;
  for (int i = 0; i < tc_cuda_operands(&k->mm); ++i) {
    const tc_val v = tc_cuda_operand_value(&k->mm, i);
    const tc_expr *e = &k->expr[v.id];
    tc_cuda_operand o;
    if (v.id && e->kind == TC_EX_LOAD && k->buffer[e->buffer] == buffer &&
        tc_cuda_open_operand(k, p, i, (int)plan_along(k, p, i), &o) && o.neighbours)
      return true;
  }
  return false;
}

bool tc_cuda_may_mma(const tc_mm_loop *mm) {
  return tc_dtype_is_half(mm->operand);
}

int tc_cuda_same_b(const tc_kernel *k, const tc_program *p, tc_val b) {
  const tc_mm_loop *mm = &k->mm;
  const int n = mm->nbatch + TC_CUDA_ALONG_N;
  const tc_expr *outer = &k->expr[b.id];
  if (tc_cuda_is_plain(k, p, b) <= 0 || outer->guard.id) return -1;
  for (int i = 0; i < mm->inner.n; ++i) {
    const tc_expr *inner = &k->expr[mm->inner.b[i].id];
    const int d = tc_mm_deep(mm, i);
    if (tc_cuda_is_plain(k, p, mm->inner.b[i]) <= 0 || inner->guard.id ||
        inner->buffer != outer->buffer)
      continue;
    bool same = tc_dim_same(inner->address.offset, outer->address.offset) &&
                tc_dim_same(mm->axis[d].extent, mm->axis[n].extent);
    for (int y = 0; y < tc_mm_axes(mm); ++y)
      same = same &&
             (y == d || tc_dim_same(inner->address.coef[y == n ? d : y], outer->address.coef[y]));
    if (same) return i;
  }
  return -1;
}

/* ---- chains ---------------------------------------------------------------------------------- */

enum { MOST_WIDTH = 256 }; /* that shared memory holds for rows of two inner products */
/* Of f32 and f64, the library's products of wider rows are faster by more than arrays of scores take. */
enum { MOST_F32_WIDTH = 192, MOST_F64_WIDTH = 64 };

/* What inner products sum over, then the columns. */
static int count_widths(const tc_mm_loop *mm) { return mm->inner.n + 1; }

static tc_dim width_of(const tc_mm_loop *mm, int i) {
  return mm->axis[i < mm->inner.n ? tc_mm_deep(mm, i) : mm->nbatch + (int)TC_CUDA_ALONG_N].extent;
}

/* Of those that are known at run time only, what the largest may be. */
static int64_t widest(const tc_program *p, const tc_mm_loop *mm) {
  int64_t most = 0, lo, hi;
  for (int i = 0; i < count_widths(mm); ++i) {
    if (tc_dim_is_const(width_of(mm, i))) continue;
    tc_dim_range(tc_graph_dims(p->graph), width_of(mm, i), &lo, &hi);
    most = hi > most ? hi : most;
  }
  return most;
}

int tc_cuda_chain_class(const tc_program *p, const tc_mm_loop *mm, int i) {
  static const int classes[] = {64, 128, MOST_WIDTH};
  enum { N = sizeof classes / sizeof *classes };
  if (i >= N) return 0;
  return i && classes[i - 1] >= widest(p, mm) ? 0 : classes[i];
}

bool tc_cuda_chain_is_wider(const tc_program *p, const tc_mm_loop *mm) {
  return widest(p, mm) > MOST_WIDTH;
}

/* B of both outer products are tiles that are there for the inner ones. */
static bool has_same_b(const tc_program *p, const tc_kernel *k) {
  return !tc_mm_has_beside(&k->mm) ||
         (tc_cuda_same_b(k, p, k->mm.b) >= 0 && tc_cuda_same_b(k, p, k->mm.beside.b) >= 0);
}

/* Of sums along rows, blocks of rows would add to the same ones. */
bool tc_cuda_may_chain(const tc_program *p, const tc_kernel *k) {
  return tc_dtype_is_float(k->mm.operand) && has_same_b(p, k) && !tc_mm_has_across(&k->mm);
}

/* May rows be few beside what they are multiplied with, as in decoding?  A block has all of that,
 * one part after the other, which products of arrays share out among all multiprocessors.  There are
 * as many of one as of the other in what attends to itself. */
static bool may_decode(const tc_mm_loop *mm) {
  return !tc_dim_same(mm->axis[mm->nbatch].extent, mm->axis[mm->nbatch + TC_CUDA_ALONG_K].extent);
}

bool tc_cuda_takes_chain(const tc_program *p, const tc_kernel *k) {
  const int64_t most = tc_cuda_may_mma(&k->mm)      ? MOST_WIDTH
                       : k->mm.operand == TC_F32 ? MOST_F32_WIDTH
                                                 : MOST_F64_WIDTH;
  for (int i = 0; i < count_widths(&k->mm); ++i) {
    const tc_dim d = width_of(&k->mm, i);
    if (tc_dim_is_const(d) && (tc_dim_value(d) <= 0 || tc_dim_value(d) > most)) return false;
  }
  return tc_cuda_may_chain(p, k);
}

bool tc_cuda_may_chain_mma(const tc_program *p, const tc_kernel *k) {
  return tc_cuda_may_mma(&k->mm) && tc_cuda_takes_chain(p, k);
}

/* ---- decisions ------------------------------------------------------------------------------- */

bool tc_cuda_may_side(const tc_mm_loop *mm, int template, uint32_t side) {
  if (template == TC_CUDA_CHAIN) return side == 128 || side == 64;
  /* rows of a block of a chain, at most; where sums are wider than operands a thread has so many of
   * its own beside scores of one inner product; few rows, as those that follow a cache of keys, are
   * no gradients' */
  if (tc_mm_is_chain(mm)) {
    const bool same = mm->operand == mm->acc;
    return side == 64 || (side == 128 && (same || mm->inner.n == 1)) ||
           ((side == 16 || side == 4) && same && mm->inner.rows.naction);
  }
  if (template == TC_CUDA_MMA) return side == 256 || side == 128 || side == 64;
  return side == 64 || side == 32 || side == 16 || (side == 128 && tc_dtype_bytes(mm->acc) < 8);
}

bool tc_cuda_may_one_pass(const tc_mm_loop *mm, int template) {
  return template == TC_CUDA_SIMT && mm->operand == TC_F32;
}

static int64_t largest(const tc_program *p, const tc_axis *a) {
  int64_t lo, hi;
  tc_dim_range(tc_graph_dims(p->graph), a->extent, &lo, &hi);
  return hi;
}

static int64_t smallest(const tc_program *p, const tc_axis *a) {
  int64_t lo, hi;
  tc_dim_range(tc_graph_dims(p->graph), a->extent, &lo, &hi);
  return lo;
}

bool tc_cuda_may_mma_f32(const tc_mm_loop *mm) { return mm->operand == TC_F32 && mm->acc == TC_F32 && !tc_mm_is_chain(mm); }

/* Tiles that matrices of the sizes at hand fill more than half of. */
static bool plan_sides(const tc_kernel *k, const tc_program *p, tc_cuda_kernel_schedule *s) {
  static const uint32_t sides[] = {256, 128, 64, 32, 16, 4};
  enum { N = sizeof sides / sizeof *sides, LEAST = 16 };
  const tc_axis *axis = &k->mm.axis[k->mm.nbatch];
  const bool simt = s->template == TC_CUDA_SIMT;
  s->sides.at = tc_arena_alloc(p->arena, N * sizeof *s->sides.at);
  if (!s->sides.at) return false;
  for (int i = 0; i < N; ++i) {
    const int64_t half = sides[i] / 2;
    if (!tc_cuda_may_side(&k->mm, s->template, sides[i])) continue;
    if (simt && !tc_mm_is_chain(&k->mm) && sides[i] > LEAST &&
        (largest(p, &axis[0]) <= half || largest(p, &axis[1]) <= half))
      continue;
    s->sides.at[s->sides.n++] = sides[i];
  }
  return true;
}

/* Operands of halves that are copied in the background: others take several times as long as the
 * library does. */
static bool has_wide_operands(const tc_cuda_kernel_schedule *s) {
  return s->template != TC_CUDA_MMA ||
         (s->width[TC_CUDA_A] == TC_CUDA_COPIED && s->width[TC_CUDA_B] == TC_CUDA_COPIED);
}

bool tc_cuda_has_k_parts(const tc_kernel *k) {
  return k->kind == TC_KERNEL_MATMUL && tc_cuda_kernel_schedule_of(k)->k_parts > 1;
}

enum { MOST_K_PARTS = 256 }; /* of keys, of which what puts them together reads all */

/* May there be few tiles on tensor cores of so long a k that blocks share it out?  What the library takes it splits itself. */
static bool may_share_out(const tc_kernel *k, const tc_program *p, const tc_cuda_kernel_schedule *s) {
  enum { SIDE = 64, LEAST = 512, TILES = 1024 /* three for each of more multiprocessors than any device has */ };
  int64_t tiles = 1;
  if (s->template != TC_CUDA_MMA || s->library || largest(p, &k->mm.axis[k->mm.nbatch + TC_CUDA_ALONG_K]) < LEAST) return false;
  for (int i = 0; tiles <= TILES && i <= k->mm.nbatch + TC_CUDA_ALONG_N; ++i) {
    const int64_t size = smallest(p, &k->mm.axis[i]), side = i < k->mm.nbatch ? 1 : SIDE, count = size / side + (size % side != 0);
    tiles = count > TILES ? count : tiles * count;
  }
  return tiles <= TILES;
}

/* ---- skinny products ------------------------------------------------------------------------- */

int64_t tc_cuda_skinny_k(const tc_mm_loop *mm) { return TC_CUDA_SKINNY_BYTES / (int64_t)tc_dtype_bytes(mm->operand); }

/* At most so many points of the axes from 0 to `last` but `without`; not much more than `enough`. */
static int64_t most_points(const tc_program *p, const tc_mm_loop *mm, int without, int last, int64_t enough) {
  int64_t points = 1;
  for (int i = 0; i <= last && points < enough; ++i) {
    const int64_t most = largest(p, &mm->axis[i]);
    if (i != without) points = most > enough ? enough : points * most;
  }
  return points;
}

/* inner: the axis of the few, outer: of the long operand's rows. */
static bool may_be_few(const tc_program *p, const tc_mm_loop *mm, int inner, int outer, int along) {
  const int k = mm->nbatch + TC_CUDA_ALONG_K;
  return along == TC_CUDA_ALONG_K && smallest(p, &mm->axis[inner]) <= TC_CUDA_FEW && largest(p, &mm->axis[outer]) > TC_CUDA_FEW &&
         largest(p, &mm->axis[k]) >= tc_cuda_skinny_k(mm) && most_points(p, mm, inner, k, TC_CUDA_LEAST_READ) >= TC_CUDA_LEAST_READ;
}

/* May both k and the columns or rows be few? */
static bool may_be_short(const tc_program *p, const tc_mm_loop *mm) {
  const int m = mm->nbatch, n = m + TC_CUDA_ALONG_N;
  const int64_t high = smallest(p, &mm->axis[m]), broad = smallest(p, &mm->axis[n]), few = high < broad ? high : broad;
  const int64_t k = smallest(p, &mm->axis[m + TC_CUDA_ALONG_K]);
  return k <= TC_CUDA_SHORT_K && few <= TC_CUDA_MOST_SHORT && few * k <= TC_CUDA_MOST_SHORT &&
         most_points(p, mm, -1, n, TC_CUDA_LEAST_RESULTS) >= TC_CUDA_LEAST_RESULTS;
}

int64_t tc_cuda_outer_k(const tc_mm_loop *mm) { return tc_dtype_is_half(mm->operand) ? TC_CUDA_OUTER_K_OF_HALVES : TC_CUDA_OUTER_K; }

/* May k be so short that a product is little but its results, and do these and B lie along n?  Tensor cores are faster where halves
 * of A lie along m. */
static bool may_be_outer(const tc_program *p, const tc_mm_loop *mm, const tc_cuda_kernel_schedule *s) {
  if (tc_dtype_is_half(mm->operand) && s->along[TC_CUDA_A] != TC_CUDA_ALONG_K) return false;
  return smallest(p, &mm->axis[mm->nbatch + TC_CUDA_ALONG_K]) <= tc_cuda_outer_k(mm) && s->along[TC_CUDA_B] == TC_CUDA_ALONG_N &&
         s->width[TC_CUDA_EPILOGUE] > 1 && s->width[TC_CUDA_B] >= s->width[TC_CUDA_EPILOGUE] &&
         most_points(p, mm, -1, mm->nbatch + TC_CUDA_ALONG_N, TC_CUDA_LEAST_RESULTS) >= TC_CUDA_LEAST_RESULTS;
}

uint32_t tc_cuda_skinny_ways(const tc_kernel *k, const tc_program *p, const tc_cuda_kernel_schedule *s) {
  const tc_mm_loop *mm = &k->mm;
  const int m = mm->nbatch, n = m + TC_CUDA_ALONG_N;
  if (tc_mm_is_chain(mm) || s->k_parts > 1) return 0;
  return (may_be_few(p, mm, n, m, s->along[TC_CUDA_A]) ? TC_CUDA_COLUMNS_ARE_FEW : 0) |
         (may_be_few(p, mm, m, n, s->along[TC_CUDA_B]) ? TC_CUDA_ROWS_ARE_FEW : 0) | (may_be_short(p, mm) ? TC_CUDA_K_IS_SHORT : 0) |
         (may_be_outer(p, mm, s) ? TC_CUDA_OUTER : 0);
}

bool tc_cuda_plan_product(const tc_kernel *k, const tc_program *p, tc_cuda_kernel_schedule *s) {
  const bool chain = tc_mm_is_chain(&k->mm);
  if (chain) s->template = tc_cuda_may_chain_mma(p, k) ? TC_CUDA_CHAIN : TC_CUDA_SIMT;
  else s->template = tc_cuda_may_mma(&k->mm) ? TC_CUDA_MMA : TC_CUDA_SIMT;
  if (!plan_access(k, p, s) || !plan_sides(k, p, s)) return false;
  if (chain && may_decode(&k->mm)) s->k_parts = MOST_K_PARTS;
  s->library = tc_cuda_library_takes(k, p);
  if (!chain && may_share_out(k, p, s)) s->k_parts = MOST_K_PARTS;
  s->skinny = tc_cuda_skinny_ways(k, p, s) != 0;
  if (!s->library || !has_wide_operands(s)) return true;
  s->short_side = s->template == TC_CUDA_MMA ? 64 : 32;
  s->short_depth = s->template == TC_CUDA_MMA ? 512 : 1024;
  return true;
}
