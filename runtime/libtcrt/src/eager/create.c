/* Creation: every element is a function of its index. */
#include "runtime/libtcrt/src/eager/eager.h"
#include "runtime/libtcrt/src/eager/philox.h"

bool tc_eager_full(tc_eager_call *c) {
  return tc_assign(c->out, c->in[0]);
}

/* n numbers; integers wrap, as where the arithmetic is theirs. */
static void write_wrapped(const tc_seq *y, int64_t start, int64_t n, const double *v) {
  int64_t whole[TC_BLOCK];
  if (tc_is_float(y->dtype) || y->dtype == TC_BOOL) {
    tc_seq_write_f(y, start, n, v);
    return;
  }
  tc_store_f(whole, TC_I64, 1, v, n);
  tc_seq_write_i(y, start, n, whole);
}

typedef struct range {
  double first, step;
  tc_seq y;
} range;

/* start + i*step in double, then converted. */
static void count_up(const void *p, int64_t begin, int64_t end) {
  const range *r = p;
  for (int64_t start = begin; start < end; start += TC_BLOCK) {
    int64_t n = end - start < TC_BLOCK ? end - start : TC_BLOCK;
    double v[TC_BLOCK];
    for (int64_t i = 0; i < n; i++) {
      /* a statement of its own: rounds before the sum */
      double moved = (double)(start + i) * r->step;
      v[i] = r->first + moved;
    }
    write_wrapped(&r->y, start, n, v);
  }
}

bool tc_eager_arange(tc_eager_call *c) {
  const range r = {tc_scalar_f(c->in[0]), tc_scalar_f(c->in[1]), tc_seq_of(c->out)};
  const int64_t total = tc_elements(c->out);
  tc_for(total, TC_BLOCK, total, count_up, &r);
  return true;
}

/* Ones are a view of the zeros with the stride of the diagonal. */
bool tc_eager_eye(tc_eager_call *c) {
  int64_t n = c->out->dim[0], m = c->out->dim[1], length = n < m ? n : m, stride = m + 1;
  tc_assign_f(c->out, 0);
  tc_tensor diagonal = tc_alias(c->out);
  diagonal.key.rank = 1;
  diagonal.dim[0] = length;
  diagonal.stride[0] = stride;
  tc_assign_f(&diagonal, 1);
  return true;
}

static double uniform(tc_dtype dtype, uint64_t seed, uint64_t i) {
  switch (dtype) {
  case TC_F16:
    return (double)tc_philox_uniform_f16(seed, i);
  case TC_BF16:
    return (double)tc_philox_uniform_bf16(seed, i);
  case TC_F32:
    return (double)tc_philox_uniform_f32(seed, i);
  default:
    return tc_philox_uniform_f64(seed, i);
  }
}

static double normal(tc_dtype dtype, uint64_t seed, uint64_t i) {
  return dtype == TC_F64 ? tc_philox_normal_f64(seed, i) : (double)tc_philox_normal_f32(seed, i);
}

typedef struct drawing {
  double (*draw)(tc_dtype, uint64_t seed, uint64_t i);
  tc_dtype dtype;
  uint64_t seed;
  tc_seq y;
} drawing;

static void draw_numbers(const void *p, int64_t begin, int64_t end) {
  const drawing *d = p;
  for (int64_t start = begin; start < end; start += TC_BLOCK) {
    int64_t n = end - start < TC_BLOCK ? end - start : TC_BLOCK;
    double v[TC_BLOCK];
    for (int64_t i = 0; i < n; i++) v[i] = d->draw(d->dtype, d->seed, (uint64_t)(start + i));
    tc_seq_write_f(&d->y, start, n, v);
  }
}

static bool random_numbers(tc_eager_call *c, double (*draw)(tc_dtype, uint64_t, uint64_t)) {
  const drawing d = {draw, (tc_dtype)c->out->key.dtype, (uint64_t)tc_scalar_i(c->in[0]),
                     tc_seq_of(c->out)};
  const int64_t total = tc_elements(c->out);
  tc_for(total, TC_BLOCK, total, draw_numbers, &d);
  return true;
}

bool tc_eager_rand(tc_eager_call *c) { return random_numbers(c, uniform); }
bool tc_eager_randn(tc_eager_call *c) { return random_numbers(c, normal); }
