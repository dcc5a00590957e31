/* Compiled entries for CUDA on the stub of the driver: what is not as the kernels want it runs the
 * body or is an error that says what to do. */
#include "tests/cuda_stub/device.h"
#include "tests/cuda_stub/entry_functions.h"

#include <stdlib.h>
#include <string.h>

/* The body's operations run too: their kernels are interpreted graphs. */
static void with_operations(void) {
  setenv("TC_CUDA_OPS", TC_STUB_OPS_LIBRARY, 1);
  device_begin();
}

TestSuite(entries, .init = with_operations);

static uint64_t hits(const char *f) { return tc_stats_of(f).hits; }
static uint64_t fallbacks(const char *f) { return tc_stats_of(f).fallbacks; }

/* [r,c] on the device, its elements counted. */
static tc_tensor *device_matrix(int64_t r, int64_t c) {
  return tc_to(device_counting(TC_DIMS(r, c)), TC_CUDA);
}

Test(entries, operands_on_the_device_are_launched) {
  TC_SCOPE {
    tc_tensor *x = device_matrix(4, 8), *y = entry_sum(x, x);
    cr_assert(y, "%s", tc_error());
    cr_expect_eq(tc_device_of(y), TC_CUDA);
    cr_expect_eq(hits("entry_sum"), 1);
    cr_expect_eq(stub_launches(NULL), 1);
  }
  device_end();
}

Test(entries, a_cpu_tensor_among_others_is_an_error_that_names_both) {
  TC_SCOPE {
    tc_tensor *x = device_matrix(4, 8), *here = device_counting(TC_DIMS(4, 8));
    cr_expect_null(entry_sum(x, here));
    device_expect_error("operand 2 is on the CPU and others on cuda:0");
    cr_expect_null(entry_sum(here, x));
    device_expect_error("tc_to");
    cr_expect_eq(hits("entry_sum"), 0);
    cr_expect_eq(fallbacks("entry_sum"), 2);
    cr_expect_eq(stub_launches(NULL), 0);
    tc_tensor *y = entry_sum(here, here);
    cr_expect(y && tc_at(y, TC_INTS(0, 3)) == 6, "the CPU's kernels go on");
  }
  device_end();
}

Test(entries, empty_tensors_launch_nothing) {
  TC_SCOPE {
    tc_tensor *x = tc_to(tc_empty(TC_DIMS(0, 8), TC_F32), TC_CUDA), *y = entry_sum(x, x);
    cr_assert(y, "%s", tc_error());
    cr_expect_eq(tc_numel(y), 0);
    cr_expect_eq(hits("entry_sum"), 1);
    cr_expect_eq(stub_launches(NULL), 0);
  }
  device_end();
}

/* Transposed, stepped, and at an address that is no multiple of 16. */
Test(entries, views) {
  TC_SCOPE {
    tc_tensor *x = device_matrix(8, 8);
    tc_tensor *view[] = {tc_transpose(x, 0, 1), tc_slice(x, 1, 0, 8, 2), tc_slice(x, 1, 1, 8, 1)};
    for (size_t i = 0; i < sizeof view / sizeof *view; i++) {
      tc_tensor *y = entry_sum(view[i], view[i]);
      cr_expect(y && tc_numel(y) == tc_numel(view[i]), "view %zu: %s", i, tc_error());
    }
    cr_expect_eq(hits("entry_sum"), 3);
    cr_expect_geq(stub_launches(NULL), 3);
  }
  device_end();
}

/* A strided operand is written by way of a packed copy, one kernel there and one back. */
static void write_strided(bool (*f)(tc_tensor *), const char *name) {
  TC_SCOPE {
    tc_tensor *x = device_matrix(8, 8), *part = tc_slice(x, 1, 1, 8, 3);
    for (int i = 1; i <= 3; i++) {
      cr_assert(f(part), "%s", tc_error());
      cr_expect_eq(hits(name), (uint64_t)i);
      cr_expect_eq(stub_launches("tc_strided_4"), 2 * i);
      cr_expect_eq(stub_launches(NULL), 3 * i);
    }
    cr_expect_eq(tc_max_abs_diff(x, device_counting(TC_DIMS(8, 8))), 0, "both copies are right");
    tc_tensor *same = tc_expand(tc_slice(x, 0, 0, 1, 1), TC_DIMS(4, 8));
    cr_expect(!f(same), "its elements share memory");
    cr_expect_eq(fallbacks(name), 1);
    tc_clear_error();
    tc_free(tc_to(x, TC_CPU));
  }
  device_end();
}

Test(entries, written_views) { write_strided(entry_double, "entry_double"); }
Test(entries, written_views_of_a_graph) {
  write_strided(entry_double_recorded, "entry_double_recorded");
}

/* More arguments than most kernels have. */
Test(entries, a_kernel_of_many_operands) {
  TC_SCOPE {
    entry_list l;
    for (int i = 0; i < ENTRY_MANY; i++) l.x[i] = tc_to(device_counting(TC_DIMS(4)), TC_CUDA);
    for (int i = 1; i <= 2; i++) {
      cr_assert(entry_total(&l), "%s", tc_error());
      cr_expect_eq(hits("entry_total"), (uint64_t)i);
    }
  }
  device_end();
}

/* ---- gradients ------------------------------------------------------------------------------- */

/* A tracked operand brings the kernels of both parts; those of gradients that nobody wants are not launched. */
Test(entries, a_compiled_function_on_the_tape) {
  TC_SCOPE {
    tc_tensor *x = device_matrix(4, 8), *w = device_matrix(8, 3);
    tc_requires_grad_(w, true);
    tc_tensor *y = entry_layer(x, w);
    cr_assert(y && tc_requires_grad(y), "%s", tc_error());
    cr_expect_eq(tc_device_of(y), TC_CUDA);
    cr_expect_eq(hits("entry_layer"), 1);
    cr_expect(tc_backward_with(y, tc_ones_like(y), TC_RETAIN_GRAPH), "%s", tc_error());
    cr_expect_eq(hits("entry_layer"), 2);
    cr_expect_eq(tc_device_of(tc_grad_of(w)), TC_CUDA);
    cr_expect_null(tc_grad_of(x));
    tc_zero_grad(1, &w);
  }
  device_end();
}

/* The parameter stays where it is, and the step is one graph, which is launched again. */
Test(entries, a_step_of_training_is_one_graph) {
  TC_SCOPE {
    tc_tensor *x = device_matrix(4, 8), *w = device_matrix(8, 3);
    const void *at = tc_device_data(w);
    tc_requires_grad_(w, true);
    for (int i = 1; i <= 5; i++) TC_SCOPE {
        const int launches = stub_calls("cuLaunchKernel") + stub_calls("cuLaunchKernelEx");
        cr_assert(entry_step(x, w), "%s", tc_error());
        cr_expect_eq(stub_calls("cuLaunchKernel") + stub_calls("cuLaunchKernelEx"), launches);
        cr_expect_eq(stub_calls("cuGraphLaunch"), i);
        cr_expect_eq(tc_device_data(w), at);
      }
    cr_expect_eq(hits("entry_step"), 5);
    cr_expect_eq(stub_calls("cuGraphInstantiateWithFlags") + stub_calls("cuGraphInstantiate"), 1);
  }
  device_end();
}

static void with_much_memory(void) {
  setenv("STUB_MEMORY", "17179869184", 1);
  with_operations();
}

/* The kernel does nothing here: no memory is touched. */
Test(entries, more_than_2_31_elements, .init = with_much_memory) {
  const int64_t n = ((int64_t)1 << 31) + 5;
  tcrt_cuda_call c;
  cr_assert(tcrt_cuda_begin(&c, NULL), "%s", tc_error());
  tc_tensor *x = tcrt_cuda_new(&c, TC_U8, 1, &n), *y = x ? entry_invert(x) : NULL;
  cr_expect(y && tc_numel(y) == n, "%s", tc_error());
  cr_expect_eq(hits("entry_invert"), 1);
  cr_expect_eq(stub_launches(NULL), 1);
  tc_free(x);
  tc_free(y);
  device_end();
}

Test(entries, an_allocation_that_fails) {
  TC_SCOPE {
    tc_tensor *x = device_matrix(4, 8);
    stub_fail_always("cuMemAllocFromPoolAsync", 2);
    cr_expect_null(entry_sum(x, x));
    device_expect_error("memory");
    stub_fail_always(NULL, 0);
    cr_expect_not_null(entry_sum(x, x), "%s", tc_error());
  }
  device_end();
}

/* The entry's kernels cannot be loaded; the body's are another image. */
static void expect_body(const char *symbol, int result) {
  TC_SCOPE {
    tc_tensor *x = device_matrix(4, 8);
    tc_free(tc_add(x, x)); /* loads what the body uses */
    stub_fail_always(symbol, result);
    tc_tensor *y = entry_sum(x, x);
    stub_fail_always(NULL, 0);
    cr_assert(y, "%s", tc_error());
    cr_expect_eq(tc_at(y, TC_INTS(1, 2)), 20);
    cr_expect_eq(hits("entry_sum"), 0);
    cr_expect_eq(fallbacks("entry_sum"), 1);
  }
  device_end();
}

Test(entries, a_corrupt_image_runs_the_body) { expect_body("cuModuleLoadData", 200); }
Test(entries, a_kernel_that_cannot_launch_runs_the_body) {
  expect_body("cuLaunchKernelEx", 701); /* launched while the kernels in front run */
}

Test(entries, without_a_driver_the_cpu_works) {
  setenv("TC_CUDA_LIBRARY", "/nowhere/libcuda.so", 1);
  TC_SCOPE {
    tc_tensor *x = device_counting(TC_DIMS(4, 8)), *y = entry_sum(x, x);
    cr_assert(y, "%s", tc_error());
    cr_expect_eq(tc_at(y, TC_INTS(1, 2)), 20);
    cr_expect_eq(hits("entry_sum"), 1);
    cr_expect_null(tc_to(x, TC_CUDA));
    device_expect_error("libcuda");
  }
}
