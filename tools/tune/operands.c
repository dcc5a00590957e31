/* operands.c - see tune.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/tune/tune.h"

enum { LINE = 64, PAGE = 4096 };

static tc_dims *dims_of(const tune_problem *x) { return tc_graph_dims(x->p->graph); }

static const tc_buffer *buffer_of(const tune_problem *x, uint32_t i) {
  return &x->p->buffer[x->k->buffer[i]];
}

/* Xorshift. */
static uint32_t next(uint64_t *state) {
  *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
  return (uint32_t)(*state >> 32);
}

static uint16_t half_of(float value) {
  const _Float16 h = (_Float16)value;
  uint16_t bits;
  memcpy(&bits, &h, sizeof bits);
  return bits;
}

static uint16_t bf16_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (uint16_t)(bits >> 16);
}

static void fill(tc_dtype d, char *at, size_t bytes, double low, int64_t range, uint64_t seed) {
  const size_t size = tc_dtype_bytes(d);
  uint64_t state = 0x9e3779b97f4a7c15u * (seed + 1);
  for (size_t i = 0; i + size <= bytes; i += size) {
    const uint32_t bits = next(&state);
    const double f = low + (double)bits * 0x1p-31;
    const int64_t whole = d == TC_BOOL ? bits & 1 : (int64_t)(bits % (uint64_t)range);
    if (d == TC_F32) memcpy(at + i, &(float){(float)f}, 4);
    else if (d == TC_F64) memcpy(at + i, &f, 8);
    else if (d == TC_BF16) memcpy(at + i, &(uint16_t){bf16_of((float)f)}, 2);
    else if (d == TC_F16) memcpy(at + i, &(uint16_t){half_of((float)f)}, 2);
    else memcpy(at + i, &whole, size); /* little-endian */
  }
}

static bool reads(const tc_kernel *k, uint32_t buffer) {
  for (uint32_t i = 1; i < k->nexpr; ++i)
    if (k->expr[i].kind == TC_EX_LOAD && k->expr[i].buffer == buffer) return true;
  return false;
}

/* Pages of its own, with room for a vector behind the end, as arrays of the runtime have. */
static bool make_array(const tune_problem *x, uint32_t i, int threads, double low, int64_t range,
                       tune_operands *o) {
  const tc_buffer *b = buffer_of(x, i);
  const size_t size = tc_dtype_bytes(b->dtype);
  int64_t numel, base;
  if (!tc_dim_eval(dims_of(x), b->numel, x->sym, &numel) ||
      !tc_dim_eval(dims_of(x), x->k->base[i], x->sym, &base))
    return false;
  size_t bytes = (size_t)numel * size;
  if (tc_buffer_of_thread(b)) bytes = (size_t)threads * ((bytes + LINE - 1) / LINE * LINE);
  o->bytes[i] = bytes;
  o->memory[i] = aligned_alloc(PAGE, (bytes + PAGE) / PAGE * PAGE + PAGE);
  if (!o->memory[i]) return false;
  fill(b->dtype, o->memory[i], bytes, low, range, i);
  o->buf[i] = o->memory[i] + base * (int64_t)size;
  o->written[i] = !tc_buffer_of_thread(b) && tc_kernel_writes(x->k, i);
  if (!o->written[i]) return true;
  o->in_place |= reads(x->k, i);
  o->fresh[i] = malloc(bytes + 1);
  if (o->fresh[i]) memcpy(o->fresh[i], o->memory[i], bytes);
  return o->fresh[i];
}

static bool take_scalars(const tune_problem *x, const tc_kernel_text *code, tune_operands *o) {
  const uint32_t own = tc_graph_scalar_count(x->p->graph);
  for (uint32_t i = 0; i < code->nsym; ++i) o->sym[i] = x->sym[code->sym[i]];
  for (uint32_t i = 0; i < code->nscalar; ++i) {
    const uint32_t s = code->scalar[i];
    const int64_t one = 1;
    o->scalar[i] = s < own ? 0.75 : x->p->constant[s - own];
    if (s < own && tc_graph_scalar_at(x->p->graph, s)->dtype == TC_I64)
      memcpy(&o->scalar[i], &one, sizeof one);
  }
  return true;
}

bool tune_operands_make(const tune_problem *x, const tc_kernel_text *code, int threads, double low,
                        int64_t range, tune_operands *o) {
  const uint32_t n = x->k->nbuffer;
  *o = (tune_operands){.n = n,
                       .buf = calloc(n + 1u, sizeof *o->buf),
                       .memory = calloc(n + 1u, sizeof *o->memory),
                       .fresh = calloc(n + 1u, sizeof *o->fresh),
                       .bytes = calloc(n + 1u, sizeof *o->bytes),
                       .written = calloc(n + 1u, sizeof *o->written),
                       .sym = calloc(code->nsym + 1u, sizeof *o->sym),
                       .scalar = calloc(code->nscalar + 1u, sizeof *o->scalar)};
  bool ok = o->buf && o->memory && o->fresh && o->bytes && o->written && o->sym && o->scalar;
  for (uint32_t i = 0; ok && i < n; ++i) ok = make_array(x, i, threads, low, range, o);
  return ok && take_scalars(x, code, o);
}

void tune_operands_reset(const tune_operands *o) {
  for (uint32_t i = 0; i < o->n; ++i)
    if (o->written[i]) memcpy(o->memory[i], o->fresh[i], o->bytes[i]);
}

void tune_operands_free(tune_operands *o) {
  for (uint32_t i = 0; i < o->n; ++i) {
    if (o->memory) free(o->memory[i]);
    if (o->fresh) free(o->fresh[i]);
  }
  free(o->buf), free(o->memory), free(o->fresh), free(o->bytes), free(o->written), free(o->sym),
      free(o->scalar);
  *o = (tune_operands){0};
}

/* ---- results --------------------------------------------------------------------------------- */

static double get(tc_dtype d, const char *at) {
  float f;
  double g;
  uint16_t h;
  uint32_t bits;
  _Float16 half;
  switch (d) {
  case TC_F32: memcpy(&f, at, 4); return (double)f;
  case TC_F64: memcpy(&g, at, 8); return g;
  case TC_BF16: memcpy(&h, at, 2), bits = (uint32_t)h << 16, memcpy(&f, &bits, 4); return (double)f;
  default: memcpy(&half, at, 2); return (double)half;
  }
}

/* Sums in another order; of f32 within what a team of accumulators may differ by. */
static double tolerance(tc_dtype d) {
  switch (d) {
  case TC_F64: return 1e-10;
  case TC_F32: return 2e-5;
  case TC_BF16: return 1.6e-2;
  default: return 2e-3;
  }
}

static bool agree(tc_dtype d, const char *x, const char *y, size_t bytes) {
  const size_t size = tc_dtype_bytes(d);
  double largest = 0;
  if (!tc_dtype_is_float(d)) return !memcmp(x, y, bytes);
  for (size_t i = 0; i + size <= bytes; i += size) {
    const double v = fabs(get(d, x + i));
    if (v > largest && v < INFINITY) largest = v;
  }
  for (size_t i = 0; i + size <= bytes; i += size) {
    const double a = get(d, x + i), b = get(d, y + i);
    if (a != b && !(isnan(a) && isnan(b)) && !(fabs(a - b) <= tolerance(d) * largest)) return false;
  }
  return true;
}

bool tune_operands_agree(const tune_problem *x, const tune_operands *o, char *const *other) {
  for (uint32_t i = 0; i < o->n; ++i)
    if (o->written[i] && !agree(buffer_of(x, i)->dtype, other[i], o->memory[i], o->bytes[i]))
      return false;
  return true;
}

bool tune_operands_have_nan(const tune_problem *x, const tune_operands *o) {
  for (uint32_t i = 0; i < o->n; ++i) {
    const tc_dtype d = buffer_of(x, i)->dtype;
    for (size_t k = 0; o->written[i] && tc_dtype_is_float(d) && k < o->bytes[i];
         k += tc_dtype_bytes(d))
      if (isnan(get(d, o->memory[i] + k))) return true;
  }
  return false;
}
