/* plan.c - the schedule of a kernel's nests: the decisions in their order.
 *
 * Each looks at the nest, at the decisions before it, and at nothing else. */
#include "backends/openmp/schedule/plan.h"

#include <stdlib.h>

/* ---- a variant of a nest --------------------------------------------------------------------- */

static bool reads_approximated(const tc_omp_facts *f, uint8_t *need) {
  bool any = false;
  for (uint32_t i = 0; i < f->nest->nstage; ++i) tc_mark_stage(&f->nest->stage[i], need);
  tc_mark_operands(f->k, need);
  for (uint32_t id = 1; id < f->k->nexpr; ++id)
    any |= need[id] && tc_omp_is_approximated(&f->k->expr[id]);
  return any;
}

/* reduced: marks of tc_omp_find_reduced_precision. */
static bool plan_approximate(tc_omp_choice *c, const uint8_t *reduced) {
  const tc_omp_facts *f = &c->f;
  tc_schedule_list *l = &c->nest->approximate;
  uint8_t *need = calloc(f->k->nexpr + 1, 1);
  bool ok = need;
  if (ok && reads_approximated(f, need)) {
    l->at = tc_arena_alloc(f->p->arena, f->k->nexpr * sizeof *l->at);
    ok = l->at;
    for (uint32_t id = 1; ok && id < f->k->nexpr; ++id)
      if (need[id] && reduced[id] && tc_omp_is_approximated(&f->k->expr[id])) l->at[l->n++] = id;
  }
  free(need);
  return ok;
}

/* As many vectors as there are registers for, then a quarter of them, then two of the widest: one
 * by itself takes as long as these, for each of its additions waits for the one before. */
static bool plan_jam_vectors(tc_omp_choice *c) {
  if (!tc_omp_plan_jam_vectors(c)) return true;
  const uint32_t all = (uint32_t)tc_omp_accumulators(&c->f);
  tc_schedule_list *l = &c->nest->jam_vectors;
  l->at = tc_arena_alloc(c->f.p->arena, 3 * sizeof *l->at);
  if (!l->at) return false;
  l->at[l->n++] = all;
  l->at[l->n++] = 4 * all;
  if (4 * all < TC_OMP_PAIR) l->at[l->n++] = TC_OMP_PAIR;
  return true;
}

static int64_t plan_skip(const tc_omp_choice *c, const tc_stage *st) {
  if (!st->skip_if.id || tc_omp_lanes_are_points(&c->f)) return 0;
  return st->skip_points > 0 ? st->skip_points : 1;
}

static void plan_stage(tc_omp_choice *c, uint32_t i) {
  const tc_stage *st = &c->f.nest->stage[i];
  tc_omp_stage_schedule *s = &c->stage[i];
  bool first;
  if (c->nest->collect) { /* rows are short, and there are many: they hide each other's latencies */
    s->unroll = 1;
    return;
  }
  s->unroll = tc_omp_plan_unroll(c, st);
  s->deinterleave = tc_omp_along(&c->f, st) && tc_omp_may_deinterleave(&c->f, st);
  for (uint32_t a = 0; a < st->naction; ++a)
    s->interleave |= tc_omp_is_interleaved(&c->f, st, &st->action[a], &first);
  s->peel = tc_omp_plan_peel(c, st);
  s->pairs = tc_omp_plan_pairs(c, st);
  s->block = tc_omp_plan_block(c, st, c->nest->interchange ? TC_OMP_FOLD : TC_OMP_BLOCK);
  /* Each jammed row has one set of accumulators in place of TC_OMP_UNROLL. */
  if (c->nest->jam_rows) s->jam_block = tc_omp_plan_block(c, st, TC_OMP_BLOCK / TC_OMP_UNROLL);
  s->skip = plan_skip(c, st);
  s->short_runs = tc_omp_plan_short_runs(c, i);
}

static int64_t plan_tile(const tc_omp_choice *c) {
  if (c->nest->interchange) return TC_OMP_RESIDENT;
  return c->f.nest->naxis > c->f.nest->nparallel ? TC_OMP_STRIP : TC_OMP_TILE;
}

/* What the conditions of a variant decide: rows fill the lanes with their results; loops are
 * interchanged. */
/* the last one: though it does not seem to pay */
typedef enum { PLAIN, COLLECT, INTERCHANGE, JAM_ROWS } transform;

static bool plan_nest(tc_omp_choice *c, const uint8_t *reduced, transform w) {
  const tc_nest *n = c->f.nest;
  tc_omp_nest_schedule *s = c->nest;
  *s = (tc_omp_nest_schedule){.vector = c->f.vector, .distance = TC_OMP_DISTANCE};
  s->collect = w == COLLECT;
  s->interchange = w == INTERCHANGE ? tc_omp_accumulators(&c->f) : 0;
  s->outer = s->interchange ? tc_omp_plan_outer(&c->f) : -1;
  s->outer_tile = s->outer < 0 ? 0 : TC_OMP_OUTER;
  if (tc_omp_lanes_are_points(&c->f)) s->tile = plan_tile(c);
  if (!tc_omp_plan_transpose(c) || !tc_omp_plan_row_blocks(c) || !tc_omp_plan_packed_rows(c)) return false;
  if (w == PLAIN && (s->outer = tc_omp_plan_jam_outer(c)) >= 0) s->outer_tile = TC_OMP_JAM_OUTER;
  if ((!s->interchange && !plan_jam_vectors(c)) || (!s->collect && !tc_omp_plan_prefetch(c)))
    return false;
  s->group = tc_omp_may_group(c) ? TC_OMP_GROUP : 0; /* whose rows are prefetched */
  s->jam_rows = w == JAM_ROWS || tc_omp_plan_jam_rows(c) ? TC_OMP_JAM_ROWS : 0;
  s->nontemporal = tc_omp_plan_nontemporal(c);
  s->pipeline = tc_omp_plan_pipeline(c);
  s->align = tc_omp_plan_align(c);
  for (uint32_t i = 0; i < n->nstage; ++i) plan_stage(c, i);
  return plan_approximate(c, reduced);
}

/* ---- a nest ---------------------------------------------------------------------------------- */

typedef struct kernel_plan {
  const tc_kernel *k;
  tc_program *p;
  uint8_t *reduced;
} kernel_plan;

static bool plan_variant(const kernel_plan *x, const tc_nest *n, int vector, transform w,
                         tc_schedule_variant *v) {
  tc_omp_choice c = {.width = tc_omp_short_width(n, v)};
  v->nest = c.nest = tc_arena_alloc(x->p->arena, sizeof *c.nest);
  v->stage = c.stage = tc_arena_alloc(x->p->arena, (n->nstage + 1) * sizeof *c.stage);
  bool ok = c.nest && c.stage;
  ok = tc_omp_open_facts(&c.f, x->k, x->p, n, vector) && ok && plan_nest(&c, x->reduced, w);
  tc_omp_close_facts(&c.f);
  return ok;
}

/* Adds the variant of a nest whose `axis` is shorter than so many points, with lanes along
 * `vector`, which has points for so many vectors. */
static bool plan_short(const kernel_plan *x, const tc_nest *n, int axis, int64_t points, int vector,
                       int64_t vectors, tc_schedule_nest *s) {
  tc_schedule_variant *v = &s->variant[s->nvariant++];
  v->when[v->nwhen++] = (tc_schedule_compare){.axis = axis, .less = true, .bound = points};
  v->when[v->nwhen++] = (tc_schedule_compare){.axis = vector, .vectors = true, .bound = vectors};
  return plan_variant(x, n, vector, PLAIN, v);
}

/* Adds the variant of a nest whose last parallel axis has one point, or, where rows are read once
 * for several, few. */
static bool plan_one_column(const kernel_plan *x, const tc_nest *n, int vector,
                            tc_schedule_nest *s) {
  tc_schedule_variant *v = &s->variant[s->nvariant++];
  const int axis = n->nparallel - 1;
  const bool along = vector >= n->nparallel;
  if (along) v->when[v->nwhen++] = (tc_schedule_compare){.axis = axis, .bound = 1};
  v->when[v->nwhen++] =
      (tc_schedule_compare){.axis = axis, .less = true, .bound = along ? 2 : TC_OMP_OUTER + 1};
  return plan_variant(x, n, vector, PLAIN, v);
}

/* Adds the same for rows of the matrix that are short, in blocks. */
static bool plan_one_column_of_blocks(const kernel_plan *x, const tc_nest *n, int vector,
                                      tc_schedule_nest *s) {
  const int axis = n->nparallel - 1, rows = n->nparallel - 2;
  tc_schedule_variant *v = &s->variant[s->nvariant];
  if (vector < n->nparallel || n->naxis != n->nparallel + 1 || rows < 0) return true;
  v->when[v->nwhen++] = (tc_schedule_compare){.axis = axis, .bound = 1};
  v->when[v->nwhen++] = (tc_schedule_compare){.axis = axis, .less = true, .bound = 2};
  v->when[v->nwhen++] =
      (tc_schedule_compare){.axis = vector, .less = true, .bound = TC_OMP_BLOCK_ROWS};
  v->when[v->nwhen++] = (tc_schedule_compare){.axis = rows, .vectors = true, .bound = 1};
  if (!plan_variant(x, n, rows, PLAIN, v)) return false;
  if (((const tc_omp_stage_schedule *)v->stage)[0].transpose.n) s->nvariant++;
  else v->nwhen = 0;
  return true;
}

/* Adds the variant of a nest whose rows are shorter than so many points and fill the lanes with
 * their results. */
static bool plan_collected(const kernel_plan *x, const tc_nest *n, int64_t points,
                           tc_schedule_nest *s) {
  tc_schedule_variant *v = &s->variant[s->nvariant++];
  int64_t lo, hi;
  tc_dim_range(tc_graph_dims(x->p->graph), n->axis[n->vector].extent, &lo, &hi);
  if (hi >= points)
    v->when[v->nwhen++] = (tc_schedule_compare){.axis = n->vector, .less = true, .bound = points};
  v->when[v->nwhen++] = (tc_schedule_compare){.axis = 0, .vectors = true, .bound = 1};
  return plan_variant(x, n, n->vector, COLLECT, v);
}

/* Adds the variant of a nest of many columns, and rows of these. */
static bool plan_interchanged(const kernel_plan *x, const tc_nest *n, int rows,
                              tc_schedule_nest *s) {
  tc_schedule_variant *v = &s->variant[s->nvariant++];
  v->when[v->nwhen++] =
      (tc_schedule_compare){.axis = n->vector, .vectors = true, .bound = TC_OMP_LEAST_COLUMNS};
  v->when[v->nwhen++] = (tc_schedule_compare){.axis = rows, .bound = TC_OMP_LEAST_ROWS};
  return plan_variant(x, n, n->vector, INTERCHANGE, v);
}

enum { VARIANTS = 10 }; /* of a nest, at most */

/* Of short rows, neighbouring ones share a vector.  Lanes run along the last of the outer axes,
 * whose stores are in order, where hardly any are left over at its end: at each outer point, the
 * lanes of a part of a vector are loaded one by one as those of a whole one are.  Else along the
 * one before, which is counted through once, if that fills a vector. */
static bool plan_short_rows(const kernel_plan *x, const tc_nest *n, int64_t width,
                            tc_schedule_nest *s) {
  const int last = n->nparallel - 1;
  if (!last) return plan_short(x, n, 1, width, 0, 1, s);
  return plan_short(x, n, last + 1, width, last, TC_OMP_FULL_VECTORS, s) &&
         plan_short(x, n, last + 1, width, last - 1, 1, s) &&
         plan_short(x, n, last + 1, width, last, 1, s);
}

static bool plan_variants(const kernel_plan *x, const tc_nest *n, tc_schedule_nest *s) {
  tc_omp_facts f;
  bool ok = tc_omp_open_facts(&f, x->k, x->p, n, n->vector);
  const int64_t width = ok ? tc_omp_plan_short_rows(&f) : 0;
  const int64_t points = ok ? tc_omp_plan_short_points(&f) : 0;
  const int other = ok ? tc_omp_plan_short_columns(&f) : -1;
  const int64_t collected = ok ? tc_omp_plan_collect(&f) : 0;
  const int one = ok ? tc_omp_plan_one_column(&f) : -1;
  const int rows = ok ? tc_omp_plan_interchange(&(tc_omp_choice){.f = f}) : -1;
  const int transposed = ok ? tc_omp_plan_transposed(&f) : -1;
  tc_omp_close_facts(&f);
  s->variant = tc_arena_alloc(x->p->arena, VARIANTS * sizeof *s->variant);
  if (!ok || !s->variant) return false;
  if (tc_omp_has_intervals(n))
    return plan_variant(x, n, n->vector, PLAIN, &s->variant[s->nvariant++]);
  if (width && !plan_short_rows(x, n, width, s)) return false;
  if (points && !plan_short(x, n, 2, points, 0, 1, s)) return false;
  if (other >= 0 && !plan_short(x, n, n->vector, TC_OMP_SHORT, other, 1, s)) return false;
  if (one >= 0 && !(plan_one_column_of_blocks(x, n, one, s) && plan_one_column(x, n, one, s)))
    return false;
  if (collected && !plan_collected(x, n, collected, s)) return false;
  if (rows >= 0 && !plan_interchanged(x, n, rows, s)) return false;
  return plan_variant(x, n, transposed < 0 ? n->vector : transposed, PLAIN,
                      &s->variant[s->nvariant++]);
}

/* ---- other plans ----------------------------------------------------------------------------- */

/* Is that what the transform is for, and do rows that are collected, which have no totals, need
 * none? */
static bool is_worth_trying(const tc_omp_facts *f, transform w) {
  int64_t lo, hi;
  if (w != COLLECT) return w != INTERCHANGE || tc_omp_may_interchange(f);
  if (!tc_omp_may_collect(f)) return false;
  tc_dim_range(tc_graph_dims(f->p->graph), f->nest->axis[f->vector].extent, &lo, &hi);
  return hi >= 0 && hi <= TC_OMP_BLOCK;
}

/* Each transform, with each axis in the lanes. */
bool tc_omp_other_plan(tc_program *p, const tc_kernel *k, uint32_t n, uint32_t i,
                       tc_schedule_variant *v, bool *more) {
  enum { TRANSFORMS = JAM_ROWS + 1 };
  const tc_nest *nest = &k->nest[n];
  const int axis = (int)(i / TRANSFORMS);
  const transform w = (transform)(i % TRANSFORMS);
  tc_omp_facts f;
  *more = axis < nest->naxis;
  if (!*more) return true;
  bool ok = tc_omp_open_facts(&f, k, p, nest, axis);
  const bool worth = ok && is_worth_trying(&f, w);
  tc_omp_close_facts(&f);
  if (!worth) return ok;
  kernel_plan x = {.k = k, .p = p, .reduced = malloc(k->nexpr + 1)};
  if (x.reduced) tc_omp_find_reduced_precision(k, p, x.reduced);
  ok = x.reduced && plan_variant(&x, nest, axis, w, v);
  free(x.reduced);
  return ok;
}

/* ---- a kernel -------------------------------------------------------------------------------- */

/* Can it be that the work pays for a team of threads? */
static bool wants_team(const tc_kernel *k, const tc_program *p) {
  bool team = false;
  int64_t work = 0;
  for (uint32_t i = 0; i < k->nnest; ++i) {
    int64_t lo, hi;
    tc_dim_range(tc_graph_dims(p->graph), k->nest[i].work, &lo, &hi);
    team |= !k->nest[i].serial;
    if (hi < 0 || __builtin_add_overflow(work, hi, &work)) work = INT64_MAX;
  }
  return team && work > TC_OMP_PARALLEL_WORK;
}

/* What a nest stores of a point, the next one would load at once, in other pieces than it was stored in: of small arrays that
 * is before they have left the store buffer.  So as many points as take a quarter of a first-level cache pass each nest. */
static int64_t plan_group(const tc_kernel *k, const tc_program *p) {
  enum { MOST = 16 };
  int64_t bytes = 0, group = 1;
  for (uint32_t i = 0; k->outer.fused && i < k->nbuffer; ++i) {
    const tc_buffer *b = &p->buffer[k->buffer[i]];
    int64_t least, most;
    if (b->kind != TC_BUF_PRIVATE) continue;
    tc_dim_range(tc_graph_dims(p->graph), b->numel, &least, &most);
    if (least > TC_OMP_GROUP_BYTES) return 0;
    bytes += least * (int64_t)tc_dtype_bytes(b->dtype);
  }
  while (bytes && group < MOST && 2 * group * bytes <= TC_OMP_GROUP_BYTES) group *= 2;
  return group > 1 ? group : 0;
}

static bool plan_nests(tc_program *p, const tc_kernel *k, tc_schedule *s) {
  kernel_plan x = {.k = k, .p = p, .reduced = malloc(k->nexpr + 1)};
  tc_omp_kernel_schedule *own = tc_arena_alloc(p->arena, sizeof *own);
  s->kernel = own;
  s->nest = tc_arena_alloc(p->arena, (k->nnest + 1) * sizeof *s->nest);
  bool ok = x.reduced && own && s->nest;
  if (ok) {
    own->threads = k->sibling || wants_team(k, p) ? TC_OMP_PARALLEL_WORK : 0;
    own->group = plan_group(k, p);
    tc_omp_find_reduced_precision(k, p, x.reduced);
  }
  for (uint32_t i = 0; ok && i < k->nnest; ++i) ok = plan_variants(&x, &k->nest[i], &s->nest[i]);
  free(x.reduced);
  return ok;
}

static bool plan_kernel(tc_program *p, tc_kernel *k) {
  tc_schedule *s = tc_arena_alloc(p->arena, sizeof *s);
  k->schedule = s;
  if (!s || tc_kernel_takes_arrays(k)) return s;
  if (k->kind == TC_KERNEL_NESTS) return plan_nests(p, k, s);
  return tc_omp_product_as_nests(k, p, &s->product) && (!s->product || plan_kernel(p, s->product));
}

bool tc_omp_plan(tc_program *p) {
  tc_omp_plan_packing(p);
  for (uint32_t i = 0; i < p->nkernel; ++i)
    if (!plan_kernel(p, &p->kernel[i])) return false;
  return true;
}
