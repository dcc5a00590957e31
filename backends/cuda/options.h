/* options.h - what the CUDA backend can be told. */
#ifndef TC_CUDA_OPTIONS_H
#define TC_CUDA_OPTIONS_H

#include "backends/backend.h"
#include "backends/cache/cache.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TC_MAX_ARCH 8

typedef struct tc_cuda_options {
  const char *nvrtc; /* path of the library; NULL: found (see nvrtc.h) */
  uint32_t narch, arch[TC_MAX_ARCH]; /* machine code for these compute capabilities: 80, 90 */
  uint32_t ptx;                      /* and PTX for this one; 0: none */
  tc_cache *cache;                   /* of what was made before; NULL: none */
  uint32_t jobs;                     /* processes that compile at once; 0: tc_jobs_take's */
} tc_cuda_options;

/* sm_80, sm_90, and PTX for what is newer. */
extern const tc_cuda_options tc_cuda_defaults;

/* "80,90,ptx80" (or sm_80, compute_80): replaces the architectures of o.  false: not understood, o
 * is as it was. */
bool tc_cuda_parse_arch(const char *text, tc_cuda_options *o);

/* Those of a unit. */
tc_cuda_options tc_cuda_options_of(const tc_unit_options *o);

/* The launches of a call become one CUDA graph. */
bool tc_cuda_records(const tc_function *f);

/* What a function's options change in the schedules of its kernels. */
void tc_cuda_apply_options(tc_program *p, const tc_setting *setting, uint32_t nsetting);

/* The options of the compiler that this backend brings. */
enum { TC_CUDA_OPTIONS = 3 };
extern const tc_backend_option tc_cuda_option[TC_CUDA_OPTIONS];

#ifdef __cplusplus
}
#endif
#endif
