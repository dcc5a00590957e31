/* backend.h - what a backend gives, and the driver that turns graphs into C text and device code.
 *
 * A backend is one struct.  The driver optimises each function's graph, lowers it for every device
 * that the function is wanted on, and asks the backends for text.  What comes out of a translation
 * unit is
 *   the host text    entries, launchers, registration; compiled once
 *   the kernel text  of the CPU; compiled once per ISA level in `levels`, each time with
 *                    -DTC_LEVEL=<name>, which every external name ends in
 *   data             machine code for GPUs, for the read-only data of the object
 * The texts include nothing: what they need is put in front of them. */
#ifndef TC_BACKEND_H
#define TC_BACKEND_H

#include "backends/cache/cache.h"
#include "lower/loop.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How much a variant for CUDA is asked for.  There is one for the CPU always. */
typedef enum {
  TC_CUDA_NO,
  TC_CUDA_MAY, /* where it can be made; why not is a remark */
  TC_CUDA_WANT /* why not is reported as TC_MISSED */
} tc_cuda_wish;

/* One function (or segment) of the user's. */
typedef struct tc_function {
  const char *symbol; /* external name of the entry (tcrt_entry), unique in the program */
  const char *name;   /* the user's function */
  const char *file;   /* as written in the user's build, for comments and logs */
  uint32_t line;
  const char *sizes; /* that it is made for, such as "B=1", or sides of branches, "mode == 2"; NULL: any */
  bool passes;       /* other code is tried when its guards fail */
  tc_graph *graph;   /* taken over */
  int ops;         /* API calls captured */
  tc_cuda_wish cuda;
  bool record; /* CUDA: launches become one CUDA graph (mode=reduce-overhead) */
  bool always; /* no switch turns it off, and it is not registered */
  tc_buf *explain; /* receives rows of explain.h when it was compiled; NULL: not wanted */
  const char *(*file_of)(const void *sources, tc_loc loc); /* file of a place; NULL: `file` */
  const void *sources;
  uint32_t levels; /* CPU: bit i: code for tc_isa i, by the best text at or below it; 0: all */
} tc_function;

/* Read-only data of the object.  Equal data has equal names, so that linkers keep one. */
typedef struct tc_data {
  char *name; /* hidden symbol, from the hash of the bytes */
  unsigned char *bytes;
  size_t size;
} tc_data;

typedef struct tc_texts {
  tc_buf host, kernels;
  tc_buf close;     /* statements for when the object is unloaded; part of host in the end */
  uint32_t levels;  /* bit i: compile the kernel text for tc_isa i */
  int functions;    /* that were compiled */
  int kernel_count; /* of the CPU */
  int cuda_count;   /* variants for CUDA */
  tc_data *data;
  size_t ndata;
} tc_texts;

void tc_texts_free(tc_texts *t);

/* What became of one function. */
typedef struct tc_result {
  bool compiled;
  bool cuda; /* with a variant for CUDA */
  int kernels;       /* of the CPU */
  int64_t workspace; /* bytes of arrays between them at most; INT64_MAX: no bound is known */
} tc_result;

/* What a backend makes of one kernel. */
typedef struct tc_kernel_text {
  tc_buf name;        /* external name, from the hash of the text */
  tc_buf text;        /* the definition, without the prelude */
  uint32_t levels;    /* CPU: ISA levels that make a difference to this kernel */
  uint32_t nsym, nscalar, *sym, *scalar; /* those of the program that it takes, in order */
  tc_buf launcher;    /* CUDA: the function for the host text (see cuda/emit.h) */
  uint32_t nfunction; /* CUDA: device functions <name>_0 ... */
} tc_kernel_text;

void tc_kernel_text_free(tc_kernel_text *t);

/* Appends kernel texts without the comments that end on their line, which say where things come
 * from: equal kernels of different lines have one name, and are compiled once. */
void tc_put_bare(const char *kernels, tc_buf *out);

struct tc_entry_style;

typedef struct tc_backend {
  const char *name;        /* "openmp" */
  const tc_target *target; /* what programs are lowered for */
  const struct tc_entry_style *entry;
  bool (*supports)(const tc_kernel *k, const tc_program *p); /* false: no variant; never reports */
  bool (*emit_kernel)(const tc_kernel *k, const tc_program *p, tc_kernel_text *out);
  /* Appends kernel texts to out, with what they use in front of them. */
  bool (*complete)(const char *kernels, tc_buf *out);
} tc_backend;

extern const tc_backend tc_backend_openmp, tc_backend_cuda;

#define TC_MAX_ARCH 8

typedef struct tc_cuda_options {
  const char *nvrtc; /* path of the library; NULL: found (see cuda/nvrtc.h) */
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

/* Compiles n functions into texts.  A function that cannot be compiled for the CPU is reported
 * (TC_MISSED) to its graph's diag and left out; result[i] says which.  One that cannot be compiled
 * for CUDA, or no function at all when there is no NVRTC, stays without that variant.  Fusion is
 * reported as TC_REMARK.  cuda: NULL for the defaults.  false: internal failure (reported);
 * nothing is to be used then. */
bool tc_compile_functions(tc_function *f, int n, const tc_cuda_options *cuda, tc_result *result,
                          tc_texts *out);

/* The same in two steps.  Behind the first, out->kernels and out->levels are what they will be, and
 * may be compiled; GPU kernels are compiled meanwhile, by child processes, if tc_unit_waits.  NULL:
 * internal failure.  The second frees the unit. */
typedef struct tc_unit tc_unit;
tc_unit *tc_unit_begin(tc_function *f, int n, const tc_cuda_options *cuda, tc_texts *out);
bool tc_unit_waits(const tc_unit *u);
bool tc_unit_finish(tc_unit *u, tc_result *result, tc_texts *out);

/* The same for entries that have a variant for CUDA alone and run always: what libtcrt-cuda is made
 * of.  There is no kernel text. */
bool tc_compile_for_cuda(tc_function *f, int n, const tc_cuda_options *cuda, tc_result *result,
                         tc_texts *out);

#ifdef __cplusplus
}
#endif
#endif
