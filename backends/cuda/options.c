/* options.c - see options.h. */
#include "backends/cuda/options.h"

#include "backends/cuda/schedule/schedule.h"

#include <stdlib.h>
#include <string.h>

const tc_cuda_options tc_cuda_defaults = {.narch = 2, .arch = {80, 90}, .ptx = 80};

/* Skips `word` in front of *at. */
static bool skip(const char **at, const char *word) {
  const size_t n = strlen(word);
  if (strncmp(*at, word, n) != 0) return false;
  *at += n;
  return true;
}

bool tc_cuda_parse_arch(const char *text, tc_cuda_options *o) {
  tc_cuda_options read = {.nvrtc = o->nvrtc, .cache = o->cache, .jobs = o->jobs};
  for (const char *at = text;; ++at) {
    const bool ptx = skip(&at, "ptx") || skip(&at, "compute_");
    if (!ptx) (void)(skip(&at, "sm_"));
    char *end;
    const unsigned long number = strtoul(at, &end, 10);
    if (*at < '0' || *at > '9' || number < 50 || number > 999) return false;
    if (ptx ? read.ptx != 0 : read.narch == TC_MAX_ARCH) return false;
    if (ptx) read.ptx = (uint32_t)number;
    else read.arch[read.narch++] = (uint32_t)number;
    at = end;
    if (*at == 0) break;
    if (*at != ',') return false;
  }
  *o = read;
  return true;
}

tc_cuda_options tc_cuda_options_of(const tc_unit_options *o) {
  tc_cuda_options gpu = tc_cuda_defaults;
  const char *arch = tc_setting_of(o->setting, o->nsetting, "cuda-arch");
  if (arch) tc_cuda_parse_arch(arch, &gpu); /* it was checked */
  gpu.nvrtc = tc_setting_of(o->setting, o->nsetting, "nvrtc");
  gpu.cache = o->cache;
  gpu.jobs = o->jobs;
  return gpu;
}

bool tc_cuda_records(const tc_function *f) {
  const char *mode = tc_setting_of(f->setting, f->nsetting, "mode");
  return mode && (!strcmp(mode, "reduce-overhead") || !strcmp(mode, "max-autotune"));
}

/* Where the library rounds operands, it is several times as fast as our own kernels, and saves more
 * than another pass costs. */
void tc_cuda_apply_options(tc_program *p, const tc_setting *setting, uint32_t nsetting) {
  const char *precision = tc_setting_of(setting, nsetting, "matmul_precision");
  if (!precision || strcmp(precision, "high") != 0) return;
  for (uint32_t i = 0; i < p->nkernel; ++i) {
    const tc_kernel *k = &p->kernel[i];
    tc_cuda_kernel_schedule *s =
        k->schedule ? (tc_cuda_kernel_schedule *)tc_cuda_kernel_schedule_of(k) : NULL;
    if (k->kind != TC_KERNEL_MATMUL || k->mm.operand != TC_F32 || !s->library) continue;
    s->tf32 = true;
    s->one_pass = false;
  }
}

/* ---- the table ------------------------------------------------------------------------------- */

static const char *check_arch(const char *value) {
  tc_cuda_options o = tc_cuda_defaults;
  return tc_cuda_parse_arch(value, &o) ? NULL : "a list such as 80,90,ptx80";
}

static const char *check_nvrtc(const char *value) {
  (void)value; /* where there is no such library, a remark says so */
  return NULL;
}

static const char *check_precision(const char *value) {
  return !strcmp(value, "highest") || !strcmp(value, "high") ? NULL : "highest or high";
}

const tc_backend_option tc_cuda_option[TC_CUDA_OPTIONS] = {
    {"cuda-arch", "list of 80, 90, ..., ptx80, ...", "80,90,ptx80", true, check_arch,
     "GPUs that machine code, or PTX for newer ones, is made for"},
    {"nvrtc", "PATH", "found", true, check_nvrtc,
     "the library that compiles device code; else the folder nvrtc beside the plugin, or the "
     "system's"},
    {"matmul_precision", "highest|high", "highest", false, check_precision,
     "high: products of f32 on GPUs may round their operands to TF32, 10 bits of a fraction, which is several times as fast; sums "
     "stay in f32"},
};
