/* Matrix products by cuBLASLt, opened when the first product asks for it.
 *
 * The library is column-major, so a row-major c = a b is asked for as c^T = b^T a^T: its first
 * operand is our b, its bias along rows is ours along columns.  What the library answers for a
 * problem (sizes, strides, dtype, alignment of the addresses) is kept per device, a refusal too. */
#include "runtime/libtcrt/src/cuda/device.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef struct lt_context *lt_handle;
typedef struct lt_desc *lt_desc;
typedef struct lt_layout *lt_layout;
typedef struct lt_preference *lt_preference;

/* cublasLtMatmulHeuristicResult_t */
typedef struct lt_choice {
  uint64_t algo[8];
  size_t workspace;
  int status;
  float waves;
  int reserved[4];
} lt_choice;

enum { /* types, operations, attributes, epilogues of the library */
       LT_R32 = 0,
       LT_R64 = 1,
       LT_R16 = 2,
       LT_BF16 = 14,
       LT_SUM_32 = 68,
       LT_SUM_64 = 70,
       LT_SUM_TF32 = 77,
       LT_TRANS_A = 3,
       LT_TRANS_B = 4,
       LT_EPILOGUE = 7,
       LT_BIAS = 8,
       LT_BATCHES = 5,
       LT_BATCH_STEP = 6,
       LT_MOST_WORKSPACE = 1,
       LT_ALIGNMENT_A = 5,
       LT_WITH_BIAS = 4,
       LT_PLAIN = 1,
       LT_RELU = 2,
       LT_GELU = 32
};

#define LT_FUNCTIONS(LT)                                                                           \
  LT(create, cublasLtCreate, (lt_handle * h))                                                      \
  LT(desc_create, cublasLtMatmulDescCreate, (lt_desc * d, int compute, int scale))                 \
  LT(desc_destroy, cublasLtMatmulDescDestroy, (lt_desc d))                                         \
  LT(desc_set, cublasLtMatmulDescSetAttribute, (lt_desc d, int what, const void *v, size_t n))     \
  LT(layout_create, cublasLtMatrixLayoutCreate,                                                    \
     (lt_layout * l, int type, uint64_t rows, uint64_t cols, int64_t ld))                          \
  LT(layout_destroy, cublasLtMatrixLayoutDestroy, (lt_layout l))                                   \
  LT(layout_set, cublasLtMatrixLayoutSetAttribute,                                                 \
     (lt_layout l, int what, const void *v, size_t n))                                             \
  LT(preference_create, cublasLtMatmulPreferenceCreate, (lt_preference * p))                       \
  LT(preference_destroy, cublasLtMatmulPreferenceDestroy, (lt_preference p))                       \
  LT(preference_set, cublasLtMatmulPreferenceSetAttribute,                                         \
     (lt_preference p, int what, const void *v, size_t n))                                         \
  LT(choose, cublasLtMatmulAlgoGetHeuristic,                                                       \
     (lt_handle h, lt_desc d, lt_layout a, lt_layout b, lt_layout c, lt_layout out,                \
      lt_preference p, int want, lt_choice *choice, int *found))                                   \
  LT(multiply, cublasLtMatmul,                                                                     \
     (lt_handle h, lt_desc d, const void *alpha, const void *a, lt_layout la, const void *b,       \
      lt_layout lb, const void *beta, const void *c, lt_layout lc, void *out, lt_layout lout,      \
      const uint64_t *algo, void *workspace, size_t bytes, cu_stream s))

static struct {
#define LT_MEMBER(name, symbol, parameters) int(*name) parameters;
  LT_FUNCTIONS(LT_MEMBER)
} lt;
static bool usable;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_library(void) {
  static const struct {
    const char *symbol;
    void **to;
  } function[] = {
#define LT_ADDRESS(name, symbol, parameters) {#symbol, (void **)&lt.name},
      LT_FUNCTIONS(LT_ADDRESS)};
  const char *names[] = {getenv("TC_CUBLASLT_LIBRARY"), "libcublasLt.so.13", "libcublasLt.so.12",
                         "libcublasLt.so", "/usr/local/cuda/lib64/libcublasLt.so"};
  char why[16];
  if (names[0] && !*names[0]) return; /* set and empty: do without */
  void *library = tc_open_library(names, names[0] ? 1 : 5, why, sizeof why);
  for (size_t i = 0; library && i < sizeof function / sizeof *function; i++)
    if (!(*function[i].to = dlsym(library, function[i].symbol))) library = NULL;
  usable = library != NULL;
}

/* ---- what the library answered --------------------------------------------------------------- */

enum { SLOTS = 512, MOST_WORKSPACE = 32 << 20 };

/* All that an answer depends on. */
typedef struct problem {
  int64_t batch, m, n, k, lda, ldb, ldc, step_a, step_b, step_c;
  uint32_t align_a, align_b, align_c;
  uint8_t dtype, dtype_c, transposed_a, transposed_b, epilogue, tf32, bias;
} problem;

typedef struct plan {
  bool known, works;
  problem of;
  lt_desc desc;
  lt_layout a, b, c; /* the library's a is our b */
  lt_choice choice;
} plan;

struct tc_cuda_products {
  lt_handle handle;
  pthread_mutex_t lock;
  plan slot[SLOTS];
};

static uint32_t alignment(const void *p) {
  uintptr_t low = (uintptr_t)p & -(uintptr_t)p;
  return low == 0 || low > 256 ? 256 : (uint32_t)low;
}

static problem problem_of(const tcrt_cuda_mm *mm) {
  problem p;
  memset(&p, 0, sizeof p); /* compared and hashed as bytes */
  p.batch = mm->batch, p.m = mm->m, p.n = mm->n, p.k = mm->k;
  p.lda = mm->lda, p.ldb = mm->ldb, p.ldc = mm->ldc;
  p.step_a = mm->step_a, p.step_b = mm->step_b, p.step_c = mm->step_c;
  p.align_a = alignment(mm->a), p.align_b = alignment(mm->b), p.align_c = alignment(mm->c);
  p.dtype = mm->dtype, p.dtype_c = mm->wide_c ? TC_F32 : mm->dtype;
  p.transposed_a = mm->transposed_a, p.transposed_b = mm->transposed_b;
  p.epilogue = mm->epilogue, p.tf32 = mm->tf32, p.bias = mm->bias != NULL;
  return p;
}

static size_t slot_of(const problem *p) {
  const unsigned char *byte = (const unsigned char *)p;
  uint64_t h = 0xcbf29ce484222325u;
  for (size_t i = 0; i < sizeof *p; i++) h = (h ^ byte[i]) * 0x100000001b3u;
  return (h ^ h >> 32) % SLOTS;
}

static int library_type(uint8_t dtype) {
  switch (dtype) {
  case TC_F32:
    return LT_R32;
  case TC_F64:
    return LT_R64;
  case TC_F16:
    return LT_R16;
  case TC_BF16:
    return LT_BF16;
  default:
    return -1;
  }
}

static int make_desc(plan *p) {
  static const int epilogues[] = {LT_PLAIN, LT_RELU, LT_GELU};
  bool f64 = p->of.dtype == TC_F64, tf32 = p->of.dtype == TC_F32 && p->of.tf32;
  int trans_a = p->of.transposed_b != 0, trans_b = p->of.transposed_a != 0;
  int epilogue = epilogues[p->of.epilogue];
  if (p->of.bias) epilogue = (epilogue == LT_PLAIN ? 0 : epilogue) | LT_WITH_BIAS;
  int sum = f64 ? LT_SUM_64 : tf32 ? LT_SUM_TF32 : LT_SUM_32;
  int failed = lt.desc_create(&p->desc, sum, f64 ? LT_R64 : LT_R32);
  if (failed) {
    p->desc = NULL;
    return failed;
  }
  return lt.desc_set(p->desc, LT_TRANS_A, &trans_a, sizeof trans_a) ||
         lt.desc_set(p->desc, LT_TRANS_B, &trans_b, sizeof trans_b) ||
         lt.desc_set(p->desc, LT_EPILOGUE, &epilogue, sizeof epilogue);
}

/* A row-major [rows,cols] matrix as stored is a column-major [cols,rows] one. */
static int make_layout(lt_layout *l, const problem *p, uint8_t dtype, int64_t rows, int64_t cols,
                       int64_t ld, int64_t step) {
  int32_t batches = (int32_t)p->batch;
  int failed = lt.layout_create(l, library_type(dtype), (uint64_t)cols, (uint64_t)rows, ld);
  if (failed) *l = NULL;
  return failed || (p->batch > 1 && (lt.layout_set(*l, LT_BATCHES, &batches, sizeof batches) ||
                                     lt.layout_set(*l, LT_BATCH_STEP, &step, sizeof step)));
}

static int make_layouts(plan *p) {
  const problem *q = &p->of;
  bool ta = q->transposed_a, tb = q->transposed_b;
  return make_layout(&p->a, q, q->dtype, tb ? q->n : q->k, tb ? q->k : q->n, q->ldb, q->step_b) ||
         make_layout(&p->b, q, q->dtype, ta ? q->k : q->m, ta ? q->m : q->k, q->lda, q->step_a) ||
         make_layout(&p->c, q, q->dtype_c, q->m, q->n, q->ldc, q->step_c);
}

static int choose(const struct tc_cuda_products *t, plan *p) {
  lt_preference preference = NULL;
  size_t most = MOST_WORKSPACE;
  uint32_t align[4] = {p->of.align_b, p->of.align_a, p->of.align_c, p->of.align_c};
  int found = 0, failed = lt.preference_create(&preference);
  if (failed) return failed;
  failed = lt.preference_set(preference, LT_MOST_WORKSPACE, &most, sizeof most);
  for (int i = 0; i < 4 && !failed; i++)
    failed = lt.preference_set(preference, LT_ALIGNMENT_A + i, &align[i], sizeof align[i]);
  if (!failed)
    failed =
        lt.choose(t->handle, p->desc, p->a, p->b, p->c, p->c, preference, 1, &p->choice, &found);
  lt.preference_destroy(preference);
  return failed || found == 0 || p->choice.status;
}

static void drop_parts(plan *p) {
  if (p->desc) lt.desc_destroy(p->desc);
  if (p->a) lt.layout_destroy(p->a);
  if (p->b) lt.layout_destroy(p->b);
  if (p->c) lt.layout_destroy(p->c);
  *p = (plan){.known = false};
}

static plan *find_plan(struct tc_cuda_products *t, const problem *of) {
  plan *p = &t->slot[slot_of(of)];
  if (p->known && !memcmp(&p->of, of, sizeof *of)) return p;
  drop_parts(p);
  p->known = true;
  p->of = *of;
  p->works = !make_desc(p) && !make_layouts(p) && !choose(t, p);
  return p;
}

/* ---- running --------------------------------------------------------------------------------- */

static struct tc_cuda_products *open_products(void) {
  struct tc_cuda_products *t = calloc(1, sizeof *t);
  if (!t || lt.create(&t->handle)) {
    free(t);
    return NULL;
  }
  pthread_mutex_init(&t->lock, NULL);
  return t;
}

static struct tc_cuda_products *products_of(tc_cuda_device *d) {
  struct tc_cuda_products *t = __atomic_load_n(&d->products, __ATOMIC_ACQUIRE);
  pthread_once(&once, open_library);
  if (t || !usable) return t;
  pthread_mutex_lock(&d->lock);
  t = d->products;
  if (!t) __atomic_store_n(&d->products, t = open_products(), __ATOMIC_RELEASE);
  pthread_mutex_unlock(&d->lock);
  return t;
}

static int run_plan(struct tc_cuda_products *t, const plan *p, const tcrt_cuda_mm *mm,
                    void *workspace, cu_stream s) {
  const float one_f = 1, zero_f = 0;
  const double one = 1, zero = 0;
  bool f64 = mm->dtype == TC_F64;
  const void *alpha = f64 ? (const void *)&one : &one_f;
  const void *beta = f64 ? (const void *)&zero : &zero_f;
  if (mm->bias && lt.desc_set(p->desc, LT_BIAS, &mm->bias, sizeof mm->bias)) return 1;
  return lt.multiply(t->handle, p->desc, alpha, mm->b, p->a, mm->a, p->b, beta, mm->c, p->c, mm->c,
                     p->c, p->choice.algo, workspace, p->choice.workspace, s);
}

cu_result tc_cuda_product(const tcrt_cuda_call *c, const tcrt_cuda_mm *mm, cu_stream s,
                          size_t *ask) {
  bool fits = mm->batch <= INT32_MAX && mm->epilogue <= TCRT_MM_GELU_TANH;
  if (!fits || library_type(mm->dtype) < 0) return CU_NOT_SUPPORTED;
  struct tc_cuda_products *t = products_of(c->state);
  if (!t) return CU_NOT_SUPPORTED;
  problem of = problem_of(mm);
  pthread_mutex_lock(&t->lock);
  plan *p = find_plan(t, &of);
  const size_t bytes = p->works ? p->choice.workspace : 0;
  void *workspace = bytes ? tc_cuda_scratch(c->state, TC_SCRATCH_PRODUCT, bytes) : NULL;
  const bool works =
      p->works && (!bytes || workspace) && (ask || !run_plan(t, p, mm, workspace, s));
  if (ask) *ask = bytes;
  pthread_mutex_unlock(&t->lock);
  return works ? CU_SUCCESS : CU_NOT_SUPPORTED;
}
