/* facts.c - what nodes cost: the ground of "recompute or store". */
#include "lower/lowering.h"

/* Matrices too small for the tiles of a template, which packs them first. */
static bool is_small(lo *L, const tc_type *a, const tc_type *b) {
  enum { SIDE = 8, DEPTH = 16 };
  return lo_at_most(L, a->dim[a->rank - 2], SIDE) && lo_at_most(L, b->dim[b->rank - 1], SIDE) &&
         lo_at_most(L, a->dim[a->rank - 1], DEPTH);
}

bool lo_is_dot(lo *L, const tc_node *n) {
  if (n->op != OP_MATMUL) return false;
  const tc_type *a = tc_graph_type(L->g, n->in[0]), *b = tc_graph_type(L->g, n->in[1]);
  return a->rank == 1 || b->rank == 1 || tc_dim_is(a->dim[a->rank - 2], 1) ||
         tc_dim_is(b->dim[b->rank - 1], 1) || is_small(L, a, b);
}

tc_dim lo_product(lo *L, const tc_dim *d, int n) {
  tc_dim p = tc_dim_const(1);
  for (int i = 0; i < n; i++) p = tc_dim_mul(L->dims, p, d[i]);
  return p;
}

bool lo_at_most(lo *L, tc_dim d, int64_t v) {
  int64_t lo, hi;
  if (tc_dim_bad(d)) return false;
  tc_dim_range(L->dims, d, &lo, &hi);
  return hi <= v;
}

int64_t lo_guess(lo *L, tc_dim d) {
  enum { TYPICAL = 512 };
  int64_t lo, hi;
  if (tc_dim_bad(d)) return INT64_MAX;
  if (tc_dim_is_const(d)) return tc_dim_value(d);
  tc_dim_range(L->dims, d, &lo, &hi);
  return lo > TYPICAL ? lo : hi < TYPICAL ? hi : TYPICAL;
}

tc_dim lo_estimate(lo *L, tc_dim a, tc_dim b) {
  tc_dim p = tc_dim_mul(L->dims, a, b);
  return tc_dim_bad(p) ? tc_dim_const(INT64_MAX / 4) : p;
}

/* Classes whose result is always an array, or is computed by a loop of its own. */
static bool is_source(tc_class c) {
  return c == TC_CLASS_REDUCE || c == TC_CLASS_MATMUL || c == TC_CLASS_SCAN ||
         c == TC_CLASS_JOIN || c == TC_CLASS_SCATTER || c == TC_CLASS_SORT || c == TC_CLASS_CALL;
}

static bool converts_to_whole(lo *L, const tc_node *n) {
  const tc_dtype to = (tc_dtype)n->type.dtype;
  return n->op == OP_CAST && to != TC_BOOL && !tc_dtype_is_float(to) &&
         tc_dtype_is_float((tc_dtype)tc_graph_type(L->g, n->in[0])->dtype);
}

static unsigned saturate(unsigned a, unsigned b, unsigned max) { return a + b > max ? max : a + b; }

static uint64_t source_bit(uint32_t id) { return 1ull << (tc_hash(&id, sizeof id, 7) & 63); }

static void set_source(lo_fact *f, uint32_t id) {
  f->sources = source_bit(id);
  f->nsource = 1;
  f->source[0] = id;
}

static void add_sources(lo_fact *f, const lo_fact *o) {
  f->sources |= o->sources;
  if (o->nsource > LO_SOURCES) f->nsource = LO_SOURCES + 1;
  for (uint32_t i = 0; i < o->nsource && f->nsource <= LO_SOURCES; i++) {
    uint32_t k = 0;
    while (k < f->nsource && f->source[k] != o->source[i]) k++;
    if (k < f->nsource) continue;
    if (k < LO_SOURCES) f->source[k] = o->source[i];
    f->nsource = (uint8_t)(k + 1);
  }
}

static void add_operand(lo *L, lo_fact *f, tc_ref r) {
  const lo_fact *o = &L->fact[r.id];
  f->cone = (uint16_t)saturate(f->cone, o->cone, 60000);
  if (tc_dim_known_le(L->dims, f->numel, o->numel))
    f->reads = (uint8_t)saturate(f->reads, o->reads, 200);
  f->costly |= o->costly;
  f->to_whole |= o->to_whole;
  f->product |= o->product && tc_dim_same(o->numel, f->numel);
  add_sources(f, o);
  if (tc_dim_is(f->reduced, 0)) f->reduced = o->reduced, f->rows = o->rows;
}

static void source_facts(lo *L, uint32_t id, const tc_node *n, lo_fact *f) {
  tc_class c = lo_class(n);
  f->reads = 1;
  f->cone = 0;
  f->costly = f->to_whole = false;
  f->product = c == TC_CLASS_MATMUL && !lo_is_dot(L, n);
  f->reduced = tc_dim_const(0);
  f->rows = f->numel;
  if (c == TC_CLASS_REDUCE) f->reduced = L->fact[n->in[0].id].numel;
  else set_source(f, id);
}

static lo_fact facts_of(lo *L, uint32_t id) {
  const tc_node *n = lo_node(L, (tc_ref){id});
  tc_class c = lo_class(n);
  lo_fact f = {.numel = tc_type_numel(L->dims, &n->type), .reduced = tc_dim_const(0)};
  for (int k = 0; k < n->nin; k++)
    if (n->in[k].id) add_operand(L, &f, n->in[k]);
  if (is_source(c)) source_facts(L, id, n, &f);
  else if (n->op == OP_INPUT) f.reads = 1, set_source(&f, id);
  else if (c != TC_CLASS_LEAF && c != TC_CLASS_VIEW)
    f.cone = (uint16_t)saturate(f.cone, n->op == OP_CAST ? 0 : c == TC_CLASS_INDEX ? 3 : 1, 60000);
  f.costly |= tc_op_get(n->op)->transcendental;
  f.to_whole |= converts_to_whole(L, n);
  if (c == TC_CLASS_VIEW && n->op != OP_RESHAPE) f.product = false;
  return f;
}

void lo_find_facts(lo *L) {
  for (uint32_t id = 1; id <= L->count; id++) L->fact[id] = facts_of(L, id);
}
