/* What generated code calls: images, launches, workspaces, products, calls as one graph. */
#include "tests/cuda_stub/device.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/nvrtc/pack.h"

TestSuite(launch, .init = device_begin);

static const char *const functions[] = {"twice", "plus"};
static const char machine_80[] = "STUB: twice plus", ptx[] = ".version STUB twice plus";
static const char corrupt[] = "not an image", lacking[] = "STUB: twice";

/* y[i] = 2 x[i]; y[i] = x[i] + s */
static void twice(const stub_launch *l) {
  float *x, *y;
  int64_t n;
  memcpy(&y, l->args[0], 8);
  memcpy(&x, l->args[1], 8);
  memcpy(&n, l->args[2], 8);
  for (int64_t i = 0; i < n; i++) y[i] = 2 * x[i];
}

static void plus(const stub_launch *l) {
  float *x, *y;
  int64_t n;
  double s;
  memcpy(&y, l->args[0], 8);
  memcpy(&x, l->args[1], 8);
  memcpy(&n, l->args[2], 8);
  memcpy(&s, l->args[3], 8);
  for (int64_t i = 0; i < n; i++) y[i] = x[i] + (float)s;
}

static int run_twice(const tcrt_cuda_call *c, tcrt_cuda_image *image, void *y, const void *x,
                     int64_t n, unsigned shared) {
  void *args[] = {&y, &x, &n};
  return tcrt_cuda_launch(c, image, 0, (unsigned)(n + 255) / 256, 1, 256, shared, args, 3);
}

static int run_plus(const tcrt_cuda_call *c, tcrt_cuda_image *image, void *y, const void *x,
                    int64_t n, double s) {
  void *args[] = {&y, &x, &n, &s};
  return tcrt_cuda_launch(c, image, 1, (unsigned)(n + 255) / 256, 1, 256, 0, args, 4);
}

#define BLOB(a, p, text)                                                                           \
  { .arch = a, .ptx = p, .data = text }
#define IMAGE(...)                                                                                 \
  {                                                                                                \
    .name = "test", .nfunction = 2,                                                                \
    .nblob = sizeof((tcrt_cuda_blob[]){__VA_ARGS__}) / sizeof(tcrt_cuda_blob),                     \
    .function = functions, .blob = (const tcrt_cuda_blob[]) {                                      \
      __VA_ARGS__                                                                                  \
    }                                                                                              \
  }

static void expect_runs(tcrt_cuda_image *image, int want) {
  tcrt_cuda_call c;
  TC_SCOPE {
    tc_tensor *x = tc_to(device_counting(TC_DIMS(5)), TC_CUDA);
    cr_assert(x && tcrt_cuda_begin(&c, x), "%s", tc_error());
    tc_tensor *y = tcrt_cuda_new(&c, TC_F32, 1, (int64_t[]){5});
    int r = run_twice(&c, image, tc_device_data(y), tc_device_data(x), 5, 0);
    cr_expect_eq(r, want, "%d", r);
    cr_expect_eq(tcrt_cuda_end(&c, r) != 0, want != 0);
    if (!want) cr_expect_eq(tc_at(y, TC_INTS(4)), 8);
  }
}

Test(launch, images) {
  stub_kernel("twice", 3, twice);
  const tcrt_cuda_blob good = BLOB(90, 0, machine_80);
  tcrt_cuda_image both = IMAGE(BLOB(80, 1, ptx), good);
  tcrt_cuda_image only_ptx = IMAGE(BLOB(80, 0, corrupt), BLOB(80, 1, ptx));
  tcrt_cuda_image newer = IMAGE(BLOB(100, 0, machine_80), BLOB(91, 0, machine_80));
  tcrt_cuda_image broken = IMAGE(BLOB(90, 0, corrupt));
  tcrt_cuda_image second = IMAGE(BLOB(90, 0, corrupt), BLOB(90, 1, ptx));
  tcrt_cuda_image partial = IMAGE(BLOB(90, 0, lacking));
  expect_runs(&both, 0);
  expect_runs(&both, 0);
  cr_expect_eq(stub_calls("cuModuleLoadData"), 1, "loaded once");
  expect_runs(&only_ptx, 0);
  expect_runs(&newer, 209);
  expect_runs(&broken, 200);
  expect_runs(&broken, 200);
  expect_runs(&second, 0);
  expect_runs(&partial, 500);
  cr_expect_null(tc_error());
  tcrt_cuda_unload(&both);
  tcrt_cuda_unload(&both);
  tcrt_cuda_unload(&broken);
  expect_runs(&both, 0);
  tcrt_cuda_image *const used[] = {&both, &only_ptx, &newer, &second, &partial};
  for (size_t i = 0; i < sizeof used / sizeof *used; i++) tcrt_cuda_unload(used[i]);
  cr_expect_eq(stub_live(STUB_MODULE), 0);
  device_end();
}

/* Machine code at byte 0 of a pack, and PTX at byte SECOND. */
enum { SECOND = 512 };
#define MACHINE(p)                                                                                 \
  { .arch = 90, .pack = p }
#define TEXT(p)                                                                                    \
  { .arch = 80, .ptx = 1, .pack = p, .at = SECOND }

static tcrt_cuda_packed make_pack(void) {
  unsigned char both[2 * SECOND] = {0};
  memcpy(both, machine_80, sizeof machine_80);
  memcpy(both + SECOND, ptx, sizeof ptx);
  size_t packed = 0;
  const void *data = tc_image_pack(both, sizeof both, &packed);
  cr_assert_not_null(data);
  return (tcrt_cuda_packed){.data = data, .size = sizeof both, .packed = packed};
}

static void end_pack(tcrt_cuda_packed *p) {
  tcrt_cuda_drop(p);
  cr_expect_null(p->bytes);
  free((void *)p->data);
}

Test(launch, packs) {
  stub_kernel("twice", 3, twice);
  tcrt_cuda_packed pack = make_pack();
  tcrt_cuda_image first = IMAGE(MACHINE(&pack)), second = IMAGE(TEXT(&pack));
  expect_runs(&first, 0);
  const void *bytes = pack.bytes;
  cr_expect_not_null(bytes);
  expect_runs(&second, 0);
  cr_expect_eq(pack.bytes, bytes, "unpacked once");
  tcrt_cuda_unload(&first);
  tcrt_cuda_drop(&pack);
  expect_runs(&second, 0); /* it is loaded */
  cr_expect_null(pack.bytes);
  expect_runs(&first, 0);
  tcrt_cuda_unload(&first);
  tcrt_cuda_unload(&second);
  end_pack(&pack);
  device_end();
}

/* The machine code is in a pack that is damaged; PTX of another one serves. */
Test(launch, damaged_packs) {
  stub_kernel("twice", 3, twice);
  tcrt_cuda_packed good = make_pack(), bad = make_pack();
  ((unsigned char *)bad.data)[bad.packed / 2] ^= 0x10;
  tcrt_cuda_image broken = IMAGE(MACHINE(&bad)), other = IMAGE(MACHINE(&bad), TEXT(&good));
  expect_runs(&broken, 200);
  expect_runs(&broken, 200);
  cr_expect_null(bad.bytes);
  expect_runs(&other, 0);
  tcrt_cuda_unload(&broken);
  tcrt_cuda_unload(&other);
  end_pack(&good);
  end_pack(&bad);
  device_end();
}

static tcrt_cuda_packed shared_pack;
static tcrt_cuda_image shared_images[2] = {IMAGE(MACHINE(&shared_pack)), IMAGE(TEXT(&shared_pack))};

static void *run_many(void *image) {
  for (int i = 0; i < 50; i++) expect_runs(image, 0);
  return NULL;
}

Test(launch, threads_load_an_image_once) {
  stub_kernel("twice", 3, twice);
  shared_pack = make_pack();
  pthread_t thread[4];
  for (int i = 0; i < 4; i++)
    cr_assert_eq(pthread_create(&thread[i], NULL, run_many, &shared_images[i % 2]), 0);
  for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
  cr_expect_eq(stub_calls("cuModuleLoadData"), 2);
  cr_expect_eq(stub_launches("twice"), 200);
  for (int i = 0; i < 2; i++) tcrt_cuda_unload(&shared_images[i]);
  end_pack(&shared_pack);
  device_end();
}

Test(launch, shared_memory_and_empty_grids) {
  tcrt_cuda_image image = IMAGE(BLOB(90, 0, machine_80));
  tcrt_cuda_call c;
  tc_tensor *v = device_counting(TC_DIMS(5)), *x = tc_to(v, TC_CUDA);
  void *p = tc_device_data(x);
  tc_free(v);
  cr_assert(tcrt_cuda_begin(&c, x));
  stub_kernel("twice", 3, NULL);
  cr_expect_eq(run_twice(&c, &image, p, p, 5, 100 << 10), 0);
  cr_expect_eq(run_twice(&c, &image, p, p, 5, 200 << 10), 0);
  cr_expect_eq(run_twice(&c, &image, p, p, 5, 100 << 10), 0);
  cr_expect_eq(stub_calls("cuFuncSetAttribute"), 2);
  cr_expect_neq(run_twice(&c, &image, p, p, 5, 300 << 10), 0);
  cr_expect_eq(run_twice(&c, &image, p, p, 0, 0), 0);
  cr_expect_eq(stub_launches("twice"), 3);
  cr_expect_eq(tcrt_cuda_end(&c, 0), 0);
  tc_free(x);
  tcrt_cuda_unload(&image);
  device_end();
}

Test(launch, workspaces) {
  tcrt_cuda_call c;
  cr_assert(tcrt_cuda_begin(&c, NULL));
  char *small = tcrt_cuda_workspace(&c, 100);
  cr_expect_eq(small, tcrt_cuda_workspace(&c, 1 << 20));
  char *large = tcrt_cuda_workspace(&c, 3 << 20);
  cr_expect_eq((uintptr_t)large % 256, 0);
  cr_expect_eq(large, tcrt_cuda_workspace(&c, 7));
  cr_expect_null(tcrt_cuda_workspace(&c, (size_t)1 << 40));
  cr_expect_not_null(tcrt_cuda_workspace(&c, 7));
  cr_expect_eq(tcrt_cuda_end(&c, 0), 0);
  device_end();
}

Test(launch, an_index_out_of_range_is_reported_by_the_next_wait) {
  tcrt_cuda_call c;
  TC_SCOPE {
    tc_tensor *x = tc_to(device_counting(TC_DIMS(5)), TC_CUDA);
    cr_assert(tcrt_cuda_begin(&c, x));
    cr_expect_eq(tcrt_cuda_end(&c, 0), 0);
    *c.bad = 1;
    cr_expect_not(tc_synchronize());
    device_expect_error("an index operand of an earlier op on cuda:0 was out of range");
    cr_expect(tc_synchronize());
    *c.bad = 1;
    cr_expect_null(tc_to(x, TC_CPU));
    device_expect_error("out of range");
    cr_expect_not_null(tc_to(x, TC_CPU));
  }
  device_end();
}

/* ---- calls as one graph ---------------------------------------------------------------------- */

/* y = 2 (x + s), recorded. */
static tc_tensor *recorded(tcrt_cuda_image *image, const void *tag, const tc_tensor *x, double s) {
  tcrt_cuda_call c;
  int64_t n = tc_numel(x);
  cr_assert(tcrt_cuda_begin(&c, x));
  tcrt_cuda_record(&c, tag);
  tc_tensor *y = tcrt_cuda_new(&c, TC_F32, 1, &n);
  void *w = tcrt_cuda_workspace(&c, (size_t)n * 4);
  int failed = run_plus(&c, image, w, tc_device_data(x), n, s) ||
               run_twice(&c, image, tc_device_data(y), w, n, 0);
  if (tcrt_cuda_end(&c, failed) == 0) return y;
  tc_free(y);
  return NULL;
}

static void expect_graph(tcrt_cuda_image *image, const void *tag, int64_t n, double s) {
  TC_SCOPE {
    tc_tensor *x = tc_to(device_counting(TC_DIMS(n)), TC_CUDA);
    tc_tensor *y = recorded(image, tag, x, s);
    cr_assert_not_null(y);
    for (int64_t i = 0; i < n; i++) cr_expect_eq(tc_at(y, TC_INTS(i)), 2 * ((double)i + s));
  }
}

Test(launch, recorded_calls_are_replayed) {
  static const char tags[100];
  tcrt_cuda_image image = IMAGE(BLOB(90, 0, machine_80));
  stub_kernel("twice", 3, twice);
  stub_kernel("plus", 4, plus);
  for (int i = 0; i < 5; i++) expect_graph(&image, "f", 10, 1);
  cr_expect_eq(stub_calls("cuGraphInstantiateWithFlags"), 1);
  cr_expect_eq(stub_calls("cuLaunchKernel"), 0);
  expect_graph(&image, "f", 300, 4); /* another size: updated */
  cr_expect_eq(stub_calls("cuGraphInstantiateWithFlags"), 1);
  expect_graph(&image, "g", 10, 1); /* another function */
  cr_expect_eq(stub_calls("cuGraphInstantiateWithFlags"), 2);
  for (int i = 0; i < 100; i++) expect_graph(&image, &tags[i], 10, 1); /* past the cap */
  cr_expect_leq(stub_live(STUB_EXEC), 64);
  tcrt_cuda_unload(&image);
  expect_graph(&image, "f", 10, 1); /* its kernels have moved */
  tcrt_cuda_unload(&image);
  device_end();
}

/* ---- kernels side by side -------------------------------------------------------------------- */

enum { ROOM = 4 };

/* x[i] = 2 x[j] for each pair "ij" of `steps`, "." where the kernel launches nothing, behind the kernels
 * that `after` lists.  The stub runs the latest launch that may run first. */
typedef struct step {
  const char *pair;
  uint32_t nafter, after[ROOM];
} step;

static void run_steps(tcrt_cuda_image *image, const step *steps, uint32_t n, int again,
                      const float *want) {
  TC_SCOPE {
    const tc_tensor *ones = tc_ones(TC_DIMS(ROOM, 64), TC_F32);
    tc_tensor *x = tc_to(ones, TC_CUDA);
    float *at = tc_device_data(x);
    for (int turn = 0; turn < again; turn++) {
      tcrt_cuda_call c;
      int failed = 0;
      cr_assert(tcrt_cuda_begin(&c, x));
      tcrt_cuda_record(&c, steps);
      for (uint32_t k = 0; k < n; k++) {
        const char *pair = steps[k].pair;
        tcrt_cuda_after(&c, steps[k].after, steps[k].nafter);
        if (*pair != '.')
          failed |=
              run_twice(&c, image, at + 64 * (pair[0] - '0'), at + 64 * (pair[1] - '0'), 64, 0);
      }
      cr_expect_eq(tcrt_cuda_end(&c, failed), 0);
    }
    for (int i = 0; i < ROOM; i++)
      cr_expect_eq(tc_at(x, TC_INTS(i, 5)), want[i], "%d: %g", i, tc_at(x, TC_INTS(i, 5)));
  }
}

#define RUN(again, want, ...)                                                                      \
  run_steps(&image, (const step[]){__VA_ARGS__},                                                   \
            sizeof((const step[]){__VA_ARGS__}) / sizeof(step), again, (const float[]){want})
#define OF(...) __VA_ARGS__

Test(launch, recorded_kernels_wait_for_those_they_name) {
  tcrt_cuda_image image = IMAGE(BLOB(90, 0, machine_80));
  stub_kernel("twice", 3, twice);
  RUN(1, OF(2, 4, 8, 1), {"00", 0, {0}}, {"10", 1, {0}}, {"21", 1, {1}});
  /* nothing is said of the last: it runs first */
  RUN(1, OF(2, 4, 2, 1), {"00", 0, {0}}, {"10", 1, {0}}, {"21", 0, {0}});
  RUN(1, OF(2, 2, 4, 4), {"00", 0, {0}}, {"11", 0, {0}}, {"21", 1, {1}}, {"30", 1, {0}});
  /* what waits for a kernel without launches waits for what that one waits for */
  RUN(1, OF(2, 4, 1, 1), {"00", 0, {0}}, {".", 1, {0}}, {"10", 1, {1}});
  RUN(1, OF(2, 4, 1, 1), {"00", 0, {0}}, {".", 1, {0}}, {".", 1, {1}}, {"10", 1, {2}});
  RUN(1, OF(1, 2, 1, 1), {".", 0, {0}}, {"10", 1, {0}});
  RUN(1, OF(2, 2, 4, 8), {"00", 0, {0}}, {"11", 0, {0}}, {"20", 1, {0}}, {"32", UINT32_MAX, {0}});
  const int made = stub_calls("cuGraphInstantiateWithFlags");
  RUN(3, OF(8, 16, 1, 1), {"00", 0, {0}}, {"10", 1, {0}});
  cr_expect_eq(stub_calls("cuGraphInstantiateWithFlags"), made + 1);
  tcrt_cuda_unload(&image);
  device_end();
}

Test(launch, without_graphs_recorded_calls_run) {
  setenv("STUB_GRAPHS", "0", 1);
  tcrt_cuda_image image = IMAGE(BLOB(90, 0, machine_80));
  stub_kernel("twice", 3, twice);
  stub_kernel("plus", 4, plus);
  expect_graph(&image, "f", 10, 1);
  cr_expect_eq(stub_calls("cuLaunchKernel"), 2);
  tcrt_cuda_unload(&image);
  device_end();
}

Test(launch, a_failed_recording_is_dropped) {
  tcrt_cuda_image image = IMAGE(BLOB(90, 0, corrupt));
  TC_SCOPE {
    tc_tensor *x = tc_to(device_counting(TC_DIMS(5)), TC_CUDA);
    cr_expect_null(recorded(&image, "f", x, 1));
    cr_expect_null(recorded(&image, "f", x, 1));
  }
  cr_expect_eq(stub_calls("cuGraphLaunch"), 0);
  tcrt_cuda_unload(&image);
  device_end();
}

/* ---- products -------------------------------------------------------------------------------- */

static double value(const tc_tensor *t, int64_t p, int64_t i, int64_t j) {
  return tc_at(t, TC_INTS(p, i, j));
}

/* A stored matrix [batch, rows, cols] of small numbers. */
static tc_tensor *matrices(tc_dtype dtype, int64_t batch, int64_t rows, int64_t cols, int mod) {
  tc_tensor *t = tc_empty(TC_DIMS(batch, rows, cols), dtype);
  for (int64_t i = 0; i < tc_numel(t); i++) {
    const int64_t v = i % mod - mod / 2;
    if (dtype == TC_F64) ((double *)tc_data(t))[i] = (double)v;
    else if (dtype == TC_BF16) memcpy((uint16_t *)tc_data(t) + i, (uint16_t *)&(float){(float)v} + 1, 2);
    else ((float *)tc_data(t))[i] = (float)v;
  }
  return t;
}

static int product(const tcrt_cuda_mm *mm, bool record) {
  tcrt_cuda_call c;
  cr_assert(tcrt_cuda_begin(&c, NULL));
  if (record) tcrt_cuda_record(&c, "mm");
  int r = tcrt_cuda_matmul(&c, mm);
  int end = tcrt_cuda_end(&c, r);
  return r ? r : end;
}

/* Of operands of a dtype, with a bias of theirs; or of f32 of others, without. */
static void expect_product(tc_dtype dtype, tc_dtype dtype_c, int ta, int tb, int64_t batch, int64_t n, int step_b,
                           int epilogue) {
  const int64_t m = 4, k = 5;
  TC_SCOPE {
    tc_tensor *a = matrices(dtype, batch, ta ? k : m, ta ? m : k, 7);
    tc_tensor *b = matrices(dtype, step_b ? batch : 1, tb ? n : k, tb ? k : n, 11);
    tc_tensor *bias = matrices(dtype, 1, 1, n, 5), *da = tc_to(a, TC_CUDA), *db = tc_to(b, TC_CUDA);
    tc_tensor *dbias = tc_to(bias, TC_CUDA), *dc = tc_to(matrices(dtype_c, batch, m, n, 3), TC_CUDA);
    tcrt_cuda_mm mm = {.a = tc_device_data(da), .b = tc_device_data(db), .c = tc_device_data(dc)};
    mm.bias = dtype_c == dtype ? tc_device_data(dbias) : NULL;
    mm.wide_c = dtype_c != dtype;
    mm.batch = batch, mm.m = m, mm.n = n, mm.k = k;
    mm.lda = ta ? m : k, mm.ldb = tb ? k : n, mm.ldc = n;
    mm.step_a = m * k, mm.step_b = step_b ? k * n : 0, mm.step_c = m * n;
    mm.dtype = (uint8_t)dtype, mm.transposed_a = (uint8_t)ta, mm.transposed_b = (uint8_t)tb;
    mm.epilogue = (uint8_t)epilogue;
    cr_assert_eq(product(&mm, false), 0);
    for (int64_t p = 0; p < batch; p++)
      for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
          double sum = mm.bias ? value(bias, 0, 0, j) : 0;
          for (int64_t q = 0; q < k; q++)
            sum += (ta ? value(a, p, q, i) : value(a, p, i, q)) *
                   (tb ? value(b, step_b ? p : 0, j, q) : value(b, step_b ? p : 0, q, j));
          if (epilogue == TCRT_MM_RELU && sum < 0) sum = 0;
          cr_assert_eq(value(dc, p, i, j), sum);
        }
  }
}

Test(launch, products) {
  for (int t = 0; t < 4; t++)
    for (int d = TC_F32; d <= TC_F64; d++)
      for (int step = 0; step < 2; step++) {
        expect_product((tc_dtype)d, (tc_dtype)d, t & 1, t >> 1, 1, 6, 1, TCRT_MM_NONE);
        expect_product((tc_dtype)d, (tc_dtype)d, t & 1, t >> 1, 3, 20, step, TCRT_MM_RELU);
      }
  for (int t = 0; t < 4; t++) {
    expect_product(TC_BF16, TC_BF16, t & 1, t >> 1, 1, 6, 1, TCRT_MM_NONE);
    expect_product(TC_BF16, TC_F32, t & 1, t >> 1, 3, 6, 1, TCRT_MM_NONE);
  }
  device_end();
}

Test(launch, products_that_are_refused) {
  TC_SCOPE {
    tc_tensor *x = tc_to(device_counting(TC_DIMS(400)), TC_CUDA);
    void *p = tc_device_data(x);
    tcrt_cuda_mm mm = {.a = p, .b = p, .c = p, .batch = 1, .m = 2, .n = 13, .k = 3};
    mm.lda = 3, mm.ldb = mm.ldc = 13, mm.dtype = TC_F32;
    cr_expect_neq(product(&mm, false), 0);
    cr_expect_neq(product(&mm, true), 0);
    mm.n = 12;
    cr_expect_eq(product(&mm, false), 0);
    mm.dtype = TC_I32;
    cr_expect_neq(product(&mm, false), 0);
    mm.dtype = TC_F32, mm.k = 0;
    cr_expect_neq(product(&mm, false), 0);
    mm.m = 0;
    cr_expect_eq(product(&mm, false), 0);
    cr_expect_null(tc_error());
  }
  device_end();
}

Test(launch, products_without_the_library) {
  setenv("TC_CUBLASLT_LIBRARY", "", 1);
  TC_SCOPE {
    tc_tensor *x = tc_to(device_counting(TC_DIMS(400)), TC_CUDA);
    void *p = tc_device_data(x);
    tcrt_cuda_mm mm = {.a = p, .b = p, .c = p, .batch = 1, .m = 2, .n = 2, .k = 3};
    mm.lda = 3, mm.ldb = mm.ldc = 2, mm.dtype = TC_F32;
    cr_expect_neq(product(&mm, false), 0);
  }
  device_end();
}

Test(launch, recorded_products_are_child_graphs) {
  TC_SCOPE {
    tc_tensor *x = tc_to(device_counting(TC_DIMS(4000)), TC_CUDA);
    float *p = tc_device_data(x);
    tcrt_cuda_mm mm = {.a = p, .b = p + 1000, .c = p + 2000, .batch = 1, .m = 2, .n = 20, .k = 3};
    mm.lda = 3, mm.ldb = mm.ldc = 20, mm.dtype = TC_F32;
    for (int i = 0; i < 3; i++) cr_expect_eq(product(&mm, true), 0);
    cr_expect_eq(stub_calls("cuGraphInstantiateWithFlags"), 1);
    cr_expect_eq(stub_calls("cuStreamBeginCapture_v2"), 1);
    mm.c = p + 3000; /* captured again, into the same graph */
    cr_expect_eq(product(&mm, true), 0);
    cr_expect_eq(stub_calls("cuGraphInstantiateWithFlags"), 1);
    cr_expect_eq(stub_calls("cuGraphExecChildGraphNodeSetParams"), 1);
    mm.m = 3; /* another problem: another graph */
    cr_expect_eq(product(&mm, true), 0);
    cr_expect_eq(stub_calls("cuGraphInstantiateWithFlags"), 2);
  }
  device_end();
}
