/* row_mapping.c - how rows map to thread groups, and how many items of a row each thread holds in
 * registers or shared memory from stage to stage. */
#include "backends/cuda/schedule/plan.h"

#include <stdlib.h>

/* ---- what a nest is made of ------------------------------------------------------------------ */

/* Items of a row: the points of the sequential axes, the vector axis in steps of the lanes; -1: not
 * constant. */
int64_t tc_cuda_constant_items(const tc_nest *n, int lanes) {
  int64_t items = 1;
  for (int i = n->nparallel; i < n->naxis; ++i) {
    if (!tc_dim_is_const(n->axis[i].extent) || n->axis[i].of >= 0) return -1;
    const int64_t e = tc_dim_value(n->axis[i].extent);
    if (e > INT32_MAX || items > INT32_MAX / (e > 0 ? e : 1)) return -1;
    items *= i == n->vector ? e / lanes : e;
  }
  return items;
}

enum {
  FILE_WORDS = 65536,  /* registers of a multiprocessor */
  MANY_THREADS = 65536 /* that many rows occupy: tc_cuda_fits in launch.c asks for as many */
};

/* ---- groups ---------------------------------------------------------------------------------- */

/* What rows in registers depend on. */
typedef struct rows {
  int count;      /* that are alive at once, in 32-bit registers an element */
  int shared;     /* loads that all rows share: they are prefetched */
  int each;       /* elements of a row for a thread */
  int cached;     /* bytes of an item in shared memory */
  int passes;     /* over rows that no registers hold */
  int others;     /* loads that differ from row to row, but for the first */
  int64_t points; /* rows that there are at most */
  bool large;     /* 8 bytes an element */
  bool tuples;    /* they are combined: many instructions, so that few threads share a row */
} rows;

/* A function for where there are many rows (tc_cuda_fits), unless there never are. */
static void add_for_many(const rows *r, tc_cuda_plan *plan, tc_cuda_variant f) {
  if (r->points >= MANY_THREADS / f.most) tc_cuda_add(plan, f);
}

/* Of rows whose length is not known, by groups of a size that is: what ptxas gave softmax, norms
 * and their gradients in f32 and bf16 (sm_90), within an eighth.  An item has an address and a
 * condition; its elements are there as loaded, in part, and as computed with. */
static int registers_of_free(const rows *r, const tc_cuda_variant *f) {
  enum { BASE = 24, SHARED = 8, ITEM = 8 };
  const int elements = (r->count + r->others) * (int)f->lanes;
  return BASE + SHARED * r->shared + (int)f->unroll * (ITEM + elements + elements * 3 / 8);
}

/* exact: conditions and distances are constant, others take registers; halves wait in pairs for
 * what is done with them. */
static int registers_of(const rows *r, const tc_cuda_variant *f, bool exact) {
  enum { OTHERS = 64, PREFETCHED = 14, HALVES = 32 };
  const int lanes = (int)f->lanes, row = (r->count + r->others) * lanes * (int)f->unroll;
  if (exact && lanes > 4) return row + HALVES;
  if (!exact && lanes >= 4) return registers_of_free(r, f);
  return (exact ? row : row + row / 2) + OTHERS + r->others * PREFETCHED +
         r->shared * (lanes < 4 ? lanes * 8 : PREFETCHED);
}

/* What loads that all rows share take more where these are in phase, for they are not: the words at both ends. */
static int registers_of_ends(const rows *r, const tc_cuda_variant *f) {
  enum { WORDS = 5 };
  return tc_cuda_is_phased(f) ? r->count + WORDS * r->shared * (int)f->unroll : 0;
}

/* The largest number of items that a thread keeps: a power of 2.  Functions of f64 are long: they
 * take many registers for each of the items that wait for them. */
static int most_items(const rows *r, int64_t lanes_of) {
  enum { REGISTERS = 96, FEW_REGISTERS = 24 };
  const int lanes = (int)lanes_of;
  int most = (r->large ? FEW_REGISTERS : REGISTERS) / (r->count * lanes);
  while (most & (most - 1)) most &= most - 1;
  return most < r->each / lanes ? most : r->each / lanes;
}

/* A group of constant size that keeps rows; exact: of constant length.  Registers are given to four
 * warps at a time. */
static void hold_rows(tc_cuda_variant *f, const rows *r, int group, int unroll, bool exact) {
  enum { WARPS = 128 };
  f->registers = true;
  f->group = f->most = group;
  f->unroll = f->items = unroll;
  f->longest = unroll * group;
  f->shared = false;
  const int threads = group > TC_CUDA_BLOCK ? group : TC_CUDA_BLOCK;
  f->blocks = FILE_WORDS / (registers_of(r, f, exact) + registers_of_ends(r, f)) / ((threads + WARPS - 1) / WARPS * WARPS);
}

/* As tc_cuda_group_size in launch.c. */
static int group_size(int64_t items, int each) {
  int64_t group = 1;
  while (group < 32 && group * each < items) group *= 2;
  if (group == 32 && items > 32 * each) group = (items + each * 32 - 1) / (each * 32) * 32;
  return group > TC_CUDA_LARGEST_GROUP ? TC_CUDA_LARGEST_GROUP : (int)group;
}

/* A group for rows of `items`; more threads share a row where there are few rows. */
static int fixed_group(const tc_program *p, const tc_nest *n, int64_t items, int each) {
  enum { FULL = 128 * 1024 };
  int64_t lo, points;
  tc_dim_range(tc_graph_dims(p->graph), tc_cuda_points(p, n, 0, n->nparallel), &lo, &points);
  int group = group_size(items, each);
  while ((each /= 2) && points < FULL / group) group = group_size(items, each);
  return group;
}

/* Thread groups for rows that several passes read and registers do not hold: shared memory does,
 * for the later passes.  Of rows below `bytes` (0: any), a multiprocessor is to have `blocks` at
 * once: one is read while another is written. */
static const struct {
  int group, blocks, bytes;
} smem_groups[] = {{256, 3, 64 << 10}, {512, 2, 192 << 10}, {1024, 1, 0}};
enum { SMEM_GROUPS = sizeof smem_groups / sizeof *smem_groups };

static tc_cuda_variant smem_group(const rows *r, tc_cuda_variant f, int i) {
  enum { WORDS = 32 }; /* registers for items on their way */
  const int bytes = smem_groups[i].bytes, words = r->cached / (int)sizeof(int32_t);
  const int room = WORDS / (i ? 2 : 1) / (r->large ? 4 : r->shared || r->others ? 2 : 1);
  f.group = f.most = smem_groups[i].group;
  f.blocks = smem_groups[i].blocks;
  f.unroll = f.lanes == 1 || (f.lanes > 4 && i == 0) ? 8 : 4;
  while (f.unroll > 1 && f.unroll * words > room) f.unroll /= 2;
  f.longest = (bytes ? bytes - 1 : 0) / r->cached;
  return f;
}

/* Eight single elements of each thread on their way at once are too many for rows of less than
 * twice as many: the rest would have few. */
static void add_smem_group(const rows *r, tc_cuda_plan *plan, tc_cuda_variant f, int i) {
  enum { FEW = 4, TIMES = 2 };
  const tc_cuda_variant group = smem_group(r, f, i);
  tc_cuda_variant few = group;
  if (f.lanes == 1 && i == 1 && group.unroll > FEW) {
    few.longest = TIMES * group.unroll * group.group;
    few.unroll = FEW;
    tc_cuda_add(plan, few);
  }
  tc_cuda_add(plan, group);
}

/* Of rows that one pass reads: small groups, for all threads join in every result. */
enum { ONCE = 256 };

/* f, where there are many rows; where they are few, a row's threads are all that a multiprocessor
 * has at work, up to the largest group. */
static void add_once_any(tc_cuda_plan *plan, tc_cuda_variant f) {
  tc_cuda_variant many = f;
  many.least = 1;
  many.most = ONCE;
  tc_cuda_add(plan, many);
  f.group = 0;
  f.most = TC_CUDA_LARGEST_GROUP;
  if (f.lanes == 1) f.unroll *= 2;
  tc_cuda_add(plan, f);
}

static void add_once(tc_cuda_plan *plan, tc_cuda_variant f) {
  static const int group[] = {64, 128, ONCE}, items[] = {1024, 4096, 0};
  enum { N = sizeof group / sizeof *group };
  for (int i = 0; i < N; ++i) {
    f.group = f.most = group[i];
    f.longest = items[i];
    f.unroll = f.lanes > 4 && items[i] ? 8 : 4;
    if (items[i]) tc_cuda_add(plan, f);
    else add_once_any(plan, f);
  }
}

/* Of a thread whose tuple is combined with those of others. */
enum { TUPLE_ITEMS = 16, FEW_TUPLE_ITEMS = 8 };

/* Items of a thread, `each` at most, of rows of constant length. */
static int items_of_fixed(const rows *r, int each, int64_t items, bool single) {
  enum { FEW = 2, WARP = 32, SINGLE = 8 };
  if (single && r->count && each > SINGLE && items <= WARP * SINGLE) return SINGLE;
  if (r->tuples && !r->count)
    return items <= WARP * FEW_TUPLE_ITEMS ? FEW_TUPLE_ITEMS : TUPLE_ITEMS;
  return items <= WARP * FEW && each > FEW ? FEW : each;
}

/* Rows that are only reduced keep nothing, so that a thread may have more items: of groups of half the
 * threads, and half of those, the largest of which the fewest are idle in the last round. */
static int busy_group(int group, int64_t items) {
  enum { MOST = 8 }; /* items of a thread, on their way at once */
  int best = group;
  int64_t least = (items + group - 1) / group * group;
  for (int g = group / 2; g && items <= (int64_t)g * MOST; g /= 2) {
    const int64_t all = (items + g - 1) / g * g;
    if (all < least) least = all, best = g;
  }
  return best;
}

/* Rows of constant length: one group, as many items as there are. */
static bool plan_fixed_rows(const rows *r, tc_cuda_plan *plan, tc_cuda_variant f) {
  enum { LEAST = 32, LARGE = 256, WARP = 32 };
  const int64_t items = tc_cuda_constant_items(plan->n, (int)f.lanes);
  if (items < 0) return false;
  if (f.aligned_stores && plan->phased) return true; /* they are in phase */
  if (tc_cuda_is_phased(&f)) f.least = 0; /* which is known */
  const int each = r->count ? most_items(r, f.lanes) : (int)f.items;
  int group = fixed_group(plan->p, plan->n, items, items_of_fixed(r, each, items, f.lanes == 1));
  if (tc_cuda_is_phased(&f) && group < WARP) group = WARP; /* a thread for each peeled element */
  else if (!r->count && f.lanes > 1 && group <= WARP) group = busy_group(group, items);
  const int64_t unroll = items ? (items + group - 1) / group : 1;
  const int64_t words = r->count * f.lanes * unroll;
  const bool fits = r->count && each && unroll <= each &&
                    (f.aligned_stores ? 2 : 1) * words + LEAST <= FILE_WORDS / group;
  if (f.aligned_stores && !fits) return true; /* long rows do not pay for words beside them */
  if (f.shared && group > LARGE && !(fits && group > group_size(items, each))) {
    int i = 0;
    while (smem_groups[i].bytes && items * r->cached >= smem_groups[i].bytes) ++i;
    f = smem_group(r, f, i);
    f.longest = 0;
  } else if (fits) hold_rows(&f, r, group, (int)unroll, true);
  else f.group = f.most = group;
  tc_cuda_add(plan, f);
  return true;
}

/* Thread groups that keep rows of any length, and the eighths of the most items that a thread has
 * then: what it has no item for takes registers all the same. */
typedef struct shape {
  int threads, eighths;
} shape;

enum { WHOLE = 8, HALF = 4, SMALL = 64 };

/* Items of a thread; 0: there is such a group with fewer threads. */
static int items_of(const shape *t, int items) {
  if (t->eighths < WHOLE && items < HALF) return t->threads > SMALL ? 0 : (items + 1) / 2;
  return items * t->eighths / WHOLE;
}

/* Parts of a warp combine by shuffles, which two accesses of eight elements pay for, or four of
 * fewer. */
static int items_of_parts(int lanes, int items) {
  const int few = lanes > 4 ? 2 : 4;
  return items < few ? items : few;
}

/* Rows that fill warps exactly, of which half of a multiprocessor has registers for as many: one
 * row is read while another is written.  A warp's items are neighbours: those of a thread are a
 * constant distance apart, however many warps there are. */
static void add_warps(const rows *r, tc_cuda_plan *plan, const tc_cuda_variant *f, int items) {
  enum { ROWS = 2, WARP = 32 };
  tc_cuda_variant full = *f;
  hold_rows(&full, r, WARP, items, true);
  const int threads = FILE_WORDS / ROWS / registers_of(r, &full, true) / WARP * WARP;
  hold_rows(&full, r, threads < TC_CUDA_LARGEST_GROUP ? threads : TC_CUDA_LARGEST_GROUP, items,
            true);
  full.full = full.warps = true;
  full.group = 0;
  full.blocks = ROWS;
  if (threads >= TC_CUDA_BLOCK) add_for_many(r, plan, full);
}

/* Rows that fill a group of constant size. */
static void add_constant(const rows *r, tc_cuda_plan *plan, const tc_cuda_variant *f, int threads,
                         int items) {
  tc_cuda_variant full = *f;
  hold_rows(&full, r, threads, items, true);
  full.full = true;
  add_for_many(r, plan, full);
}

/* Rows that fill a group: two sizes have functions of their own, all others one where rows are read
 * again; with a scan, every size. */
static void add_full(const rows *r, tc_cuda_plan *plan, const tc_cuda_variant *f, int threads,
                     int items) {
  enum { DOUBLE = 128, LARGE = 256 };
  if (tc_cuda_has_kind(plan->n, TC_ACT_SCAN) && threads) add_constant(r, plan, f, threads, items);
  if (tc_cuda_has_kind(plan->n, TC_ACT_SCAN) || threads != DOUBLE) return;
  add_constant(r, plan, f, DOUBLE, items);
  add_constant(r, plan, f, LARGE, items);
  if (r->passes > 1) add_warps(r, plan, f, items);
}

/* A group, and a function for rows that fill it, which fewer registers do for. */
static void add_group(const rows *r, tc_cuda_plan *plan, const tc_cuda_variant *f, int threads,
                      int items, bool full) {
  tc_cuda_variant some = *f;
  hold_rows(&some, r, threads, items, false);
  if (!some.blocks) return;
  if (full) add_constant(r, plan, f, threads, items);
  tc_cuda_add(plan, some);
}

/* The shortest rows have one thread: what is done once a row takes as long as some items do.  Larger
 * blocks: a block has little to do. */
static void add_single(const rows *r, tc_cuda_plan *plan, const tc_cuda_variant *f, int items) {
  tc_cuda_variant one = *f;
  hold_rows(&one, r, 1, items, false);
  one.threads = TC_CUDA_THREADS;
  one.blocks /= TC_CUDA_THREADS / TC_CUDA_BLOCK;
  if (one.blocks) tc_cuda_add(plan, one);
}

/* Groups of a warp and its parts, each with a function of its own: a size that the compiler knows
 * is up to a third of the time of a short row. */
static void add_parts(const rows *r, tc_cuda_plan *plan, const tc_cuda_variant *f, int items) {
  enum { WARP = 32, FEW = 2 };
  const int each = items_of_parts((int)f->lanes, items);
  for (int own = 1; own <= FEW && own <= items; own *= 2) add_single(r, plan, f, own);
  for (int threads = 2; threads <= WARP; threads *= 2)
    if (threads * each > FEW) add_group(r, plan, f, threads, each, false);
}

/* By single elements, or by loads that begin anywhere: one function leaves the size of a part of a
 * warp open.  What a thread has no element for takes as long as what it has, and two warps of a short
 * row wait for each other longer than one takes for it.  Elements of a word and wide loads are not
 * worth as many functions. */
static void add_other_groups(const rows *r, tc_cuda_plan *plan, const tc_cuda_variant *f,
                              int items) {
  enum { LARGE = 512 /* threads that read one long row again sooner than they keep it */, WORDS = 4, SHORT = 64 };
  static const shape shapes[] = {{32, 3}, {32, 4},  {32, 6},  {32, 8},  {64, 8}, {128, 6},
                                 {128, 8}, {256, 6}, {256, 8}, {512, 6}, {512, 8}};
  const bool few = f->lanes > 1 || plan->nest->width <= WORDS;
  const int longest = plan->phased ? SHORT : TC_CUDA_LARGEST_GROUP;
  tc_cuda_variant open = *f;
  hold_rows(&open, r, 32, items_of_parts((int)f->lanes, items), false);
  open.group = 0;
  if (open.blocks) tc_cuda_add(plan, open);
  for (int i = 0; i < (int)(sizeof shapes / sizeof *shapes); ++i) {
    const int each = items_of(&shapes[i], items);
    const bool whole = shapes[i].eighths == WHOLE, large = shapes[i].threads >= LARGE;
    if (shapes[i].threads > longest) break;
    if ((few && !whole && shapes[i].eighths != HALF) || (large && (few || r->count < 2))) continue;
    if (each) add_group(r, plan, f, shapes[i].threads, each, false);
  }
}

/* Of rows in phase: a thread for each peeled element.  Rows that nothing but views has take fewer functions. */
static void add_phased_groups(const rows *r, tc_cuda_plan *plan, const tc_cuda_variant *f, int items) {
  static const shape fine[] = {{32, 8}, {64, 8}, {128, 8}, {256, 6}, {256, 8}}, coarse[] = {{32, 8}, {128, 8}, {256, 8}};
  const shape *shapes = f->in_phase ? fine : coarse;
  const int n = (int)(f->in_phase ? sizeof fine / sizeof *fine : sizeof coarse / sizeof *coarse);
  for (int i = 0; i < n; ++i) {
    const int each = items_of(&shapes[i], items);
    if (each && each * shapes[i].threads >= f->least) add_group(r, plan, f, shapes[i].threads, each, false);
  }
}

static void add_shapes(const rows *r, tc_cuda_plan *plan, const tc_cuda_variant *f, int items,
                       const shape *t, int n) {
  const bool once = r->passes < 2;
  for (int i = 0; i < n; ++i) {
    const int each = items_of(&t[i], items);
    const bool short_rows = t[i].threads <= SMALL;
    if (!each) continue;
    if (t[i].eighths == WHOLE && !short_rows) add_full(r, plan, f, t[i].threads, items);
    const bool full =
        f->lanes > 4 && (short_rows || t[i].eighths < WHOLE) && t[i].threads < TC_CUDA_THREADS;
    if (!once || short_rows) add_group(r, plan, f, t[i].threads, each, full);
  }
}

/* Halves are converted in registers, which takes as long as memory does where a third of a group
 * has no item: groups grow in steps of a third. */
static void add_groups(const rows *r, tc_cuda_plan *plan, const tc_cuda_variant *f, int items) {
  static const shape fine[] = {{32, 6},  {32, 8},  {64, 6},  {64, 8}, {128, 6},
                               {128, 8}, {256, 6}, {256, 8}, {512, 8}},
                     coarse[] = {{64, 4}, {128, 4}, {128, 8}, {256, 6}, {256, 8}, {512, 8}};
  const bool once = r->passes < 2, halves = f->lanes > 4 && !once && items >= HALF;
  const int n = (int)(halves ? sizeof fine / sizeof *fine : sizeof coarse / sizeof *coarse);
  if (tc_cuda_is_phased(f)) {
    add_phased_groups(r, plan, f, items);
    return;
  }
  if (!f->aligned) {
    add_other_groups(r, plan, f, items);
    return;
  }
  add_parts(r, plan, f, items);
  add_shapes(r, plan, f, items, halves ? fine : coarse, f->shared || once ? n - 1 : n);
}

/* Short rows that are only reduced: a few threads, a number that the compiler knows, and one pass.
 * Larger blocks: such rows are many, and a block has little to do. */
static void add_short(const rows *r, tc_cuda_plan *plan, const tc_cuda_variant *f) {
  enum { GROUP = 4, ITEMS = 4 };
  tc_cuda_variant few = *f;
  few.registers = true;
  few.group = few.most = GROUP;
  few.unroll = few.items = ITEMS;
  few.longest = GROUP * ITEMS;
  few.least = 2 * GROUP;
  few.threads = TC_CUDA_THREADS;
  add_for_many(r, plan, few);
}

/* Rows that are only reduced, where there are many, and a warp has a few rounds of them: a block of one
 * row would last hardly longer than it takes to begin. */
static void add_warp_each(tc_cuda_plan *plan, tc_cuda_variant f) {
  enum { WARP = 32, ITEMS = 16 };
  f.group = f.most = WARP;
  f.least = WARP * f.items + 1;
  f.longest = WARP * ITEMS;
  tc_cuda_add(plan, f);
}

/* Long rows that are only reduced, where there are many: several groups on a multiprocessor, for
 * one reads while another ends.  Rows of one array leave registers for more of it. */
static void add_long(const rows *r, tc_cuda_plan *plan, const tc_cuda_variant *f) {
  enum { ROUNDS = 2, MANY = 4 };
  tc_cuda_variant many = *f;
  many.group = many.most = TC_CUDA_THREADS;
  many.least = ROUNDS * TC_CUDA_THREADS * f->unroll;
  if (f->unroll == MANY && !r->others && !r->shared) many.unroll = 2 * MANY;
  add_for_many(r, plan, many);
}

/* Rows whose threads combine tuples: a part of a warp or a warp for each, where there are many, for
 * the end of a row takes as long as some twenty items do. */
static void add_few_threads(tc_cuda_plan *plan, const tc_cuda_variant *f) {
  enum { WARP = 32, MOST_ITEMS = 64 };
  tc_cuda_variant few = *f;
  few.most = WARP;
  few.items = FEW_TUPLE_ITEMS;
  few.least = 1;
  few.longest = WARP * MOST_ITEMS;
  tc_cuda_add(plan, few);
}

/* Rows of any length: groups that keep them in registers, and those that do not. */
static void plan_free_rows(const rows *r, tc_cuda_plan *plan, tc_cuda_variant f) {
  enum { REGISTERS = 512 }; /* threads that have registers for more than the row */
  const int items = r->count ? most_items(r, f.lanes) : 0;
  if (f.lanes == 1) tc_cuda_add_tiled_rows(plan, f);
  if (items) add_groups(r, plan, &f, items);
  else if (f.aligned && f.lanes > 1 && r->passes == 1 && !tc_cuda_has_kind(plan->n, TC_ACT_SCAN)) {
    if (r->tuples) {
      add_few_threads(plan, &f);
    } else {
      add_short(r, plan, &f);
      add_warp_each(plan, f);
      add_long(r, plan, &f);
    }
  }
  if (f.aligned_stores && plan->phased) return;
  if (f.shared)
    for (int i = f.aligned ? 0 : f.lanes == 1 && plan->phased ? SMEM_GROUPS - 1 : 1; i < SMEM_GROUPS; ++i) add_smem_group(r, plan, f, i);
  else if (items && f.aligned && r->passes < 2) add_once(plan, f);
  else {
    if (items) f.unroll = 4;
    if (items && (f.lanes > 4 || r->shared)) f.most = REGISTERS;
    if (items && r->passes < 2) add_once_any(plan, f);
    else tc_cuda_add(plan, f);
  }
}

/* Loads along the lanes that do not change from row to row (of stages behind the first), or do. */
static int count_loads(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                       const uint8_t *need, bool change) {
  int loads = 0;
  for (uint32_t i = 1; i < k->nexpr; ++i) {
    const tc_expr *e = &k->expr[i];
    if (!need[i] || e->kind != TC_EX_LOAD || tc_cuda_is_local(k, p, e->buffer)) continue;
    loads += tc_cuda_changes(n, &e->address) == change && n->vector >= 0 && tc_dim_is(e->address.coef[n->vector], 1);
  }
  return loads;
}

static bool has_large_rows(const tc_kernel *k, const tc_program *p) {
  for (uint32_t i = 0; i < k->nbuffer; ++i)
    if (tc_cuda_is_local(k, p, i) && tc_dtype_bytes(p->buffer[k->buffer[i]].dtype) == 8)
      return true;
  return false;
}

/* Points of the parallel axes, at most. */
static int64_t most_points(const tc_program *p, const tc_nest *n) {
  int64_t points = 1;
  for (int i = 0; i < n->nparallel; ++i) {
    int64_t least, most;
    tc_dim_range(tc_graph_dims(p->graph), n->axis[i].extent, &least, &most);
    if (n->axis[i].of >= 0 || most > MANY_THREADS) return MANY_THREADS;
    points *= most;
    if (points > MANY_THREADS) return MANY_THREADS;
  }
  return points;
}

/* tc_cuda_count_rows leaves x->need at the last stage: for the second kind of functions of a nest
 * that keeps rows, loads of that one alone count. */
static rows rows_of(const tc_cuda_plan *x, const tc_cuda_variant *f, int elements) {
  enum { PART = 16, LONG = 64 };
  const tc_nest streamed = tc_nest_streamed(x->n);
  const int passes = tc_cuda_count_passes(x->n);
  const bool once = passes < 2 && f->lanes > 4; /* registers are left */
  const int shared = count_loads(x->k, x->p, x->n, x->need, false);
  const int own = count_loads(x->k, x->p, x->n, x->need, true);
  const int bytes =
      f->shared ? tc_cuda_find_smem_cache(x->k, x->p, &streamed, (int)f->lanes, NULL) : 0;
  return (rows){.count = tc_cuda_count_rows(x->k, x->p, x->n, x->need),
                .shared = shared,
                .others = own > 1 ? own - 1 : 0,
                .large = has_large_rows(x->k, x->p),
                .each = f->lanes == 1 && !f->aligned ? PART
                        : once      ? LONG
                                    : elements,
                .cached = bytes,
                .passes = passes,
                .tuples = tc_cuda_has_tuples(x->n),
                .points = most_points(x->p, x->n)};
}

bool tc_cuda_plan_rows(tc_cuda_plan *x, tc_cuda_variant f) {
  enum { ROW = 32, PART = 16, MOST = 4 };
  const uint32_t before = x->nvariant;
  const int elements = tc_cuda_has_kind(x->n, TC_ACT_SCAN) ? PART : ROW;
  const bool wide = f.aligned || f.aligned_stores || tc_cuda_is_phased(&f);
  f.items = wide && elements / f.lanes > MOST ? MOST : elements / f.lanes;
  const rows r = rows_of(x, &f, elements);
  if (r.tuples && !r.count) f.items = TUPLE_ITEMS;
  if (!plan_fixed_rows(&r, x, f)) plan_free_rows(&r, x, f);
  return x->nvariant > before;
}

/* Narrow rows: few threads, or one, which have all elements of a row on their way at once. */
static void add_narrow(tc_cuda_plan *x, tc_cuda_variant f) {
  enum { EACH = 8, GROUP = 4 };
  f.registers = true;
  f.group = 0;
  f.most = GROUP;
  f.unroll = f.items = EACH;
  f.longest = EACH * GROUP;
  f.threads = TC_CUDA_THREADS;
  tc_cuda_add(x, f);
}

void tc_cuda_plan_unaligned_rows(tc_cuda_plan *x, tc_cuda_variant f) {
  enum { EACH = 4, GROUP = 256 };
  tc_cuda_add_tiled_rows(x, f);
  add_narrow(x, f);
  f.unaligned = true;
  f.lanes = x->nest->width;
  f.unroll = EACH;
  f.items = tc_cuda_has_tuples(x->n) ? TUPLE_ITEMS : EACH;
  if (!tc_cuda_has_tuples(x->n)) add_warp_each(x, f);
  f.most = GROUP;
  f.longest = EACH * GROUP;
  tc_cuda_add(x, f);
  f.group = GROUP; /* a constant of the function */
  f.least = f.longest;
  f.longest = 0;
  tc_cuda_add(x, f); /* where there are many */
  f.group = f.most = TC_CUDA_LARGEST_GROUP;
  f.least = 0;
  tc_cuda_add(x, f);
}
