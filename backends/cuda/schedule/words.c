/* words.c - the words of a schedule for GPUs, and what refuses each; those of kernels:
 * words_kernel.c. */
#include "backends/cuda/schedule/plan.h"

#include "backends/cuda/schedule/access.h"
#include "backends/cuda/schedule/words.h"
#include "backends/cuda/unit.h"

#include <stddef.h>
#include <stdlib.h>

enum { WARP = 32, LARGEST_BLOCK = 1024, REGISTERS = 255, MOST_UNROLL = 64, MOST_BLOCKS = 32 };

/* A nest that is checked. */
typedef struct checked {
  tc_cuda_plan x;
  uint8_t *marked; /* of the expressions, for the word at hand */
  int words;       /* rows that live at once, in registers an element */
} checked;

static void open_facts(checked *c, const tc_schedule_place *at) {
  c->x.k = at->k;
  c->x.p = at->p;
  c->x.n = at->nest;
  c->x.nest = (tc_cuda_nest_schedule *)at->schedule->common;
  c->words = tc_cuda_count_rows(at->k, at->p, at->nest, c->marked);
  tc_cuda_mark(at->k, at->nest, c->x.need);
}

static bool open_place(tc_schedule_place *at) {
  checked *c = calloc(1, sizeof *c);
  at->self = c;
  if (!c) return false;
  c->marked = calloc(at->k->nexpr + 1, 1);
  c->x.need = calloc(at->k->nexpr + 1, 1);
  if (!c->marked || !c->x.need) return false;
  open_facts(c, at);
  return true;
}

static void close_place(tc_schedule_place *at) {
  checked *c = at->self;
  if (!c) return;
  free(c->marked);
  free(c->x.need);
  free(c);
}

static checked *check_of(const tc_schedule_place *at) { return at->self; }

static const tc_cuda_nest_schedule *nest_of(const tc_schedule_place *at) {
  return at->schedule->common;
}

static const tc_cuda_variant *variant_of(const tc_schedule_place *at) { return at->variant->nest; }

static bool is_form(const tc_schedule_place *at, tc_cuda_form form) {
  return nest_of(at)->form == (int)form;
}

/* No mark is set. */
static uint8_t *no_marks(const tc_schedule_place *at) {
  uint8_t *marked = check_of(at)->marked;
  for (uint32_t i = 0; i <= at->k->nexpr; ++i) marked[i] = 0;
  return marked;
}

static bool are_marked(const tc_schedule_list *l, const uint8_t *marked) {
  for (uint32_t i = 0; i < l->n; ++i)
    if (!marked[l->at[i]]) return false;
  return true;
}

/* ---- all variants: form and accesses --------------------------------------------------------- */

static const char *refuse_form(const tc_schedule_place *at) {
  static const char *const reason[] = {
      [TC_CUDA_FLAT] = "it is a form of one stage that only stores",
      [TC_CUDA_TRANSPOSE] = "it is a form of one stage that only stores",
      [TC_CUDA_ROWS] = "it is a form of stages that do not run lanes along a parallel axis",
      [TC_CUDA_COLUMNS] = "it is a form of stages that run lanes along a parallel axis",
      [TC_CUDA_SERIAL] = "the points of the nest do not depend on each other",
      [TC_CUDA_SCATTER] = "the nest does not only store at computed destinations"};
  const tc_cuda_form own = tc_cuda_form_of(at->nest);
  if (is_form(at, TC_CUDA_SCATTER) && tc_cuda_scatters(at->k, at->nest, check_of(at)->x.need))
    return NULL;
  if (is_form(at, own) || (is_form(at, TC_CUDA_TRANSPOSE) && own == TC_CUDA_FLAT)) return NULL;
  return own == TC_CUDA_SERIAL && !is_form(at, TC_CUDA_SCATTER)
             ? "the points of the nest depend on each other"
             : reason[nest_of(at)->form];
}

static const char *refuse_width(const tc_schedule_place *at) {
  const int64_t most =
      tc_cuda_choose_width(at->k, at->p, at->nest, nest_of(at), check_of(at)->x.need);
  if (!tc_cuda_is_power(nest_of(at)->width)) return "it is no power of two";
  return nest_of(at)->width > most ? "sizes or 16-byte accesses do not allow so many elements"
                                   : NULL;
}

static const char *refuse_cut(const tc_schedule_place *at) {
  return at->nest->when == TC_ALWAYS ? "the reduction has nests for one way only" : NULL;
}

/* ---- transposes ------------------------------------------------------------------------------ */

static const char *refuse_tiles(const tc_schedule_place *at) {
  return is_form(at, TC_CUDA_TRANSPOSE) ? NULL : "the form is no transpose";
}

static const char *refuse_along(const tc_schedule_place *at) {
  const char *reason = refuse_tiles(at);
  if (reason) return reason;
  for (int i = 0; i < at->nest->naxis; ++i)
    if (at->nest->axis[i].of >= 0) return "an axis is cut into parts";
  return tc_cuda_stores_along(at->nest, nest_of(at)->along)
             ? NULL
             : "stores are not of neighbours along it";
}

static const char *refuse_across(const tc_schedule_place *at) {
  const char *reason = refuse_tiles(at);
  if (reason) return reason;
  return nest_of(at)->across == nest_of(at)->along ? "the stores run along it" : NULL;
}

static const char *refuse_side(const tc_schedule_place *at) {
  tc_cuda_tiles tiles;
  const tc_cuda_nest_schedule *s = nest_of(at);
  if (refuse_tiles(at)) return refuse_tiles(at);
  if (!tc_cuda_find_tiles(&check_of(at)->x, &tiles))
    return "no function is for rows that begin anywhere";
  return s->side == tiles.side && s->overlap == tiles.overlap
             ? NULL
             : "elements have other sizes: a row of a tile is 240 bytes, an overlap 32";
}

static const char *refuse_tile_list(const tc_schedule_place *at, bool unaligned,
                                    const tc_schedule_list *l) {
  const checked *c = check_of(at);
  if (refuse_tiles(at)) return refuse_tiles(at);
  if (unaligned && !nest_of(at)->side) return "no 'side' says how large a tile is";
  uint8_t *marked = no_marks(at);
  tc_cuda_mark_tiles(&c->x, unaligned, SIZE_MAX, marked);
  if (!are_marked(l, marked)) return "it is no load across the stores";
  return tc_cuda_tiles_bytes(&c->x, unaligned, l) > TC_CUDA_SHARED
             ? "tiles do not fit into shared memory"
             : NULL;
}

static const char *refuse_tile(const tc_schedule_place *at) {
  return refuse_tile_list(at, false, &nest_of(at)->tile);
}

static const char *refuse_unaligned_tile(const tc_schedule_place *at) {
  return refuse_tile_list(at, true, &nest_of(at)->unaligned_tile);
}

/* ---- loads and sums -------------------------------------------------------------------------- */

static const char *refuse_rows(const tc_schedule_place *at) {
  return is_form(at, TC_CUDA_ROWS) ? NULL : "the form has no rows";
}

static const char *refuse_cache(const tc_schedule_place *at) {
  const tc_nest streamed = tc_nest_streamed(at->nest);
  if (refuse_rows(at)) return refuse_rows(at);
  uint8_t *marked = no_marks(at);
  tc_cuda_find_smem_cache(at->k, at->p, &streamed, 1, marked);
  return are_marked(&nest_of(at)->cache, marked)
             ? NULL
             : "it is no row that more than one pass reads";
}

static const char *refuse_prefetch(const tc_schedule_place *at) {
  uint8_t *marked = no_marks(at);
  if (refuse_rows(at)) return refuse_rows(at);
  return tc_cuda_mark_prefetch(&check_of(at)->x, marked) &&
                 are_marked(&nest_of(at)->prefetch, marked)
             ? NULL
             : "it is no load of a later pass that all rows share";
}

static const char *refuse_load_once(const tc_schedule_place *at) {
  uint8_t *marked = no_marks(at);
  if (refuse_rows(at)) return refuse_rows(at);
  return tc_cuda_mark_shared(&check_of(at)->x, marked) && are_marked(&nest_of(at)->load_once, marked)
             ? NULL
             : "it is no load that all rows share";
}

static const char *refuse_evict_last(const tc_schedule_place *at) {
  const tc_schedule_list *l = &nest_of(at)->evict_last;
  const uint8_t *need = check_of(at)->x.need;
  if (refuse_rows(at)) return refuse_rows(at);
  for (uint32_t i = 0; i < l->n; ++i)
    if (!need[l->at[i]] || !tc_cuda_is_only_read(at->k, at->p, &at->k->expr[l->at[i]]))
      return "it is no array that is only read";
  return tc_cuda_writes_all(at->k, at->p, at->nest, &at->nest->stage[at->nest->nstage - 1])
             ? NULL
             : "the last stage releases no lines: it does not store all points";
}

static const char *refuse_bypass_l1(const tc_schedule_place *at) {
  const tc_schedule_list *l = &nest_of(at)->bypass_l1;
  if (!is_form(at, TC_CUDA_COLUMNS)) return "the form has no columns";
  for (uint32_t i = 0; i < l->n; ++i)
    if (!tc_cuda_reads_once(at->k, at->nest, l->at[i])) return "it is read more than once";
  return NULL;
}

static const char *refuse_f64_totals(const tc_schedule_place *at) {
  const tc_schedule_list *l = &nest_of(at)->f64_totals;
  for (uint32_t i = 0; i < l->n; ++i)
    if (!tc_cuda_sums_in_f64(&at->nest->stage[l->at[i]])) return "the stage has no f32 sums";
  return NULL;
}

static const char *refuse_in_order(const tc_schedule_place *at) {
  const tc_schedule_list *l = &nest_of(at)->in_order;
  for (uint32_t i = 0; i < l->n; ++i)
    if (!tc_cuda_finds_places(at->k, at->nest, &at->nest->stage[l->at[i]]))
      return "the stage does not find places of elements along one axis";
  return NULL;
}

/* ---- conditions ------------------------------------------------------------------------------ */

static const char *refuse_index32(const tc_schedule_place *at) {
  return !nest_of(at)->index64 && tc_cuda_is_far(at->k, at->p, at->nest, check_of(at)->x.need)
             ? "positions may exceed 32 bits, and no 'index64' is said"
             : NULL;
}

static const char *refuse_length(const tc_schedule_place *at, int64_t items) {
  return items > INT32_MAX ? "it is more than an index of 32 bits counts" : refuse_rows(at);
}

static const char *refuse_least(const tc_schedule_place *at) {
  return refuse_length(at, variant_of(at)->least);
}

static const char *refuse_longest(const tc_schedule_place *at) {
  if (is_form(at, TC_CUDA_TRANSPOSE))
    return variant_of(at)->narrow ? NULL : "tiles are of any length";
  return refuse_length(at, variant_of(at)->longest);
}

static const char *refuse_aligned_stores(const tc_schedule_place *at) {
  if (variant_of(at)->aligned) return "'aligned' says more";
  if (variant_of(at)->full) return "rows that fill a group begin at aligned addresses";
  return is_form(at, TC_CUDA_FLAT) || is_form(at, TC_CUDA_ROWS) || is_form(at, TC_CUDA_COLUMNS)
             ? NULL
             : "the form has no loads that begin anywhere";
}

static const char *refuse_in_phase(const tc_schedule_place *at) {
  const tc_cuda_variant *v = variant_of(at);
  if (v->in_phase && v->stores_in_phase) return "'in-phase' says more";
  if (v->aligned || v->aligned_stores || v->unaligned || v->tile) return "other words say where its rows begin";
  if (v->full) return "rows that fill a group begin at aligned addresses";
  if (v->registers && v->group < WARP) return "there is no thread for each peeled element";
  return is_form(at, TC_CUDA_ROWS) && tc_cuda_phase(at->k, at->p, at->nest).address ? NULL : "the nest has no rows of which all can be peeled alike";
}

static const char *refuse_dense(const tc_schedule_place *at) {
  if (variant_of(at)->aligned || variant_of(at)->aligned_stores) return "other words say where its rows begin";
  return tc_cuda_may_be_dense(at->k, at->p, at->nest, nest_of(at)) ? NULL : "stored elements of all points do not follow one another";
}

static const char *refuse_overlapping(const tc_schedule_place *at) {
  if (variant_of(at)->aligned || variant_of(at)->aligned_stores) return "other words say where its columns begin";
  return tc_cuda_may_overlap(at->k, at->p, at->nest, nest_of(at)) ? NULL : "the nest has no columns that may be computed twice";
}

static const char *refuse_full(const tc_schedule_place *at) {
  const tc_cuda_variant *v = variant_of(at);
  if (!v->registers) return "rows are not in registers";
  if (!v->group && !v->warps) return "neither 'group' nor 'warps' says what a row fills";
  return v->warps || v->longest == v->unroll * v->group ? NULL
                                                        : "'longest' is not 'unroll' times 'group'";
}

/* ---- a variant ------------------------------------------------------------------------------- */

static const char *refuse_registers(const tc_schedule_place *at) {
  const tc_cuda_variant *v = variant_of(at);
  if (refuse_rows(at)) return refuse_rows(at);
  if (!v->longest || v->longest > v->unroll * (v->group ? v->group : v->most))
    return "'longest' is not said, or more than 'unroll' items of each thread";
  if (!v->group && v->items > v->unroll) return "a thread may get more 'items' than 'unroll'";
  return check_of(at)->words * v->lanes * v->unroll > REGISTERS ? "registers do not hold so many"
                                                                : NULL;
}

static const char *refuse_unaligned(const tc_schedule_place *at) {
  tc_cuda_tiles tiles;
  const tc_cuda_plan *x = &check_of(at)->x;
  if (variant_of(at)->registers) return "rows in registers begin at aligned addresses";
  if (is_form(at, TC_CUDA_TRANSPOSE))
    return tc_cuda_find_tiles(x, &tiles) && nest_of(at)->side
               ? NULL
               : "there are no tiles for rows that begin anywhere";
  return is_form(at, TC_CUDA_ROWS) && tc_cuda_may_peel(at->k, at->p, at->nest, x->need)
             ? NULL
             : "the nest does more than to reduce rows of one load in one pass";
}

static const char *refuse_narrow(const tc_schedule_place *at) {
  if (!is_form(at, TC_CUDA_TRANSPOSE)) return "the form is no transpose";
  if (variant_of(at)->unaligned || variant_of(at)->lanes > 1)
    return "its accesses are of one element";
  return variant_of(at)->longest ? NULL : "'longest' is not said";
}

static const char *refuse_tile_of_rows(const tc_schedule_place *at) {
  enum { WARP_ROWS = 32 };
  const tc_cuda_variant *v = variant_of(at);
  if (!v->registers) return "rows are not in registers";
  if (v->lanes > 1) return "its accesses are of one element";
  if (v->most > WARP_ROWS) return "'most' is more than a warp";
  return tc_cuda_row_tiles(at->k, at->p, at->nest, NULL) ? NULL
                                                         : "no rows follow one another in memory";
}

static const char *refuse_warps(const tc_schedule_place *at) {
  if (!variant_of(at)->full) return "rows do not fill warps: 'full' is no condition";
  return variant_of(at)->group ? "the group has a constant size" : NULL;
}

static const char *refuse_shared(const tc_schedule_place *at) {
  return nest_of(at)->cache.n ? NULL : "no 'cache' says which rows";
}

static const char *refuse_lanes(const tc_schedule_place *at) {
  const tc_cuda_variant *v = variant_of(at);
  tc_cuda_tiles tiles = {0};
  if (v->unaligned && is_form(at, TC_CUDA_TRANSPOSE))
    return tc_cuda_find_tiles(&check_of(at)->x, &tiles) && v->lanes == tiles.lanes
               ? NULL
               : "unaligned tiles are stored 8 bytes at a time";
  if (!tc_cuda_is_power(v->lanes)) return "it is no power of two";
  if (!v->aligned && !v->aligned_stores && !tc_cuda_is_phased(v) && !v->unaligned && !v->dense && !v->overlapping)
    return "accesses of several elements want 'aligned', 'aligned-stores', 'in-phase', 'dense', 'overlapping' or 'unaligned'";
  return v->lanes > nest_of(at)->width ? "it is more than 'width'" : NULL;
}

static const char *refuse_unroll(const tc_schedule_place *at) {
  return variant_of(at)->unroll > MOST_UNROLL ? "registers do not hold so many" : NULL;
}

static const char *refuse_group(const tc_schedule_place *at) {
  const int64_t n = variant_of(at)->group;
  if (is_form(at, TC_CUDA_COLUMNS))
    return n == 1 ? NULL : "a column has one thread, or as many as the launcher says";
  if (refuse_rows(at)) return refuse_rows(at);
  if (n > LARGEST_BLOCK) return "a block has 1024 threads at most";
  if (n <= WARP ? !tc_cuda_is_power(n) : n % WARP)
    return "it is neither a power of two up to 32 nor a number of whole warps";
  return n > variant_of(at)->most ? "it is more than 'most'" : NULL;
}

static const char *refuse_threads_of(const tc_schedule_place *at, int64_t n) {
  (void)at;
  return n > LARGEST_BLOCK ? "a block has 1024 threads at most"
         : n % WARP        ? "it is no number of whole warps"
                           : NULL;
}

static const char *refuse_items(const tc_schedule_place *at) {
  return refuse_length(at, variant_of(at)->items);
}

static const char *refuse_most(const tc_schedule_place *at) {
  const int64_t n = variant_of(at)->most;
  return n < WARP ? tc_cuda_is_power(n) ? NULL : "it is no power of two" : refuse_threads_of(at, n);
}

static const char *refuse_threads(const tc_schedule_place *at) {
  return refuse_threads_of(at, variant_of(at)->threads);
}

static const char *refuse_blocks(const tc_schedule_place *at) {
  return variant_of(at)->blocks > MOST_BLOCKS ? "a multiprocessor holds 32 blocks at most" : NULL;
}

/* ---- a variant as a whole -------------------------------------------------------------------- */

/* Is the reduction cut for the sizes for which its other nests say so? */
static bool agrees_where_cut(const tc_schedule_place *at) {
  const tc_schedule *s = at->k->schedule;
  for (uint32_t i = 0; i < at->k->nnest; ++i) {
    const tc_nest *n = &at->k->nest[i];
    const tc_cuda_nest_schedule *other = s->nest[i].common;
    if (n->when == TC_ALWAYS || !other || !tc_dim_same(n->elements, at->nest->elements) ||
        !tc_dim_same(n->results, at->nest->results))
      continue;
    if (other->whole != nest_of(at)->whole || other->many_results != nest_of(at)->many_results)
      return false;
  }
  return true;
}

static const char *lack_of_variant(const tc_schedule_place *at) {
  const tc_cuda_nest_schedule *s = nest_of(at);
  const tc_cuda_variant *v = variant_of(at);
  if (s->form < 0) return "no 'form' is said";
  if (is_form(at, TC_CUDA_TRANSPOSE) && (s->along < 0 || s->across < 0))
    return "a transpose wants 'along' and 'across'";
  if (v->unaligned && is_form(at, TC_CUDA_TRANSPOSE) && v->lanes == 1) return refuse_lanes(at);
  if (at->nest->when != TC_ALWAYS && !agrees_where_cut(at))
    return "other nests of the reduction say otherwise where it is cut";
  return NULL;
}

static const char *lack(const tc_schedule_place *at) {
  return at->nest ? lack_of_variant(at) : tc_cuda_lack_of_kernel(at);
}

/* ---- the table ------------------------------------------------------------------------------- */

#define NEST(field) offsetof(tc_cuda_nest_schedule, field)
#define VARIANT(field) offsetof(tc_cuda_variant, field)
#define LEVEL(words, type)                                                                         \
  { words, sizeof words / sizeof *words, sizeof(type) }

static const char *const forms[] = {
    [TC_CUDA_FLAT] = "flat",       [TC_CUDA_TRANSPOSE] = "transpose", [TC_CUDA_ROWS] = "rows",
    [TC_CUDA_COLUMNS] = "columns", [TC_CUDA_SERIAL] = "serial",
    [TC_CUDA_SCATTER] = "scatter", NULL};

static const tc_schedule_word common_words[] = {
    {"form", TC_WORD_NAME, NEST(form), 0, refuse_form, forms, NULL},
    {"width", TC_WORD_COUNT, NEST(width), 1, refuse_width, NULL, NULL},
    {"index64", TC_WORD_FLAG, NEST(index64), 0, NULL, NULL, NULL},
    {"whole", TC_WORD_COUNT, NEST(whole), 0, refuse_cut, NULL, NULL},
    {"many-results", TC_WORD_COUNT, NEST(many_results), 0, refuse_cut, NULL, NULL},
    {"along", TC_WORD_AXIS, NEST(along), 0, refuse_along, NULL, NULL},
    {"across", TC_WORD_AXIS, NEST(across), 0, refuse_across, NULL, NULL},
    {"side", TC_WORD_COUNT, NEST(side), 0, refuse_side, NULL, NULL},
    {"overlap", TC_WORD_COUNT, NEST(overlap), 0, refuse_side, NULL, NULL},
    {"tile", TC_WORD_VALUES, NEST(tile), 0, refuse_tile, NULL, NULL},
    {"unaligned-tile", TC_WORD_VALUES, NEST(unaligned_tile), 0, refuse_unaligned_tile, NULL, NULL},
    {"cache", TC_WORD_VALUES, NEST(cache), 0, refuse_cache, NULL, NULL},
    {"prefetch", TC_WORD_VALUES, NEST(prefetch), 0, refuse_prefetch, NULL, NULL},
    {"load-once", TC_WORD_VALUES, NEST(load_once), 0, refuse_load_once, NULL, NULL},
    {"evict-last", TC_WORD_VALUES, NEST(evict_last), 0, refuse_evict_last, NULL, NULL},
    {"bypass-l1", TC_WORD_VALUES, NEST(bypass_l1), 0, refuse_bypass_l1, NULL, NULL},
    {"late-shared", TC_WORD_COUNT, NEST(late_shared), 0, refuse_rows, NULL, NULL},
    {"f64-totals", TC_WORD_STAGES, NEST(f64_totals), 0, refuse_f64_totals, NULL, NULL},
    {"in-order", TC_WORD_STAGES, NEST(in_order), 0, refuse_in_order, NULL, NULL},
};

static const tc_schedule_word when_words[] = {
    {"aligned", TC_WORD_FLAG, VARIANT(aligned), 0, NULL, NULL, NULL},
    {"aligned-stores", TC_WORD_FLAG, VARIANT(aligned_stores), 0, refuse_aligned_stores, NULL, NULL},
    {"in-phase", TC_WORD_FLAG, VARIANT(in_phase), 0, refuse_in_phase, NULL, NULL},
    {"in-phase-stores", TC_WORD_FLAG, VARIANT(stores_in_phase), 0, refuse_in_phase, NULL, NULL},
    {"overlapping", TC_WORD_FLAG, VARIANT(overlapping), 0, refuse_overlapping, NULL, NULL},
    {"dense", TC_WORD_FLAG, VARIANT(dense), 0, refuse_dense, NULL, NULL},
    {"index32", TC_WORD_FLAG, VARIANT(index32), 0, refuse_index32, NULL, NULL},
    {"full", TC_WORD_FLAG, VARIANT(full), 0, refuse_full, NULL, NULL},
    {"least", TC_WORD_COUNT, VARIANT(least), 0, refuse_least, NULL, NULL},
    {"longest", TC_WORD_COUNT, VARIANT(longest), 0, refuse_longest, NULL, NULL},
};

static const tc_schedule_word variant_words[] = {
    {"registers", TC_WORD_FLAG, VARIANT(registers), 0, refuse_registers, NULL, NULL},
    {"unaligned", TC_WORD_FLAG, VARIANT(unaligned), 0, refuse_unaligned, NULL, NULL},
    {"narrow", TC_WORD_FLAG, VARIANT(narrow), 0, refuse_narrow, NULL, NULL},
    {"row-tile", TC_WORD_FLAG, VARIANT(tile), 0, refuse_tile_of_rows, NULL, NULL},
    {"warps", TC_WORD_FLAG, VARIANT(warps), 0, refuse_warps, NULL, NULL},
    {"shared", TC_WORD_FLAG, VARIANT(shared), 0, refuse_shared, NULL, NULL},
    {"lanes", TC_WORD_COUNT, VARIANT(lanes), 1, refuse_lanes, NULL, NULL},
    {"unroll", TC_WORD_COUNT, VARIANT(unroll), 1, refuse_unroll, NULL, NULL},
    {"group", TC_WORD_COUNT, VARIANT(group), 0, refuse_group, NULL, NULL},
    {"items", TC_WORD_COUNT, VARIANT(items), TC_CUDA_ITEMS, refuse_items, NULL, NULL},
    {"most", TC_WORD_COUNT, VARIANT(most), TC_CUDA_LARGEST_GROUP, refuse_most, NULL, NULL},
    {"threads", TC_WORD_COUNT, VARIANT(threads), TC_CUDA_BLOCK, refuse_threads, NULL, NULL},
    {"blocks", TC_WORD_COUNT, VARIANT(blocks), 0, refuse_blocks, NULL, NULL},
};

const tc_schedule_words tc_cuda_schedule_words = {
    .backend = "cuda",
    .kernel = {tc_cuda_kernel_words, TC_CUDA_KERNEL_WORDS, sizeof(tc_cuda_kernel_schedule)},
    .common = LEVEL(common_words, tc_cuda_nest_schedule),
    .when = LEVEL(when_words, tc_cuda_variant),
    .nest = LEVEL(variant_words, tc_cuda_variant),
    .open = open_place,
    .close = close_place,
    .lack = lack,
};
