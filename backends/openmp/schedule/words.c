/* words.c - the words of a schedule for CPUs, and what refuses each. */
#include "backends/openmp/schedule/plan.h"
#include "backends/openmp/unit.h"
#include "backends/schedule/words.h"

#include <stddef.h>
#include <stdlib.h>

enum {
  LANES = 16, /* of the widest vectors */
  MOST =
      16 /* vectors that the loops of a stage hold at once: registers are no more than twice that */
};

/* A variant of a nest that is checked. */
typedef struct checked {
  tc_omp_choice c;
  uint8_t *reduced; /* tc_omp_find_reduced_precision; NULL: no word asks */
} checked;

static bool open_place(tc_schedule_place *at) {
  checked *x = calloc(1, sizeof *x);
  at->self = x;
  if (!x) return false;
  x->c.nest = (tc_omp_nest_schedule *)at->variant->nest;
  x->c.stage = (tc_omp_stage_schedule *)at->variant->stage;
  x->c.width = tc_omp_short_width(at->nest, at->variant);
  if (!tc_omp_open_facts(&x->c.f, at->k, at->p, at->nest, x->c.nest->vector)) return false;
  if (!x->c.nest->approximate.n) return true;
  x->reduced = malloc(at->k->nexpr + 1);
  if (x->reduced) tc_omp_find_reduced_precision(at->k, at->p, x->reduced);
  return x->reduced;
}

static void close_place(tc_schedule_place *at) {
  checked *x = at->self;
  if (!x) return;
  tc_omp_close_facts(&x->c.f);
  free(x->reduced);
  free(x);
}

static const tc_omp_choice *choice(const tc_schedule_place *at) {
  return &((const checked *)at->self)->c;
}

static const tc_omp_nest_schedule *nest_of(const tc_schedule_place *at) { return choice(at)->nest; }

static const tc_omp_stage_schedule *stage_of(const tc_schedule_place *at) {
  return &choice(at)->stage[at->stage];
}

static const tc_stage *loops_of(const tc_schedule_place *at) { return &at->nest->stage[at->stage]; }

static bool is_along(const tc_schedule_place *at) {
  return tc_omp_along(&choice(at)->f, loops_of(at));
}

static bool some_stage_has(const tc_nest *n, tc_act_kind kind) {
  for (uint32_t i = 0; i < n->nstage; ++i)
    if (tc_omp_has_kind(&n->stage[i], kind)) return true;
  return false;
}

/* ---- the vector axis ------------------------------------------------------------------------- */

static bool writes_apart(const tc_omp_facts *f, const tc_action *a) {
  if (a->kind != TC_ACT_ADD && a->kind != TC_ACT_STORE) return true;
  for (int t = 0; t < a->address.nterm; ++t)
    if (f->depends[a->address.term[t].value.id] >> f->vector & 1) return false;
  return tc_dim_is(a->address.coef[f->vector], 1);
}

/* Do lanes along the axis write to different places?  In a nest whose points come in order. */
static bool all_write_apart(const tc_omp_facts *f) {
  for (uint32_t i = 0; i < f->nest->nstage; ++i)
    for (uint32_t j = 0; j < f->nest->stage[i].naction; ++j)
      if (!writes_apart(f, &f->nest->stage[i].action[j])) return false;
  return true;
}

/* Does the last axis of each scan's stage, the innermost, run along the lanes, or none? */
static bool scans_in_order(const tc_omp_facts *f) {
  for (uint32_t i = 0; i < f->nest->nstage; ++i) {
    const tc_stage *st = &f->nest->stage[i];
    if (tc_omp_has_kind(st, TC_ACT_SCAN) && tc_omp_along(f, st) && st->axes >> f->vector != 1)
      return false;
  }
  return true;
}

static const char *refuse_vector(const tc_schedule_place *at) {
  const tc_omp_facts *f = &choice(at)->f;
  for (int i = 0; i < at->nest->naxis; ++i)
    if (at->nest->axis[i].of == f->vector) return "its points are parts of different lengths";
  if (f->vector != at->nest->vector && tc_omp_has_intervals(at->nest))
    return "stages take intervals of another axis";
  if (at->nest->serial && !all_write_apart(f)) return "its points may write to one place";
  if (!scans_in_order(f)) return "a scan goes along it, and along another axis inside of it";
  if (!tc_omp_lanes_are_points(f)) return NULL;
  const int64_t width = tc_omp_short_width(at->nest, at->variant);
  if (tc_omp_keeps_rows(f) && (!width || width > TC_OMP_BLOCK_ROWS))
    /* but those of short rows have a vector at each place */
    return "its points share the rows that are kept";
  return nest_of(at)->tile ? NULL : "it is parallel, and no 'tile' says how much of it is a task";
}

static const char *refuse_tile(const tc_schedule_place *at) {
  if (!tc_omp_lanes_are_points(&choice(at)->f)) return "no parallel axis is the vector axis";
  return nest_of(at)->tile % LANES ? "it is no number of whole vectors, of 16 lanes" : NULL;
}

/* ---- outer points ---------------------------------------------------------------------------- */

/* Why outer points may not run in one loop. */
static const char *dependent_points(const tc_schedule_place *at) {
  if (at->nest->serial) return "the points of the nest depend on each other";
  return tc_omp_keeps_rows(&choice(at)->f) ? "its points share the rows that are kept" : NULL;
}

static const char *refuse_jam_rows(const tc_schedule_place *at) {
  const tc_omp_facts *f = &choice(at)->f;
  const char *dependent = dependent_points(at);
  if (dependent) return dependent;
  if (at->nest->nparallel < 1) return "the nest has no parallel axis";
  if (f->vector < at->nest->nparallel) return "the vector axis is not a sequential one";
  if (tc_omp_has_parts(f)) return "an axis is cut into parts";
  if (some_stage_has(at->nest, TC_ACT_SCAN)) return "a scan has one running value";
  if (nest_of(at)->group) return "the points are in groups";
  return nest_of(at)->jam_rows > MOST ? "registers do not hold so many" : NULL;
}

static const char *refuse_jam_vectors(const tc_schedule_place *at) {
  const char *dependent = dependent_points(at);
  if (dependent) return dependent;
  if (!tc_omp_lanes_are_points(&choice(at)->f)) return "no parallel axis is the vector axis";
  return some_stage_has(at->nest, TC_ACT_SCAN) && some_stage_has(at->nest, TC_ACT_REDUCE)
             ? "the nest both scans and reduces"
             : NULL;
}

static const char *refuse_interchange(const tc_schedule_place *at) {
  const char *dependent = dependent_points(at);
  if (dependent) return dependent;
  if (!tc_omp_lanes_are_points(&choice(at)->f)) return "no parallel axis is the vector axis";
  if (nest_of(at)->jam_vectors.n) return "vectors are jammed";
  return tc_omp_may_interchange(&choice(at)->f)
             ? NULL
             : "the nest does more than to reduce along one axis and to store what becomes of that";
}

static const char *refuse_outer(const tc_schedule_place *at) {
  const int outer = nest_of(at)->outer;
  const char *dependent = dependent_points(at);
  if (dependent) return dependent;
  if (!tc_omp_lanes_are_points(&choice(at)->f)) return "no parallel axis is the vector axis";
  if (!nest_of(at)->interchange && some_stage_has(at->nest, TC_ACT_SCAN)) return "a scan has one running value";
  if (outer >= at->nest->nparallel || outer == choice(at)->f.vector ||
      at->nest->axis[outer].of >= 0)
    return "it is no parallel axis beside the lanes'";
  return nest_of(at)->outer_tile ? NULL : "no 'outer-tile' says how many of its points";
}

static const char *refuse_outer_tile(const tc_schedule_place *at) {
  if (nest_of(at)->outer < 0) return "there is no 'outer' axis";
  return nest_of(at)->outer_tile > MOST
             ? "the first-level cache does not hold the accumulators of so many"
             : NULL;
}

static const char *refuse_collect(const tc_schedule_place *at) {
  if (nest_of(at)->jam_rows) return "rows are jammed";
  return tc_omp_may_collect(&choice(at)->f)
             ? NULL
             : "the nest does more than to reduce rows and to store what becomes of that";
}

static const char *refuse_group(const tc_schedule_place *at) {
  const char *dependent = dependent_points(at);
  if (dependent) return dependent;
  if (nest_of(at)->collect) return "their results are collected";
  return tc_omp_may_group(choice(at)) ? NULL
                                      : "groups are of one parallel axis whose rows are prefetched";
}

static const char *refuse_pipeline(const tc_schedule_place *at) {
  const tc_omp_nest_schedule *s = nest_of(at);
  if (!s->nontemporal) return "stores are not nontemporal";
  if (s->group || s->jam_rows) return "outer points do not come one by one";
  if (tc_omp_pipeline_stage(&choice(at)->f) != s->pipeline)
    return "the last stage does not follow this one place by place";
  return choice(at)->stage[s->pipeline].deinterleave ? "its lanes are in another order" : NULL;
}

static const char *refuse_align(const tc_schedule_place *at) {
  return nest_of(at)->pipeline < 0 ? "there is no pipeline" : NULL;
}

static const char *refuse_nontemporal(const tc_schedule_place *at) {
  return tc_omp_may_nontemporal(choice(at))
             ? NULL
             : "no output is stored in whole vectors, or a kernel reads it";
}

static const char *refuse_distance(const tc_schedule_place *at) {
  for (uint32_t i = 0; i < at->nest->nstage; ++i)
    if (choice(at)->stage[i].prefetch.n || choice(at)->stage[i].prefetch_store.n) return NULL;
  return "nothing is prefetched";
}

static const char *refuse_approximate(const tc_schedule_place *at) {
  const checked *x = at->self;
  const tc_schedule_list *l = &x->c.nest->approximate;
  for (uint32_t i = 0; i < l->n; ++i) {
    if (!tc_omp_is_approximated(&at->k->expr[l->at[i]])) return "there is no such function";
    if (!x->reduced[l->at[i]]) return "more than 16 bits of it are seen";
  }
  return NULL;
}

/* ---- stages ---------------------------------------------------------------------------------- */

static const char *refuse_unroll(const tc_schedule_place *at) {
  const int64_t n = stage_of(at)->unroll;
  if (!is_along(at)) return "the stage does not go along the vector axis";
  if (tc_omp_has_kind(loops_of(at), TC_ACT_SCAN)) return "a scan has one running value";
  if (n & (n - 1)) return "accumulators are combined in pairs: it is no power of two";
  return n > MOST ? "registers do not hold so many" : NULL;
}

static const char *refuse_short_runs(const tc_schedule_place *at) {
  const tc_omp_stage_schedule *s = stage_of(at);
  if (!tc_omp_may_have_short_runs(&choice(at)->f, loops_of(at)))
    return "the stage does not reduce along several axes, the inner ones of few known points";
  if (s->unroll < 2) return "there is one accumulator";
  if (s->deinterleave || s->prefetch.n || s->prefetch_store.n ||
      nest_of(at)->pipeline == (int)at->stage)
    return "other words are about vectors along the innermost axis";
  return NULL;
}

static const char *refuse_deinterleave(const tc_schedule_place *at) {
  tc_stage st = *loops_of(at);
  bool may = is_along(at) && tc_omp_may_deinterleave(&choice(at)->f, &st);
  if (may && st.if_skipped) {
    st.action = st.if_skipped;
    may = tc_omp_may_deinterleave(&choice(at)->f, &st);
  }
  if (!may) return "its lanes meet more than bf16 rows";
  return stage_of(at)->unroll % 2 ? "vectors come in pairs, but 'unroll' is odd" : NULL;
}

static const char *refuse_interleave(const tc_schedule_place *at) {
  const tc_stage *st = loops_of(at);
  bool first;
  for (uint32_t i = 0; i < st->naction; ++i)
    if (tc_omp_is_interleaved(&choice(at)->f, st, &st->action[i], &first)) return NULL;
  return "no stores fill vectors together";
}

static const char *refuse_peel(const tc_schedule_place *at) {
  return tc_omp_may_peel(choice(at), loops_of(at))
             ? NULL
             : "the stage does more than nontemporal stores along the vector axis";
}

static const char *refuse_pairs(const tc_schedule_place *at) {
  if (!nest_of(at)->group) return "the points are in no groups";
  return tc_omp_may_pair(&choice(at)->f, loops_of(at)) ? NULL : "the stage does more than stores";
}

/* A block is a number of whole rounds of the loop, in which all lanes are live. */
static const char *refuse_points(const tc_schedule_place *at, int64_t points, int64_t unroll) {
  if (!loops_of(at)->axes || !tc_omp_has_f64_total(loops_of(at)))
    return "the stage has no f32 sums";
  return is_along(at) && points % (LANES * unroll) ? "it is no number of whole rounds of the loop"
                                                   : NULL;
}

static const char *refuse_block(const tc_schedule_place *at) {
  if (nest_of(at)->collect) return "rows that are collected have no totals";
  return refuse_points(at, stage_of(at)->block, stage_of(at)->unroll);
}

static const char *refuse_jam_block(const tc_schedule_place *at) {
  if (!nest_of(at)->jam_rows) return "no rows are jammed";
  return refuse_points(at, stage_of(at)->jam_block, 1);
}

static const char *refuse_skip(const tc_schedule_place *at) {
  if (!loops_of(at)->skip_if.id) return "nothing else has what the stage computes";
  return tc_omp_lanes_are_points(&choice(at)->f) ? "lanes may differ in whether it can be skipped"
                                                 : NULL;
}

static const char *refuse_prefetch(const tc_schedule_place *at) {
  const tc_omp_facts *f = &choice(at)->f;
  const tc_schedule_list *l = &stage_of(at)->prefetch;
  if (!is_along(at)) return "the stage does not go along the vector axis";
  const uint8_t *need = tc_omp_needs(f, loops_of(at));
  for (uint32_t i = 0; i < l->n; ++i) {
    if (!need[l->at[i]]) return "the stage does not read it";
    if (!tc_omp_may_prefetch(f, &at->k->expr[l->at[i]])) return "it is no row of an outer point";
  }
  return NULL;
}

static const char *refuse_prefetch_store(const tc_schedule_place *at) {
  const tc_schedule_list *l = &stage_of(at)->prefetch_store;
  for (uint32_t i = 0; i < l->n; ++i)
    if (!tc_omp_may_prefetch_store(&choice(at)->f, loops_of(at), &loops_of(at)->action[l->at[i]]))
      return "it is no row of an outer point";
  return NULL;
}

static const char *refuse_jammed(const tc_schedule_place *at) {
  if (nest_of(at)->jam_vectors.n) return "vectors are jammed";
  return nest_of(at)->outer >= 0 && !nest_of(at)->interchange ? "outer points are jammed" : NULL;
}

static const char *refuse_transpose(const tc_schedule_place *at) {
  const tc_schedule_list *l = &stage_of(at)->transpose;
  for (uint32_t i = 0; i < l->n; ++i)
    if (!tc_omp_may_transpose(&choice(at)->f, loops_of(at), &at->k->expr[l->at[i]]) &&
        !tc_omp_may_block_rows(choice(at), loops_of(at), &at->k->expr[l->at[i]]))
      return "it has no neighbours along the other axis of a block";
  return l->n ? refuse_jammed(at) : NULL;
}

static const char *refuse_transpose_store(const tc_schedule_place *at) {
  const tc_schedule_list *l = &stage_of(at)->transpose_store;
  for (uint32_t i = 0; i < l->n; ++i)
    if (!tc_omp_may_block_stores(choice(at), loops_of(at), &loops_of(at)->action[l->at[i]]))
      return "it stores no short rows";
  return refuse_jammed(at);
}

static const char *refuse_pack(const tc_schedule_place *at) {
  const tc_schedule_list *l = &stage_of(at)->pack;
  for (uint32_t i = 0; i < l->n; ++i)
    if (!tc_omp_may_pack(&choice(at)->f, loops_of(at), &at->k->expr[l->at[i]]))
      return "it does not go through rows that may lie apart";
  return NULL;
}

/* ---- a fused outer loop ---------------------------------------------------------------------- */

static const char *refuse_kernel_group(const tc_schedule_place *at) {
  return at->k->outer.fused ? NULL : "the nests are not in one loop";
}

/* ---- the table ------------------------------------------------------------------------------- */

#define KERNEL(field) offsetof(tc_omp_kernel_schedule, field)
#define NEST(field) offsetof(tc_omp_nest_schedule, field)
#define STAGE(field) offsetof(tc_omp_stage_schedule, field)
#define LEVEL(words, type)                                                                         \
  { words, sizeof words / sizeof *words, sizeof(type) }

/* What a tuner tries.  Decisions that change what is computed, such as `approximate`, `block` and
 * `skip`, stay. */
static const int64_t try_threads[] = {0, 1, -1}; /* one thread, or a team whatever the work */
static const int64_t try_points[] = {0, 2, 4, 8, 16, -1};
static const int64_t try_tiles[] = {64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, -1};
static const int64_t try_rows[] = {1, 2, 4, 8, -1};
static const int64_t try_groups[] = {0, 2, 4, 8, -1};
static const int64_t try_distances[] = {1, 2, 3, 4, 8, -1};
static const int64_t try_unrolls[] = {1, 2, 4, 8, 16, -1};
static const int64_t try_others[] = {-1};

static const tc_schedule_word kernel_words[] = {
    {"threads", TC_WORD_COUNT, KERNEL(threads), 0, NULL, NULL, try_threads},
    {"group", TC_WORD_COUNT, KERNEL(group), 0, refuse_kernel_group, NULL, try_points},
};

static const tc_schedule_word nest_words[] = {
    {"vector", TC_WORD_AXIS, NEST(vector), 0, refuse_vector, NULL, NULL},
    {"tile", TC_WORD_COUNT, NEST(tile), 0, refuse_tile, NULL, try_tiles},
    {"jam-rows", TC_WORD_COUNT, NEST(jam_rows), 0, refuse_jam_rows, NULL, try_rows},
    {"jam-vectors", TC_WORD_COUNTS, NEST(jam_vectors), 0, refuse_jam_vectors, NULL, try_others},
    {"interchange", TC_WORD_COUNT, NEST(interchange), 0, refuse_interchange, NULL, try_rows},
    {"outer", TC_WORD_AXIS, NEST(outer), 0, refuse_outer, NULL, NULL},
    {"outer-tile", TC_WORD_COUNT, NEST(outer_tile), 0, refuse_outer_tile, NULL, try_rows},
    {"collect", TC_WORD_FLAG, NEST(collect), 0, refuse_collect, NULL, NULL},
    {"group", TC_WORD_COUNT, NEST(group), 0, refuse_group, NULL, try_groups},
    {"nontemporal", TC_WORD_FLAG, NEST(nontemporal), 0, refuse_nontemporal, NULL, try_others},
    {"pipeline", TC_WORD_STAGE, NEST(pipeline), 0, refuse_pipeline, NULL, try_others},
    {"align", TC_WORD_FLAG, NEST(align), 0, refuse_align, NULL, try_others},
    {"distance", TC_WORD_COUNT, NEST(distance), TC_OMP_DISTANCE, refuse_distance, NULL, try_distances},
    {"approximate", TC_WORD_VALUES, NEST(approximate), 0, refuse_approximate, NULL, NULL},
};

static const tc_schedule_word stage_words[] = {
    {"unroll", TC_WORD_COUNT, STAGE(unroll), 1, refuse_unroll, NULL, try_unrolls},
    {"short-runs", TC_WORD_FLAG, STAGE(short_runs), 0, refuse_short_runs, NULL, try_others},
    {"deinterleave", TC_WORD_FLAG, STAGE(deinterleave), 0, refuse_deinterleave, NULL, try_others},
    {"interleave", TC_WORD_FLAG, STAGE(interleave), 0, refuse_interleave, NULL, try_others},
    {"peel", TC_WORD_FLAG, STAGE(peel), 0, refuse_peel, NULL, try_others},
    {"pairs", TC_WORD_FLAG, STAGE(pairs), 0, refuse_pairs, NULL, try_others},
    {"block", TC_WORD_COUNT, STAGE(block), 0, refuse_block, NULL, NULL},
    {"jam-block", TC_WORD_COUNT, STAGE(jam_block), 0, refuse_jam_block, NULL, NULL},
    {"skip", TC_WORD_COUNT, STAGE(skip), 0, refuse_skip, NULL, NULL},
    {"prefetch", TC_WORD_VALUES, STAGE(prefetch), 0, refuse_prefetch, NULL, try_others},
    {"prefetch-store", TC_WORD_ACTIONS, STAGE(prefetch_store), 0, refuse_prefetch_store, NULL, try_others},
    {"transpose", TC_WORD_VALUES, STAGE(transpose), 0, refuse_transpose, NULL, try_others},
    {"transpose-store", TC_WORD_ACTIONS, STAGE(transpose_store), 0, refuse_transpose_store, NULL, try_others},
    {"pack", TC_WORD_VALUES, STAGE(pack), 0, refuse_pack, NULL, try_others},
};

const tc_schedule_words tc_omp_schedule_words = {
    .backend = "openmp",
    .kernel = LEVEL(kernel_words, tc_omp_kernel_schedule),
    .nest = LEVEL(nest_words, tc_omp_nest_schedule),
    .stage = LEVEL(stage_words, tc_omp_stage_schedule),
    .open = open_place,
    .close = close_place,
    .other_plan = tc_omp_other_plan,
};
