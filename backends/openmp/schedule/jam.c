/* jam.c - outer points that run in one loop (unroll-and-jam), or stage by stage in groups. */
#include "backends/openmp/schedule/plan.h"

/* ---- vectors --------------------------------------------------------------------------------- */

/* May vectors of neighbouring columns be jammed?  One vector takes one cache line of each row, and
 * the next row is far away: several take whole runs of lines. */
bool tc_omp_plan_jam_vectors(const tc_omp_choice *c) {
  const tc_omp_facts *f = &c->f;
  if (!tc_omp_lanes_are_points(f)) return false;
  if (!tc_omp_only_reduces(f) && !tc_omp_only(f, TC_ACT_SCAN)) return false;
  for (uint32_t i = 0; i < f->nest->nstage; ++i) {
    const tc_stage *st = &f->nest->stage[i];
    const uint8_t *need = tc_omp_needs(f, st);
    for (uint32_t id = 1; id < f->k->nexpr; ++id)
      if (need[id] && f->k->expr[id].kind == TC_EX_LOAD &&
          tc_omp_is_apart(f->k->expr[id].address.coef[f->vector]))
        return false;
    for (uint32_t j = 0; j < st->naction; ++j)
      if (st->action[j].kind == TC_ACT_STORE &&
          tc_omp_is_apart(st->action[j].address.coef[f->vector]))
        return false;
  }
  return true;
}

/* Registers that the accumulators of one vector of columns take, a power of two. */
int tc_omp_accumulators(const tc_omp_facts *f) {
  int n = 0, power = 1;
  for (uint32_t i = 0; i < f->nest->nstage; ++i)
    for (uint32_t j = 0; j < f->nest->stage[i].naction; ++j) {
      const tc_action *a = &f->nest->stage[i].action[j];
      if (a->kind != TC_ACT_REDUCE && a->kind != TC_ACT_SCAN) continue;
      const bool twice = tc_dtype_bytes(a->dtype) > 4 ||
                         (a->kind == TC_ACT_SCAN && tc_print_sums_in_f64(a)) ||
                         tc_print_is_tuple(a);
      n += twice ? 2 : 1;
    }
  while (power < n) power *= 2;
  return power;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Do the expressions hold loads that differ between points of an outer axis (own; bytes: those of elements of a byte; inner:
 * those that differ along an axis inside of it, too), and loads that all points share (halves: those of 16-bit floats)? */
typedef struct loads {
  bool own, bytes, inner, shared, halves;
} loads;

static void find_loads(const tc_omp_facts *f, const tc_stage *st, int axis, loads *l) {
  const uint32_t lanes = 1u << f->vector;
  const uint8_t *need = tc_omp_needs(f, st);
  for (uint32_t id = 1; id < f->k->nexpr; ++id) {
    const tc_expr *e = &f->k->expr[id];
    if (!need[id] || e->kind != TC_EX_LOAD || !(f->depends[id] & lanes)) continue;
    const tc_dtype d = tc_omp_buffer(f, e->buffer)->dtype;
    if (f->depends[id] >> axis & 1) {
      l->own = true;
      l->bytes |= tc_dtype_bytes(d) == 1;
      l->inner |= (f->depends[id] & f->parallel) >> axis > 1;
    }
    else l->shared = true, l->halves |= tc_omp_is_half(d);
  }
}

/* Are rows reduced together with loads that all rows share, such as the vector that a matrix is
 * multiplied by?  Jammed rows load it once.  Rows of bytes are short in memory, and read faster one
 * after the other.  In a product of two matrices rows of A are, which stay near while those of B pass. */
bool tc_omp_plan_jam_rows(const tc_omp_choice *c) {
  const tc_nest *n = c->f.nest;
  if (n->nparallel < 1 || n->naxis != n->nparallel + 1 || c->f.vector != n->nparallel ||
      c->nest->group || !tc_omp_only_reduces(&c->f) || tc_omp_has_parts(&c->f))
    return false;
  loads l = {0};
  for (uint32_t i = 0; i < n->nstage; ++i)
    if (n->stage[i].axes && !tc_omp_may_deinterleave(&c->f, &n->stage[i]))
      find_loads(&c->f, &n->stage[i], tc_omp_jam_axis(n), &l);
  return l.own && l.shared && !l.bytes && !l.inner;
}

/* ---- rows of vectors -------------------------------------------------------------------------- */

/* Points of the stage's sequential axes; 0: that is not known, or totals are needed. */
static int64_t points_of(const tc_omp_facts *f, const tc_stage *st) {
  int64_t points = 1;
  for (int i = 0; i < f->nest->naxis; ++i) {
    const tc_dim extent = f->nest->axis[i].extent;
    if (!(st->axes >> i & 1)) continue;
    if (!tc_dim_is_const(extent) || tc_dim_value(extent) > TC_OMP_FOLD) return 0;
    points *= tc_dim_value(extent);
    if (points > TC_OMP_FOLD) return 0;
  }
  return points;
}

/* Does the stage multiply a row, contiguous in the lanes, that differs along the axis by a number that does not? */
static bool shares_numbers(const tc_omp_facts *f, const tc_stage *st, int axis) {
  const uint8_t *need = tc_omp_needs(f, st);
  bool own = false, shared = false;
  for (uint32_t id = 1; id < f->k->nexpr; ++id) {
    const tc_expr *e = &f->k->expr[id];
    if (!need[id] || e->kind != TC_EX_LOAD) continue;
    own |= (f->depends[id] >> axis & 1) && tc_dim_is(e->address.coef[f->vector], 1);
    shared |= (f->depends[id] & st->axes) && !(f->depends[id] & (1u << axis | 1u << f->vector));
  }
  return own && shared;
}

/* Windows of a plane times the numbers of a filter, such as of a depthwise convolution: of one row with few vectors each sum
 * waits for its last addition, and each number is loaded for every row. */
int tc_omp_plan_jam_outer(const tc_omp_choice *c) {
  const tc_omp_facts *f = &c->f;
  const tc_nest *n = f->nest;
  const int axis = n->nparallel - 2;
  if (axis < 0 || f->vector != n->nparallel - 1 || n->axis[axis].of >= 0 || n->serial ||
      tc_dim_is(n->axis[axis].extent, 1) || !tc_omp_only_reduces(f) || tc_omp_has_parts(f) || tc_omp_accumulators(f) > 1)
    return -1;
  for (uint32_t i = 0; i < n->nstage; ++i) {
    const tc_stage *st = &n->stage[i];
    if (st->skip_if.id || st->if_skipped || c->stage[i].transpose.n || c->stage[i].transpose_store.n) return -1;
    if (st->axes && (points_of(f, st) < TC_OMP_JAM_OUTER || !shares_numbers(f, st, axis))) return -1;
  }
  return axis;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static bool prefetches(const tc_omp_choice *c) {
  for (uint32_t i = 0; i < c->f.nest->nstage; ++i)
    if (c->stage[i].prefetch.n) return true;
  return false;
}

/* May outer points go through the stages together?  A nest with LOCAL rows has one for each
 * thread. */
bool tc_omp_may_group(const tc_omp_choice *c) {
  const tc_nest *n = c->f.nest;
  if (n->nparallel != 1 || n->axis[0].of >= 0 || n->serial || tc_omp_lanes_are_points(&c->f))
    return false;
  for (uint32_t i = 0; i < c->f.k->nbuffer; ++i)
    if (tc_omp_buffer(&c->f, i)->kind == TC_BUF_LOCAL) return false;
  for (uint32_t i = 0; i < n->nstage; ++i)
    if (tc_omp_has_kind(&n->stage[i], TC_ACT_SCAN)) return false;
  return prefetches(c);
}

/* Some stages store rows made of their own elements and of elements that all rows share, such as
 * the weights of a layer norm.  Weights in 16 bits have to be widened, which takes as much of the
 * machine as the arithmetic; jammed rows load and widen them once.  For f32 only a load is saved,
 * and rows one after the other are faster. */
bool tc_omp_may_pair(const tc_omp_facts *f, const tc_stage *st) {
  if (f->nest->nparallel != 1 || f->vector < 0 || st->axes != 1u << f->vector) return false;
  for (uint32_t i = 0; i < st->naction; ++i)
    if (st->action[i].kind != TC_ACT_STORE) return false;
  return true;
}

bool tc_omp_plan_pairs(const tc_omp_choice *c, const tc_stage *st) {
  loads l = {0};
  if (!c->nest->group || !tc_omp_may_pair(&c->f, st)) return false;
  find_loads(&c->f, st, 0, &l);
  return l.own && l.halves;
}
