/* einsum.c - the cotangent of an operand is an einsum of dy and the other operands.
 *
 * First every axis gets one letter, those of "..." too.  Then for operand k with labels L:
 *   labels that occur nowhere else were summed over: dx is constant along them, which is an axis of size 1
 *   of what the rule gives
 *   a label that L has twice is a diagonal: its second axis gets a letter of its own, and the identity
 *   matrix between the two joins in */
#include "autodiff/rules.h"

#include <string.h>

enum { LETTERS = 52, MAX_IN = 255 };

typedef struct labels {
  int n;
  uint8_t
      at[2 *
         TC_MAX_RANK]; /* letters as 0 .. 51; axes of "..." from 64 on, counted from the right */
} labels;

enum { DOTS = 64 };

typedef struct einsum {
  tc_vjp *v;
  labels result, *in;
  uint64_t used;             /* letters */
  uint8_t dots[TC_MAX_RANK]; /* letters given to axes of "..." */
} einsum;

static const char alphabet[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/* Labels of one operand of `rank` axes, up to "," or "-" or the end. */
static const char *read_labels(einsum *e, const char *s, int rank, labels *l) {
  int letters = 0;
  for (const char *t = s; *t && *t != ',' && *t != '-'; t++) letters += *t != ' ' && *t != '.';
  l->n = 0;
  for (; *s && *s != ',' && *s != '-'; s++) {
    if (*s == ' ') continue;
    if (*s == '.') {
      for (int i = rank - letters; i-- > 0;) l->at[l->n++] = (uint8_t)(DOTS + i);
      s += 2;
      continue;
    }
    const uint8_t letter = (uint8_t)(strchr(alphabet, *s) - alphabet);
    l->at[l->n++] = letter;
    e->used |= UINT64_C(1) << letter;
  }
  return s;
}

/* A letter that is not in use; 0xff: there is none. */
static uint8_t fresh(einsum *e) {
  for (uint8_t i = 0; i < LETTERS; i++) {
    if (e->used >> i & 1) continue;
    e->used |= UINT64_C(1) << i;
    return i;
  }
  return 0xff;
}

/* Of a specification without "->": the axes of "...", then letters that occur once, capitals
 * first. */
static void implicit_result(einsum *e, int nin) {
  int count[128] = {0}, dots = 0;
  for (int k = 0; k < nin; k++)
    for (int i = 0; i < e->in[k].n; i++) {
      const uint8_t l = e->in[k].at[i];
      if (l >= DOTS && l - DOTS >= dots) dots = l - DOTS + 1;
      count[l]++;
    }
  e->result.n = 0;
  for (int i = dots; i-- > 0;) e->result.at[e->result.n++] = (uint8_t)(DOTS + i);
  for (int i = 0; i < LETTERS; i++) {
    const uint8_t l = (uint8_t)((i + 26) % LETTERS);
    if (count[l] == 1) e->result.at[e->result.n++] = l;
  }
}

/* Gives axes of "..." letters; false: there are none left. */
static bool name_dots(einsum *e, labels *l) {
  for (int i = 0; i < l->n; i++) {
    if (l->at[i] < DOTS) continue;
    uint8_t *letter = &e->dots[l->at[i] - DOTS];
    if (*letter == 0xff) *letter = fresh(e);
    if (*letter == 0xff) return false;
    l->at[i] = *letter;
  }
  return true;
}

static bool read_spec(einsum *e) {
  const tc_node *n = e->v->n;
  const char *s = tc_graph_string(e->v->c.g, n->attr[n->nattr - 1]);
  if (!s) return false;
  memset(e->dots, 0xff, sizeof e->dots);
  for (int k = 0; k < n->nin; k++) {
    s = read_labels(e, s, vj_type(e->v, k)->rank, &e->in[k]);
    s += *s == ',';
  }
  if (*s == '-') read_labels(e, s + 2, n->type.rank, &e->result);
  else implicit_result(e, n->nin);
  bool ok = name_dots(e, &e->result);
  for (int k = 0; k < n->nin; k++) ok = ok && name_dots(e, &e->in[k]);
  return ok;
}

/* ---- one operand ----------------------------------------------------------------------------- */

static uint64_t set_of(const labels *l) {
  uint64_t set = 0;
  for (int i = 0; i < l->n; i++) set |= UINT64_C(1) << l->at[i];
  return set;
}

static void put_labels(tc_buf *b, const labels *l) {
  for (int i = 0; i < l->n; i++) tc_putn(b, &alphabet[l->at[i]], 1);
}

typedef struct product {
  tc_ref in[MAX_IN];
  int n;
  tc_buf spec;
} product;

static bool join(product *p, tc_ref a, const labels *l) {
  if (p->n == MAX_IN || !a.id) return false;
  if (p->n) tc_put(&p->spec, ",");
  put_labels(&p->spec, l);
  p->in[p->n++] = a;
  return true;
}

static tc_ref identity(const tc_vjp *v, tc_dim n) {
  tc_dim attr[3] = {n, n, tc_dim_const(v->c.dtype)};
  return tc_build(v->c.g, OP_EYE, 0, NULL, 3, attr, NULL, v->c.loc);
}

/* Second occurrences in l get letters of their own, tied to the first by the identity. */
static bool untie(einsum *e, labels *l, const tc_type *t, product *p) {
  uint64_t seen = 0;
  const uint64_t letters = e->used;
  bool ok = true;
  for (int i = 0; ok && i < l->n; i++) {
    const uint8_t twice = l->at[i];
    if (seen >> twice & 1) {
      l->at[i] = fresh(e);
      const labels pair = {2, {twice, l->at[i]}};
      ok = l->at[i] != 0xff && join(p, identity(e->v, t->dim[i]), &pair);
    }
    seen |= UINT64_C(1) << l->at[i];
  }
  e->used = letters;
  return ok;
}

/* The product with the labels of l that occur in it; axes of size 1 for the others. */
static tc_ref multiply(einsum *e, product *p, const labels *l, uint64_t present) {
  labels out = {0};
  tc_dim dims[2 * TC_MAX_RANK];
  for (int i = 0; i < l->n; i++)
    if (present >> l->at[i] & 1) out.at[out.n++] = l->at[i];
  tc_put(&p->spec, "->");
  put_labels(&p->spec, &out);
  if (p->spec.failed) return (tc_ref){0};
  const dc *c = &e->v->c;
  const tc_ref y = tc_build(c->g, OP_EINSUM, p->n, p->in, 0, NULL, p->spec.text, c->loc);
  if (!y.id || out.n == l->n) return y;
  const tc_type *t = tc_graph_type(c->g, y);
  for (int i = 0, k = 0; i < l->n; i++)
    dims[i] = present >> l->at[i] & 1 ? t->dim[k++] : tc_dim_const(1);
  return tc_build_reshape(c->g, y, l->n, dims, c->loc);
}

static tc_ref cotangent_of(einsum *e, int k) {
  const tc_vjp *v = e->v;
  product p = {.n = 0};
  labels l = e->in[k];
  uint64_t present = set_of(&e->result);
  bool ok = join(&p, vj_dy(v), &e->result);
  for (int i = 0; ok && i < v->n->nin; i++) {
    if (i == k) continue;
    present |= set_of(&e->in[i]);
    ok = join(&p, vj_in(v, i), &e->in[i]);
  }
  const uint64_t own = set_of(&l);
  ok = ok && untie(e, &l, vj_type(v, k), &p);
  for (int i = 0; i < l.n; i++) /* what the identities bring */
    if (!(own >> l.at[i] & 1)) present |= UINT64_C(1) << l.at[i] | UINT64_C(1) << e->in[k].at[i];
  tc_ref y = ok ? multiply(e, &p, &l, present) : (tc_ref){0};
  tc_buf_free(&p.spec);
  return y;
}

void tc_vjp_einsum(tc_vjp *v) {
  einsum e = {.v = v};
  e.in = tc_arena_alloc(tc_graph_arena(v->c.g), (size_t)v->n->nin * sizeof *e.in);
  v->c.dtype = (tc_dtype)v->n->type.dtype; /* as products of matrices (linalg.c) */
  if (!e.in || !read_spec(&e)) return;
  for (int k = 0; k < v->n->nin; k++)
    if (v->want[k]) v->din[k] = cotangent_of(&e, k);
}
