/* A cuBLASLt that multiplies on the host: column-major, f32, f64, bf16 (results may be f32), bias, relu.  It refuses what is
 * not aligned to the element, and products of 13 columns (so that a test can see a refusal). */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { INVALID = 7, UNSUPPORTED = 15 };
enum { TRANS_A = 3, TRANS_B = 4, EPILOGUE = 7, BIAS = 8 };
enum { R32 = 0, R64 = 1, BF16 = 14 };

struct CUstream_st;

typedef struct lt_desc {
  int sum, scale, trans_a, trans_b, epilogue;
  const void *bias;
} desc;

typedef struct lt_layout {
  int type;
  uint64_t rows, cols;
  int64_t ld, step;
  int32_t batches;
} layout;

typedef struct lt_choice {
  uint64_t algo[8];
  size_t workspace;
  int status;
  float waves;
  int reserved[4];
} choice;

/* The types are named as in runtime/libtcrt/src/cuda/matmul.c, which calls these functions. */
typedef struct lt_context {
  int made;
} lt_context;
typedef struct lt_preference {
  int unused;
} lt_preference;

int cublasLtCreate(lt_context **h) {
  static lt_context context;
  *h = &context;
  return 0;
}

int cublasLtMatmulDescCreate(desc **d, int sum, int scale) {
  *d = calloc(1, sizeof **d);
  if (!*d) return INVALID;
  (*d)->sum = sum;
  (*d)->scale = scale;
  (*d)->epilogue = 1;
  return 0;
}

int cublasLtMatmulDescDestroy(desc *d) {
  free(d);
  return 0;
}

int cublasLtMatmulDescSetAttribute(desc *d, int what, const void *v, size_t n) {
  void *to = what == TRANS_A    ? (void *)&d->trans_a
             : what == TRANS_B  ? (void *)&d->trans_b
             : what == EPILOGUE ? (void *)&d->epilogue
             : what == BIAS     ? (void *)&d->bias
                                : NULL;
  if (!to || n != (what == BIAS ? sizeof(void *) : sizeof(int))) return INVALID;
  memcpy(to, v, n);
  return 0;
}

int cublasLtMatrixLayoutCreate(layout **l, int type, uint64_t rows, uint64_t cols, int64_t ld) {
  *l = calloc(1, sizeof **l);
  if (!*l) return INVALID;
  **l = (layout){type, rows, cols, ld, 0, 1};
  return (uint64_t)ld < rows ? INVALID : 0;
}

int cublasLtMatrixLayoutDestroy(layout *l) {
  free(l);
  return 0;
}

int cublasLtMatrixLayoutSetAttribute(layout *l, int what, const void *v, size_t n) {
  if (what == 5 && n == sizeof l->batches) memcpy(&l->batches, v, n);
  else if (what == 6 && n == sizeof l->step) memcpy(&l->step, v, n);
  else return INVALID;
  return 0;
}

int cublasLtMatmulPreferenceCreate(lt_preference **p) {
  *p = malloc(sizeof **p);
  return *p ? 0 : INVALID;
}

int cublasLtMatmulPreferenceDestroy(lt_preference *p) {
  free(p);
  return 0;
}

int cublasLtMatmulPreferenceSetAttribute(lt_preference *p, int what, const void *v, size_t n) {
  (void)p;
  (void)v;
  return (what == 1 && n == 8) || (what >= 5 && what <= 8 && n == 4) ? 0 : INVALID;
}

/* Inner and outer sizes agree? */
static bool fits(const desc *d, const layout *a, const layout *b, const layout *c) {
  uint64_t m = d->trans_a ? a->cols : a->rows, k = d->trans_a ? a->rows : a->cols;
  uint64_t n = d->trans_b ? b->rows : b->cols, q = d->trans_b ? b->cols : b->rows;
  return k == q && c->rows == m && c->cols == n && a->batches == c->batches &&
         b->batches == c->batches;
}

int cublasLtMatmulAlgoGetHeuristic(lt_context *h, desc *d, layout *a, layout *b, layout *c,
                                   layout *out, lt_preference *p, int want, choice *result,
                                   int *found) {
  (void)h;
  (void)p;
  *found = 0;
  if (want != 1 || c != out || !fits(d, a, b, c)) return INVALID;
  if (c->rows == 13 || (a->type > R64 && a->type != BF16)) return UNSUPPORTED;
  if (b->type != a->type || (c->type != a->type && (a->type != BF16 || c->type != R32))) return UNSUPPORTED;
  memset(result, 0, sizeof *result);
  result->workspace = c->rows > 16 ? 1 << 16 : 0;
  *found = 1;
  return 0;
}

static double element_of(int type, const void *data, int64_t at) {
  uint32_t bits;
  float f;
  if (type == R64) return ((const double *)data)[at];
  if (type != BF16) return (double)((const float *)data)[at];
  bits = (uint32_t)((const uint16_t *)data)[at] << 16;
  memcpy(&f, &bits, sizeof f);
  return (double)f;
}

static double get(const layout *l, const void *data, int64_t batch, uint64_t row, uint64_t col) {
  return element_of(l->type, data, batch * l->step + (int64_t)row + (int64_t)col * l->ld);
}

static void put(const layout *l, void *data, int64_t batch, uint64_t row, uint64_t col, double v) {
  int64_t at = batch * l->step + (int64_t)row + (int64_t)col * l->ld;
  const float f = (float)v; /* tests' numbers are exact in bf16 */
  if (l->type == R64) ((double *)data)[at] = v;
  else if (l->type == BF16) memcpy((uint16_t *)data + at, (const uint16_t *)&f + 1, 2);
  else ((float *)data)[at] = f;
}

static double element(const desc *d, const void *a, const layout *la, const void *b,
                      const layout *lb, int64_t batch, uint64_t i, uint64_t j) {
  uint64_t depth = d->trans_a ? la->rows : la->cols;
  double sum = 0;
  for (uint64_t k = 0; k < depth; k++)
    sum += get(la, a, batch, d->trans_a ? k : i, d->trans_a ? i : k) *
           get(lb, b, batch, d->trans_b ? j : k, d->trans_b ? k : j);
  if (d->epilogue & 4) sum += element_of(la->type, d->bias, (int64_t)i);
  return d->epilogue & 2 && sum < 0 ? 0 : sum;
}

int cublasLtMatmul(lt_context *h, desc *d, const void *alpha, const void *a, layout *la,
                   const void *b, layout *lb, const void *beta, const void *c, layout *lc,
                   void *out, layout *lout, const uint64_t *algo, void *workspace, size_t bytes,
                   struct CUstream_st *s) {
  (void)h;
  (void)alpha;
  (void)beta;
  (void)algo;
  (void)s;
  if (c != out || lc != lout || (bytes && !workspace)) return INVALID;
  for (int64_t p = 0; p < lc->batches; p++)
    for (uint64_t i = 0; i < lc->rows; i++)
      for (uint64_t j = 0; j < lc->cols; j++)
        put(lc, out, p, i, j, element(d, a, la, b, lb, p, i, j));
  if (bytes) memset(workspace, 0xEE, bytes);
  return 0;
}
