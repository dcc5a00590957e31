/* interp_linalg.c - matmul, linear, outer, einsum, as sums over every index. */
#include "tests/common/interp_impl.h"

#include <stdlib.h>
#include <string.h>

/* ---- matmul ---------------------------------------------------------------------------------- */

/* y[k] += a[i] * b[j], in the arithmetic of y */
static void add_product(interp_array *y, int64_t k, const interp_array *a, int64_t i,
                        const interp_array *b, int64_t j) {
  if (y->f) y->f[k] += interp_get(a, i) * interp_get(b, j);
  else if (y->dtype == TC_BOOL) y->i[k] |= interp_int(a, i) && interp_int(b, j);
  else {
    uint64_t p = (uint64_t)interp_int(a, i) * (uint64_t)interp_int(b, j);
    y->i[k] = tc_dtype_wrap(y->dtype, (int64_t)((uint64_t)y->i[k] + p));
  }
}

/* Flat position of matrix element (row, column) of x in the batch that broadcasts to `index`. */
static int64_t matrix_at(const interp_array *x, const int64_t *index, int nbatch, int64_t row,
                         int64_t column) {
  int64_t k = 0;
  for (int i = 0; i < x->rank - 2; i++)
    k = k * x->dim[i] + (x->dim[i] == 1 ? 0 : index[nbatch - (x->rank - 2) + i]);
  return (k * x->dim[x->rank - 2] + row) * x->dim[x->rank - 1] + column;
}

/* A rank-1 left operand is one row, a rank-1 right operand one column. */
static interp_array as_matrix(const interp_array *x, bool row) {
  interp_array m = *x;
  if (x->rank > 1) return m;
  m.rank = 2;
  m.dim[0] = row ? 1 : x->dim[0];
  m.dim[1] = row ? x->dim[0] : 1;
  return m;
}

static bool matmul(interp_node *e) {
  interp_array a = as_matrix(e->in[0], true), b = as_matrix(e->in[1], false);
  bool row = e->in[0]->rank == 1, column = e->in[1]->rank == 1;
  int nbatch = e->out->rank - !row - !column;
  int64_t index[TC_MAX_RANK] = {0}, inner = a.dim[a.rank - 1], k = 0;
  if (interp_empty(e->out)) return true;
  do {
    int64_t m = row ? 0 : index[nbatch], n = column ? 0 : index[e->out->rank - 1];
    for (int64_t i = 0; i < inner; i++)
      add_product(e->out, k, &a, matrix_at(&a, index, nbatch, m, i), &b,
                  matrix_at(&b, index, nbatch, i, n));
    k++;
  } while (interp_next(index, e->out->rank, e->out->dim));
  return true;
}

/* y[..,o] = sum_i x[..,i] w[o,i] + bias[o] */
static bool linear(interp_node *e) {
  const interp_array *x = e->in[0], *w = e->in[1], *bias = e->n->nin > 2 ? e->in[2] : NULL;
  int64_t outs = w->dim[0], ins = w->dim[1];
  for (int64_t k = 0; k < e->out->count; k++) {
    for (int64_t i = 0; i < ins; i++)
      add_product(e->out, k, x, k / outs * ins + i, w, k % outs * ins + i);
    if (bias && e->out->f) e->out->f[k] += interp_get(bias, k % outs);
    if (bias && e->out->i)
      e->out->i[k] = tc_dtype_wrap(e->out->dtype, e->out->i[k] + interp_int(bias, k % outs));
  }
  return true;
}

static bool outer(interp_node *e) {
  for (int64_t k = 0; k < e->out->count; k++)
    add_product(e->out, k, e->in[0], k / e->out->dim[1], e->in[1], k % e->out->dim[1]);
  return true;
}

bool interp_linalg(interp_node *e) {
  return e->n->op == OP_MATMUL ? matmul(e) : e->n->op == OP_LINEAR ? linear(e) : outer(e);
}

/* ---- einsum: y[labels of the result] += product of the operands, over all values of all labels  */

enum { LABELS = 128 + TC_MAX_RANK }; /* characters, and the axes of "..." counted from the right */

typedef struct labels {
  int n;
  int at[TC_MAX_RANK];
} labels;

typedef struct spec {
  labels in[16], out;
  int all[LABELS], nall; /* every label once */
  int64_t size[LABELS];
} spec;

static const char *read_labels(const char *s, int dots, labels *l) {
  for (; *s && *s != ',' && *s != '-'; s++) {
    if (*s == ' ') continue;
    if (*s != '.') {
      l->at[l->n++] = *s;
      continue;
    }
    for (int i = dots - 1; i >= 0; i--) l->at[l->n++] = 128 + i;
    s += 2;
  }
  return s;
}

static int count_letters(const char *s) {
  int n = 0;
  for (; *s && *s != ',' && *s != '-'; s++) n += *s != '.' && *s != ' ';
  return n;
}

static void note_label(spec *p, int label, int64_t size) {
  bool seen = false;
  for (int i = 0; i < p->nall; i++) seen |= p->all[i] == label;
  if (!seen) p->all[p->nall++] = label;
  if (!seen || p->size[label] == 1) p->size[label] = size;
}

/* Labels that occur once, in alphabetical order, behind those of "...". */
static void implied_result(spec *p, int n, int dots) {
  int count[LABELS] = {0};
  for (int i = 0; i < n; i++)
    for (int a = 0; a < p->in[i].n; a++) count[p->in[i].at[a]]++;
  for (int i = dots - 1; i >= 0; i--) p->out.at[p->out.n++] = 128 + i;
  for (int l = 0; l < 128; l++)
    if (count[l] == 1) p->out.at[p->out.n++] = l;
}

static void read_spec(interp_node *e, const char *s, spec *p) {
  int most = 0;
  for (int i = 0; i < e->n->nin; i++) {
    int dots = e->in[i]->rank - count_letters(s);
    if (dots > most) most = dots;
    s = read_labels(s, dots, &p->in[i]);
    for (int a = 0; a < p->in[i].n; a++) note_label(p, p->in[i].at[a], e->in[i]->dim[a]);
    if (*s == ',') s++;
  }
  if (*s == '-') read_labels(s + 2, most, &p->out);
  else implied_result(p, e->n->nin, most);
}

static int64_t labelled_at(const interp_array *x, const labels *l, const int64_t *value) {
  int64_t k = 0;
  for (int a = 0; a < x->rank; a++) k = k * x->dim[a] + (x->dim[a] == 1 ? 0 : value[l->at[a]]);
  return k;
}

static void add_term(interp_node *e, const spec *p, const int64_t *value) {
  double f = 1;
  uint64_t i = 1;
  for (int k = 0; k < e->n->nin; k++) {
    int64_t at = labelled_at(e->in[k], &p->in[k], value);
    f *= interp_get(e->in[k], at);
    i *= (uint64_t)interp_int(e->in[k], at);
  }
  int64_t to = labelled_at(e->out, &p->out, value);
  if (e->out->f) e->out->f[to] += f;
  else e->out->i[to] = tc_dtype_wrap(e->out->dtype, (int64_t)((uint64_t)e->out->i[to] + i));
}

bool interp_einsum(interp_node *e) {
  spec p;
  int64_t value[LABELS] = {0}, index[LABELS] = {0}, dim[LABELS];
  memset(&p, 0, sizeof p);
  if (e->n->nin > 16) return interp_fail(e, "too many operands for the test");
  read_spec(e, tc_graph_string(e->run->g, e->n->attr[0]), &p);
  for (int i = 0; i < p.nall; i++)
    if (!(dim[i] = p.size[p.all[i]])) return true;
  do {
    for (int i = 0; i < p.nall; i++) value[p.all[i]] = index[i];
    add_term(e, &p, value);
  } while (interp_next(index, p.nall, dim));
  return true;
}
