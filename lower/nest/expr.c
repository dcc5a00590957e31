/* expr.c - the pool of expressions of a kernel.  Equal expressions of one nest are one. */
#include "lower/lowering.h"

#include <string.h>

tc_dtype lo_compute_type(tc_dtype d) { return tc_dtype_is_half(d) ? TC_F32 : d; }

/* ---- interning ------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t v) {
  h = (h ^ v) * 0x9e3779b97f4a7c15u;
  return h ^ (h >> 29);
}

static uint64_t hash_expr(const tc_expr *e) {
  uint64_t f, h = 0;
  memcpy(&f, &e->f, sizeof f);
  h = mix(h,
          (uint64_t)e->kind << 32 | (uint64_t)e->op << 16 | (uint64_t)e->dtype << 8 | e->storage);
  h = mix(h, (uint64_t)e->in[0].id << 32 | e->in[1].id);
  h = mix(h, (uint64_t)e->in[2].id << 32 | e->guard.id);
  h = mix(h, (uint64_t)e->buffer << 32 | e->index << 1 | e->reproducible);
  h = mix(mix(mix(h, f), (uint64_t)e->i), (uint64_t)e->dim.bits);
  if (!tc_expr_has_address(e)) return h;
  h = mix(h, (uint64_t)e->address.offset.bits);
  for (int i = 0; i < TC_MAX_AXES; i++) h = mix(h, (uint64_t)e->address.coef[i].bits);
  for (int t = 0; t < e->address.nterm; t++) h = mix(h, e->address.term[t].value.id);
  return h;
}

bool tc_address_same(const tc_address *a, const tc_address *b) {
  if (!tc_dim_same(a->offset, b->offset) || a->nterm != b->nterm) return false;
  for (int i = 0; i < TC_MAX_AXES; i++)
    if (!tc_dim_same(a->coef[i], b->coef[i])) return false;
  for (int t = 0; t < a->nterm; t++) {
    const tc_term *x = &a->term[t], *y = &b->term[t];
    if (x->value.id != y->value.id || !tc_dim_same(x->stride, y->stride) ||
        !tc_dim_same(x->bound, y->bound) || x->free != y->free)
      return false;
  }
  return true;
}

static bool same_expr(const tc_expr *a, const tc_expr *b) {
  return a->kind == b->kind && a->op == b->op && a->dtype == b->dtype && a->storage == b->storage &&
         !memcmp(a->in, b->in, sizeof a->in) && a->guard.id == b->guard.id &&
         a->buffer == b->buffer && a->index == b->index && a->reproducible == b->reproducible &&
         !memcmp(&a->f, &b->f, sizeof a->f) && a->i == b->i && tc_dim_same(a->dim, b->dim) &&
         (!tc_expr_has_address(a) || tc_address_same(&a->address, &b->address));
}

/* ---- levels and axes ------------------------------------------------------------------------- */

static void join(lo_kb *b, tc_val v, int *level, uint32_t *axes) {
  if (!v.id) return;
  if (b->level[v.id] > *level) *level = b->level[v.id];
  *axes |= b->axes[v.id];
}

static void describe(lo_kb *b, uint32_t id) {
  const tc_expr *e = &b->k->expr[id];
  int level = 0;
  uint32_t axes = 0;
  for (int i = 0; i < 3; i++) join(b, e->in[i], &level, &axes);
  join(b, e->guard, &level, &axes);
  if (tc_expr_has_address(e)) {
    for (int i = 0; i < TC_MAX_AXES; i++)
      if (!tc_dim_is(e->address.coef[i], 0)) axes |= 1u << i;
    for (int t = 0; t < e->address.nterm; t++) join(b, e->address.term[t].value, &level, &axes);
  }
  if (e->kind == TC_EX_RESULT && b->result_level[e->index] > level)
    level = b->result_level[e->index];
  if (e->kind == TC_EX_RESULT && b->result_axes) axes |= b->result_axes;
  b->level[id] = level;
  b->axes[id] = axes;
}

void lo_refresh(lo_kb *b) {
  for (uint32_t id = b->first; id < b->k->nexpr; id++) describe(b, id);
}

/* ---- the pool -------------------------------------------------------------------------------- */

static void grow_table(lo_kb *b) {
  uint32_t cap = 256;
  while (cap < (b->k->nexpr - b->first + 1) * 4) cap *= 2;
  b->table = lo_alloc(b->L, b->L->scratch, cap * sizeof *b->table);
  b->ctable = cap;
  for (uint32_t id = b->first; id < b->k->nexpr; id++) {
    uint32_t h = (uint32_t)hash_expr(&b->k->expr[id]) & (cap - 1);
    while (b->table[h]) h = (h + 1) & (cap - 1);
    b->table[h] = id;
  }
}

void lo_forget_values(lo_kb *b) {
  b->nmemo = 0;
  if (b->memo) memset(b->memo, 0, b->cmemo * sizeof *b->memo);
}

void lo_begin_pool(lo_kb *b) {
  if (!b->k->nexpr) {
    b->k->expr = lo_grow(b->L, b->L->arena, b->k->expr, &b->cexpr, 0, sizeof *b->k->expr);
    memset(&b->k->expr[0], 0, sizeof b->k->expr[0]);
    b->k->nexpr = 1;
  }
  b->first = b->k->nexpr;
  lo_forget_values(b);
  grow_table(b);
}

tc_val lo_expr(lo_kb *b, const tc_expr *e) {
  tc_kernel *k = b->k;
  if ((k->nexpr - b->first + 1) * 2 > b->ctable) grow_table(b);
  uint32_t mask = b->ctable - 1, h = (uint32_t)hash_expr(e) & mask;
  for (; b->table[h]; h = (h + 1) & mask)
    if (same_expr(&k->expr[b->table[h]], e)) return (tc_val){b->table[h]};
  uint32_t id = k->nexpr, cap = b->clevel;
  k->expr = lo_grow(b->L, b->L->arena, k->expr, &b->cexpr, id, sizeof *k->expr);
  b->level = lo_grow(b->L, b->L->scratch, b->level, &cap, id, sizeof *b->level);
  b->axes = lo_grow(b->L, b->L->scratch, b->axes, &b->clevel, id, sizeof *b->axes);
  k->expr[id] = *e;
  k->nexpr++;
  b->table[h] = id;
  describe(b, id);
  return (tc_val){id};
}

/* ---- makers ---------------------------------------------------------------------------------- */

tc_val lo_const_f(lo_kb *b, tc_dtype d, double v) {
  if (!tc_dtype_is_float(d)) return lo_const_i(b, d, tc_dtype_truncate(d, v));
  tc_expr e = {.kind = TC_EX_CONST, .dtype = lo_compute_type(d), .f = v};
  if (e.dtype == TC_F32) e.f = (double)(float)v;
  return lo_expr(b, &e);
}

tc_val lo_const_i(lo_kb *b, tc_dtype d, int64_t v) {
  if (tc_dtype_is_float(d)) return lo_const_f(b, d, (double)v);
  switch (d) {
  case TC_BOOL: v = v != 0; break;
  case TC_U8: v = (uint8_t)v; break;
  case TC_I8: v = (int8_t)v; break;
  case TC_I16: v = (int16_t)v; break;
  case TC_I32: v = (int32_t)v; break;
  default: break;
  }
  tc_expr e = {.kind = TC_EX_CONST, .dtype = d, .i = v};
  return lo_expr(b, &e);
}

tc_val lo_cast(lo_kb *b, tc_val v, tc_dtype d) {
  d = lo_compute_type(d);
  const tc_expr *x = &b->k->expr[v.id];
  if (x->dtype == d) return v;
  if (x->kind == TC_EX_CONST)
    return tc_dtype_is_float(x->dtype) ? lo_const_f(b, d, x->f) : lo_const_i(b, d, x->i);
  if (x->kind == TC_EX_SCALAR && x->dtype != TC_BOOL &&
      tc_dtype_is_float(x->dtype) == tc_dtype_is_float(d) && tc_dtype_bytes(x->dtype) == 8) {
    tc_expr e = *x;
    e.dtype = d;
    return lo_expr(b, &e);
  }
  tc_expr e = {.kind = TC_EX_CAST, .dtype = d, .in = {v}, .loc = x->loc};
  return lo_expr(b, &e);
}

tc_val lo_op(lo_kb *b, tc_op op, tc_dtype d, tc_val x, tc_val y, tc_val z, tc_loc loc) {
  tc_expr e = {.kind = TC_EX_OP, .op = op, .dtype = d, .in = {x, y, z}, .loc = loc};
  return lo_expr(b, &e);
}

void lo_apply(lo_kb *b, const tc_rule *rule, const tc_val *from, tc_loc loc, tc_val value[]) {
  tc_val to[TC_RULE_EXPRS] = {{0}};
  for (uint32_t id = 1; id < rule->kernel.nexpr; id++) {
    tc_expr e = rule->expr[id];
    for (int i = 0; i < 3; i++) e.in[i] = to[e.in[i].id];
    e.loc = loc;
    to[id] = e.kind == TC_EX_RESULT ? from[e.index] : lo_expr(b, &e);
  }
  for (int i = 0; i < TC_MAX_ACCUMULATORS; i++) value[i] = to[rule->value[i].id];
}

uint32_t lo_kernel_buffer(lo_kb *b, uint32_t program_buffer) {
  for (uint32_t i = 0; i < b->k->nbuffer; i++)
    if (b->k->buffer[i] == program_buffer) return i;
  uint32_t n = b->k->nbuffer;
  b->k->buffer = lo_grow(b->L, b->L->arena, b->k->buffer, &b->cbuffer, n, sizeof *b->k->buffer);
  b->k->buffer[n] = program_buffer;
  b->k->nbuffer++;
  return n;
}

tc_val lo_load(lo_kb *b, uint32_t program_buffer, tc_address a, tc_loc loc) {
  tc_expr e = {.kind = TC_EX_LOAD,
               .dtype = lo_compute_type(b->L->p->buffer[program_buffer].dtype),
               .buffer = lo_kernel_buffer(b, program_buffer),
               .address = a,
               .guard = b->guard,
               .loc = loc};
  return lo_expr(b, &e);
}

uint32_t lo_new_result(lo_kb *b, tc_dtype type, int level) {
  uint32_t n = b->nresult++, cap = b->cresult;
  b->result_level =
      lo_grow(b->L, b->L->scratch, b->result_level, &cap, n, sizeof *b->result_level);
  b->result_type =
      lo_grow(b->L, b->L->scratch, b->result_type, &b->cresult, n, sizeof *b->result_type);
  b->result_level[n] = level;
  b->result_type[n] = type;
  return n;
}

tc_val lo_result(lo_kb *b, uint32_t index, tc_loc loc) {
  tc_expr e = {.kind = TC_EX_RESULT, .dtype = b->result_type[index], .index = index, .loc = loc};
  return lo_expr(b, &e);
}

int lo_expr_cost(const tc_expr *e) {
  enum { COSTLY = 10, GATHERED = 4 };
  switch (e->kind) {
  case TC_EX_OP: return tc_op_get(e->op)->transcendental ? COSTLY : 1;
  case TC_EX_RANDOM: return COSTLY;
  case TC_EX_LOAD: return tc_address_is_checked(&e->address) ? GATHERED : 1;
  case TC_EX_CAST:
  case TC_EX_ROUND: return 1;
  default: return 0;
  }
}
