/* Each call of the driver fails once: an error value or a way around, no crash, no leak, and the
 * next attempt works. */
#include "tests/cuda_stub/device.h"

#include <stdlib.h>
#include <string.h>

static const char *const functions[] = {"plus"};
static const char machine[] = "STUB: plus";
static const tcrt_cuda_blob blob = {.arch = 90, .data = machine};

static void plus(const stub_launch *l) {
  float *x, *y;
  memcpy(&y, l->args[0], 8);
  memcpy(&x, l->args[1], 8);
  for (int i = 0; i < 12; i++) y[i] = x[i] + 1;
}

/* x + 1 on the device; NULL when something failed. */
static tc_tensor *compiled(tcrt_cuda_image *image, const tc_tensor *x, bool record) {
  tcrt_cuda_call c;
  if (!x || !tcrt_cuda_begin(&c, x)) return NULL;
  if (record) tcrt_cuda_record(&c, image);
  tc_tensor *y = tcrt_cuda_new(&c, TC_F32, 2, (int64_t[]){3, 4});
  void *to = y ? tc_device_data(y) : NULL, *w = tcrt_cuda_workspace(&c, 100);
  int failed = !y || !w || tcrt_cuda_pack(&c, tc_transpose(tc_reshape(x, TC_DIMS(4, 3)), 0, 1), w);
  if (!failed) failed = tcrt_cuda_launch(&c, image, 0, 1, 1, 32, 0, (void *[]){&to, &w}, 2);
  if (tcrt_cuda_end(&c, failed) == 0) return y;
  tc_free(y);
  return NULL;
}

/* What a program does: the compiled function, or its body. */
static tc_tensor *kernel_or_body(tcrt_cuda_image *image, const tc_tensor *x, bool record) {
  tc_tensor *y = compiled(image, x, record);
  if (y || !x || tc_error()) return y;
  tc_tensor *t = tc_clone(tc_transpose(tc_reshape(tc_to(x, TC_CPU), TC_DIMS(4, 3)), 0, 1));
  return tc_to(tc_add_s(t, 1), TC_CUDA);
}

/* One of everything; true when the right answer came out. */
static bool work(bool record) {
  tcrt_cuda_image image = {
      .name = "faults", .nfunction = 1, .nblob = 1, .function = functions, .blob = &blob};
  bool right = false;
  TC_SCOPE {
    tc_stream *s = tc_stream_new(TC_CUDA);
    if (!s) break;
    tc_tensor *x = device_counting(TC_DIMS(3, 4)), *pinned = tc_pin(x);
    tc_tensor *y = pinned ? tc_to(pinned, TC_CUDA) : NULL;
    tc_tensor *z = kernel_or_body(&image, y, record);
    tc_stream_use(s);
    bool ordered = tc_stream_after(s, NULL);
    tc_tensor *f = z && ordered ? tc_full_like(z, 0) : NULL;
    bool copied = f && tc_copy_(f, z) && tc_stream_after(NULL, s);
    tc_stream_use(NULL);
    tc_tensor *back = copied ? tc_to(f, TC_CPU) : NULL;
    right = back && tc_synchronize() && tc_at(back, TC_INTS(0, 1)) == 4;
    tc_stream_free(s);
  }
  tcrt_cuda_unload(&image);
  tc_trim();
  return right;
}

static void fail_each(bool record) {
  stub_kernel("plus", 2, plus);
  int n = 1, worked = 0;
  for (;; n++) {
    stub_fail_at(n);
    bool right = work(record);
    bool hit = stub_failed();
    stub_fail_at(0);
    if (!hit) {
      cr_expect(right, "%s", tc_error());
      break;
    }
    worked += right;
    if (!right) cr_expect_not_null(tc_error(), "call %d failed without an error", n);
    tc_clear_error();
    cr_assert(n < 1000);
  }
  cr_expect_gt(n, 40);
  cr_expect_gt(worked, 5); /* pools, graphs: there is a way around */
  cr_expect(work(record), "%s", tc_error());
  device_end();
}

/* The driver is opened once: a fault there must not be the first one. */
static void opened(void) {
  device_begin();
  tc_device_count(TC_CUDA);
}

Test(faults, launched, .init = opened) { fail_each(false); }
Test(faults, recorded, .init = opened) { fail_each(true); }

static void without_pools(void) {
  setenv("STUB_POOLS", "0", 1);
  opened();
}

Test(faults, without_pools, .init = without_pools) { fail_each(false); }

/* The first calls of a process: opening the driver and the device. */
Test(faults, opening, .init = device_begin) {
  stub_fail_at(1);
  tc_tensor *x = device_counting(TC_DIMS(3));
  cr_expect_null(tc_to(x, TC_CUDA));
  device_expect_error("the CUDA driver does not start");
  tc_free(x);
}
