/* backend.c - the CUDA backend as the driver sees it. */
#include "backends/backend.h"

#include "backends/cuda/emit.h"
#include "backends/cuda/options.h"
#include "backends/cuda/schedule/plan.h"
#include "backends/cuda/unit.h"

static bool cuda_complete(const char *kernels, tc_buf *out) {
  const bool ok = tc_cuda_put_prelude(kernels, out);
  tc_put(out, kernels);
  return ok && !out->failed;
}

const tc_backend tc_backend_cuda = {
    .name = "cuda",
    .about = "kernels for NVIDIA's GPUs, compiled by NVRTC",
    .device = TC_CUDA,
    .device_name = "cuda",
    .device_label = "CUDA",
    .target = &tc_cuda_target,
    .entry = &tc_cuda_entry_style,
    .supports = tc_cuda_supports,
    .plan = tc_cuda_plan_program,
    .apply_options = tc_cuda_apply_options,
    .schedule = &tc_cuda_schedule_words,
    .emit_kernel = tc_cuda_emit_kernel,
    .complete = cuda_complete,
    .compiler = &tc_cuda_compiler,
    .option = tc_cuda_option,
    .noption = TC_CUDA_OPTIONS,
};
