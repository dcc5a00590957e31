/* The runtime on a real GPU: moves, layouts, launches, graphs, products, errors; with times.
 * Exits 77 where there is no GPU (skipped), 1 when a check failed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tcompile.h>
#include <tcompile/cuda.h>

static int checks, failures;

static void check(bool right, const char *what) {
  checks++;
  if (right) return;
  failures++;
  printf("FAILED: %s%s%s\n", what, tc_error() ? ": " : "", tc_error() ? tc_error() : "");
  tc_clear_error();
}

static void expect_error(bool failed, const char *text) {
  check(failed && tc_error() && strstr(tc_error(), text), text);
  tc_clear_error();
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* ---- layouts --------------------------------------------------------------------------------- */

/* Copies through tiles: whole ones, parts of them, other axes beside. */
static void check_turns(void) {
  static const int64_t sizes[][2] = {{64, 64}, {16, 1000}, {130, 67}, {300, 257}};
  for (int d = 0; d < TC_DTYPE_COUNT; d++)
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) TC_SCOPE {
        tc_ints dims = TC_DIMS(2, sizes[s][0], 3, sizes[s][1]);
        tc_tensor *x = tc_cast(tc_mul_s(tc_randn(dims, 1, TC_F32), 50), (tc_dtype)d);
        tc_tensor *y = tc_to(x, TC_CUDA);
        check(tc_max_abs_diff(tc_contiguous(tc_transpose(y, 1, 3)), tc_transpose(x, 1, 3)) == 0,
              "a turn");
        tc_tensor *part = tc_slice(y, 3, 1, sizes[s][1], 1), *z = tc_zeros_like(part);
        z = tc_to(z, TC_CUDA);
        tc_copy_(tc_transpose(z, 0, 2), tc_transpose(part, 0, 2));
        check(tc_max_abs_diff(z, tc_slice(x, 3, 1, sizes[s][1], 1)) == 0, "a part of it");
      }
}

static void check_layouts(void) {
  tc_ints dims = TC_DIMS(2, 3, 1, 2, 3, 2, 2, 3), order = TC_AXES(7, 1, 3, 0, 5, 2, 6, 4);
  for (int d = 0; d < TC_DTYPE_COUNT; d++) TC_SCOPE {
      tc_tensor *x = tc_cast(tc_mul_s(tc_randn(dims, 1, TC_F32), 3), (tc_dtype)d);
      tc_tensor *y = tc_to(x, TC_CUDA);
      check(tc_max_abs_diff(x, y) == 0, "there and back");
      check(tc_max_abs_diff(tc_permute(x, order), tc_contiguous(tc_permute(y, order))) == 0,
            "permuted");
      check(tc_max_abs_diff(tc_flip(x, TC_ALL), tc_contiguous(tc_flip(y, TC_ALL))) == 0, "flipped");
      check(tc_max_abs_diff(tc_concat((const tc_tensor *[]){x, x}, 2, 4),
                            tc_concat((const tc_tensor *[]){y, y}, 2, 4)) == 0,
            "concat");
      check(tc_max_abs_diff(
                tc_pad(x, TC_DIMS(0, 1, 0, 0, 2, 0, 0, 0), TC_DIMS(1, 0, 0, 0, 0, 0, 0, 3), 1),
                tc_pad(y, TC_DIMS(0, 1, 0, 0, 2, 0, 0, 0), TC_DIMS(1, 0, 0, 0, 0, 0, 0, 3), 1)) ==
                0,
            "pad");
    }
  TC_SCOPE {
    tc_tensor *x = tc_randn(TC_DIMS(3000, 5000), 2, TC_F32), *pinned = tc_pin(x);
    tc_tensor *y = tc_to(pinned, TC_CUDA);
    check(tc_max_abs_diff(x, y) == 0, "pinned upload");
    check(tc_max_abs_diff(tc_transpose(x, 0, 1), tc_clone(tc_transpose(y, 0, 1))) == 0,
          "transpose");
    tc_fill_(pinned, 0);
    check(tc_copy_(pinned, y) && tc_synchronize() && tc_max_abs_diff(pinned, x) == 0,
          "pinned download");
    tc_stream *s = tc_stream_new(TC_CUDA);
    tc_stream_use(s);
    tc_tensor *z = tc_to(pinned, TC_CUDA), *c = tc_clone(z);
    check(tc_stream_synchronize(s) && tc_max_abs_diff(c, x) == 0, "on a stream");
    tc_stream_use(NULL);
    tc_stream_free(s);
  }
}

static void time_copies(void) {
  TC_SCOPE {
    tc_tensor *x = tc_to(tc_zeros(TC_DIMS(1 << 14, 1 << 14), TC_F32), TC_CUDA);
    for (int turned = 0; turned < 2; turned++) {
      tc_tensor *y = tc_clone(x), *from = turned ? tc_transpose(x, 0, 1) : x;
      tc_synchronize();
      double t0 = now();
      for (int i = 0; i < 10; i++) tc_copy_(y, from);
      tc_synchronize();
      printf("# copy of 1 GiB%s: %.0f GB/s\n", turned ? ", transposed" : "",
             2 * 10 * (double)(1 << 30) / (now() - t0) * 1e-3);
    }
    double t0 = now();
    for (int i = 0; i < 1000; i++) tc_free(tc_clone(tc_slice(x, 0, 0, 1, 1)));
    printf("# clone and free of 64 KiB: %.2f us\n", (now() - t0) / 1000);
    tc_synchronize();
  }
}

/* ---- launches -------------------------------------------------------------------------------- */

/* y[i] = 2 x[i] + s, and *bad = 1 where x[i] < 0 */
static const char axpb[] =
    ".version 6.3\n.target sm_75\n.address_size 64\n.visible .entry axpb(\n"
    " .param .u64 y, .param .u64 x, .param .u64 n, .param .f64 s,\n"
    " .param .u64 bad)\n"
    "{\n.reg .pred %p;\n.reg .b32 %a, %b, %c;\n.reg .f32 %v, %w;\n"
    ".reg .f64 %s;\n.reg .b64 %i, %n, %x, %y, %o;\n"
    "mov.u32 %a, %ctaid.x;\nmov.u32 %b, %ntid.x;\nmov.u32 %c, %tid.x;\n"
    "mad.lo.u32 %a, %a, %b, %c;\ncvt.u64.u32 %i, %a;\n"
    "ld.param.u64 %n, [n];\nsetp.ge.u64 %p, %i, %n;\n@%p ret;\n"
    "ld.param.u64 %x, [x];\nld.param.u64 %y, [y];\nshl.b64 %o, %i, 2;\n"
    "add.u64 %x, %x, %o;\nadd.u64 %y, %y, %o;\nld.global.f32 %v, [%x];\n"
    "ld.param.f64 %s, [s];\ncvt.rn.f32.f64 %w, %s;\n"
    "fma.rn.f32 %w, %v, 0f40000000, %w;\nst.global.f32 [%y], %w;\n"
    "setp.ge.f32 %p, %v, 0f00000000;\n@%p ret;\n"
    "ld.param.u64 %o, [bad];\nmov.u32 %a, 1;\nst.global.u32 [%o], %a;\nret;\n}\n";
static const char *const functions[] = {"axpb"};
static const tcrt_cuda_blob blob = {.arch = 75, .ptx = 1, .data = axpb};
static tcrt_cuda_image image = {
    .name = "test", .nfunction = 1, .nblob = 1, .function = functions, .blob = &blob};

static int run(const tcrt_cuda_call *c, tcrt_cuda_image *im, void *y, const void *x, int64_t n,
               double s, unsigned shared) {
  void *args[] = {&y, &x, &n, &s, (void *)(uintptr_t)&c->bad};
  return tcrt_cuda_launch(c, im, 0, (unsigned)(n + 255) / 256, 1, 256, shared, args, 5);
}

/* Three kernels: y = 2 (2 (2 x + s) + s) + s */
static tc_tensor *three(const tc_tensor *x, double s, bool record) {
  tcrt_cuda_call c;
  int64_t n = tc_numel(x);
  if (!tcrt_cuda_begin(&c, x)) return NULL;
  if (record) tcrt_cuda_record(&c, &image);
  tc_tensor *y = tcrt_cuda_new(&c, TC_F32, 1, &n);
  void *w = tcrt_cuda_workspace(&c, (size_t)n * 8);
  float *a = w, *b = a + n;
  int failed = !y || !w || run(&c, &image, a, x->data, n, s, 0) || run(&c, &image, b, a, n, s, 0) ||
               run(&c, &image, y->data, b, n, s, 0);
  if (!tcrt_cuda_end(&c, failed)) return y;
  tc_free(y);
  return NULL;
}

static void check_launches(void) {
  for (int record = 0; record < 2; record++)
    for (int64_t n = 1; n < 100000; n = 7 * n + 3) TC_SCOPE {
        tc_tensor *x = tc_arange(n, 1, 1, TC_F32), *y = three(tc_to(x, TC_CUDA), (double)n, record);
        check(y && tc_max_abs_diff(y, tc_add_s(tc_mul_s(x, 8), 7 * (double)n)) == 0,
              "three kernels");
      }
  TC_SCOPE {
    tc_tensor *x = tc_to(tc_arange(1024, 1, 1, TC_F32), TC_CUDA);
    for (int record = 0; record < 2; record++) {
      for (int i = 0; i < 100; i++) tc_free(three(x, 1, record));
      tc_synchronize();
      double t0 = now();
      for (int i = 0; i < 1000; i++) tc_free(three(x, 1, record));
      double host = now() - t0;
      tc_synchronize();
      printf("# three kernels%s: host %.2f us, with the device %.2f us\n",
             record ? " as a graph" : "", host / 1000, (now() - t0) / 1000);
    }
    double t0 = now();
    for (int i = 0; i < 1000; i++) tc_free(three(x, i, true));
    printf("# as a graph, updated each time: host %.2f us\n", (now() - t0) / 1000);
    tc_synchronize();
  }
}

static void check_errors(void) {
  TC_SCOPE {
    tcrt_cuda_call c;
    tc_tensor *x = tc_to(tc_arange(8, -3, 1, TC_F32), TC_CUDA);
    tc_tensor *y = three(x, 0, false);
    check(y != NULL, "launch");
    expect_error(!tc_synchronize(), "out of range");
    check(tc_synchronize(), "reported once");
    check(tcrt_cuda_begin(&c, x), "begin");
    check(run(&c, &image, x->data, x->data, 8, 1, 300 << 10) != 0, "too much shared memory");
    check(run(&c, &image, x->data, x->data, 8, 1, (unsigned)c.info->max_shared) == 0,
          "all of the shared memory");
    tcrt_cuda_image corrupt = image, newer = image;
    tcrt_cuda_blob bad = {.arch = 80, .ptx = 1, .data = "no PTX"};
    tcrt_cuda_blob future = {.arch = 999, .data = axpb};
    corrupt.loaded = newer.loaded = NULL;
    corrupt.blob = &bad;
    newer.blob = &future;
    check(run(&c, &corrupt, x->data, x->data, 8, 1, 0) != 0, "a corrupt image");
    check(run(&c, &newer, x->data, x->data, 8, 1, 0) != 0, "an image for another device");
    tcrt_cuda_end(&c, 0);
    tc_synchronize();
    tc_clear_error();
    tc_tensor *much = tc_to(tc_zeros(TC_DIMS(1), TC_U8), TC_CUDA);
    much = tc_clone(tc_expand(much, TC_DIMS((int64_t)1 << 45)));
    expect_error(!much, "out of memory");
    check(tc_synchronize(), "the device goes on");
  }
}

/* ---- products -------------------------------------------------------------------------------- */

static double gelu(double x) {
  return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

static tc_tensor *expected(const tc_tensor *a, const tc_tensor *b, const tc_tensor *bias,
                           int epilogue) {
  tc_tensor *y = tc_add(tc_matmul(tc_cast(a, TC_F64), tc_cast(b, TC_F64)), tc_cast(bias, TC_F64));
  double *v = tc_data(y);
  for (int64_t i = 0; i < tc_numel(y); i++)
    v[i] = epilogue == TCRT_MM_RELU ? fmax(v[i], 0) : epilogue ? gelu(v[i]) : v[i];
  return y;
}

static int product(const tcrt_cuda_mm *mm, bool record) {
  tcrt_cuda_call c;
  if (!tcrt_cuda_begin(&c, NULL)) return -1;
  if (record) tcrt_cuda_record(&c, product);
  int r = tcrt_cuda_matmul(&c, mm), end = tcrt_cuda_end(&c, r);
  return r ? r : end;
}

static tcrt_cuda_mm problem(tc_dtype d, int ta, int tb, int64_t p, int64_t m, int64_t n,
                            int64_t k) {
  tcrt_cuda_mm mm = {.batch = p, .m = m, .n = n, .k = k, .dtype = (uint8_t)d};
  mm.transposed_a = (uint8_t)ta, mm.transposed_b = (uint8_t)tb;
  mm.lda = ta ? m : k, mm.ldb = tb ? k : n, mm.ldc = n;
  mm.step_a = m * k, mm.step_b = k * n, mm.step_c = m * n;
  return mm;
}

static bool check_product(tc_dtype d, int ta, int tb, int64_t p, int64_t n, int epilogue,
                          bool record) {
  const int64_t m = 48, k = 80;
  bool right = false;
  TC_SCOPE {
    tc_tensor *a = tc_randn(ta ? TC_DIMS(p, k, m) : TC_DIMS(p, m, k), 1, d);
    tc_tensor *b = tc_randn(tb ? TC_DIMS(p, n, k) : TC_DIMS(p, k, n), 2, d);
    tc_tensor *bias = tc_randn(TC_DIMS(n), 3, d),
              *y = tc_to(tc_zeros(TC_DIMS(p, m, n), d), TC_CUDA);
    tcrt_cuda_mm mm = problem(d, ta, tb, p, m, n, k);
    mm.a = tc_device_data(tc_to(a, TC_CUDA)), mm.b = tc_device_data(tc_to(b, TC_CUDA));
    mm.bias = tc_device_data(tc_to(bias, TC_CUDA)), mm.c = y->data;
    mm.epilogue = (uint8_t)epilogue;
    int r = product(&mm, record);
    tc_tensor *want =
        expected(ta ? tc_transpose(a, 1, 2) : a, tb ? tc_transpose(b, 1, 2) : b, bias, epilogue);
    double tolerance = d == TC_F64 ? 1e-9 : d == TC_F32 ? 3e-5 : d == TC_F16 ? 0.06 : 0.3;
    double error = tc_max_abs_diff(tc_cast(tc_to(y, TC_CPU), TC_F64), want);
    right = r == 0 && error < tolerance;
    if (!right)
      printf("# %s ta %d tb %d batch %d n %d epilogue %d: result %d, error %g\n", tc_dtype_name(d),
             ta, tb, (int)p, (int)n, epilogue, r, error);
  }
  return right;
}

static void check_products(void) {
  TC_SCOPE {
    tc_tensor *x = tc_to(tc_zeros(TC_DIMS(1000), TC_F32), TC_CUDA);
    tcrt_cuda_mm mm = problem(TC_F32, 0, 0, 1, 8, 8, 8);
    mm.a = mm.b = mm.c = x->data;
    if (product(&mm, false)) {
      printf("# cuBLASLt is not there: products are not tested\n");
      return;
    }
  }
  for (int d = TC_F16; d <= TC_F64; d++)
    for (int t = 0; t < 4; t++)
      for (int p = 1; p < 4; p += 2)
        for (int e = 0; e < 3; e++)
          for (int record = 0; record < 2; record++) {
            check(check_product((tc_dtype)d, t & 1, t >> 1, p, 64, e, record), "product");
            check(check_product((tc_dtype)d, t & 1, t >> 1, p, 33, e, record), "odd product");
          }
}

static void time_products(void) {
  const int64_t size = 4096;
  for (int d = TC_F16; d <= TC_F64; d++) TC_SCOPE {
      tc_tensor *x = tc_to(tc_zeros(TC_DIMS(size, size), (tc_dtype)d), TC_CUDA), *y = tc_clone(x);
      tcrt_cuda_mm mm = problem((tc_dtype)d, 0, 0, 1, size, size, size);
      mm.a = mm.b = x->data, mm.c = y->data;
      for (int i = 0; i < 3; i++) product(&mm, false);
      tc_synchronize();
      double t0 = now();
      for (int i = 0; i < 20; i++) product(&mm, false);
      tc_synchronize();
      printf("# 4096^3 %s: %.1f TFLOP/s\n", tc_dtype_name((tc_dtype)d),
             20 * 2 * pow((double)size, 3) / (now() - t0) * 1e-6);
      mm = problem((tc_dtype)d, 0, 0, 1, 64, 64, 64);
      mm.a = mm.b = x->data, mm.c = y->data;
      for (int record = 0; record < 2; record++) {
        for (int i = 0; i < 10; i++) product(&mm, record);
        tc_synchronize();
        t0 = now();
        for (int i = 0; i < 300; i++) product(&mm, record);
        printf("# 64^3 %s%s: host %.2f us\n", tc_dtype_name((tc_dtype)d),
               record ? " as a graph" : "", (now() - t0) / 300);
        tc_synchronize();
      }
    }
}

int main(void) {
  if (tc_device_count(TC_CUDA) == 0) {
    tc_tensor *one = tc_scalar(1);
    printf("skipped: no GPU (%s)\n", tc_to(one, TC_CUDA) ? "" : tc_error());
    tc_free(one);
    return 77;
  }
  tcrt_cuda_call c;
  if (!tcrt_cuda_begin(&c, NULL)) return printf("FAILED: %s\n", tc_error()), 1;
  printf("# sm_%d, %d multiprocessors, %d bytes of shared memory\n", c.info->arch, c.info->sms,
         c.info->max_shared);
  tcrt_cuda_end(&c, 0);
  check_layouts();
  check_turns();
  check_launches();
  check_errors();
  check_products();
  time_copies();
  time_products();
  size_t freed = tc_trim();
  tc_memory_stats m = tc_device_memory(TC_CUDA);
  printf("# trimmed %zu bytes; live %zu, cached %zu\n", freed, m.live, m.cached);
  check(m.live == 0, "nothing is left on the device");
  printf("%d checks, %d failed\n", checks, failures);
  return failures != 0;
}
