/* backend.c - the OpenMP backend: kernels as C with vector types, one text for all ISA levels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/openmp/emit.h"
#include "backends/openmp/schedule/plan.h"
#include "backends/openmp/unit.h"

const tc_spelling tc_omp_words = {.vector = "tc_v",
                                  .uniform = "tc_v",
                                  .index = "tc_vi64",
                                  .uniform_index = "tc_vi64",
                                  .unaligned = true,
                                  .index_one = true,
                                  .random_runs = true,
                                  .lanes = "TC_LANES(i64)",
                                  .single = "tc_",
                                  .nan = "__builtin_nan(\"\")",
                                  .inf = "__builtin_inf()",
                                  .size = "s_",
                                  .integer = "int64_t",
                                  .strided = true,
                                  .interleave = TC_OMP_INTERLEAVE};

static bool omp_supports(const tc_kernel *k, const tc_program *p) {
  if (k->kind == TC_KERNEL_CALL) return true;
  return tc_print_known(k) && (k->kind != TC_KERNEL_MATMUL || tc_omp_supports_matmul(k, p));
}

/* Nests differ by register width; where bf16 is stored, rounding has an instruction of its own. */
static uint32_t omp_levels(const tc_kernel *k, const tc_program *p) {
  if (k->kind == TC_KERNEL_MATMUL) return tc_omp_matmul_levels(k, p);
  uint32_t levels = 1u << TC_ISA_V2 | 1u << TC_ISA_V3 | 1u << TC_ISA_V4;
  for (uint32_t i = 0; i < k->nbuffer; ++i)
    if (p->buffer[k->buffer[i]].dtype == TC_BF16 && tc_kernel_writes(k, i))
      levels |= 1u << TC_ISA_BF16;
  return levels;
}

/* ---- kernels --------------------------------------------------------------------------------- */

static void put_condition(uint32_t levels, tc_buf *out) {
  tc_put(out, "#if");
  for (int i = 0, any = 0; i < TC_ISA_COUNT; ++i)
    if (levels >> i & 1) tc_putf(out, "%s TC_ISA == %d", any++ ? " ||" : "", i);
  tc_put(out, "\n");
}

static bool omp_emit_kernel(const tc_kernel *k, const tc_program *p, tc_kernel_text *out) {
  if (k->kind == TC_KERNEL_CALL) { /* the entry calls it */
    tc_put(&out->name, k->name);
    tc_put(&out->text, "");
    return !out->name.failed && !out->text.failed;
  }
  tc_buf raw = {0}, text = {0};
  bool ok = true;
  if (k->kind == TC_KERNEL_SORT) tc_omp_put_sort(k, p, &raw);
  else ok = k->kind == TC_KERNEL_MATMUL ? tc_omp_emit_matmul(k, p, &raw) : tc_omp_emit_nests(k, p, &raw);
  ok = ok && raw.text && !raw.failed && tc_print_finish(k, raw.text, out, &text);
  out->levels = tc_isa_limit(omp_levels(k, p), out->wanted);
  if (ok) {
    put_condition(out->levels, &out->text);
    tc_put(&out->text, text.text);
    tc_put(&out->text, "#endif\n");
  }
  tc_buf_free(&raw);
  tc_buf_free(&text);
  return ok;
}

static bool omp_complete(const char *kernels, tc_buf *out) {
  const bool ok = tc_omp_put_prelude(kernels, out);
  tc_put(out, kernels);
  return ok && !out->failed;
}

const tc_backend tc_backend_openmp = {
    .name = "openmp",
    .about = "C with vectors and OpenMP, for five levels of x86-64",
    .device = TC_CPU,
    .device_name = "cpu",
    .device_label = "CPU",
    .target = &tc_target_cores,
    .entry = &tc_omp_entry_style,
    .supports = omp_supports,
    .plan = tc_omp_plan,
    .schedule = &tc_omp_schedule_words,
    .emit_kernel = omp_emit_kernel,
    .complete = omp_complete,
};
