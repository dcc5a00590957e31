/* Copies between any two layouts, and fills.
 *
 * The kernels are PTX written by hand, so that libtcrt needs no compiler for devices: one per
 * element size, compiled by the driver when first used.  A thread takes elements one grid apart.
 * Its index in row-major order is taken apart from the innermost axis outwards; axes that step
 * alike are merged beforehand, so there are few. */
#include "runtime/libtcrt/src/cuda/strided.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- the kernels' text ----------------------------------------------------------------------- */

static const char head_text[] = ".version 6.3\n.target sm_75\n.address_size 64\n";

/* %1$d: bytes of an element. */
static const char kernel_text[] =
    ".visible .entry tc_strided_%1$d(.param .u64 to, .param .u64 from, .param .u64 value,\n"
    "  .param .u64 count, .param .u64 axes,\n"
    "  .param .u64 n0, .param .u64 n1, .param .u64 n2, .param .u64 n3,\n"
    "  .param .u64 n4, .param .u64 n5, .param .u64 n6, .param .u64 n7,\n"
    "  .param .u64 t0, .param .u64 t1, .param .u64 t2, .param .u64 t3,\n"
    "  .param .u64 t4, .param .u64 t5, .param .u64 t6, .param .u64 t7,\n"
    "  .param .u64 f0, .param .u64 f1, .param .u64 f2, .param .u64 f3,\n"
    "  .param .u64 f4, .param .u64 f5, .param .u64 f6, .param .u64 f7)\n"
    "{\n"
    ".reg .pred %%p;\n"
    ".reg .b32 %%a, %%b;\n"
    ".reg .b64 %%at, %%step, %%count, %%axes, %%to, %%from, %%i, %%q, %%r, %%n, %%t, %%f, %%v;\n"
    "mov.u32 %%a, %%ctaid.x;\n"
    "mov.u32 %%b, %%ntid.x;\n"
    "mul.wide.u32 %%at, %%a, %%b;\n"
    "mov.u32 %%a, %%tid.x;\n"
    "cvt.u64.u32 %%q, %%a;\n"
    "add.u64 %%at, %%at, %%q;\n"
    "mov.u32 %%a, %%nctaid.x;\n"
    "mul.wide.u32 %%step, %%a, %%b;\n"
    "ld.param.u64 %%count, [count];\n"
    "ld.param.u64 %%axes, [axes];\n"
    "NEXT:\n"
    "setp.ge.u64 %%p, %%at, %%count;\n"
    "@%%p bra DONE;\n"
    "ld.param.u64 %%to, [to];\n"
    "ld.param.u64 %%from, [from];\n"
    "mov.u64 %%i, %%at;\n";

/* Axis %1$d from the innermost: n sizes, t and f steps in bytes.  The outermost takes the rest of
 * the index. */
static const char axis_text[] = "ld.param.u64 %%n, [n%1$d];\n"
                                "ld.param.u64 %%t, [t%1$d];\n"
                                "ld.param.u64 %%f, [f%1$d];\n"
                                "setp.le.u64 %%p, %%axes, %1$d+1;\n"
                                "@%%p bra OUTERMOST;\n"
                                "or.b64 %%q, %%i, %%n;\n"
                                "setp.lt.u64 %%p, %%q, 4294967296;\n"
                                "@%%p bra SHORT%1$d;\n"
                                "div.u64 %%q, %%i, %%n;\n"
                                "bra STEP%1$d;\n"
                                "SHORT%1$d:\n"
                                "cvt.u32.u64 %%a, %%i;\n"
                                "cvt.u32.u64 %%b, %%n;\n"
                                "div.u32 %%a, %%a, %%b;\n"
                                "cvt.u64.u32 %%q, %%a;\n"
                                "STEP%1$d:\n"
                                "mul.lo.u64 %%r, %%q, %%n;\n"
                                "sub.u64 %%r, %%i, %%r;\n"
                                "mad.lo.u64 %%to, %%r, %%t, %%to;\n"
                                "mad.lo.u64 %%from, %%r, %%f, %%from;\n"
                                "mov.u64 %%i, %%q;\n";

/* A source of NULL: the value.  %1$d: bits of an element. */
static const char tail_text[] = "OUTERMOST:\n"
                                "mad.lo.u64 %%to, %%i, %%t, %%to;\n"
                                "ld.param.u64 %%r, [from];\n"
                                "ld.param.u64 %%v, [value];\n"
                                "setp.eq.u64 %%p, %%r, 0;\n"
                                "@%%p bra STORE;\n"
                                "mad.lo.u64 %%from, %%i, %%f, %%from;\n"
                                "ld.global.u%1$d %%v, [%%from];\n"
                                "STORE:\n"
                                "st.global.u%1$d [%%to], %%v;\n"
                                "add.u64 %%at, %%at, %%step;\n"
                                "bra NEXT;\n"
                                "DONE:\n"
                                "ret;\n"
                                "}\n";

enum { AXES = TC_CUDA_AXES, TEXT = 1 << 15, THREADS = 256, PARAMETERS = 5 + 3 * AXES };

static const char *const names[] = {"tc_strided_1", "tc_strided_2", "tc_strided_4", "tc_strided_8"};
static tcrt_cuda_blob blob = {.arch = 75, .ptx = 1};
static tcrt_cuda_image kernels = {
    .name = "libtcrt", .nfunction = 4, .nblob = 1, .function = names, .blob = &blob};
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void write_text(void) {
  char *text = malloc(TEXT);
  if (!text) return;
  size_t n = (size_t)snprintf(text, TEXT, "%s", head_text);
  for (int size = 1; size <= 8; size *= 2) {
    n += (size_t)snprintf(text + n, TEXT - n, kernel_text, size);
    for (int k = 0; k < AXES; k++) n += (size_t)snprintf(text + n, TEXT - n, axis_text, k);
    n += (size_t)snprintf(text + n, TEXT - n, tail_text, 8 * size);
  }
  blob.data = text;
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

static cu_result launch(const tcrt_cuda_call *c, const tc_cuda_layout *l, int64_t count,
                        size_t size, const uint64_t first[3]) {
  uint64_t word[PARAMETERS] = {first[0], first[1], first[2], (uint64_t)count, 1};
  void *args[PARAMETERS];
  for (int i = 0; i < PARAMETERS; i++) args[i] = &word[i];
  for (int k = 0; k < l->rank; k++) {
    word[5 + k] = (uint64_t)l->dim[k];
    word[5 + AXES + k] = (uint64_t)(l->to[k] * (int64_t)size);
    word[5 + 2 * AXES + k] = (uint64_t)(l->from[k] * (int64_t)size);
  }
  if (l->rank > 1) word[4] = (uint64_t)l->rank;
  pthread_once(&once, write_text);
  if (!blob.data) return CU_OUT_OF_MEMORY;
  uint64_t blocks = ((uint64_t)count + THREADS - 1) / THREADS, most = (uint64_t)c->info->sms * 64;
  unsigned function = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
  return tcrt_cuda_launch(c, &kernels, function, (unsigned)(blocks < most ? blocks : most), 1,
                          THREADS, 0, args, PARAMETERS);
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
  return launch(c, &l, count, size, (uint64_t[]){to, from, 0});
}

cu_result tc_cuda_fill(const tcrt_cuda_call *c, const tc_tensor *dst, uint64_t bits) {
  tc_tensor nothing = {.key = {.dtype = dst->key.dtype}};
  tc_cuda_layout l = common_layout(dst, &nothing);
  int64_t count = tc_elements(dst);
  if (count == 0) return CU_SUCCESS;
  return launch(c, &l, count, tc_dtype_bytes(dst->key.dtype),
                (uint64_t[]){(uintptr_t)dst->data, 0, bits});
}
