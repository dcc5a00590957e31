/* einsum.c - einsum as pairwise contractions.
 *
 * Every axis has a label: a letter, or a number for what an ellipsis stands for (counted from the
 * right, so that ellipses of different rank align).  Operands are contracted from left to right. Of
 * a pair, a label is
 *
 *   batch  in both, and needed later (in the result or in another operand)
 *   k      in both, and not needed later: contracted
 *   m, n   in the left, right only, and needed later
 *
 * so with all four the pair is matmul [batch, M, K] x [batch, K, N], each group flattened; without
 * k it is a broadcast product; without m or n a product summed over k, which reads each matrix
 * element once anyway.  A label of one operand only that nobody needs is summed before. A label
 * that occurs twice in one operand takes the diagonal. */
#include "graph/decomp/decomp.h"
#include "graph/decomp/rules.h"

#include <string.h>

enum { LETTERS = 52, LABELS = LETTERS + TC_MAX_RANK };

typedef struct term {
  tc_ref x;
  int rank;
  uint8_t label[TC_MAX_RANK];
} term;

typedef struct einsum {
  dc c;
  int n;
  term *in;              /* [n] */
  term out;              /* labels of the result */
  uint16_t uses[LABELS]; /* operands not yet contracted, and the result, that have the label */
  tc_dim size[LABELS];
} einsum;

static int letter(char ch) {
  if (ch >= 'a' && ch <= 'z') return ch - 'a';
  if (ch >= 'A' && ch <= 'Z') return ch - 'A' + 26;
  return -1;
}

static bool has(const term *t, int label) {
  return memchr(t->label, label, (size_t)t->rank) != NULL;
}

/* ---- the specification ----------------------------------------------------------------------- */

static bool push_label(term *t, int label) {
  if (t->rank == TC_MAX_RANK) return false;
  t->label[t->rank++] = (uint8_t)label;
  return true;
}

/* Reads labels up to ',' or '-' or the end.  `dots` is how many axes an ellipsis stands for. */
static const char *parse_labels(const char *s, int dots, term *t) {
  for (; *s && *s != ',' && *s != '-'; s++) {
    if (*s == '.' && s[1] == '.' && s[2] == '.') {
      for (int i = dots - 1; i >= 0; i--)
        if (!push_label(t, LETTERS + i)) return NULL;
      s += 2;
    } else if (letter(*s) >= 0) {
      if (!push_label(t, letter(*s))) return NULL;
    } else if (*s != ' ') {
      return NULL;
    }
  }
  return s;
}

static int letters_in(const char *s) {
  int n = 0;
  for (; *s && *s != ',' && *s != '-'; s++) n += letter(*s) >= 0;
  return n;
}

/* Without "->": what an ellipsis stands for, then the letters that occur once, sorted (A..Z a..z).
 */
static bool implicit_result(einsum *e, int dots) {
  int count[LABELS] = {0};
  for (int i = 0; i < e->n; i++)
    for (int a = 0; a < e->in[i].rank; a++) count[e->in[i].label[a]]++;
  bool ok = true;
  for (int i = dots - 1; i >= 0; i--) ok = ok && push_label(&e->out, LETTERS + i);
  for (int i = 0; i < LETTERS; i++) {
    int l = (i + 26) % LETTERS;
    if (count[l] == 1) ok = ok && push_label(&e->out, l);
  }
  return ok;
}

static bool parse(einsum *e, const char *s, const tc_ref *x) {
  int dots = 0;
  for (int i = 0; i < e->n; i++) {
    int rank = tc_graph_type(e->c.g, x[i])->rank;
    int mine = rank - letters_in(s);
    e->in[i].x = x[i];
    if (mine < 0 || !(s = parse_labels(s, mine, &e->in[i])) || e->in[i].rank != rank) return false;
    if (mine > dots) dots = mine;
    if (*s == ',') s++;
  }
  if (s[0] == '-' && s[1] == '>') return parse_labels(s + 2, dots, &e->out) != NULL;
  return implicit_result(e, dots);
}

/* ---- sizes and uses -------------------------------------------------------------------------- */

static void count_uses(einsum *e, const term *t, int by) {
  for (int a = 0; a < t->rank; a++) e->uses[t->label[a]] = (uint16_t)(e->uses[t->label[a]] + by);
}

/* A label's size is the one that is not 1: size 1 broadcasts. */
static void note_sizes(einsum *e, const term *t) {
  for (int a = 0; a < t->rank; a++) {
    tc_dim d = tc_graph_type(e->c.g, t->x)->dim[a], *size = &e->size[t->label[a]];
    if (tc_dim_is(*size, 1)) *size = d;
  }
}

/* ---- steps on one operand -------------------------------------------------------------------- */

static void drop_axis(term *t, int axis) {
  for (int i = axis; i + 1 < t->rank; i++) t->label[i] = t->label[i + 1];
  t->rank--;
}

/* Axes a < b carry the same label: sum over b of where(eye[a,b], x, 0), which is x on the diagonal
 * even where x is not finite elsewhere. */
static void take_diagonal(einsum *e, term *t, int a, int b) {
  dc *c = &e->c;
  tc_type type = *tc_graph_type(c->g, t->x);
  if (!tc_dim_same(type.dim[a], type.dim[b])) { /* size 1 broadcasts here too */
    type.dim[a] = type.dim[b] = e->size[t->label[a]];
    t->x = tc_build_expand(c->g, t->x, type.rank, type.dim, c->loc);
  }
  tc_dim attr[3] = {type.dim[a], type.dim[b], tc_dim_const(TC_BOOL)};
  tc_dim dims[TC_MAX_RANK];
  for (int i = 0; i < type.rank; i++) dims[i] = i == a || i == b ? type.dim[i] : tc_dim_const(1);
  tc_ref eye = tc_build(c->g, OP_EYE, 0, NULL, 3, attr, NULL, c->loc);
  eye = dc_reshape(c, eye, type.rank, dims);
  dc_axes axis = {1, {b}};
  t->x = dc_reduce(c, OP_SUM, dc3(c, OP_WHERE, eye, t->x, dc_const(c, 0)), &axis, false);
  drop_axis(t, b);
}

static void take_diagonals(einsum *e, term *t) {
  for (int b = t->rank - 1; b > 0; b--) {
    const uint8_t *a = memchr(t->label, t->label[b], (size_t)b);
    if (a && t->x.id) take_diagonal(e, t, (int)(a - t->label), b);
  }
}

/* Sums the axes whose label nobody else has: uses counts no other term, and it is not in `peer`. */
static void sum_unused(einsum *e, term *t, const term *peer) {
  dc_axes axes = {0, {0}};
  for (int a = 0; a < t->rank; a++)
    if (!e->uses[t->label[a]] && !(peer && has(peer, t->label[a]))) axes.at[axes.n++] = a;
  if (!axes.n) return;
  t->x = dc_reduce(&e->c, OP_SUM, t->x, &axes, false);
  for (int i = axes.n - 1; i >= 0; i--) drop_axis(t, axes.at[i]);
}

/* ---- a pair ---------------------------------------------------------------------------------- */

typedef struct group {
  int n;
  uint8_t label[TC_MAX_RANK];
} group;

static void sort_labels(const einsum *e, const term *a, const term *b, group *batch, group *m,
                        group *n, group *k) {
  for (int i = 0; i < a->rank; i++) {
    int l = a->label[i];
    group *to = !has(b, l) ? m : e->uses[l] ? batch : k;
    to->label[to->n++] = (uint8_t)l;
  }
  for (int i = 0; i < b->rank; i++)
    if (!has(a, b->label[i])) n->label[n->n++] = b->label[i];
}

/* Permutes t to the order of the groups; labels that t lacks are left out. */
static tc_ref arranged(const einsum *e, const term *t, int count, const group *const *order) {
  int axes[TC_MAX_RANK], rank = 0;
  bool moved = false;
  for (int i = 0; i < count; i++)
    for (int j = 0; j < order[i]->n; j++) {
      const uint8_t *at = memchr(t->label, order[i]->label[j], (size_t)t->rank);
      if (!at) continue;
      moved |= rank != at - t->label;
      axes[rank++] = (int)(at - t->label);
    }
  return moved ? tc_build_permute(e->c.g, t->x, rank, axes, e->c.loc) : t->x;
}

/* Size of label l in t: 1 if t lacks it. */
static tc_dim size_in(const einsum *e, const term *t, int l) {
  const uint8_t *at = memchr(t->label, l, (size_t)t->rank);
  return at && t->x.id ? tc_graph_type(e->c.g, t->x)->dim[at - t->label] : tc_dim_const(1);
}

static tc_dim group_size(const einsum *e, const term *t, const group *g) {
  tc_dim n = tc_dim_const(1);
  for (int i = 0; i < g->n; i++)
    n = tc_dim_mul(tc_graph_dims(e->c.g), n, size_in(e, t, g->label[i]));
  return n;
}

/* Contracted axes of size 1 against a larger size must be seen at full length. */
static void widen_contracted(einsum *e, term *t, const group *k) {
  if (!t->x.id) return;
  tc_type type = *tc_graph_type(e->c.g, t->x);
  bool widened = false;
  for (int a = 0; a < t->rank; a++) {
    if (!memchr(k->label, t->label[a], (size_t)k->n)) continue;
    tc_dim d = e->size[t->label[a]];
    widened |= !tc_dim_same(type.dim[a], d);
    type.dim[a] = d;
  }
  if (widened) t->x = tc_build_expand(e->c.g, t->x, type.rank, type.dim, e->c.loc);
}

/* Labels and sizes of the groups one after the other.  false: more axes than a tensor has. */
static bool product_type(const einsum *e, const term *a, const term *b, int count,
                         const group *const *groups, term *y, tc_dim *dims) {
  y->rank = 0;
  for (int i = 0; i < count; i++)
    for (int j = 0; j < groups[i]->n; j++) {
      int l = groups[i]->label[j];
      tc_dim d = size_in(e, a, l);
      if (y->rank == TC_MAX_RANK) return false;
      dims[y->rank] = tc_dim_is(d, 1) ? size_in(e, b, l) : d;
      push_label(y, l);
    }
  return true;
}

/* a as [batch, rows, columns], its groups permuted into place and flattened */
static tc_ref matrix(const einsum *e, const term *t, const group *batch, const group *rows,
                     const group *columns) {
  tc_dim dims[TC_MAX_RANK + 2];
  if (batch->n + 2 > TC_MAX_RANK) return (tc_ref){0};
  for (int i = 0; i < batch->n; i++) dims[i] = size_in(e, t, batch->label[i]);
  dims[batch->n] = group_size(e, t, rows);
  dims[batch->n + 1] = group_size(e, t, columns);
  tc_ref x = arranged(e, t, 3, (const group *const[]){batch, rows, columns});
  return dc_reshape(&e->c, x, batch->n + 2, dims);
}

/* t with size-1 axes where it lacks a label of y, ready for a broadcast product */
static tc_ref aligned(const einsum *e, const term *t, const group *const *groups, const term *y) {
  tc_dim dims[TC_MAX_RANK];
  for (int i = 0; i < y->rank; i++) dims[i] = size_in(e, t, y->label[i]);
  return dc_reshape(&e->c, arranged(e, t, 4, groups), y->rank, dims);
}

/* a * b over (batch, m, n, k), then the sum over k */
static bool broadcast_product(einsum *e, const term *a, const term *b, const group *const *groups,
                              term *y) {
  tc_dim dims[TC_MAX_RANK];
  if (!product_type(e, a, b, 4, groups, y, dims)) return false;
  dc_axes k = dc_last(groups[3]->n, y->rank);
  y->x = dc2(&e->c, OP_MUL, aligned(e, a, groups, y), aligned(e, b, groups, y));
  if (k.n) y->x = dc_in(&e->c, dc_reduce(&e->c, OP_SUM, y->x, &k, false));
  y->rank -= k.n;
  return y->x.id != 0;
}

static bool matrix_product(einsum *e, term *a, term *b, const group *const *groups, term *y) {
  const group *batch = groups[0], *m = groups[1], *n = groups[2], *k = groups[3];
  tc_dim dims[TC_MAX_RANK];
  if (!product_type(e, a, b, 3, groups, y, dims)) return false;
  widen_contracted(e, a, k);
  widen_contracted(e, b, k);
  tc_ref product = dc2(&e->c, OP_MATMUL, matrix(e, a, batch, m, k), matrix(e, b, batch, k, n));
  y->x = dc_reshape(&e->c, product, y->rank, dims);
  return y->x.id != 0;
}

static bool contract_pair(einsum *e, term *a, term *b, term *y) {
  group batch = {0}, m = {0}, n = {0}, k = {0};
  sum_unused(e, a, b);
  sum_unused(e, b, a);
  if (!a->x.id || !b->x.id) return false;
  sort_labels(e, a, b, &batch, &m, &n, &k);
  const group *const groups[4] = {&batch, &m, &n, &k};
  bool matrices = k.n && m.n && n.n;
  return matrices ? matrix_product(e, a, b, groups, y) : broadcast_product(e, a, b, groups, y);
}

/* ---- the rule -------------------------------------------------------------------------------- */

static tc_ref contract(einsum *e) {
  for (int l = 0; l < LABELS; l++) e->size[l] = tc_dim_const(1);
  for (int i = 0; i < e->n; i++) {
    e->in[i].x = dc_in(&e->c, e->in[i].x);
    if (!e->in[i].x.id) return (tc_ref){0};
    note_sizes(e, &e->in[i]);
  }
  for (int i = 0; i < e->n; i++) {
    take_diagonals(e, &e->in[i]);
    if (!e->in[i].x.id) return (tc_ref){0};
    count_uses(e, &e->in[i], 1);
  }
  count_uses(e, &e->out, 1);
  term y = e->in[0];
  count_uses(e, &y, -1);
  for (int i = 1; i < e->n; i++) {
    term a = y;
    count_uses(e, &e->in[i], -1);
    if (!contract_pair(e, &a, &e->in[i], &y)) return (tc_ref){0};
  }
  sum_unused(e, &y, NULL);
  group order = {e->out.rank, {0}};
  memcpy(order.label, e->out.label, sizeof order.label);
  return arranged(e, &y, 1, (const group *const[]){&order});
}

tc_ref tc_decomp_einsum(tc_graph *g, const tc_node *n, const tc_ref *in) {
  einsum e = {.c = dc_begin(g, n), .n = n->nin};
  const char *spec = tc_graph_string(g, n->attr[0]);
  e.in = tc_arena_alloc(tc_graph_arena(g), n->nin * sizeof *e.in);
  if (!e.in || !spec) return (tc_ref){0};
  tc_ref y = parse(&e, spec, in) ? contract(&e) : (tc_ref){0};
  if (!y.id) {
    tc_report(tc_graph_diag(g), TC_MISSED, n->loc,
              "einsum \"%s\": an intermediate result has more than %d axes; split it in two", spec,
              TC_MAX_RANK);
    return y;
  }
  return dc_reshape_to(&e.c, dc_out(&e.c, n, y), n);
}
