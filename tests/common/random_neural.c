/* random_neural.c - one random node of each linear algebra or neural network op. */
#include "tests/common/random_impl.h"

#include <string.h>

static const tc_loc nowhere = {0, 0, 0, 0};
static const tc_ref none = {0};

/* ---- linear algebra -------------------------------------------------------------------------- */

static bool multiplies(const random_value *a, const random_value *b) {
  int ra = a->type.rank, rb = b->type.rank;
  if (!ra || !rb || a->dim[ra - 1] != b->dim[rb > 1 ? rb - 2 : 0]) return false;
  for (int i = 3; i <= ra && i <= rb; i++) {
    bool one = tc_dim_is(a->type.dim[ra - i], 1) || tc_dim_is(b->type.dim[rb - i], 1);
    if (a->dim[ra - i] != b->dim[rb - i] && !one) return false;
  }
  return true;
}

static tc_ref random_matmul(random_state *r) {
  for (int t = 0; t < 60; t++) {
    const random_value *a = random_pick(r, NEED_NOT_BOOL, 1, 4),
                       *b = random_pick(r, NEED_NOT_BOOL, 1, 4);
    if (a && b && multiplies(a, b)) return tc_build2(r->g, OP_MATMUL, a->ref, b->ref, nowhere);
  }
  return none;
}

static tc_ref random_linear(random_state *r) {
  for (int t = 0; t < 60; t++) {
    const random_value *x = random_pick(r, NEED_NOT_BOOL, 1, 4),
                       *w = random_pick(r, NEED_NOT_BOOL, 2, 2);
    if (!x || !w || x->dim[x->type.rank - 1] != w->dim[1]) continue;
    const random_value *b = random_shaped(r, NEED_NOT_BOOL, 1, w->dim);
    tc_ref in[3] = {x->ref, w->ref, b && random_below(r, 3) ? b->ref : none};
    return tc_build(r->g, OP_LINEAR, 3, in, 0, NULL, NULL, nowhere);
  }
  return none;
}

/* Axes with one letter agree in size, or have size 1; those of one operand, a diagonal, agree. */
static bool einsum_fits(const char *spec, int n, const random_value *const *x) {
  int64_t size[128] = {0}; /* 0: not seen, or only as 1 */
  for (int k = 0; k < n; k++, spec += *spec == ',') {
    int64_t own[128] = {0};
    int a = 0;
    for (; *spec && *spec != ',' && *spec != '-'; spec++, a++) {
      int64_t *s = &size[(int)*spec], *diagonal = &own[(int)*spec];
      if (a >= x[k]->type.rank) return false;
      int64_t d = x[k]->dim[a] + 1; /* so that 0 elements is a size too */
      if (*diagonal && *diagonal != d) return false;
      *diagonal = d;
      if (tc_dim_is(x[k]->type.dim[a], 1)) continue;
      if (*s && *s != d) return false;
      *s = d;
    }
    if (a != x[k]->type.rank) return false;
  }
  return true;
}

static tc_ref random_einsum(random_state *r) {
  static const char *const specs[] = {
      "ij->ji",      "ij->i",        "ij->",         "ij,ij->ij", "ij,kj->ik",    "ij,ij->",
      "i,j->ij",     "bij,bkj->bik", "bij,bj->bi",   "ii->i",     "ii",           "ij,kj",
      "aij,bij->ab", "ij,j,k->ik",   "ij,kj,kl->il", "bij->jib",  "abi,abj->aij", "ij,k->kj"};
  const char *spec = specs[random_below(r, sizeof specs / sizeof *specs)];
  int n = 1;
  for (const char *s = spec; *s; s++) n += *s == ',';
  for (int t = 0; t < 100; t++) {
    const random_value *x[3];
    tc_ref in[3];
    for (int k = 0; k < n; k++) {
      if (!(x[k] = random_pick(r, NEED_NOT_BOOL, 1, 3))) return none;
      in[k] = x[k]->ref;
    }
    if (einsum_fits(spec, n, x)) return tc_build(r->g, OP_EINSUM, n, in, 0, NULL, spec, nowhere);
  }
  const random_value *a = random_pick(r, NEED_NOT_BOOL, 1, 3);
  tc_ref same[2] = {a ? a->ref : none, a ? a->ref : none};
  return tc_build(r->g, OP_EINSUM, 2, same, 0, NULL, "...i,...i->...", nowhere);
}

tc_ref random_linalg(random_state *r, tc_op op) {
  const random_value *a, *b;
  switch (op) {
  case OP_MATMUL:
    return random_matmul(r);
  case OP_LINEAR:
    return random_linear(r);
  case OP_EINSUM:
    return random_einsum(r);
  default:
    a = random_pick(r, NEED_NOT_BOOL, 1, 1), b = random_pick(r, NEED_NOT_BOOL, 1, 1);
    return a && b ? tc_build2(r->g, OP_OUTER, a->ref, b->ref, nowhere) : none;
  }
}

/* ---- neural networks ------------------------------------------------------------------------- */

static tc_ref maybe(random_state *r, const random_value *v) {
  return v && random_below(r, 3) ? v->ref : none;
}

static tc_ref random_norm(random_state *r, tc_op op, const random_value *x) {
  int64_t naxes = 1 + (int64_t)random_below(r, x->type.rank);
  const int64_t *tail = x->dim + x->type.rank - naxes;
  tc_ref weight = maybe(r, random_shaped(r, NEED_FLOAT, (int)naxes, tail));
  tc_ref bias = maybe(r, random_shaped(r, NEED_FLOAT, (int)naxes, tail)),
         eps = random_const(r, 0.125);
  if (op == OP_RMS_NORM) return random_node(r, op, 3, (tc_ref[]){x->ref, weight, eps}, 1, &naxes);
  return random_node(r, op, 4, (tc_ref[]){x->ref, weight, bias, eps}, 1, &naxes);
}

static tc_ref random_batch_norm(random_state *r, const random_value *x) {
  if (x->type.rank < 2) return none;
  const random_value *v[4];
  for (int i = 0; i < 4; i++) v[i] = random_shaped(r, NEED_FLOAT, 1, &x->dim[1]);
  if (!v[0] || !v[1]) return none;
  tc_ref variance = tc_build1(r->g, OP_SQUARE, v[1]->ref, nowhere);
  tc_ref in[6] = {x->ref,         v[0]->ref,      variance,
                  maybe(r, v[2]), maybe(r, v[3]), random_const(r, 0.125)};
  return random_node(r, OP_BATCH_NORM, 6, in, 0, NULL);
}

static tc_ref random_class_loss(random_state *r, tc_op op) {
  const random_value *x = random_pick(r, NEED_FLOAT | NEED_DATA, 1, 2);
  int64_t how = (int64_t)random_below(r, 3);
  if (!x) return none;
  tc_ref target = random_index(r, x->type.rank - 1, x->type.dim, x->type.dim[x->type.rank - 1]);
  return random_node(r, op, 2, (tc_ref[]){x->ref, target}, 1, &how);
}

tc_ref random_neural(random_state *r, tc_op op) {
  if (op == OP_CROSS_ENTROPY || op == OP_NLL) return random_class_loss(r, op);
  const random_value *x = random_pick(r, NEED_FLOAT | NEED_DATA, 1, 4),
                     *y = random_partner(r, x, NEED_FLOAT);
  if (!x) return none;
  int64_t axis =
      (int64_t)random_below(r, x->type.rank) - (int64_t)random_below(r, 2) * x->type.rank;
  int64_t how = (int64_t)random_below(r, 3);
  switch (op) {
  case OP_SOFTMAX:
  case OP_LOG_SOFTMAX:
    return random_node(r, op, 1, &x->ref, 1, &axis);
  case OP_LAYER_NORM:
  case OP_RMS_NORM:
    return random_norm(r, op, x);
  case OP_BATCH_NORM:
    return random_batch_norm(r, x);
  default:
    return y ? random_node(r, op, 2, (tc_ref[]){x->ref, y->ref}, 1, &how) : none;
  }
}
