/* random_graph.c - the pool of values and the loop; see random_graph.h. */
#include "tests/common/random_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const tc_loc nowhere = {0, 0, 0, 0};

/* splitmix64 */
uint64_t random_below(random_state *r, uint64_t n) {
  uint64_t z = r->s += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (z ^ (z >> 31)) % n;
}

/* ---- the pool -------------------------------------------------------------------------------- */

static bool has_needs(const random_value *v, int need) {
  tc_dtype d = (tc_dtype)v->type.dtype;
  int64_t count = 1;
  for (int i = 0; i < v->type.rank; i++) count *= v->dim[i];
  return (!(need & NEED_FLOAT) || tc_dtype_is_float(d)) &&
         (!(need & NEED_INT) || tc_dtype_is_int(d)) && (!(need & NEED_BOOL) || d == TC_BOOL) &&
         (!(need & NEED_NOT_BOOL) || d != TC_BOOL) && (!(need & NEED_EXACT) || v->exact) &&
         (!(need & NEED_DATA) || count > 0);
}

enum { TRIES = 200 };

/* Half of the picks prefer what was made last, so that graphs get deep. */
static const random_value *any_value(random_state *r) {
  size_t n = r->pool.n, recent = n < 12 ? n : 12;
  if (random_below(r, 2)) return &r->pool.at[n - 1 - random_below(r, recent)];
  return &r->pool.at[random_below(r, n)];
}

const random_value *random_pick(random_state *r, int need, int lo, int hi) {
  for (int t = 0; t < TRIES; t++) {
    const random_value *v = any_value(r);
    if (v->type.rank >= lo && v->type.rank <= hi && has_needs(v, need)) return v;
  }
  return NULL;
}

static bool broadcasts(const random_value *a, const random_value *b) {
  for (int i = 1; i <= a->type.rank && i <= b->type.rank; i++) {
    int p = a->type.rank - i, q = b->type.rank - i;
    bool one = tc_dim_is(a->type.dim[p], 1) || tc_dim_is(b->type.dim[q], 1); /* B-2 = 1 is not */
    if (a->dim[p] != b->dim[q] && !one) return false;
  }
  return true;
}

const random_value *random_partner(random_state *r, const random_value *v, int need) {
  for (int t = 0; v && t < TRIES; t++) {
    const random_value *o = any_value(r);
    if (has_needs(o, need) && broadcasts(v, o)) return o;
  }
  return NULL;
}

const random_value *random_shaped(random_state *r, int need, int rank, const int64_t *dim) {
  for (int t = 0; t < TRIES; t++) {
    const random_value *o = any_value(r);
    if (o->type.rank == rank && has_needs(o, need) &&
        !memcmp(o->dim, dim, (size_t)rank * sizeof *dim))
      return o;
  }
  return NULL;
}

static bool size_of(random_state *r, tc_dim d, int64_t *v) {
  if (tc_dim_is_const(d)) return *v = tc_dim_value(d), true;
  return tc_dim_eval(tc_graph_dims(r->g), d, r->sym, v);
}

enum { MAX_ELEMENTS = 400 }; /* growing ops must not run away */

static bool add_value(random_state *r, tc_ref ref, bool exact) {
  random_value v = {ref, exact, *tc_graph_type(r->g, ref), {0}};
  int64_t count = 1;
  for (int i = 0; i < v.type.rank; i++) {
    if (!size_of(r, v.type.dim[i], &v.dim[i])) return false;
    count *= v.dim[i];
  }
  return count <= MAX_ELEMENTS && tc_push(&r->pool, v);
}

/* ---- small things ---------------------------------------------------------------------------- */

tc_ref random_const(random_state *r, double v) {
  return tc_graph_const_f(r->g, TC_F64, true, v, nowhere);
}

tc_ref random_node(random_state *r, tc_op op, int nin, const tc_ref *in, int nattr,
                   const int64_t *attr) {
  tc_dim dims[2 * TC_MAX_RANK + 4];
  for (int i = 0; i < nattr; i++) dims[i] = tc_dim_const(attr[i]);
  return tc_build(r->g, op, nin, in, nattr, dims, NULL, nowhere);
}

tc_ref random_index(random_state *r, int rank, const tc_dim *dim, tc_dim below) {
  tc_dim n = tc_dim_const(1), attr[2];
  for (int i = 0; i < rank; i++) n = tc_dim_mul(tc_graph_dims(r->g), n, dim[i]);
  attr[0] = n, attr[1] = tc_dim_const(TC_I64);
  tc_ref in[2] = {random_const(r, (double)random_below(r, 9)),
                  random_const(r, 1 + (double)random_below(r, 6))};
  tc_ref x = tc_build(r->g, OP_ARANGE, 2, in, 2, attr, NULL, nowhere);
  x = tc_build_reshape(r->g, x, rank, dim, nowhere);
  return tc_build2(r->g, OP_REMAINDER, x, tc_graph_dim_value(r->g, below, false, nowhere), nowhere);
}

static tc_ref random_leaf(random_state *r, tc_op op) {
  switch (op) {
  case OP_CONST:
    return tc_graph_const_f(r->g, TC_F64, random_below(r, 2), (double)random_below(r, 9) / 4 - 1,
                            nowhere);
  case OP_DIM: {
    const random_value *v = random_pick(r, 0, 1, 8);
    return tc_graph_dim_value(r->g, v->type.dim[0], random_below(r, 2), nowhere);
  }
  default:
    return r->pool.at[0].ref; /* arguments exist already */
  }
}

static tc_ref random_creation(random_state *r, tc_op op) {
  const random_value *v = random_pick(r, NEED_NOT_BOOL, 1, 3);
  if (!v) return (tc_ref){0};
  tc_dim attr[TC_MAX_RANK + 2] = {tc_dim_const(v->type.rank)};
  for (int i = 0; i < v->type.rank; i++) attr[1 + i] = v->type.dim[i];
  attr[1 + v->type.rank] = tc_dim_const(op == OP_FULL ? v->type.dtype : TC_F64);
  tc_ref value =
      random_below(r, 3) ? random_const(r, (double)random_below(r, 5) - 2) : r->scalar[0];
  tc_ref seed =
      random_below(r, 2) ? r->scalar[1] : tc_graph_const_i(r->g, TC_I64, true, 42, nowhere);
  tc_ref range[2] = {value, random_const(r, 0.5)};
  tc_dim line[2] = {v->type.dim[0], tc_dim_const(TC_F64)};
  tc_dim eye[3] = {v->type.dim[0], v->type.dim[v->type.rank - 1], tc_dim_const(v->type.dtype)};
  if (op == OP_ARANGE) return tc_build(r->g, op, 2, range, 2, line, NULL, nowhere);
  if (op == OP_EYE) return tc_build(r->g, op, 0, NULL, 3, eye, NULL, nowhere);
  return tc_build(r->g, op, 1, op == OP_FULL ? &value : &seed, v->type.rank + 2, attr, NULL,
                  nowhere);
}

/* ---- arguments ------------------------------------------------------------------------------- */

static double element(random_state *r, bool specials) {
  static const double special[] = {NAN, INFINITY, -INFINITY, -0.0, 0.0, 1, -1, 1e30};
  if (specials && random_below(r, 12) == 0) return special[random_below(r, 8)];
  return (double)random_below(r, 4000) / 1000 - 2;
}

static interp_array *argument(random_state *r, tc_dtype dtype, int rank, const int64_t *dim,
                              bool specials) {
  interp_array *a = interp_new(dtype, rank, dim);
  for (int64_t k = 0; k < a->count; k++) {
    if (a->f) a->f[k] = tc_dtype_round(dtype, element(r, specials));
    else
      a->i[k] = tc_dtype_wrap(dtype, dtype == TC_BOOL ? (int64_t)random_below(r, 2)
                                                      : (int64_t)random_below(r, 9) - 3);
  }
  return a;
}

interp_array **random_graph_perturbed(const random_graph *g, double by) {
  random_state r = {.s = 7};
  interp_array **input = calloc(g->ninput + 1u, sizeof *input);
  for (uint32_t i = 0; i < g->ninput; i++) {
    const interp_array *x = g->input[i];
    input[i] = interp_new(x->dtype, x->rank, x->dim);
    for (int64_t k = 0; k < x->count; k++)
      if (x->f) input[i]->f[k] = x->f[k] * (1 + by * ((double)random_below(&r, 2001) / 1000 - 1));
      else input[i]->i[k] = x->i[k];
  }
  return input;
}

void random_graph_free_input(const random_graph *r, interp_array **input) {
  for (uint32_t i = 0; i < r->ninput; i++) interp_free(input[i]);
  free(input);
}

/* Shapes of the arguments: B and T are 3 and 2. */
static const char *const shapes[] = {"[4]",   "[B,4]", "[B,1]",   "[1,4]", "[T,B,4]", "[T,1,4]",
                                     "[4,4]", "[B]",   "[T,4,B]", "[]",    "[1]",     "[0,4]"};

static int shape_of(random_state *r, const char *s, bool symbolic, tc_dim *dim, int64_t *size) {
  int rank = 0;
  for (; *s; s++) {
    if (*s == '[' || *s == ']' || *s == ',') continue;
    int64_t v = *s == 'B' ? 3 : *s == 'T' ? 2 : *s - '0';
    bool letter = symbolic && (*s == 'B' || *s == 'T');
    size[rank] = v;
    dim[rank++] =
        letter ? tc_dim_sym(tc_graph_dims(r->g), *s == 'B' ? "B" : "T", 1, 64, 1) : tc_dim_const(v);
  }
  return rank;
}

static bool declare(random_state *r, const random_options *o, random_graph *out) {
  enum { SHAPES = sizeof shapes / sizeof *shapes };
  out->input = calloc(SHAPES * TC_DTYPE_COUNT, sizeof *out->input);
  for (int d = 0; d < TC_DTYPE_COUNT; d++)
    for (int s = 0; (o->dtypes >> d & 1) && s < SHAPES; s++) {
      tc_type t = {.dtype = (uint8_t)d};
      int64_t size[TC_MAX_RANK];
      t.rank = (uint8_t)shape_of(r, shapes[s], o->symbolic, t.dim, size);
      out->input[out->ninput++] = argument(r, (tc_dtype)d, t.rank, size, o->specials);
      tc_ref x = tc_graph_input(r->g, "x", &t, nowhere);
      if (!x.id || !add_value(r, x, true)) return false;
    }
  r->scalar[0] = tc_graph_scalar(r->g, "a", TC_F64, nowhere);
  r->scalar[1] = tc_graph_scalar(r->g, "k", TC_I64, nowhere);
  out->scalar[0].f = 1.5;
  out->scalar[1].i = 3;
  return r->scalar[1].id && add_value(r, r->scalar[0], true) && add_value(r, r->scalar[1], true);
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* One of the results of an op with several. */
static tc_ref random_result(random_state *r, tc_op op) {
  const bool sorts = op == OP_SORT || op == OP_TOPK;
  const tc_ref all = op == OP_FREXP ? random_pointwise(r, op) : sorts ? random_order(r, op) : random_reduction(r, op);
  const tc_node *n = tc_graph_node(r->g, all);
  return n ? tc_build_result(r->g, all, (int)random_below(r, n->nresult), nowhere) : (tc_ref){0};
}

/* A tuple of two values is each of them. */
static tc_ref random_tuple(random_state *r) {
  const random_value *a = random_pick(r, NEED_DATA, 0, 4), *b = random_pick(r, NEED_DATA, 0, 4);
  if (!a || !b) return (tc_ref){0};
  const tc_ref all = tc_build_tuple(r->g, 2, (tc_ref[]){a->ref, b->ref}, nowhere);
  return tc_build_result(r->g, all, (int)random_below(r, 2), nowhere);
}

static tc_ref random_op(random_state *r, tc_op op) {
  if (op == OP_CALL || op == OP_EFFECT)
    op = OP_CONST; /* calls need a program around them: tests/capture */
  tc_class cls = tc_op_get(op)->cls;
  if (cls == TC_CLASS_MULTI) return random_result(r, op);
  if (cls == TC_CLASS_TUPLE) return random_tuple(r);
  if (op == OP_ORDER || op == OP_ARGSORT) return random_order(r, op);
  if (op >= OP_MATMUL && op <= OP_EINSUM) return random_linalg(r, op);
  if (op >= OP_SOFTMAX) return random_neural(r, op);
  if (op >= OP_SUM && op <= OP_RUNNING_ARGMIN) return random_reduction(r, op);
  if (op >= OP_CONCAT && op <= OP_ROLL && op != OP_TRIL && op != OP_TRIU) return random_join(r, op);
  if (cls == TC_CLASS_LEAF) return random_leaf(r, op);
  if (cls == TC_CLASS_GEN) return random_creation(r, op);
  if (cls == TC_CLASS_VIEW) return random_view(r, op);
  if (cls == TC_CLASS_INDEX || cls == TC_CLASS_SCATTER) return random_indexing(r, op);
  return random_pointwise(r, op);
}

/* Views, joins and indexing of exact values are exact, integers always are. */
static bool is_exact(random_state *r, tc_ref ref) {
  const tc_node *n = tc_graph_node(r->g, ref);
  tc_class cls = tc_op_get(n->op)->cls;
  bool moves =
      cls == TC_CLASS_VIEW || cls == TC_CLASS_JOIN || cls == TC_CLASS_INDEX || n->op == OP_FULL;
  if (!tc_dtype_is_float((tc_dtype)n->type.dtype)) return true;
  for (int i = 0; moves && i < n->nin; i++)
    for (size_t k = 0; k < r->pool.n; k++)
      if (r->pool.at[k].ref.id == n->in[i].id) moves = r->pool.at[k].exact;
  return moves;
}

static bool add_op(random_state *r, tc_op op, random_graph *out) {
  for (int t = 0; t < 30; t++) {
    tc_ref y = random_op(r, op);
    if (!y.id || !add_value(r, y, is_exact(r, y))) continue;
    out->used[op]++;
    return true;
  }
  return false;
}

/* The last values are results, so that most of the graph is live. */
static bool set_roots(random_state *r) {
  size_t n = r->pool.n, count = 1 + random_below(r, 4);
  bool ok = true;
  for (size_t i = 0; i < count && i < n; i++)
    ok = ok && tc_graph_output(r->g, r->pool.at[n - 1 - i].ref);
  return ok;
}

/* Half of the ops are those that models are made of: chains of them are what passes rearrange. */
static tc_op next_op(random_state *r) {
  static const tc_op common[] = {OP_ADD,     OP_MUL,     OP_SUB,     OP_RELU,    OP_TANH,
                                 OP_RESHAPE, OP_RESHAPE, OP_PERMUTE, OP_PERMUTE, OP_SLICE,
                                 OP_FLIP,    OP_EXPAND,  OP_SUM,     OP_AMAX,    OP_SOFTMAX,
                                 OP_MATMUL,  OP_WHERE,   OP_CUMSUM};
  if (random_below(r, 2)) return (tc_op)(1 + random_below(r, OP_COUNT - 1));
  return common[random_below(r, sizeof common / sizeof *common)];
}

/* What inference assumed, for values that were dropped too, is so for these sizes. */
static bool assumptions_hold(random_state *r) {
  const tc_dim_pair *pair;
  const tc_dim_bound *bound;
  int64_t x, y;
  const uint32_t pairs = tc_dims_assumed(tc_graph_dims(r->g), &pair),
                 bounds = tc_dims_bounds(tc_graph_dims(r->g), &bound);
  for (uint32_t i = 0; i < pairs; i++)
    if (!size_of(r, pair[i].a, &x) || !size_of(r, pair[i].b, &y) || x != y) return false;
  for (uint32_t i = 0; i < bounds; i++)
    if (!size_of(r, bound[i].d, &x) || x < bound[i].lo || x > bound[i].hi) return false;
  return true;
}

static bool make(const random_options *o, uint64_t seed, tc_diag *diag, random_graph *out) {
  random_state r = {.s = seed, .g = tc_graph_new("random", diag), .sym = {3, 2}};
  memset(out, 0, sizeof *out);
  out->g = r.g;
  if (o->symbolic) { /* symbols in this order: r.sym holds their values */
    tc_dim_sym(tc_graph_dims(r.g), "B", 1, 64, 1);
    tc_dim_sym(tc_graph_dims(r.g), "T", 1, 64, 1);
  }
  bool ok = declare(&r, o, out);
  if (ok && o->always) ok = add_op(&r, o->always, out);
  for (int i = 0; ok && i < o->nodes; i++) add_op(&r, next_op(&r), out);
  ok = ok && set_roots(&r) && assumptions_hold(&r);
  free(r.pool.at);
  return ok;
}

bool random_graph_make(const random_options *o, tc_diag *diag, random_graph *out) {
  enum { TRIES_OF_SEED = 20 };
  for (uint64_t i = 0; i < TRIES_OF_SEED; i++) {
    if (make(o, o->seed + (i << 40), diag, out)) return true;
    random_graph_free_input(out, out->input);
    tc_graph_free(out->g);
  }
  *out = (random_graph){0};
  return false;
}

tc_dtype random_coarsest_dtype(tc_graph *g) {
  static const tc_dtype order[] = {TC_BF16, TC_F16, TC_F32};
  for (int i = 0; i < 3; i++)
    for (uint32_t id = 1; id <= tc_graph_count(g); id++)
      if (tc_graph_type(g, (tc_ref){id})->dtype == order[i]) return order[i];
  return TC_F64;
}
