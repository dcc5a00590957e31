/* transpose.c - blocks that are read along one axis and stored along another.
 *
 * Lanes are along the stores, and what they load lies in as many rows.  Vectors of these rows are
 * transposed in registers, into a tile from which the stage loads its vectors: each line is read
 * once, whatever the distance of rows.
 *
 * What cannot be transposed so is loaded element by element.  Elements of one column of rows that
 * are a multiple of 4 KiB apart have their lines in one set of the first-level cache, which holds 8
 * to 12 of them: each line is loaded again for every element of it.  With lanes along the loads the
 * stores are as far apart as rows of the result, which need not be so. */
#include "backends/openmp/schedule/plan.h"

/* ---- tiles ----------------------------------------------------------------------------------- */

int tc_omp_block_axis(const tc_omp_facts *f, const tc_stage *st) {
  enum { TALL = 16, WIDE = 64 };
  const tc_nest *n = f->nest;
  const uint32_t axes = st->axes & ~f->parallel;
  if (n->serial || st->interval || st->if_skipped || !tc_omp_along(f, st)) return -1;
  const uint32_t others = axes & ~(1u << f->vector);
  if (!others || others & (others - 1)) return -1;
  const int other = __builtin_ctz(others);
  const tc_dim tall = n->axis[other].extent, wide = n->axis[f->vector].extent;
  if (!tc_dim_is_const(tall) || tc_dim_value(tall) > TALL || !tc_dim_is_const(wide) ||
      tc_dim_value(wide) > WIDE)
    return -1;
  for (uint32_t i = 0; i < st->naction; ++i)
    if (!tc_omp_stores_in_order(f, &st->action[i])) return -1;
  return other;
}

bool tc_omp_may_transpose(const tc_omp_facts *f, const tc_stage *st, const tc_expr *e) {
  const int other = tc_omp_block_axis(f, st);
  if (other < 0 || e->kind != TC_EX_LOAD || e->guard.id || e->address.nterm) return false;
  return tc_dtype_bytes(tc_omp_buffer(f, e->buffer)->dtype) > 1 &&
         tc_omp_buffer(f, e->buffer)->kind != TC_BUF_LOCAL &&
         tc_dim_is(e->address.coef[other], 1) && tc_omp_is_apart(e->address.coef[f->vector]);
}

bool tc_omp_plan_transpose(tc_omp_choice *c) {
  for (uint32_t i = 0; i < c->f.nest->nstage; ++i) {
    const tc_stage *st = &c->f.nest->stage[i];
    if (tc_omp_block_axis(&c->f, st) < 0) continue;
    if (!tc_omp_list_loads(&c->f, st, tc_omp_may_transpose, &c->stage[i].transpose)) return false;
  }
  return true;
}

/* ---- lanes along the loads ------------------------------------------------------------------- */

enum { SETS = 4096, /* bytes between lines of one set */ FEW = SETS / 4 /* four sets hold too few lines, too */ };

/* The largest power of two, up to SETS, that divides the bytes of a step; of one that is not known:
 * 1. */
static int64_t divisor(const tc_omp_facts *f, tc_dim step, tc_dtype d) {
  step = tc_dense_step(f->p, step);
  if (!tc_dim_is_const(step)) return 1;
  const int64_t bytes = tc_dim_value(step) * (int64_t)tc_dtype_bytes(d), power = bytes & -bytes;
  return power && power < SETS ? power : SETS;
}

static void at_least(int64_t value, int64_t *most) {
  if (value > *most) *most = value;
}

/* Of accesses that lie apart in lanes along the vector axis (loads) and along the other one. */
static void find_divisors(const tc_omp_facts *f, int other, int64_t *along, int64_t *across) {
  const tc_stage *st = &f->nest->stage[0];
  const uint8_t *need = tc_omp_needs(f, st);
  for (uint32_t id = 1; id < f->k->nexpr; ++id) {
    const tc_expr *e = &f->k->expr[id];
    if (!need[id] || e->kind != TC_EX_LOAD || tc_omp_may_transpose(f, st, e)) continue;
    const tc_dtype d = tc_omp_buffer(f, e->buffer)->dtype;
    const tc_dim here = e->address.coef[f->vector], there = e->address.coef[other];
    if (tc_omp_is_apart(here)) at_least(divisor(f, here, d), along);
    if (tc_omp_is_apart(there)) at_least(divisor(f, there, d), across);
  }
  for (uint32_t i = 0; i < st->naction; ++i) {
    const tc_action *a = &st->action[i];
    at_least(divisor(f, a->address.coef[other], tc_omp_buffer(f, a->buffer)->dtype), across);
  }
}

int tc_omp_plan_transposed(const tc_omp_facts *f) {
  const tc_nest *n = f->nest;
  int64_t along = 1, across = 1;
  if (n->nstage != 1 || n->serial || n->naxis != n->nparallel + 2 || f->vector < n->nparallel)
    return -1;
  if (tc_omp_has_intervals(n)) return -1;
  for (uint32_t i = 0; i < n->stage[0].naction; ++i)
    if (!tc_omp_stores_in_order(f, &n->stage[0].action[i])) return -1;
  const int other = f->vector == n->nparallel ? n->nparallel + 1 : n->nparallel;
  find_divisors(f, other, &along, &across);
  return along >= FEW && along >= across ? other : -1;
}
