/* Copies between any two layouts, and fills.
 *
 * The kernels are PTX written by hand, so that libtcrt needs no compiler for devices: one per
 * element size, compiled by the driver when first used.  A thread takes EACH elements one grid
 * apart, all of them on their way at once.  An index in row-major order is taken apart from the
 * innermost axis outwards; n divides it by the product with 2^(31+l) / n, l = ceil(log2 n), exact
 * below 2^31 (Granlund and Montgomery, Division by invariant integers using multiplication, 1994).
 * Axes that step alike are merged beforehand, so there are few, and neighbours in both layouts are
 * copied as larger elements where addresses and steps allow it. */
#include "runtime/libtcrt/src/cuda/strided.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  AXES = TC_CUDA_AXES,
  EACH = 4, /* as the text has it */
  THREADS = 256,
  TEXT = 1 << 14,
  FIRST = 5, /* to, from (0: a fill), value, count, axes; then of each axis, the innermost first: */
  OF_AXIS = 5, /* n, its multiplier and shift, steps t and f in bytes */
  PARAMETERS = FIRST + OF_AXIS * AXES,
  LARGEST = 8 /* bytes of an element */
};
#define MOST ((int64_t)1 << 31) /* elements of a launch */

/* ---- the kernels' text ----------------------------------------------------------------------- */

static const char begin_text[] = ")\n{\n"
                                 ".reg .pred %p, %fill, %live<4>;\n"
                                 ".reg .b32 %at, %step, %count, %axes, %n, %m, %s, %q, %r, %i<4>;\n"
                                 ".reg .b64 %t, %f, %w, %to<4>, %from<4>, %v<4>;\n"
                                 "mov.u32 %q, %ctaid.x;\n"
                                 "mov.u32 %r, %ntid.x;\n"
                                 "mov.u32 %n, %tid.x;\n"
                                 "mad.lo.u32 %at, %q, %r, %n;\n"
                                 "mov.u32 %q, %nctaid.x;\n"
                                 "mul.lo.u32 %step, %q, %r;\n"
                                 "ld.param.u64 %w, [p1];\n"
                                 "ld.param.u32 %count, [p3];\n"
                                 "ld.param.u32 %axes, [p4];\n"
                                 "setp.eq.u64 %fill, %w, 0;\n"
                                 "NEXT:\n"
                                 "setp.ge.u32 %p, %at, %count;\n"
                                 "@%p bra DONE;\n";

/* Number %1$d of the thread's elements. */
static const char element_text[] = "mad.lo.u32 %%i%1$d, %%step, %1$d, %%at;\n"
                                   "setp.lt.u32 %%live%1$d, %%i%1$d, %%count;\n"
                                   "ld.param.u64 %%to%1$d, [p0];\n"
                                   "ld.param.u64 %%from%1$d, [p1];\n"
                                   "ld.param.u64 %%v%1$d, [p2];\n";

/* An axis: its number from 1 on, and its parameters. */
static const char axis_text[] = "ld.param.u32 %%n, [p%2$d];\n"
                                "ld.param.u32 %%m, [p%3$d];\n"
                                "ld.param.u32 %%s, [p%4$d];\n"
                                "ld.param.u64 %%t, [p%5$d];\n"
                                "ld.param.u64 %%f, [p%6$d];\n"
                                "setp.le.u32 %%p, %%axes, %1$d;\n"
                                "@%%p bra OUTERMOST;\n";
static const char split_text[] = "mul.hi.u32 %%q, %%i%1$d, %%m;\n"
                                 "shr.u32 %%q, %%q, %%s;\n"
                                 "mul.lo.u32 %%r, %%q, %%n;\n"
                                 "sub.u32 %%r, %%i%1$d, %%r;\n"
                                 "mov.u32 %%i%1$d, %%q;\n";
static const char step_text[] = "cvt.u64.u32 %%w, %%%2$s;\n"
                                "mad.lo.u64 %%to%1$d, %%w, %%t, %%to%1$d;\n"
                                "mad.lo.u64 %%from%1$d, %%w, %%f, %%from%1$d;\n";
static const char load_text[] = "@%%live%1$d ld.global.u%2$d %%v%1$d, [%%from%1$d];\n";
static const char store_text[] = "@%%live%1$d st.global.u%2$d [%%to%1$d], %%v%1$d;\n";
static const char end_text[] = "mad.lo.u32 %at, %step, 4, %at;\n"
                               "bra NEXT;\n"
                               "DONE:\n"
                               "ret;\n"
                               "}\n";

/* An image for each size: the driver compiles what is used. */
static const char *const names[] = {"tc_strided_1", "tc_strided_2", "tc_strided_4", "tc_strided_8"};
static tcrt_cuda_blob blobs[] = {
    {.arch = 75, .ptx = 1}, {.arch = 75, .ptx = 1}, {.arch = 75, .ptx = 1}, {.arch = 75, .ptx = 1}};
#define IMAGE(i)                                                                                   \
  { .name = "libtcrt", .nfunction = 1, .nblob = 1, .function = &names[i], .blob = &blobs[i] }
static tcrt_cuda_image images[] = {IMAGE(0), IMAGE(1), IMAGE(2), IMAGE(3)};
static pthread_once_t once = PTHREAD_ONCE_INIT;

typedef struct text {
  char *data; /* TEXT bytes */
  size_t size;
} text;

static __attribute__((format(printf, 2, 3))) void put(text *t, const char *format, ...) {
  va_list list;
  va_start(list, format);
  t->size += (size_t)vsnprintf(t->data + t->size, TEXT - t->size, format, list);
  va_end(list);
}

static void put_axis(text *t, int k) {
  const int p = FIRST + OF_AXIS * k;
  put(t, axis_text, k + 1, p, p + 1, p + 2, p + 3, p + 4);
  for (int j = 0; j < EACH; j++) {
    put(t, split_text, j);
    put(t, step_text, j, "r");
  }
}

static void put_kernel(text *t, const char *name, int bits) {
  static const char *const index[EACH] = {"i0", "i1", "i2", "i3"};
  put(t, ".visible .entry %s(.param .u64 p0", name);
  for (int i = 1; i < PARAMETERS; i++) put(t, ", .param .u64 p%d", i);
  put(t, "%s", begin_text);
  for (int j = 0; j < EACH; j++) put(t, element_text, j);
  for (int k = 0; k < AXES; k++) put_axis(t, k);
  put(t, "OUTERMOST:\n");
  for (int j = 0; j < EACH; j++) put(t, step_text, j, index[j]);
  put(t, "@%%fill bra STORE;\n");
  for (int j = 0; j < EACH; j++) put(t, load_text, j, bits);
  put(t, "STORE:\n");
  for (int j = 0; j < EACH; j++) put(t, store_text, j, bits);
  put(t, "%s", end_text);
}

static void write_texts(void) {
  for (int i = 0; i < 4; i++) {
    text t = {malloc(TEXT), 0};
    if (!t.data) return;
    put(&t, ".version 6.3\n.target sm_75\n.address_size 64\n");
    put_kernel(&t, names[i], 8 << i);
    blobs[i].data = t.data;
  }
}

/* ---- launching ------------------------------------------------------------------------------- */

static tc_cuda_layout common_layout(const tc_tensor *dst, const tc_tensor *src) {
  tc_cuda_layout l = {.rank = 0};
  int lead = dst->key.rank - src->key.rank;
  for (int i = dst->key.rank - 1; i >= 0; i--) {
    int64_t n = dst->dim[i], to = dst->stride[i];
    int64_t from = i < lead || src->dim[i - lead] == 1 ? 0 : src->stride[i - lead];
    int last = l.rank - 1;
    if (n == 1) continue;
    if (last >= 0 && to == l.to[last] * l.dim[last] && from == l.from[last] * l.dim[last]) {
      l.dim[last] *= n;
      continue;
    }
    l.dim[l.rank] = n;
    l.to[l.rank] = to;
    l.from[l.rank++] = from;
  }
  return l;
}

/* What a launch copies or fills: `count` elements of `size` bytes. */
typedef struct job {
  tc_cuda_layout l;
  int64_t count;
  int size;
  uint64_t to, from, value;
} job;

/* Two neighbours as one element, where that leaves both layouts as they are. */
static bool widen(job *w) {
  tc_cuda_layout *l = &w->l;
  bool fits = w->size < LARGEST && l->rank && l->to[0] == 1 && l->from[0] == (w->from != 0) &&
              l->dim[0] > 2 && l->dim[0] % 2 == 0 &&
              (w->to | w->from) % (2 * (uint64_t)w->size) == 0;
  for (int k = 1; k < l->rank; k++) fits = fits && l->to[k] % 2 == 0 && l->from[k] % 2 == 0;
  if (!fits) return false;
  l->dim[0] /= 2;
  for (int k = 1; k < l->rank; k++) l->to[k] /= 2, l->from[k] /= 2;
  const uint64_t next = (uint64_t)1 << 8 * w->size;
  w->value = (w->value & (next - 1)) * (next + 1);
  w->size *= 2;
  w->count /= 2;
  return true;
}

static void put_axes(const job *w, uint64_t word[PARAMETERS]) {
  for (int k = 0; k < w->l.rank; k++) {
    const uint64_t n = (uint64_t)w->l.dim[k];
    int log = 1;
    while (((uint64_t)1 << log) < n) log++;
    const uint64_t of_axis[OF_AXIS] = {n, (((uint64_t)1 << (31 + log)) + n - 1) / n,
                                       (uint64_t)log - 1, (uint64_t)(w->l.to[k] * w->size),
                                       (uint64_t)(w->l.from[k] * w->size)};
    memcpy(word + FIRST + OF_AXIS * k, of_axis, sizeof of_axis);
  }
}

static cu_result launch(const tcrt_cuda_call *c, const job *w) {
  uint64_t word[PARAMETERS] = {w->to, w->from, w->value, (uint64_t)w->count,
                               (uint64_t)(w->l.rank > 1 ? w->l.rank : 1)};
  void *args[PARAMETERS];
  for (int i = 0; i < PARAMETERS; i++) args[i] = &word[i];
  put_axes(w, word);
  const int image = __builtin_ctz((unsigned)w->size);
  pthread_once(&once, write_texts);
  if (!blobs[image].data) return CU_OUT_OF_MEMORY;
  const uint64_t blocks = ((uint64_t)w->count + THREADS * EACH - 1) / (THREADS * EACH),
                 most = (uint64_t)c->info->sms * 64;
  return tcrt_cuda_launch(c, &images[image], 0, (unsigned)(blocks < most ? blocks : most), 1,
                          THREADS, 0, args, PARAMETERS);
}

/* By halves of the outermost axis where there are too many elements for a launch. */
static cu_result launch_all(const tcrt_cuda_call *c, job w) {
  while (widen(&w)) continue;
  while (w.l.rank && w.l.dim[w.l.rank - 1] == 1) w.l.rank--;
  if (w.count < MOST) return launch(c, &w);
  const int last = w.l.rank - 1;
  const int64_t n = w.l.dim[last], half = n / 2;
  job first = w;
  first.l.dim[last] = half;
  first.count = w.count / n * half;
  cu_result r = launch_all(c, first);
  w.l.dim[last] = n - half;
  w.count -= first.count;
  w.to += (uint64_t)(half * w.l.to[last] * w.size);
  if (w.from) w.from += (uint64_t)(half * w.l.from[last] * w.size);
  return r == CU_SUCCESS ? launch_all(c, w) : r;
}

cu_result tc_cuda_strided(const tcrt_cuda_call *c, const tc_tensor *dst, const tc_tensor *src) {
  tc_cuda_layout l = common_layout(dst, src);
  int64_t count = tc_elements(dst);
  size_t size = tc_dtype_bytes(dst->key.dtype);
  uint64_t to = (uintptr_t)dst->data, from = (uintptr_t)src->data;
  bool flat = l.rank == 0 || (l.rank == 1 && l.to[0] == 1 && l.from[0] == 1);
  if (count == 0) return CU_SUCCESS;
  if (flat && !c->recording)
    return ((tc_cuda_device *)c->state)
        ->cu->copy_async(to, from, (size_t)count * size, (cu_stream)c->stream);
  cu_result r;
  if (tc_cuda_transpose(c, &l, to, from, size, &r)) return r;
  return launch_all(c, (job){l, count, (int)size, to, from, 0});
}

cu_result tc_cuda_fill(const tcrt_cuda_call *c, const tc_tensor *dst, uint64_t bits) {
  tc_tensor nothing = {.key = {.dtype = dst->key.dtype}};
  tc_cuda_layout l = common_layout(dst, &nothing);
  int64_t count = tc_elements(dst);
  if (count == 0) return CU_SUCCESS;
  return launch_all(
      c, (job){l, count, (int)tc_dtype_bytes(dst->key.dtype), (uintptr_t)dst->data, 0, bits});
}
