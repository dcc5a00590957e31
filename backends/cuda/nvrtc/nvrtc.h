/* nvrtc.h - CUDA C to machine code and PTX, by NVIDIA's NVRTC.
 *
 * NVRTC is a shared library, opened where it is found; no GPU and no driver are needed.  It runs in
 * child processes: several compile faster than one, while the caller goes on, and neither a crash
 * nor a library that does not fit reaches the user's compiler.  PTX comes with machine code of its
 * architecture; every other blob is compiled from the text.  What this library made of this text
 * before is taken from options->cache. */
#ifndef TC_CUDA_NVRTC_H
#define TC_CUDA_NVRTC_H

#include "backends/cuda/options.h"

typedef struct tc_nvrtc_blob {
  uint32_t arch;
  bool ptx;             /* text, with its zero byte */
  bool kept;            /* comes from the cache */
  unsigned char *bytes; /* NULL: not made */
  size_t size;
} tc_nvrtc_blob;

/* One text and what becomes of it. */
typedef struct tc_nvrtc_job {
  const char *name, *text;
  uint32_t nblob;
  tc_nvrtc_blob blob[TC_MAX_ARCH + 1]; /* machine code in the order of options->arch, then PTX */
  char *error;                         /* NVRTC's log; NULL: all blobs are there */
} tc_nvrtc_job;

/* Compiles n texts.  NVRTC is taken from options->nvrtc or, if that is NULL, the variable TC_NVRTC
 * ("none": nowhere), else it is looked for: the folder `nvrtc` beside this program or plugin (made
 * by tools/setup --cuda), a CUDA toolkit (CUDA_HOME, CUDA_PATH, /usr/local/cuda), the active
 * Python environment, the system's library path.
 * false: nothing was compiled; why says what to do. */
bool tc_nvrtc_compile(const tc_cuda_options *options, tc_nvrtc_job *job, size_t n, tc_buf *why);

/* The same in two steps: the work goes on between them.  NULL: out of memory.  The jobs stay where
 * they are until tc_nvrtc_finish. */
typedef struct tc_nvrtc_run tc_nvrtc_run;
tc_nvrtc_run *tc_nvrtc_start(const tc_cuda_options *options, tc_nvrtc_job *job, size_t n);
bool tc_nvrtc_finish(tc_nvrtc_run *run, tc_buf *why);

void tc_nvrtc_job_free(tc_nvrtc_job *job); /* the results */

/* find.c: paths to try in order, each ended by a zero byte, the last by two.  Empty: none. */
void tc_nvrtc_candidates(const char *asked, tc_buf *out);

/* flags.c: what the text is compiled with. */
enum { TC_NVRTC_FLAGS = 4 };
typedef struct tc_nvrtc_flags {
  char arch[24];
  const char *flag[TC_NVRTC_FLAGS];
} tc_nvrtc_flags;
void tc_nvrtc_put_flags(const tc_nvrtc_job *job, uint32_t blob, tc_nvrtc_flags *out);
/* The blob that this one is made with: PTX comes beside machine code of its architecture. */
uint32_t tc_nvrtc_leader(const tc_nvrtc_job *job, uint32_t blob);

/* cache.c: takes blobs from the cache, if all that are made together are there; and puts those
 * into it that were made since.  library: digest of its identity. */
void tc_nvrtc_recall(tc_cache *c, const tc_digest *library, tc_nvrtc_job *job);
void tc_nvrtc_remember(tc_cache *c, const tc_digest *library, const tc_nvrtc_job *job);

/* worker.c: the child.  Takes numbers from *next until they reach `count`, writes messages
 * to fd, and never returns.  Number i is the task order[i]. */
typedef struct tc_nvrtc_message {
  uint32_t task; /* job * blobs per job + blob; TC_NVRTC_NO_LIBRARY */
  uint32_t failed;
  uint64_t size; /* bytes that follow: a blob, or the text of an error */
} tc_nvrtc_message;
enum { TC_NVRTC_NO_LIBRARY = UINT32_MAX };

/* Writes the digest of the library's identity to fd, nothing if there is no library. */
_Noreturn void tc_nvrtc_identify(const char *candidates, int fd);

_Noreturn void tc_nvrtc_worker(const char *candidates, const tc_nvrtc_job *job,
                               const uint32_t *order, uint32_t count, uint32_t *next, int fd);

#endif
