/* interp_reduce.c - reductions, scans, softmax and normalisations, losses. */
#include "tests/common/interp_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The elements of x grouped by the axes in `mask`: group after group, each in row-major order. */
typedef struct groups {
  int64_t n, size;
  double *f;   /* [n * size] */
  int64_t *i;  /* [n * size], truncated */
  int64_t *at; /* [n * size]: position in x */
} groups;

static groups group(const interp_array *x, uint32_t mask) {
  groups s = {1, 1, NULL, NULL, NULL};
  for (int a = 0; a < x->rank; a++) *(mask >> a & 1 ? &s.size : &s.n) *= x->dim[a];
  size_t count = (size_t)x->count + 1;
  s.f = calloc(count, sizeof *s.f), s.i = calloc(count, sizeof *s.i),
  s.at = calloc(count, sizeof *s.at);
  int64_t *fill = calloc((size_t)s.n + 1, sizeof *fill), index[TC_MAX_RANK] = {0}, k = 0;
  if (x->count) do {
      int64_t to = 0;
      for (int a = 0; a < x->rank; a++)
        if (!(mask >> a & 1)) to = to * x->dim[a] + index[a];
      int64_t slot = to * s.size + fill[to]++;
      s.f[slot] = interp_get(x, k), s.i[slot] = interp_int(x, k), s.at[slot] = k;
      k++;
    } while (interp_next(index, x->rank, x->dim));
  free(fill);
  return s;
}

static void free_groups(groups *s) {
  free(s->f);
  free(s->i);
  free(s->at);
}

static uint32_t axes_mask(interp_node *e) {
  int64_t axes[TC_MAX_RANK];
  int n = interp_list(e, "axes", axes), rank = e->in[0]->rank;
  uint32_t mask = n ? 0 : (1u << rank) - 1;
  for (int i = 0; i < n; i++) mask |= 1u << interp_axis(axes[i], rank);
  return mask;
}

/* ---- one group to one number ----------------------------------------------------------------- */

static double sum_f(const double *x, int64_t n) {
  double s = 0;
  for (int64_t k = 0; k < n; k++) s += x[k];
  return s;
}

static double max_f(const double *x, int64_t n) {
  double m = -INFINITY;
  for (int64_t k = 0; k < n; k++)
    if (isnan(x[k])) return x[k];
    else if (x[k] > m) m = x[k];
  return m;
}

static double min_f(const double *x, int64_t n) {
  double m = INFINITY;
  for (int64_t k = 0; k < n; k++)
    if (isnan(x[k])) return x[k];
    else if (x[k] < m) m = x[k];
  return m;
}

static double variance(const double *x, int64_t n, double correction) {
  double mean = sum_f(x, n) / (double)n, s = 0;
  for (int64_t k = 0; k < n; k++) s += (x[k] - mean) * (x[k] - mean);
  return s / fmax((double)n - correction, 0);
}

static double log_sum_exp(const double *x, int64_t n) {
  double m = max_f(x, n), s = 0;
  if (!isfinite(m)) return m; /* NaN, +inf, or everything -inf */
  for (int64_t k = 0; k < n; k++) s += exp(x[k] - m);
  return m + log(s);
}

static double norm(const double *x, int64_t n, double p) {
  double s = 0, lo = INFINITY, hi = 0;
  for (int64_t k = 0; k < n; k++) {
    double a = fabs(x[k]);
    if (p != 0) s += pow(a, p);
    else s += a != 0;
    lo = isnan(lo) || a > lo ? lo : a, hi = isnan(hi) || a < hi ? hi : a;
  }
  return p == 0 ? s : p == INFINITY ? hi : p == -INFINITY ? lo : pow(s, 1 / p);
}

/* First position of the largest (NaN beats all); `sign` -1 for the smallest. */
static int64_t arg_best(const double *x, int64_t n, double sign) {
  int64_t best = 0;
  for (int64_t k = 1; k < n && !isnan(x[best]); k++)
    if (isnan(x[k]) || sign * x[k] > sign * x[best]) best = k;
  return best;
}

static double reduce_f(interp_node *e, const double *x, int64_t n) {
  double y = 1;
  switch (e->n->op) {
  case OP_SUM:
    return sum_f(x, n);
  case OP_MEAN:
    return sum_f(x, n) / (double)n;
  case OP_AMAX:
    return max_f(x, n);
  case OP_AMIN:
    return min_f(x, n);
  case OP_VAR:
    return variance(x, n, (double)interp_attr(e, "correction"));
  case OP_STD:
    return sqrt(variance(x, n, (double)interp_attr(e, "correction")));
  case OP_LOGSUMEXP:
    return log_sum_exp(x, n);
  case OP_NORM:
    return norm(x, n, interp_get(e->in[1], 0));
  default: /* PROD */
    for (int64_t k = 0; k < n; k++) y *= x[k];
    return y;
  }
}

static int64_t reduce_i(interp_node *e, const double *f, const int64_t *x, int64_t n) {
  uint64_t sum = 0, product = 1;
  bool any = false, all = true;
  int64_t lo = INT64_MAX, hi = INT64_MIN;
  for (int64_t k = 0; k < n; k++) {
    sum += (uint64_t)x[k], product *= (uint64_t)x[k];
    any |= f[k] != 0, all &= f[k] != 0;
    lo = x[k] < lo ? x[k] : lo, hi = x[k] > hi ? x[k] : hi;
  }
  switch (e->n->op) {
  case OP_SUM:
    return (int64_t)sum;
  case OP_PROD:
    return (int64_t)product;
  case OP_AMAX:
    return hi;
  case OP_AMIN:
    return lo;
  case OP_ANY:
    return any;
  case OP_ALL:
    return all;
  case OP_ARGMAX:
    return arg_best(f, n, 1);
  default:
    return arg_best(f, n, -1);
  }
}

static bool needs_elements(tc_op op) {
  return op == OP_AMAX || op == OP_AMIN || op == OP_ARGMAX || op == OP_ARGMIN;
}

bool interp_reduce(interp_node *e) {
  groups s = group(e->in[0], axes_mask(e));
  bool ok = s.size || !s.n || !needs_elements(e->n->op);
  for (int64_t k = 0; ok && k < s.n; k++) {
    const double *f = s.f + k * s.size;
    if (e->out->f) e->out->f[k] = reduce_f(e, f, s.size);
    else e->out->i[k] = reduce_i(e, f, s.i + k * s.size, s.size);
  }
  free_groups(&s);
  return ok || interp_fail(e, "an empty axis");
}

/* Last position of the largest of x[0 .. n) (NaN beats all); `sign` -1 for the smallest. */
static int64_t last_best(const double *x, int64_t n, double sign) {
  int64_t best = 0;
  for (int64_t k = 1; k < n; k++)
    if (isnan(x[k]) || sign * x[k] >= sign * x[best]) best = k;
  return best;
}

/* Element j of a line: the extremum of those so far, or where it is. */
static void running_extremum(interp_node *e, const groups *s, int64_t first, int64_t j) {
  const tc_op op = e->n->op;
  const bool most = op == OP_RUNNING_MAX || op == OP_RUNNING_ARGMAX;
  const int64_t best = last_best(s->f + first, j - first + 1, most ? 1 : -1);
  if (e->out->f) e->out->f[s->at[j]] = s->f[first + best];
  else e->out->i[s->at[j]] = op == OP_RUNNING_MAX || op == OP_RUNNING_MIN ? s->i[first + best] : best;
}

/* Is element a before b?  NaN is above all; equal ones are in their order. */
static bool comes_first(const double *f, const int64_t *i, int64_t a, int64_t b, bool descending) {
  const int64_t high = descending ? a : b, low = descending ? b : a;
  if (f && isnan(f[a]) != isnan(f[b])) return isnan(f[high]);
  const bool equal = f ? f[a] == f[b] || isnan(f[a]) : i[a] == i[b];
  if (equal) return a < b;
  return f ? f[low] < f[high] : i[low] < i[high];
}

/* Each element that fewer than k others are before, or its position, where it belongs. */
bool interp_order(interp_node *e) {
  const uint32_t mask = 1u << interp_axis(interp_attr(e, "axis"), e->in[0]->rank);
  groups s = group(e->in[0], mask), to = group(e->out, mask);
  const tc_op op = e->n->op;
  const bool descending = interp_attr(e, op == OP_TOPK ? "largest" : "descending");
  for (int64_t k = 0; k < s.n; k++)
    for (int64_t j = 0; j < s.size; j++) {
      const double *f = e->in[0]->f ? s.f + k * s.size : NULL;
      const int64_t *i = s.i + k * s.size;
      int64_t rank = 0;
      for (int64_t other = 0; other < s.size; other++)
        rank += other != j && comes_first(f, i, other, j, descending);
      if (rank >= to.size) continue;
      const int64_t at = to.at[k * to.size + rank];
      if (op == OP_SORT || op == OP_TOPK) interp_copy(e->out, at, e->in[0], s.at[k * s.size + j]);
      else e->out->i[at] = j;
    }
  free_groups(&s);
  free_groups(&to);
  return true;
}

bool interp_scan(interp_node *e) {
  const bool sums = e->n->op == OP_CUMSUM || e->n->op == OP_CUMPROD;
  groups s = group(e->in[0], 1u << interp_axis(interp_attr(e, "axis"), e->in[0]->rank));
  for (int64_t k = 0; k < s.n; k++) {
    double f = e->n->op == OP_CUMSUM ? 0 : 1;
    uint64_t i = (uint64_t)f;
    for (int64_t j = k * s.size; j < (k + 1) * s.size; j++) {
      if (!sums) {
        running_extremum(e, &s, k * s.size, j);
        continue;
      }
      f = e->n->op == OP_CUMSUM ? f + s.f[j] : f * s.f[j];
      i = e->n->op == OP_CUMSUM ? i + (uint64_t)s.i[j] : i * (uint64_t)s.i[j];
      if (e->out->f) e->out->f[s.at[j]] = f;
      else e->out->i[s.at[j]] = (int64_t)i;
    }
  }
  free_groups(&s);
  return true;
}

/* ---- softmax and normalisations -------------------------------------------------------------- */

/* log sum exp(x - max x): an infinite maximum makes it NaN. */
static double log_total(const double *x, int64_t n) {
  double m = max_f(x, n), s = 0;
  for (int64_t j = 0; j < n; j++) s += exp(x[j] - m);
  return log(s);
}

/* log(exp(x[k]) / sum exp(x)), by way of x - max x. */
static double log_softmax(const double *x, int64_t n, int64_t k) { return x[k] - max_f(x, n) - log_total(x, n); }

/* x[] becomes what its row is normalised to, in front of weight and bias. */
static void normalise(interp_node *e, double *x, int64_t n) {
  const tc_op op = e->n->op;
  if (op == OP_SOFTMAX || op == OP_LOG_SOFTMAX) {
    const double m = max_f(x, n), total = log_total(x, n);
    for (int64_t j = 0; j < n; j++) x[j] = op == OP_SOFTMAX ? exp(x[j] - m - total) : x[j] - m - total;
    return;
  }
  double mean = op == OP_LAYER_NORM ? sum_f(x, n) / (double)n : 0, square = 0;
  for (int64_t j = 0; j < n; j++) square += x[j] * x[j] / (double)n;
  const double by = op == OP_LAYER_NORM ? sqrt(variance(x, n, 0) + interp_get(e->in[3], 0)) : sqrt(square + interp_get(e->in[2], 0));
  for (int64_t j = 0; j < n; j++) x[j] = (x[j] - mean) / by;
}

static bool batch_norm(interp_node *e) {
  const interp_array *x = e->in[0];
  int64_t index[TC_MAX_RANK] = {0}, k = 0;
  if (interp_empty(x)) return true;
  do {
    int64_t c = index[1];
    double y = (interp_get(x, k) - interp_get(e->in[1], c)) /
               sqrt(interp_get(e->in[2], c) + interp_get(e->in[5], 0));
    if (e->in[3]) y *= interp_get(e->in[3], c);
    if (e->in[4]) y += interp_get(e->in[4], c);
    e->out->f[k++] = y;
  } while (interp_next(index, x->rank, x->dim));
  return true;
}

bool interp_norms(interp_node *e) {
  const interp_array *x = e->in[0];
  bool softmax = e->n->op == OP_SOFTMAX || e->n->op == OP_LOG_SOFTMAX;
  bool layer = e->n->op == OP_LAYER_NORM;
  if (e->n->op == OP_BATCH_NORM) return batch_norm(e);
  uint32_t all = (1u << x->rank) - 1;
  uint32_t mask = softmax ? 1u << interp_axis(interp_attr(e, "axis"), x->rank)
                          : all & ~((1u << (x->rank - interp_attr(e, "naxes"))) - 1);
  const interp_array *weight = softmax ? NULL : e->in[1], *bias = layer ? e->in[2] : NULL;
  groups s = group(x, mask);
  for (int64_t k = 0; k < s.n; k++) {
    normalise(e, s.f + k * s.size, s.size);
    for (int64_t j = 0; j < s.size; j++) {
      double y = s.f[k * s.size + j];
      if (weight) y *= interp_get(weight, j);
      if (bias) y += interp_get(bias, j);
      e->out->f[s.at[k * s.size + j]] = y;
    }
  }
  free_groups(&s);
  return true;
}

/* ---- losses ---------------------------------------------------------------------------------- */

static bool finish_loss(interp_node *e, const double *loss, int64_t n) {
  int64_t how = interp_attr(e, "reduction");
  if (how == 0) memcpy(e->out->f, loss, (size_t)n * sizeof *loss);
  else e->out->f[0] = how == 1 ? sum_f(loss, n) / (double)n : sum_f(loss, n);
  return true;
}

/* Classes along axis 1 (axis 0 of one sample). */
static bool class_loss(interp_node *e) {
  const interp_array *x = e->in[0], *target = e->in[1];
  groups s = group(x, x->rank > 1 ? 2u : 1u);
  bool ok = true;
  for (int64_t k = 0; ok && k < s.n; k++) {
    int64_t t = interp_int(target, k);
    const double *row = s.f + k * s.size;
    ok = t >= 0 && t < s.size;
    if (ok) s.f[k] = e->n->op == OP_NLL ? -row[t] : -log_softmax(row, s.size, t);
  }
  ok = ok ? finish_loss(e, s.f, s.n) : interp_fail(e, "a target is out of range");
  free_groups(&s);
  return ok;
}

static double pair_loss(tc_op op, double x, double t) {
  if (op == OP_MSE) return (x - t) * (x - t);
  /* -t log p - (1-t) log(1-p), p = 1/(1 + exp(-x)), as one term that grows with |x| and one that vanishes, so that
   * infinite x and targets beyond 0 to 1 have a value; what has no weight is not there */
  const double weight = x > 0 ? 1 - t : t;
  return (weight != 0 ? fabs(x) * weight : 0) + log1p(exp(-fabs(x)));
}

static int64_t broadcast_shape(const interp_array *a, const interp_array *b, int64_t *dim,
                               int *rank) {
  int64_t n = 1;
  *rank = a->rank > b->rank ? a->rank : b->rank;
  for (int i = 0; i < *rank; i++) {
    int p = i - (*rank - a->rank), q = i - (*rank - b->rank);
    int64_t da = p < 0 ? 1 : a->dim[p], db = q < 0 ? 1 : b->dim[q];
    n *= dim[i] = da == 1 ? db : da;
  }
  return n;
}

bool interp_loss(interp_node *e) {
  if (e->n->op == OP_CROSS_ENTROPY || e->n->op == OP_NLL) return class_loss(e);
  int64_t dim[TC_MAX_RANK], index[TC_MAX_RANK] = {0}, k = 0;
  int rank;
  int64_t n = broadcast_shape(e->in[0], e->in[1], dim, &rank);
  double *loss = calloc((size_t)n + 1, sizeof *loss);
  if (n) do {
      double x = interp_get(e->in[0], interp_at(e->in[0], index, rank));
      loss[k++] = pair_loss(e->n->op, x, interp_get(e->in[1], interp_at(e->in[1], index, rank)));
    } while (interp_next(index, rank, dim));
  bool ok = finish_loss(e, loss, n);
  free(loss);
  return ok;
}
