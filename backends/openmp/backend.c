/* backend.c - the OpenMP backend: kernels as C with vector types, one text for all ISA levels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/openmp/emit.h"
#include "backends/openmp/unit.h"

const tc_spelling tc_omp_words = {.vector = "tc_v",
                                  .uniform = "tc_v",
                                  .index = "tc_vi64",
                                  .uniform_index = "tc_vi64",
                                  .lanes = "TC_LANES(i64)",
                                  .nan = "__builtin_nan(\"\")",
                                  .inf = "__builtin_inf()"};

static bool omp_supports(const tc_kernel *k, const tc_program *p) {
  return tc_print_known(k) && (k->kind != TC_KERNEL_MATMUL || tc_omp_supports_matmul(k, p));
}

/* Nests differ by register width; where bf16 is stored, rounding has an instruction of its own. */
static uint32_t omp_levels(const tc_kernel *k, const tc_program *p) {
  if (k->kind == TC_KERNEL_MATMUL) return tc_omp_matmul_levels(k, p);
  uint32_t levels = 1u << TC_ISA_V2 | 1u << TC_ISA_V3 | 1u << TC_ISA_V4;
  for (uint32_t i = 0; i < k->nbuffer; ++i)
    if (p->buffer[k->buffer[i]].dtype == TC_BF16 && tc_print_writes(k, i))
      levels |= 1u << TC_ISA_BF16;
  return levels;
}

/* ---- kernels
 * ------------------------------------------------------------------------------------------ */

static void put_condition(uint32_t levels, tc_buf *out) {
  tc_put(out, "#if");
  for (int i = 0, any = 0; i < TC_ISA_COUNT; ++i)
    if (levels >> i & 1) tc_putf(out, "%s TC_ISA == %d", any++ ? " ||" : "", i);
  tc_put(out, "\n");
}

static bool omp_emit_kernel(const tc_kernel *k, const tc_program *p, tc_buf *out, tc_buf *name) {
  tc_buf raw = {0}, text = {0};
  bool ok =
      k->kind == TC_KERNEL_MATMUL ? tc_omp_emit_matmul(k, p, &raw) : tc_omp_emit_nests(k, p, &raw);
  ok = ok && raw.text && !raw.failed && tc_print_finish(k, raw.text, "", name, &text);
  if (ok && (!out->text || !strstr(out->text, name->text))) { /* once in a unit */
    put_condition(omp_levels(k, p), out);
    tc_put(out, text.text);
    tc_put(out, "#endif\n");
  }
  tc_buf_free(&raw);
  tc_buf_free(&text);
  return ok && !out->failed && !name->failed;
}

/* ---- texts
 * ---------------------------------------------------------------------------------------------- */

static bool omp_emit_unit(const tc_function *f, const tc_result *result, int n, tc_texts *out) {
  tc_buf kernels = {0}, host = {0};
  bool ok = tc_omp_put_prelude(out->kernels.text ? out->kernels.text : "", &kernels);
  tc_put(&kernels, out->kernels.text ? out->kernels.text : "");
  tc_omp_put_abi(&host);
  tc_omp_put_host_helpers(&host);
  tc_put(&host, out->host.text ? out->host.text : "");
  tc_omp_put_registration(f, result, n, &host);
  ok = ok && !kernels.failed && !host.failed;
  tc_buf_free(&out->kernels);
  tc_buf_free(&out->host);
  out->kernels = kernels;
  out->host = host;
  return ok;
}

const tc_backend tc_backend_openmp = {
    .name = "openmp",
    .target = &tc_target_cores,
    .supports = omp_supports,
    .levels = omp_levels,
    .emit_kernel = omp_emit_kernel,
    .emit_entry = tc_omp_emit_entry,
    .emit_unit = omp_emit_unit,
};
