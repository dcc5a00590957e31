/* Products of one text, whose sizes are arguments: they compute what they do apart. */
#include "tests/cuda/program.h"

#include <criterion/criterion.h>

#include <float.h>
#include <math.h>

#include "graph/passes/pass.h"
#include "graph/text.h"

static tc_graph *graph_of(const char *text) {
  static tc_diag diag;
  tc_graph *g = tc_graph_parse(text, &diag);
  cr_assert(g, "parse");
  return tc_graph_optimize(g);
}

/* Multiples of 1/8 between -1 and 1: sums of some thousand products are exact. */
static interp_array *array_of(int64_t rows, int64_t columns, uint64_t seed) {
  interp_array *a = interp_new(TC_F32, 2, (int64_t[]){rows, columns});
  for (int64_t i = 0; i < a->count; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    a->f[i] = ((double)(seed >> 60) - 8) / 8;
  }
  return a;
}

/* a += x w, b += y v */
static const char *const updates =
    "graph g\n%1 = param f32[N,512] \"x\"\n%2 = param f32[512,320] \"w\"\n%3 = param f32[N,272] \"y\"\n"
    "%4 = param f32[272,768] \"v\"\n%5 = param f32[N,320] \"a\"\n%6 = param f32[N,768] \"b\"\n%7 = matmul %1 %2\n"
    "%8 = matmul %3 %4\n%9 = add %5 %7\n%10 = add %6 %8\nwrite %9 -> %5\nwrite %10 -> %6\n";

static void check_array(const interp_array *want, const interp_array *got) {
  cr_assert(want && got && want->count == got->count);
  for (int64_t i = 0; i < want->count; i++)
    cr_assert(want->f[i] == got->f[i], "element %lld: %g, not %g", (long long)i, got->f[i], want->f[i]);
}

static uint32_t own_sizes(const tc_program *p) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < p->nkernel; k++) n += p->kernel[k].nsize;
  return n;
}

/* By our own functions and with the library, aligned and not: four ways. */
enum { RUNS = 4 };
static cuda_run run_of(cuda_unit *u, interp_array **input, int way) {
  cuda_run got = {.p = u->program[0], .input = (const interp_array *const *)input, .layout = way & 1 ? CUDA_SHIFTED : CUDA_ALIGNED, .alone = way >> 1};
  cr_assert(cuda_program(u, 0, &got));
  return got;
}

Test(products, of_one_text, .timeout = 600) {
  enum { N = 5, INPUTS = 6 };
  static const int64_t dim[INPUTS][2] = {{N, 512}, {512, 320}, {N, 272}, {272, 768}, {N, 320}, {N, 768}};
  tc_graph *g = graph_of(updates);
  interp_array *input[INPUTS];
  cuda_unit u;
  for (int i = 0; i < INPUTS; i++) input[i] = array_of(dim[i][0], dim[i][1], (uint64_t)i + 7);
  interp_run want = {.g = g, .input = (const interp_array *const *)input};
  cr_assert(interp_graph(&want));
  cr_assert(cuda_unit_build(&u, &g, 1));
  cr_expect_geq(own_sizes(u.program[0]), 4);
  cr_expect_eq(u.kernels, 1, "%d kernels", u.kernels);
  for (int way = 0; way < RUNS; way++) {
    cuda_run got = run_of(&u, input, way);
    for (uint32_t i = 0; i < want.nwrite; i++) {
      uint32_t to;
      tc_graph_write_at(g, i, &to);
      check_array(want.write[i], got.after[to]);
    }
    cuda_run_free(&got);
  }
  interp_run_free(&want);
  cuda_unit_free(&u);
  for (int i = 0; i < INPUTS; i++) interp_free(input[i]);
  tc_graph_free(g);
}

/* Of few columns and few rows, of operands that lie along k or across it, alone and in batches; sizes are those of their inputs. */
static const char *const skinny[] = {
    "graph g\n%1 = param f32[M,K] \"x\"\n%2 = param f32[K,N] \"w\"\n%3 = matmul %1 %2\nret %3\n",
    "graph g\n%1 = param f32[M,K] \"x\"\n%2 = param f32[N,K] \"w\"\n%3 = permute %2 axes=[1,0]\n%4 = matmul %1 %3\n%5 = relu %4\nret %5\n",
    "graph g\n%1 = param f32[M,K] \"x\"\n%2 = param f32[K,N] \"w\"\n%3 = cast %1 dtype=bf16\n%4 = cast %2 dtype=bf16\n%5 = matmul %3 %4\n%6 = cast %5 dtype=f32\nret %6\n",
    "graph g\n%1 = param f32[M,K] \"x\"\n%2 = param f32[K,N] \"w\"\n%3 = cast %1 dtype=f64\n%4 = cast %2 dtype=f64\n%5 = matmul %3 %4\n%6 = cast %5 dtype=f32\nret %6\n",
    "graph g\n%1 = param f32[M,K] \"x\"\n%2 = param f32[K,N] \"w\"\n%3 = cast %1 dtype=i32\n%4 = cast %2 dtype=i32\n%5 = matmul %3 %4\n%6 = cast %5 dtype=f32\nret %6\n",
};
Test(products, of_few_columns_and_rows, .timeout = 600) {
  static const int64_t sizes[][3] = {{510, 600, 3}, {3, 600, 500}, {301, 1030, 4}, {1, 2048, 137}, {600, 512, 1}, {301, 1024, 5}, {2, 1024, 270},
                                     {17000, 3, 4}, {5, 12, 13200}, {8200, 1, 8}, {2000, 1, 48}, {1025, 1, 64}, {8193, 8, 8}, {7, 3, 5},
                                     {530, 2, 128}, {257, 5, 260}, {301, 8, 223}, {1031, 1, 68}};
  for (size_t text = 0; text < sizeof skinny / sizeof *skinny; text++) {
    tc_graph *g = graph_of(skinny[text]);
    cuda_unit u;
    cr_assert(cuda_unit_build(&u, &g, 1));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      const int64_t m = sizes[i][0], k = sizes[i][1], n = sizes[i][2];
      interp_array *input[] = {array_of(m, k, i + 7), text == 1 ? array_of(n, k, i + 9) : array_of(k, n, i + 9)};
      interp_run want = {.g = g, .input = (const interp_array *const *)input};
      cr_assert(interp_graph(&want));
      for (int way = 0; way < RUNS; way++) {
        cuda_run got = run_of(&u, input, way);
        check_array(want.output[0], got.output[0]);
        cuda_run_free(&got);
      }
      interp_run_free(&want);
      for (int j = 0; j < 2; j++) interp_free(input[j]);
    }
    cuda_unit_free(&u);
    tc_graph_free(g);
  }
}

/* Of f32 on tensor cores, in parts: as exact as sums of exact products are, and infinite, NaN and beyond the largest number where
 * these are. */
static const char *const wide[] = {
    "graph g\n%1 = param f32[M,K] \"x\"\n%2 = param f32[K,N] \"w\"\n%3 = matmul %1 %2\nret %3\n",
    "graph g\n%1 = param f32[M,K] \"x\"\n%2 = param f32[N,K] \"w\"\n%3 = permute %2 axes=[1,0]\n%4 = matmul %1 %3\nret %4\n",
    "graph g\n%1 = param f32[K,M] \"x\"\n%2 = param f32[K,N] \"w\"\n%3 = permute %1 axes=[1,0]\n%4 = matmul %3 %2\nret %4\n",
    "graph g\n%1 = param f32[M,K] \"x\"\n%2 = param f32[K,N] \"w\"\n%3 = relu %1\n%4 = matmul %3 %2\nret %4\n",
};

static interp_array *real_array_of(int64_t rows, int64_t columns, uint64_t seed) {
  interp_array *a = interp_new(TC_F32, 2, (int64_t[]){rows, columns});
  for (int64_t i = 0; i < a->count; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    a->f[i] = (float)((double)(seed >> 11) * 0x1p-52 - 1);
  }
  return a;
}

/* An error of a sum of k products, of numbers up to 1 but for those of `large`. */
static void check_sums(const interp_array *want, const interp_array *got, int64_t k, double large) {
  cr_assert(want && got && want->count == got->count);
  for (int64_t i = 0; i < want->count; i++) {
    const double x = want->f[i], y = got->f[i], most = fabs(x) > 1e6 ? large : 1;
    cr_assert(isfinite(x) ? fabs(x - y) <= 0x1p-20 * (sqrt((double)k) * most + fabs(x)) : isnan(x) ? isnan(y) : x == y, "k %lld, element %lld: %.9g, not %.9g", (long long)k, (long long)i, y, x);
  }
}

static void check_wide(cuda_unit *u, tc_graph *g, interp_array **input, int64_t k, double large) {
  interp_run want = {.g = g, .input = (const interp_array *const *)input};
  cr_assert(interp_graph(&want));
  for (int way = 2; way < RUNS; way++) {
    cuda_run got = run_of(u, input, way);
    check_sums(want.output[0], got.output[0], k, large);
    cuda_run_free(&got);
  }
  interp_run_free(&want);
}

Test(products, of_f32_on_tensor_cores, .timeout = 600) {
  static const int64_t sizes[][3] = {{130, 70, 66}, {192, 33, 128}, {64, 300, 132}};
  static const double special[] = {INFINITY, -INFINITY, NAN, FLT_MAX};
  cuda_unit_sms = 1;
  for (size_t text = 0; text < sizeof wide / sizeof *wide; text++) {
    tc_graph *g = graph_of(wide[text]);
    cuda_unit u;
    cr_assert(cuda_unit_build(&u, &g, 1));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      const int64_t m = sizes[i][0], k = sizes[i][1], n = sizes[i][2];
      interp_array *input[] = {text == 2 ? real_array_of(k, m, i + 7) : real_array_of(m, k, i + 7),
                               text == 1 ? real_array_of(n, k, i + 9) : real_array_of(k, n, i + 9)};
      check_wide(&u, g, input, k, 1);
      const double before = input[0]->f[5];
      for (size_t s = 0; i == text % 2 && s < sizeof special / sizeof *special; s++) {
        input[0]->f[5] = special[s];
        check_wide(&u, g, input, k, FLT_MAX);
      }
      input[0]->f[5] = before;
      for (int j = 0; j < 2; j++) interp_free(input[j]);
    }
    cuda_unit_free(&u);
    tc_graph_free(g);
  }
}
