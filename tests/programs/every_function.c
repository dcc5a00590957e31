/* every_function [misuse]: calls every public function, those that compute with kernels and with their bodies, and
 * leaves nothing behind; with `misuse`, gives each of them operands that are NULL, and that were freed.
 * Prints the functions' names, which every_function_listed compares with the headers. */
#include "every_function.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tcompile.h>
#include <tcompile/dlpack.h>
#include <unistd.h>

static int failed;

__attribute__((format(printf, 2, 3))) static void expect(bool holds, const char *format, ...) {
  if (holds) return;
  va_list list;
  va_start(list, format);
  vfprintf(stderr, format, list);
  va_end(list);
  fputc('\n', stderr);
  failed = 1;
}

typedef tc_tensor *function(OPERANDS);

#define UNUSED (void)x, (void)y, (void)w, (void)v, (void)i, (void)j, (void)l, (void)b
#define DEFINE(name, call)                                                                         \
  TC_COMPILE static tc_tensor *do_##name(OPERANDS) {                                               \
    UNUSED;                                                                                        \
    return call;                                                                                   \
  }
#define ONE(name) DEFINE(name, name(x))
#define TWO(name) DEFINE(name, name(x, y))
#define ONE_INTEGER(name) DEFINE(name, name(i))
#define TWO_INTEGERS(name) DEFINE(name, name(i, j))
#define NUMBER(name) DEFINE(name, name(x, 0.5))
#define AXES(name) DEFINE(name, name(x, TC_AXES(1), false))
#define ADDED(name, call) DEFINE(name, tc_add(x, call))
OF_UNARY(ONE)
OF_UNARY_TEST(ONE)
OF_UNARY_INT(ONE_INTEGER)
OF_BINARY(TWO)
OF_BINARY_TEST(TWO)
OF_BINARY_INT(TWO_INTEGERS)
WITH_NUMBER(NUMBER)
OVER_AXES(AXES)
OF_OTHERS(DEFINE)
OF_NUMBERS(ADDED)

/* ---- in place -------------------------------------------------------------------------------- */

#define IN_PLACE(X)                                                                                \
  X(tc_copy_, tc_copy_(x, y))                                                                      \
  X(tc_fill_, tc_fill_(x, 2))                                                                      \
  X(tc_zero_, tc_zero_(x))                                                                         \
  X(tc_add_s_, tc_add_s_(x, 0.5))                                                                  \
  X(tc_sub_s_, tc_sub_s_(x, 0.5))                                                                  \
  X(tc_rsub_s_, tc_rsub_s_(x, 0.5))                                                                \
  X(tc_mul_s_, tc_mul_s_(x, 0.5))                                                                  \
  X(tc_div_s_, tc_div_s_(x, 0.5))                                                                  \
  X(tc_rdiv_s_, tc_rdiv_s_(x, 0.5))                                                                \
  X(tc_pow_s_, tc_pow_s_(x, 0.5))                                                                  \
  X(tc_remainder_s_, tc_remainder_s_(x, 0.5))                                                      \
  X(tc_maximum_s_, tc_maximum_s_(x, 0.5))                                                          \
  X(tc_minimum_s_, tc_minimum_s_(x, 0.5))                                                          \
  X(tc_leaky_relu_, tc_leaky_relu_(x, 0.5))                                                        \
  X(tc_elu_, tc_elu_(x, 0.5))                                                                      \
  X(tc_fma_, tc_fma_(x, y, y))                                                                     \
  X(tc_clamp_, tc_clamp_(x, 0.25, 0.75))                                                           \
  X(tc_lerp_, tc_lerp_(x, y, 0.5))                                                                 \
  X(tc_masked_fill_, tc_masked_fill_(x, tc_gt(x, y), 2))
#define INTEGER(x) tc_cast(x, TC_I32)

typedef tc_tensor *updater(tc_tensor *x TC_SHAPE("f32[4,6]"),
                           const tc_tensor *y TC_SHAPE("f32[4,6]"));
#define UPDATE(name, call)                                                                         \
  TC_COMPILE static tc_tensor *do_##name(tc_tensor *x TC_SHAPE("f32[4,6]"),                        \
                                         const tc_tensor *y TC_SHAPE("f32[4,6]")) {                \
    (void)y;                                                                                       \
    return call;                                                                                   \
  }
#define UPDATE_ONE(name) UPDATE(name##_, name##_(x))
#define UPDATE_TWO(name) UPDATE(name##_, name##_(x, y))
#define UPDATE_ONE_INTEGER(name) UPDATE(name##_, tc_copy_(x, name##_(INTEGER(x))))
#define UPDATE_TWO_INTEGERS(name) UPDATE(name##_, tc_copy_(x, name##_(INTEGER(x), INTEGER(y))))
IN_PLACE(UPDATE)
OF_UNARY(UPDATE_ONE)
OF_UNARY_INT(UPDATE_ONE_INTEGER)
OF_BINARY(UPDATE_TWO)
OF_BINARY_INT(UPDATE_TWO_INTEGERS)

static const struct {
  const char *name;
  updater *run;
} updates[] = {
#define ROW(name, call) {#name, do_##name},
#define ROW_IN_PLACE(name) {#name "_", do_##name##_},
    IN_PLACE(ROW) OF_UNARY(ROW_IN_PLACE) OF_UNARY_INT(ROW_IN_PLACE) OF_BINARY(ROW_IN_PLACE)
        OF_BINARY_INT(ROW_IN_PLACE)
#undef ROW
};

static const struct {
  const char *name;
  function *run;
} functions[] = {
#define ROW(name) {#name, do_##name},
#define ROW_OF(name, call) {#name, do_##name},
    OF_UNARY(ROW) OF_UNARY_TEST(ROW) OF_UNARY_INT(ROW) OF_BINARY(ROW) OF_BINARY_TEST(ROW)
        OF_BINARY_INT(ROW) WITH_NUMBER(ROW) OVER_AXES(ROW) OF_OTHERS(ROW_OF) OF_NUMBERS(ROW_OF)};
enum {
  FUNCTIONS = sizeof functions / sizeof *functions,
  UPDATES = sizeof updates / sizeof *updates
};

/* Products of sizes that kernels split between threads, pack, and do neither with. */
TC_COMPILE static tc_tensor *product(const tc_tensor *x TC_SHAPE("f32[M,K]"),
                                     const tc_tensor *y TC_SHAPE("f32[K,N]")) {
  return tc_matmul(x, y);
}

static void run_products(void) {
  static const int64_t sizes[][3] = {{3, 64, 200}, {70, 40, 90}, {130, 600, 140}, {1, 300, 40}};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    TC_SCOPE {
      tc_tensor *x = tc_randn(TC_DIMS(sizes[k][0], sizes[k][1]), 1, TC_F32);
      tc_tensor *y = tc_randn(TC_DIMS(sizes[k][1], sizes[k][2]), 2, TC_F32);
      const double size = tc_item(tc_norm(product(x, y), 2, TC_ALL, false));
      expect(size > 0 && size < 1e9, "a product of norm %g", size);
    }
  }
}

/* ---- operands -------------------------------------------------------------------------------- */

static void make(tc_tensor *t[OPERAND_COUNT]) {
  TC_SCOPE {
    const tc_ints dims = TC_DIMS(4, 6);
    t[0] = tc_add_s(tc_rand(dims, 1, TC_F32), 0.125);
    t[1] = tc_add_s(tc_rand(dims, 2, TC_F32), 0.125);
    t[2] = tc_randn(TC_DIMS(6, 4), 3, TC_F32);
    t[3] = tc_add_s(tc_rand(TC_DIMS(6), 4, TC_F32), 0.5);
    t[4] = tc_cast(tc_mul_s(tc_rand(dims, 5, TC_F32), 5.5), TC_I32);
    t[5] = tc_cast(tc_mul_s(tc_rand(dims, 6, TC_F32), 3.5), TC_I32);
    t[6] = tc_arange(4, 0, 1, TC_I64);
    t[7] = tc_gt_s(tc_rand(dims, 7, TC_F32), 0.5);
    for (int k = 0; k < OPERAND_COUNT; k++) tc_keep(t[k]);
  }
}

static void drop(tc_tensor *t[OPERAND_COUNT]) {
  for (int k = 0; k < OPERAND_COUNT; k++) tc_free(t[k]);
}

#define GIVEN t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7]

static void run_all(bool kernels) {
  tc_tensor *t[OPERAND_COUNT];
  make(t);
  tc_set_enabled(kernels);
  for (int k = 0; k < FUNCTIONS; k++) {
    TC_SCOPE {
      tc_tensor *y = functions[k].run(GIVEN);
      expect(y != NULL, "%s: %s", functions[k].name, tc_error() ? tc_error() : "no result");
      if (y) tc_free(tc_clone(y));
    }
  }
  for (int k = 0; k < UPDATES; k++) {
    TC_SCOPE { expect(updates[k].run(t[0], t[1]) == t[0], "%s: %s", updates[k].name, tc_error()); }
  }
  tc_set_enabled(true);
  drop(t);
}

/* ---- NULL, and freed ------------------------------------------------------------------------- */

static void refuse(const char *what, tc_tensor *t[OPERAND_COUNT]) {
  for (int k = 0; k < FUNCTIONS; k++) {
    TC_SCOPE {
      tc_clear_error();
      tc_tensor *y = functions[k].run(GIVEN);
      const char *error = tc_error();
      expect(!y && error && strstr(error, what), "%s: %s, not '%s'", functions[k].name,
             error ? error : "no error", what);
    }
  }
  for (int k = 0; k < UPDATES; k++) {
    tc_clear_error();
    expect(!updates[k].run(t[0], t[1]) && tc_error() && strstr(tc_error(), what), "%s: %s",
           updates[k].name, tc_error() ? tc_error() : "no error");
  }
  tc_clear_error();
}

static void read_gradient(const tc_tensor *grad, void *context) {
  *(double *)context += tc_item(grad);
}

static void refuse_gradients(const char *what, tc_tensor *x) {
  tc_tensor *out[1], *given = tc_ones(TC_DIMS(1), TC_F32), *leaf = tc_requires_grad_(given, true);
  const struct {
    const char *name;
    bool done;
  } calls[] = {
#define REFUSED(name, call)                                                                        \
  {#name, (tc_clear_error(), call) || !tc_error() || !strstr(tc_error(), what)}
      REFUSED(tc_requires_grad_, tc_requires_grad_(x, true)),
      REFUSED(tc_requires_grad, tc_requires_grad(x)),
      REFUSED(tc_detach, tc_detach(x)),
      REFUSED(tc_retain_grad, tc_retain_grad(x)),
      REFUSED(tc_register_hook, tc_register_hook(x, read_gradient, NULL)),
      REFUSED(tc_grad_of, tc_grad_of(x)),
      REFUSED(tc_zero_grad, tc_zero_grad(1, &x)),
      REFUSED(tc_backward, tc_backward(x)),
      REFUSED(tc_backward_with, tc_backward_with(x, NULL, 0)),
      REFUSED(tc_grad, tc_grad(leaf, 1, &x, out)),
      REFUSED(tc_vjp, tc_vjp(leaf, x, 1, &leaf, out)),
      REFUSED(tc_grad_with, tc_grad_with(x, NULL, 1, &leaf, 0, out)),
      REFUSED(tc_jvp, tc_jvp(x, 1, &leaf, &given)),
  };
  for (size_t k = 0; k < sizeof calls / sizeof *calls; k++)
    expect(!calls[k].done, "%s is not refused with '%s'", calls[k].name, what);
  tc_clear_error();
  tc_free(leaf);
}

static void run_misuse(void) {
  tc_tensor *t[OPERAND_COUNT] = {0}, *later[OPERAND_COUNT];
  refuse("is NULL", t);
  refuse_gradients("is NULL", NULL);
  make(later); /* headers for what the functions make on the way */
  make(t);
  drop(t);
  drop(later);
  refuse("was freed already", t);
  refuse_gradients("was freed already", t[0]);
}

/* ---- the rest -------------------------------------------------------------------------------- */

#define CALL(name) (printf(#name "\n"), name)

static void release(void *context) { ++*(int *)context; }

static void files(void) {
  char path[] = "/tmp/every_functionXXXXXX";
  const int file = mkstemp(path);
  tc_tensor *x = tc_ones(TC_DIMS(2, 3), TC_F32);
  expect(CALL(tc_save_npy)(path, x), "tc_save_npy: %s", tc_error());
  tc_tensor *y = CALL(tc_load_npy)(path);
  expect(y && CALL(tc_allclose)(x, y, 0, 0) && CALL(tc_max_abs_diff)(x, y) == 0, "tc_load_npy");
  tc_free(y);
  static const char header[] =
      "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}      ";
  const uint64_t length = sizeof header - 1;
  const float data[2] = {1, 2};
  FILE *f = fdopen(file, "wb");
  expect(f && !ftruncate(file, 0) && fwrite(&length, 8, 1, f) == 1 &&
             fwrite(header, 1, length, f) == length && fwrite(data, 4, 2, f) == 2,
         "a file");
  if (f) fclose(f);
  tc_safetensors *s = CALL(tc_safetensors_open)(path);
  expect(s && CALL(tc_safetensors_count)(s) == 1 && !strcmp(CALL(tc_safetensors_name)(s, 0), "a"),
         "tc_safetensors_open: %s", tc_error());
  tc_tensor *a = CALL(tc_safetensors_get)(s, "a");
  CALL(tc_safetensors_close)(s);
  expect(a && tc_at(a, TC_INTS(1)) == 2, "tc_safetensors_get");
  tc_free(a);
  tc_free(x);
  unlink(path);
}

/* Of no module; tests/export has modules. */
static void modules(void) {
  tc_tensor *x = tc_ones(TC_DIMS(2), TC_F32), *y = x;
  tc_module *m = CALL(tc_module_open)("/dev/null");
  expect(!m && tc_error_code() == TC_ERROR_FILE, "tc_module_open: %s", tc_error());
  tc_clear_error();
  expect(!CALL(tc_module_call)(m, "f", 1, &x, 1, &y) && !y && tc_error(), "tc_module_call");
  expect(!CALL(tc_module_name)(m, 0) && !CALL(tc_module_operand)(m, "f", 0) &&
             !CALL(tc_module_result)(m, "f", 0),
         "names of a module");
  CALL(tc_module_close)(m);
  tc_clear_error();
  tc_free(x);
}

static void memory(void) {
  static float data[6];
  int released = 0;
  tc_tensor *x = CALL(tc_wrap)(TC_DIMS(2, 3), NULL, data, TC_F32, release, &released);
  tc_tensor *y = CALL(tc_wrap_const)(TC_DIMS(6), NULL, data, TC_F32);
  tc_tensor *z = CALL(tc_wrap_layout)(CALL(tc_row_major)(TC_DIMS(3, 2), data, TC_F32));
  tc_tensor *from = CALL(tc_from)(TC_DIMS(6), data, TC_F32),
            *empty = CALL(tc_empty)(TC_DIMS(2), TC_I8), *order = CALL(tc_randperm)(9, 1);
  expect(CALL(tc_data)(x) == data && CALL(tc_cdata)(y) == data && z && from && empty, "tc_wrap");
  struct DLManagedTensor *m = CALL(tc_to_dlpack)(x);
  DLManagedTensorVersioned *n = CALL(tc_to_dlpack_versioned)(y);
  tc_tensor *a = CALL(tc_from_dlpack)(m), *b = CALL(tc_from_dlpack_versioned)(n);
  tc_tensor *all[] = {x, y, z, from, empty, a, b, order};
  for (int k = 0; k < 8; k++) tc_free(all[k]);
  expect(released == 1, "released %d times", released);
  tc_scope s;
  CALL(tc_scope_begin)(&s);
  tc_ones(TC_DIMS(3), TC_F32);
  CALL(tc_scope_end)(&s);
  TC_SCOPE x = CALL(tc_keep)(tc_ones(TC_DIMS(3), TC_F32));
  CALL(tc_free)(x);
  CALL(tc_trim)();
  expect(CALL(tc_memory)().live == 0, "%zu bytes live", tc_memory().live);
  printf("tc_scope_enter\n"); /* TC_SCOPE */
}

static void questions(void) {
  tc_tensor *x = tc_ones(TC_DIMS(2, 3), TC_F32), *one = tc_ones(TC_DIMS(1), TC_I64), *part[3];
  expect(CALL(tc_split)(x, 3, 1, part) == 3, "tc_split");
  expect(CALL(tc_rank)(x) == 2 && CALL(tc_size)(x, 1) == 3 && CALL(tc_stride)(x, 0) == 3, "sizes");
  expect(CALL(tc_numel)(x) == 6 && CALL(tc_shape)(x).n == 2, "sizes");
  expect(CALL(tc_dtype_of)(x) == TC_F32 && CALL(tc_dtype_size)(TC_F32) == 4, "dtype");
  expect(!strcmp(CALL(tc_dtype_name)(TC_F32), "f32") && CALL(tc_is_contiguous)(x), "dtype");
  expect(CALL(tc_item)(one) == 1 && CALL(tc_item_int)(one) == 1, "tc_item");
  expect(CALL(tc_at)(x, TC_INTS(1, 2)) == 1, "tc_at");
  CALL(tc_print)(x);
  for (int k = 0; k < 3; k++) tc_free(part[k]);
  tc_free(one);
  tc_free(x);
}

static void several_results(void) {
  tc_tensor *x = tc_randn(TC_DIMS(3, 4), 1, TC_F32), *second[8];
  tc_tensor *first[] = {CALL(tc_var_mean)(x, TC_AXES(1), 1, false, &second[0]),
                        CALL(tc_max_with_index)(x, TC_AXES(1), true, &second[1]),
                        CALL(tc_min_with_index)(x, TC_ALL, false, &second[2]),
                        CALL(tc_frexp)(x, &second[3]),
                        CALL(tc_cummax)(x, 1, &second[4]),
                        CALL(tc_cummin)(x, 0, &second[5]),
                        CALL(tc_sort)(x, 1, false, &second[6]),
                        CALL(tc_topk)(x, 2, 1, true, &second[7])};
  for (int k = 0; k < 8; k++) {
    expect(first[k] && second[k], "result %d", k);
    tc_free(first[k]);
    tc_free(second[k]);
  }
  tc_free(tc_frexp(x, NULL));
  tc_free(x);
}

static tc_tensor *scaled_square(tc_tensor *const *x, void *context) {
  return tc_mul_s(tc_square(x[0]), *(double *)context);
}

static bool scaled(tc_tensor *const *x, void *context, tc_tensor **y) {
  return (y[0] = tc_mul_s(x[0], *(double *)context)) != NULL;
}

static void functions_of_tensors(void) {
  tc_tensor *x = tc_requires_grad_(tc_full(TC_DIMS(1), 3, TC_F32), true), *out[1];
  double scale = 2;
  TC_SCOPE {
    tc_tensor *one = tc_ones(TC_DIMS(1), TC_F32), *y = scaled_square(&x, &scale);
    expect(tc_item(CALL(tc_jvp)(y, 1, &x, &one)) == 12, "tc_jvp");
    expect(tc_item(CALL(tc_value_and_grad)(scaled_square, &scale, 1, &x, out)) == 18,
           "tc_value_and_grad");
    expect(tc_item(out[0]) == 12, "tc_value_and_grad: the gradient");
    y = CALL(tc_checkpoint)(scaled_square, &scale, 1, &x);
    expect(tc_grad(y, 1, &x, out) && tc_item(out[0]) == 12, "tc_checkpoint");
    expect(CALL(tc_vmap)(scaled, &scale, 1, &x, NULL, 1, out) && tc_item(out[0]) == 6, "tc_vmap");
  }
  tc_free(x);
}

static void gradients(void) {
  tc_tensor *x = tc_full(TC_DIMS(1), 3, TC_F32), *out[1] = {NULL};
  double seen = 0;
  expect(CALL(tc_requires_grad_)(x, true) == x && CALL(tc_requires_grad)(x), "tc_requires_grad_");
  expect(CALL(tc_register_hook)(x, read_gradient, &seen), "tc_register_hook");
  TC_SCOPE {
    tc_tensor *y = tc_square(x), *one = tc_ones(TC_DIMS(1), TC_F32);
    expect(CALL(tc_retain_grad)(y) && CALL(tc_backward_with)(y, NULL, TC_RETAIN_GRAPH),
           "tc_backward_with");
    expect(CALL(tc_backward)(y) && seen == 12, "tc_backward: %g", seen);
    expect(tc_item(CALL(tc_grad_of)(x)) == 12 && tc_item(tc_grad_of(y)) == 2, "tc_grad_of");
    expect(CALL(tc_zero_grad)(1, &x) && !tc_grad_of(x), "tc_zero_grad");
    expect(CALL(tc_grad)(tc_exp(tc_log(x)), 1, &x, out) && tc_item(out[0]) == 1, "tc_grad");
    expect(CALL(tc_vjp)(tc_mul_s(x, 2), one, 1, &x, out) && tc_item(out[0]) == 2, "tc_vjp");
    expect(CALL(tc_grad_with)(tc_square(x), one, 1, &x, TC_CREATE_GRAPH, out), "tc_grad_with");
    expect(tc_requires_grad(out[0]) && !tc_requires_grad(CALL(tc_detach)(out[0])), "tc_detach");
    expect(CALL(tc_is_grad_enabled)() && CALL(tc_set_grad_enabled)(true), "tc_set_grad_enabled");
    TC_NO_GRAD expect(!tc_requires_grad(tc_square(x)), "TC_NO_GRAD");
    printf("tc_grad_mode_end\n");
  }
  tc_free(x);
}

static void autocast(void) {
  const tc_dtype before = CALL(tc_set_autocast)(TC_BF16);
  expect(before == TC_DTYPE_COUNT && CALL(tc_autocast_dtype)() == TC_BF16, "tc_set_autocast");
  tc_set_autocast(before);
  TC_AUTOCAST(TC_F16) expect(tc_autocast_dtype() == TC_F16, "TC_AUTOCAST");
  printf("tc_autocast_end\n");
}

static void program(void) {
  CALL(tc_here)(__FILE__, __LINE__);
  expect(!CALL(tc_error)(), "an error: %s", tc_error());
  expect(CALL(tc_error_code)() == TC_ERROR_NONE && CALL(tc_error_count)() == 0, "errors");
  expect(!CALL(tc_fail_as)(TC_ERROR_FILE, "%d", 7) && strstr(tc_error(), ": 7"), "tc_fail_as");
  CALL(tc_clear_error)();
  expect(!CALL(tc_is_compiling)(), "tc_is_compiling");
  CALL(tc_stats_reset)();
  CALL(tc_stats_print)();
  CALL(tc_stats_of)(NULL);
  CALL(tc_set_stance)(TC_STANCE_DEFAULT);
  CALL(tc_set_enabled)(true);
  expect(!strcmp(CALL(tc_version)(), TC_VERSION), "tc_version");
}

/* Without a GPU these are error values. */
static void devices(void) {
  tc_tensor *x = tc_ones(TC_DIMS(2, 3), TC_F32);
  const tc_device gpu = CALL(tc_gpu)(0);
  expect(CALL(tc_device_count)(TC_CPU) == 1 && CALL(tc_device_of)(x) == TC_CPU, "devices");
  expect(CALL(tc_set_default_device)(CALL(tc_default_device)()), "tc_set_default_device");
  CALL(tc_device_data)(x);
  CALL(tc_device_memory)(gpu);
  tc_stream *s = CALL(tc_stream_new)(gpu);
  CALL(tc_stream_after)(s, NULL);
  CALL(tc_stream_synchronize)(s);
  CALL(tc_stream_use)(NULL);
  CALL(tc_stream_free)(s);
  tc_tensor *here = CALL(tc_to)(x, TC_CPU), *pinned = CALL(tc_pin)(x);
  tc_tensor *room = CALL(tc_empty_pinned)(TC_DIMS(2), TC_F32);
  CALL(tc_synchronize)();
  tc_free(here);
  tc_free(pinned);
  tc_free(room);
  tc_free(x);
  tc_clear_error();
}

int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "misuse")) {
    run_misuse();
    return failed;
  }
  for (int k = 0; k < FUNCTIONS; k++) printf("%s\n", functions[k].name);
  for (int k = 0; k < UPDATES; k++) printf("%s\n", updates[k].name);
  run_all(false);
  run_products();
#ifdef TC_HAS_PLUGIN
  tc_stats_reset();
  run_all(true);
  expect(tc_stats_of(NULL).hits >= FUNCTIONS * 3 / 4, "kernels ran %d times",
         (int)tc_stats_of(NULL).hits);
  expect(tc_stats_of(NULL).fallbacks == 0, "%d fallbacks", (int)tc_stats_of(NULL).fallbacks);
#endif
  program();
  files();
  modules();
  several_results();
  questions();
  devices();
  gradients();
  autocast();
  functions_of_tensors();
  memory();
  return failed;
}
