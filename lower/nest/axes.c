/* axes.c - axes of a nest: merging neighbours, cutting long axes, final order.
 *
 * A slot is an axis under construction; addresses have one coefficient per slot. */
#include "lower/lowering.h"

static bool writes(const lo_act *a) {
  return a->a.kind == TC_ACT_STORE || a->a.kind == TC_ACT_ADD;
}

void lo_map_addresses(lo_kb *b, void (*f)(lo_kb *, tc_address *, const void *), const void *arg) {
  for (uint32_t id = b->first; id < b->k->nexpr; id++)
    if (tc_expr_has_address(&b->k->expr[id])) f(b, &b->k->expr[id].address, arg);
  for (uint32_t i = 0; i < b->nact; i++)
    if (writes(&b->act[i])) f(b, &b->act[i].a.address, arg);
}

int lo_add_slot(lo_kb *b, tc_dim extent, bool sequential) {
  if (b->nslot == TC_MAX_AXES) lo_fail(b->L, b->k->loc, "a loop nest of more than 16 axes");
  b->slot[b->nslot] = (lo_slot){.extent = extent, .of = -1, .sequential = sequential};
  return b->nslot++;
}

uint32_t lo_sequential_slots(const lo_kb *b) {
  uint32_t m = 0;
  for (int s = 0; s < b->nslot; s++)
    if (!b->slot[s].dead && b->slot[s].sequential) m |= 1u << s;
  return m;
}

/* ---- merging --------------------------------------------------------------------------------- */

typedef struct pair {
  int i, j;
  bool ok;
} pair;

static void check_pair(lo_kb *b, tc_address *a, const void *arg) {
  pair *p = *(pair *const *)arg;
  tc_dim want = tc_dim_mul(b->L->dims, a->coef[p->j], b->slot[p->j].extent);
  p->ok = p->ok && tc_dim_same(a->coef[p->i], want);
}

static bool is_cut(const lo_kb *b, int s) {
  for (int t = 0; t < b->nslot; t++)
    if (b->slot[t].of == s) return true;
  return b->slot[s].of >= 0;
}

/* i is outside of j, and every address steps through both as through one axis. */
static bool mergeable(lo_kb *b, int i, int j) {
  pair p = {i, j, true}, *at = &p;
  const lo_slot *x = &b->slot[i], *y = &b->slot[j];
  if (x->dead || y->dead || x->sequential != y->sequential || x->columns != y->columns)
    return false;
  if (is_cut(b, i) || is_cut(b, j) || (b->ninterval && (i == b->g->lane || j == b->g->lane)))
    return false;
  for (uint32_t k = 0; k < b->nact; k++)
    if ((b->act[k].axes >> i & 1) != (b->act[k].axes >> j & 1)) return false;
  lo_map_addresses(b, check_pair, &at);
  return p.ok;
}

static void drop_coef(lo_kb *b, tc_address *a, const void *slot) {
  (void)b;
  a->coef[*(const int *)slot] = tc_dim_const(0);
}

static void merge(lo_kb *b, int i, int j) {
  b->slot[j].extent = tc_dim_mul(b->L->dims, b->slot[i].extent, b->slot[j].extent);
  b->slot[i].dead = true;
  lo_map_addresses(b, drop_coef, &i);
  for (uint32_t k = 0; k < b->nact; k++) b->act[k].axes &= ~(1u << i);
}

void lo_coalesce(lo_kb *b) {
  for (bool again = true; again;) {
    again = false;
    for (int i = 0; i < b->nslot; i++)
      for (int j = 0; j < b->nslot; j++)
        if (i != j && mergeable(b, i, j)) {
          merge(b, i, j);
          again = true;
        }
  }
  lo_refresh(b);
}

/* ---- cutting --------------------------------------------------------------------------------- */

typedef struct cut {
  int slot, outer;
  tc_dim chunk;
} cut;

static void cut_coef(lo_kb *b, tc_address *a, const void *arg) {
  const cut *c = arg;
  a->coef[c->outer] = tc_dim_mul(b->L->dims, a->coef[c->slot], c->chunk);
}

int lo_split_slot(lo_kb *b, int s, tc_dim chunk) {
  cut c = {s, 0, chunk};
  lo_slot *inner = &b->slot[s];
  c.outer = lo_add_slot(b, tc_dim_ceildiv(b->L->dims, inner->extent, c.chunk), false);
  inner->total = inner->extent;
  inner->extent = c.chunk;
  inner->of = c.outer;
  lo_map_addresses(b, cut_coef, &c);
  return c.outer;
}

/* ---- final order ----------------------------------------------------------------------------- */

typedef struct moved {
  int n;
  const int *order;
} moved;

static void reorder(lo_kb *b, tc_address *a, const void *arg) {
  const moved *m = arg;
  tc_dim old[TC_MAX_AXES];
  (void)b;
  for (int i = 0; i < TC_MAX_AXES; i++) old[i] = a->coef[i];
  for (int i = 0; i < TC_MAX_AXES; i++)
    a->coef[i] = i < m->n ? old[m->order[i]] : tc_dim_const(0);
}

static uint32_t moved_bits(uint32_t axes, const int *order, int n) {
  uint32_t m = 0;
  for (int i = 0; i < n; i++)
    if (axes >> order[i] & 1) m |= 1u << i;
  return m;
}

static int position(const int *order, int n, int slot) {
  for (int i = 0; i < n; i++)
    if (order[i] == slot) return i;
  return -1;
}

void lo_finish_axes(lo_kb *b, const int *order, int n, tc_axis *axis) {
  static const char *const name[TC_MAX_AXES] = {"i", "j", "k", "l", "m", "n", "o", "p",
                                                "q", "r", "s", "t", "u", "v", "w", "y"};
  moved m = {n, order};
  lo_map_addresses(b, reorder, &m);
  for (uint32_t k = 0; k < b->nact; k++) b->act[k].axes = moved_bits(b->act[k].axes, order, n);
  for (int i = 0; i < n; i++) {
    const lo_slot *s = &b->slot[order[i]];
    axis[i] = (tc_axis){name[i], s->extent, -1, tc_dim_const(0)};
    if (s->of < 0) continue;
    axis[i].of = position(order, n, s->of);
    axis[i].total = s->total;
  }
}
