/* transpose.c - copies whose source and destination run along different axes, through tiles on
 * chip.
 *
 * The destination is contiguous along axis x, the source along axis y.  A block of 256 threads
 * takes tiles of 64 x 64: it reads them along y, sixteen elements per thread at once, and writes
 * them along x, so that both sides are whole lines of memory.  Rows of the tile are one element
 * apart more than they are long, for the banks.  Other axes number the tiles. */
#include "runtime/libtcrt/src/cuda/strided.h"

#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 64, THREADS = 256, LINES = 4, STEPS = SIDE / LINES, OUTER = TC_CUDA_AXES - 2 };
enum { PARAMETERS = 10 + 3 * OUTER, TEXT = 1 << 14 };

/* %1$d: bytes of an element; %2$d: bytes of the tile. */
static const char head_text[] =
    ".visible .entry tc_transpose_%1$d(.param .u64 to, .param .u64 from, .param .u64 tiles,\n"
    "  .param .u64 nx, .param .u64 ny, .param .u64 fx, .param .u64 ty,\n"
    "  .param .u64 tiles_x, .param .u64 tiles_y, .param .u64 outer,\n"
    "  .param .u64 n0, .param .u64 n1, .param .u64 n2, .param .u64 n3, .param .u64 n4, .param .u64 "
    "n5,\n"
    "  .param .u64 t0, .param .u64 t1, .param .u64 t2, .param .u64 t3, .param .u64 t4, .param .u64 "
    "t5,\n"
    "  .param .u64 f0, .param .u64 f1, .param .u64 f2, .param .u64 f3, .param .u64 f4, .param .u64 "
    "f5)\n"
    "{\n"
    ".shared .align 8 .b8 tile[%2$d];\n"
    ".reg .pred %%p, %%in;\n"
    ".reg .b32 %%a, %%b, %%lane, %%line, %%put, %%get;\n"
    ".reg .b64 %%at, %%step, %%i, %%q, %%n, %%to, %%from, %%x, %%y, %%nx, %%ny, %%f, %%t;\n"
    ".reg .b64 %%v<16>;\n"
    "mov.u32 %%a, %%tid.x;\n"
    "and.b32 %%lane, %%a, 63;\n"
    "shr.u32 %%line, %%a, 6;\n"
    "mov.u32 %%b, tile;\n"
    "mad.lo.u32 %%put, %%line, 65, %%lane;\n"
    "mad.lo.u32 %%put, %%put, %1$d, %%b;\n"
    "mad.lo.u32 %%get, %%lane, 65, %%line;\n"
    "mad.lo.u32 %%get, %%get, %1$d, %%b;\n"
    "mov.u32 %%a, %%ctaid.x;\n"
    "cvt.u64.u32 %%at, %%a;\n"
    "mov.u32 %%a, %%nctaid.x;\n"
    "cvt.u64.u32 %%step, %%a;\n"
    "ld.param.u64 %%nx, [nx];\n"
    "ld.param.u64 %%ny, [ny];\n"
    "NEXT:\n"
    "ld.param.u64 %%n, [tiles];\n"
    "setp.ge.u64 %%p, %%at, %%n;\n"
    "@%%p bra DONE;\n"
    "ld.param.u64 %%to, [to];\n"
    "ld.param.u64 %%from, [from];\n"
    "ld.param.u64 %%n, [tiles_x];\n"
    "div.u64 %%i, %%at, %%n;\n"
    "mul.lo.u64 %%q, %%i, %%n;\n"
    "sub.u64 %%x, %%at, %%q;\n"
    "ld.param.u64 %%n, [tiles_y];\n"
    "div.u64 %%q, %%i, %%n;\n"
    "mul.lo.u64 %%y, %%q, %%n;\n"
    "sub.u64 %%y, %%i, %%y;\n"
    "mov.u64 %%i, %%q;\n"
    "shl.b64 %%x, %%x, 6;\n"
    "shl.b64 %%y, %%y, 6;\n"
    "ld.param.u64 %%n, [outer];\n"
    "setp.le.u64 %%p, %%n, 1;\n"
    "@%%p bra READ;\n";

/* Axis %1$d of the others. */
static const char axis_text[] = "ld.param.u64 %%n, [n%1$d];\n"
                                "ld.param.u64 %%t, [t%1$d];\n"
                                "ld.param.u64 %%f, [f%1$d];\n"
                                "div.u64 %%q, %%i, %%n;\n"
                                "mul.lo.u64 %%n, %%q, %%n;\n"
                                "sub.u64 %%n, %%i, %%n;\n"
                                "mad.lo.u64 %%to, %%n, %%t, %%to;\n"
                                "mad.lo.u64 %%from, %%n, %%f, %%from;\n"
                                "mov.u64 %%i, %%q;\n";

/* The thread's first place in the source: line `line` of x, element `lane` of y. */
static const char read_text[] = "READ:\n"
                                "cvt.u64.u32 %%i, %%lane;\n"
                                "cvt.u64.u32 %%q, %%line;\n"
                                "add.u64 %%i, %%i, %%y;\n"
                                "add.u64 %%q, %%q, %%x;\n"
                                "setp.lt.u64 %%in, %%i, %%ny;\n"
                                "ld.param.u64 %%f, [fx];\n"
                                "mad.lo.u64 %%from, %%i, %1$d, %%from;\n"
                                "mad.lo.u64 %%from, %%q, %%f, %%from;\n"
                                "shl.b64 %%f, %%f, 2;\n";

/* %1$d: bits of an element; %2$d: the step. */
static const char load_text[] = "setp.lt.and.u64 %%p, %%q, %%nx, %%in;\n"
                                "@%%p ld.global.u%1$d %%v%2$d, [%%from];\n"
                                "add.u64 %%q, %%q, 4;\n"
                                "add.u64 %%from, %%from, %%f;\n";
/* %3$d: bytes from the thread's first place in the tile. */
static const char put_text[] = "st.shared.u%1$d [%%put+%3$d], %%v%2$d;\n";
static const char transpose_text[] = "bar.sync 0;\n"
                                     "cvt.u64.u32 %%i, %%lane;\n"
                                     "cvt.u64.u32 %%q, %%line;\n"
                                     "add.u64 %%i, %%i, %%x;\n"
                                     "add.u64 %%q, %%q, %%y;\n"
                                     "setp.lt.u64 %%in, %%i, %%nx;\n"
                                     "ld.param.u64 %%t, [ty];\n"
                                     "mad.lo.u64 %%to, %%i, %1$d, %%to;\n"
                                     "mad.lo.u64 %%to, %%q, %%t, %%to;\n"
                                     "shl.b64 %%t, %%t, 2;\n";
static const char store_text[] = "setp.lt.and.u64 %%p, %%q, %%ny, %%in;\n"
                                 "ld.shared.u%1$d %%v%2$d, [%%get+%3$d];\n"
                                 "@%%p st.global.u%1$d [%%to], %%v%2$d;\n"
                                 "add.u64 %%q, %%q, 4;\n"
                                 "add.u64 %%to, %%to, %%t;\n";
static const char tail_text[] = "bar.sync 0;\n"
                                "add.u64 %at, %at, %step;\n"
                                "bra NEXT;\n"
                                "DONE:\n"
                                "ret;\n"
                                "}\n";

/* By the logarithm of the element's size; each is compiled by the driver when it is first used. */
static const char *const names[] = {"tc_transpose_1", "tc_transpose_2", "tc_transpose_4",
                                    "tc_transpose_8"};
enum { SIZES = 4 };
static tcrt_cuda_blob blob[SIZES];
static tcrt_cuda_image image[SIZES];
static pthread_once_t once = PTHREAD_ONCE_INIT;

#define ADD(...) n += (size_t)snprintf(text + n, TEXT - n, __VA_ARGS__)

static void write_kernel(char *text, int size) {
  const int bits = 8 * size;
  size_t n = 0;
  ADD("%s", ".version 6.3\n.target sm_75\n.address_size 64\n");
  ADD(head_text, size, SIDE * (SIDE + 1) * size);
  for (int k = 0; k < OUTER; k++) ADD(axis_text, k);
  ADD(read_text, size);
  for (int k = 0; k < STEPS; k++) ADD(load_text, bits, k);
  for (int k = 0; k < STEPS; k++) ADD(put_text, bits, k, k * LINES * (SIDE + 1) * size);
  ADD(transpose_text, size);
  for (int k = 0; k < STEPS; k++) ADD(store_text, bits, k, k * LINES * size);
  ADD("%s", tail_text);
}

static void write_text(void) {
  for (int i = 0; i < SIZES; i++) {
    char *text = malloc(TEXT);
    if (!text) continue;
    write_kernel(text, 1 << i);
    blob[i] = (tcrt_cuda_blob){.arch = 75, .ptx = 1, .data = text};
    image[i] = (tcrt_cuda_image){
        .name = names[i], .nfunction = 1, .nblob = 1, .function = &names[i], .blob = &blob[i]};
  }
}

/* The axes of a transpose: false if a side is contiguous along none, both along the same, or one is
 * too short for tiles. */
static bool find_axes(const tc_cuda_layout *l, int *x, int *y) {
  *x = *y = -1;
  for (int i = 0; i < l->rank; i++) {
    if (l->to[i] == 1) *x = i;
    if (l->from[i] == 1) *y = i;
  }
  return *x >= 0 && *y >= 0 && *x != *y && l->dim[*x] >= SIDE / 4 && l->dim[*y] >= SIDE / 4;
}

static uint64_t tiles_of(int64_t n) { return ((uint64_t)n + SIDE - 1) / SIDE; }

bool tc_cuda_transpose(const tcrt_cuda_call *c, const tc_cuda_layout *l, uint64_t to, uint64_t from,
                       size_t size, cu_result *result) {
  int x, y, k = 0;
  if (!find_axes(l, &x, &y)) return false;
  uint64_t tiles_x = tiles_of(l->dim[x]), tiles_y = tiles_of(l->dim[y]), outer = 1;
  uint64_t word[PARAMETERS] = {to, from, 0, (uint64_t)l->dim[x], (uint64_t)l->dim[y]};
  void *args[PARAMETERS];
  for (int i = 0; i < PARAMETERS; i++) args[i] = &word[i];
  for (int i = 0; i < OUTER; i++) word[10 + i] = 1;
  for (int i = 0; i < l->rank; i++) {
    if (i == x || i == y) continue;
    outer *= (uint64_t)l->dim[i];
    word[10 + k] = (uint64_t)l->dim[i];
    word[10 + OUTER + k] = (uint64_t)(l->to[i] * (int64_t)size);
    word[10 + 2 * OUTER + k++] = (uint64_t)(l->from[i] * (int64_t)size);
  }
  word[2] = tiles_x * tiles_y * outer;
  word[5] = (uint64_t)(l->from[x] * (int64_t)size);
  word[6] = (uint64_t)(l->to[y] * (int64_t)size);
  word[7] = tiles_x;
  word[8] = tiles_y;
  word[9] = outer;
  pthread_once(&once, write_text);
  const uint64_t most = (uint64_t)c->info->max_grid_x;
  const int i = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
  *result = !blob[i].data
                ? CU_OUT_OF_MEMORY
                : tcrt_cuda_launch(c, &image[i], 0, (unsigned)(word[2] < most ? word[2] : most), 1,
                                   THREADS, 0, args, PARAMETERS);
  return true;
}
