/* Machines whose driver cannot be used: error values that say why. */
#include "tests/cuda_stub/device.h"

#include <stdlib.h>

static void expect_absent(const char *text) {
  tc_tensor *x = device_counting(TC_DIMS(3));
  cr_expect_eq(tc_device_count(TC_CUDA), 0);
  cr_expect_null(tc_to(x, TC_CUDA));
  device_expect_error(text);
  cr_expect_not(tc_set_default_device(TC_CUDA));
  device_expect_error(text);
  tcrt_cuda_call c;
  cr_expect_eq(tcrt_cuda_begin(&c, NULL), 0);
  device_expect_error(text);
  cr_expect(tc_synchronize());
  cr_expect_eq(tc_default_device(), TC_CPU);
  tc_free(x);
  tc_trim();
}

Test(absent, no_driver) {
  setenv("TC_CUDA_LIBRARY", "/nowhere/libcuda.so.1", 1);
  expect_absent("no CUDA driver is installed");
}

Test(absent, another_library) {
  setenv("TC_CUDA_LIBRARY", "libm.so.6", 1);
  expect_absent("too old (it has no cuInit)");
}

Test(absent, old_driver, .init = device_begin) {
  setenv("STUB_VERSION", "11020", 1);
  expect_absent("the CUDA driver is too old");
}

Test(absent, no_gpu, .init = device_begin) {
  setenv("STUB_DEVICES", "0", 1);
  expect_absent("finds no GPU");
}

Test(absent, init_fails, .init = device_begin) {
  stub_fail_always("cuInit", 999);
  expect_absent("does not start");
}
