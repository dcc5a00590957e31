/* pending.c - definitions that give way to the printers of backends/cuda as those arrive: until
 * then no kernel is supported. */
#include "backends/cuda/emit.h"

#define TC_PENDING __attribute__((weak))

TC_PENDING const tc_target tc_cuda_target = {.name = "cuda"};

TC_PENDING bool tc_cuda_supports(const tc_kernel *k, const tc_program *p) {
  (void)k;
  (void)p;
  return false;
}

TC_PENDING bool tc_cuda_emit_kernel(const tc_kernel *k, const tc_program *p, tc_cuda_text *out) {
  (void)k;
  (void)p;
  (void)out;
  return false;
}

TC_PENDING bool tc_cuda_put_prelude(const char *device, tc_buf *out) {
  (void)device;
  (void)out;
  return false;
}

TC_PENDING void tc_cuda_put_launch_helpers(tc_buf *out) { (void)out; }
