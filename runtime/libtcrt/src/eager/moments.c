/* Variance, norms, and what normalises rows: softmax, layer norm, RMS norm, batch norm.  Every row
 * is read as often as the formula asks, in double. */
#include "runtime/libtcrt/src/eager/rows.h"

static double value(double x, double unused) { return (void)unused, x; }
static double square(double x, double unused) { return (void)unused, x * x; }
static double squared_distance(double x, double centre) { return (x - centre) * (x - centre); }
static double abs_power(double x, double p) { return pow(fabs(x), p); }
static double not_zero(double x, double unused) { return (void)unused, x != 0; }

/* ---- variance -------------------------------------------------------------------------------- */

/* sum (x - mean)^2 / max(n - correction, 0): in two passes, without cancellation. */
static double variance(const tc_rows *x, tc_dtype dtype, int64_t row, double correction) {
  double n = (double)x->inner, mean = tc_row_sum(x, dtype, row, value, 0) / n;
  return tc_row_sum(x, dtype, row, squared_distance, mean) / tc_f_max(n - correction, 0);
}

/* A number of each row of x, computed from `parameter`. */
typedef struct statistic {
  tc_op op;
  tc_dtype dtype;
  tc_rows x;
  tc_seq y;
  double parameter;
} statistic;

static statistic prepare(const tc_eager_call *c, double parameter) {
  const tc_tensor *x = c->in[0];
  return (statistic){c->op, (tc_dtype)c->out->key.dtype,
                     tc_rows_of(x, tc_arg_axes(c, 0, x->key.rank)), tc_seq_of(c->out), parameter};
}

static void var_rows(const void *p, int64_t begin, int64_t end) {
  const statistic *s = p;
  for (int64_t o = begin; o < end; o++) {
    double v = variance(&s->x, s->dtype, o, s->parameter);
    if (s->op == OP_STD) v = sqrt(v);
    tc_seq_write_f(&s->y, o, 1, &v);
  }
}

bool tc_eager_var(tc_eager_call *c) {
  const statistic s = prepare(c, (double)tc_arg(c, 1 + (int)tc_arg(c, 0)));
  tc_for_rows(&s.x, var_rows, &s);
  return true;
}

/* ---- norm: (sum |x|^p)^(1/p), its limits at p = inf and -inf, and the count at 0 ------------- */

static double norm(const tc_rows *x, tc_dtype dtype, int64_t row, double p) {
  if (p == INFINITY) return x->inner ? tc_row_extremum(x, dtype, row, TC_LARGEST_SIZE) : 0;
  if (p == -INFINITY) return tc_row_extremum(x, dtype, row, TC_SMALLEST_SIZE);
  if (p == 0) return tc_row_sum(x, dtype, row, not_zero, 0);
  if (p == 2) return sqrt(tc_row_sum(x, dtype, row, square, 0));
  return pow(tc_row_sum(x, dtype, row, abs_power, p), 1 / p);
}

static void norm_rows(const void *p, int64_t begin, int64_t end) {
  const statistic *s = p;
  for (int64_t o = begin; o < end; o++) {
    double v = norm(&s->x, s->dtype, o, s->parameter);
    tc_seq_write_f(&s->y, o, 1, &v);
  }
}

bool tc_eager_norm(tc_eager_call *c) {
  const statistic s = prepare(c, tc_scalar_f(c->in[1]));
  tc_for_rows(&s.x, norm_rows, &s);
  return true;
}

/* ---- y = f((x - shift) - second shift) * scale per row --------------------------------------- */

typedef struct row_map {
  const tc_rows *x, *y;
  tc_dtype dtype;
  double shift, scale;
  double (*f)(double);         /* NULL: identity */
  const tc_seq *weight, *bias; /* along the row; NULL: 1, 0 */
  double second_shift;         /* subtracted behind the first */
} row_map;

static void map_row(const row_map *m, int64_t row) {
  int64_t inner = m->x->inner;
  double v[TC_BLOCK], w[TC_BLOCK];
  for (int64_t at = 0; at < inner; at += TC_BLOCK) {
    int64_t n = inner - at < TC_BLOCK ? inner - at : TC_BLOCK;
    tc_seq_read_as_f(&m->x->seq, m->dtype, row * inner + at, n, v);
    for (int64_t i = 0; i < n; i++) v[i] = (v[i] - m->shift) - m->second_shift;
    for (int64_t i = 0; i < n && m->f; i++) v[i] = m->f(v[i]);
    for (int64_t i = 0; i < n; i++) v[i] *= m->scale;
    if (m->weight) tc_seq_read_f(m->weight, at, n, w);
    for (int64_t i = 0; i < n && m->weight; i++) v[i] *= w[i];
    if (m->bias) tc_seq_read_f(m->bias, at, n, w);
    for (int64_t i = 0; i < n && m->bias; i++) v[i] += w[i];
    tc_seq_write_f(&m->y->seq, row * inner + at, n, v);
  }
}

/* What maps rows of one tensor to those of another. */
typedef struct row_maps {
  const tc_eager_call *c;
  tc_dtype dtype;
  tc_rows from, to;
} row_maps;

static row_maps prepare_maps(const tc_eager_call *c, uint32_t mask) {
  return (row_maps){c, (tc_dtype)c->out->key.dtype, tc_rows_of(c->in[0], mask),
                    tc_rows_of(c->out, mask)};
}

/* softmax: exp(x - max) / sum exp(x - max);  log_softmax: (x - max) - log sum exp(x - max),
 * in this order: next to a large max the logarithm would be lost */
static void softmax_rows(const void *p, int64_t begin, int64_t end) {
  const row_maps *r = p;
  const bool logarithm = r->c->op == OP_LOG_SOFTMAX;
  for (int64_t o = begin; o < end; o++) {
    double max = tc_row_extremum(&r->from, r->dtype, o, TC_LARGEST);
    double sum = tc_row_exp_sum(&r->from, r->dtype, o, max);
    row_map m = {.x = &r->from, .y = &r->to, .dtype = r->dtype};
    m.shift = max;
    m.second_shift = logarithm ? log(sum) : 0;
    m.scale = logarithm ? 1 : 1 / sum;
    m.f = logarithm ? NULL : exp;
    map_row(&m, o);
  }
}

bool tc_eager_softmax(tc_eager_call *c) {
  const row_maps r = prepare_maps(c, 1u << tc_arg_axis(c, 0, c->in[0]->key.rank));
  tc_for_rows(&r.from, softmax_rows, &r);
  return true;
}

/* ---- layer norm and RMS norm: over the last axes --------------------------------------------- */

typedef struct normalisation {
  row_maps r;
  bool centred;
  double eps;
  const tc_seq *weight, *bias; /* NULL: none */
} normalisation;

static void normalise_rows(const void *p, int64_t begin, int64_t end) {
  const normalisation *s = p;
  const row_maps *r = &s->r;
  const double n = (double)r->from.inner;
  for (int64_t o = begin; o < end; o++) {
    double mean = s->centred ? tc_row_sum(&r->from, r->dtype, o, value, 0) / n : 0;
    double power = tc_row_sum(&r->from, r->dtype, o, squared_distance, mean) / n;
    row_map m = {.x = &r->from, .y = &r->to, .dtype = r->dtype, .shift = mean};
    m.scale = 1 / sqrt(power + s->eps);
    m.weight = s->weight, m.bias = s->bias;
    map_row(&m, o);
  }
}

static bool normalise(const tc_eager_call *c, bool centred, const tc_tensor *weight,
                      const tc_tensor *bias, double eps) {
  int rank = c->in[0]->key.rank, naxes = (int)tc_arg(c, 0);
  tc_seq w = weight ? tc_seq_of(weight) : (tc_seq){0}, b = bias ? tc_seq_of(bias) : (tc_seq){0};
  const normalisation s = {prepare_maps(c, ((1u << naxes) - 1) << (rank - naxes)), centred, eps,
                           weight ? &w : NULL, bias ? &b : NULL};
  tc_for_rows(&s.r.from, normalise_rows, &s);
  return true;
}

bool tc_eager_layer_norm(tc_eager_call *c) {
  return normalise(c, true, c->in[1], c->in[2], tc_scalar_f(c->in[3]));
}

bool tc_eager_rms_norm(tc_eager_call *c) {
  return normalise(c, false, c->in[1], NULL, tc_scalar_f(c->in[2]));
}

/* ---- batch norm: statistics given per channel ------------------------------------------------ */

static double channel(const tc_tensor *t, int64_t i, double otherwise) {
  double v = otherwise;
  if (t)
    tc_load_f(&v, (tc_dtype)t->key.dtype,
              (char *)t->data + i * t->stride[0] * (int64_t)tc_dtype_bytes(t->key.dtype), 1, 1);
  return v;
}

/* Rows are the elements of one channel. */
static void batch_norm_rows(const void *p, int64_t begin, int64_t end) {
  const row_maps *r = p;
  const tc_tensor *const *in = r->c->in;
  const double eps = tc_scalar_f(in[5]);
  for (int64_t o = begin; o < end; o++) {
    double scale = channel(in[3], o, 1) / sqrt(channel(in[2], o, 0) + eps),
           bias = channel(in[4], o, 0);
    tc_tensor b = {.key = {TC_F64, TC_CPU, 0, 0}, .data = &bias};
    int64_t zero = 0;
    tc_seq along = tc_seq_make(&b, 1, &r->from.inner, &zero);
    row_map m = {.x = &r->from, .y = &r->to, .dtype = r->dtype, .scale = scale};
    m.shift = channel(in[1], o, 0), m.bias = &along;
    map_row(&m, o);
  }
}

bool tc_eager_batch_norm(tc_eager_call *c) {
  const row_maps r = prepare_maps(c, ((1u << c->in[0]->key.rank) - 1) & ~2u);
  tc_for_rows(&r.from, batch_norm_rows, &r);
  return true;
}
