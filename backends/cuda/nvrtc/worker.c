/* worker.c - the process that calls NVRTC. */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "backends/cuda/nvrtc/nvrtc.h"

typedef void *program;

/* The functions that are used of nvrtc.h; results are nvrtcResult, 0 for success. */
typedef struct nvrtc {
  int (*create)(program *, const char *text, const char *name, int, const char *const *,
                const char *const *);
  int (*compile)(program, int n, const char *const *options);
  int (*destroy)(program *);
  int (*log_size)(program, size_t *);
  int (*log)(program, char *);
  int (*cubin_size)(program, size_t *);
  int (*cubin)(program, char *);
  int (*ptx_size)(program, size_t *);
  int (*ptx)(program, char *);
} nvrtc;

static bool load(nvrtc *n, const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) return false;
  const struct {
    const char *name;
    void *to;
  } function[] = {
      {"nvrtcCreateProgram", &n->create},
      {"nvrtcCompileProgram", &n->compile},
      {"nvrtcDestroyProgram", &n->destroy},
      {"nvrtcGetProgramLogSize", &n->log_size},
      {"nvrtcGetProgramLog", &n->log},
      {"nvrtcGetCUBINSize", &n->cubin_size},
      {"nvrtcGetCUBIN", &n->cubin},
      {"nvrtcGetPTXSize", &n->ptx_size},
      {"nvrtcGetPTX", &n->ptx},
  };
  for (size_t i = 0; i < sizeof function / sizeof *function; ++i) {
    void *address = dlsym(library, function[i].name);
    if (!address) return false; /* older than CUDA 11.1: no machine code */
    memcpy(function[i].to, &address, sizeof address);
  }
  return true;
}

/* ---- messages -------------------------------------------------------------------------------- */

static void send_bytes(int fd, const void *data, size_t n) {
  for (const char *p = data; n > 0;) {
    const ssize_t sent = write(fd, p, n);
    if (sent < 0 && errno != EINTR) _exit(1); /* nobody listens */
    if (sent > 0) p += sent, n -= (size_t)sent;
  }
}

static void answer(int fd, uint32_t task, bool failed, const void *data, size_t n) {
  const tc_nvrtc_message m = {task, failed, n};
  send_bytes(fd, &m, sizeof m);
  send_bytes(fd, data, n);
}

static void refuse(int fd, uint32_t task, const char *why) {
  answer(fd, task, true, why, strlen(why));
}

/* ---- one text for one architecture ----------------------------------------------------------- */

/* What NVRTC says about the text. */
static void send_log(const nvrtc *n, program p, int fd, uint32_t task) {
  size_t size = 0;
  char *log = n->log_size(p, &size) == 0 && size > 1 ? malloc(size + 1) : NULL;
  if (log && n->log(p, log) == 0) {
    log[size] = 0;
    refuse(fd, task, log);
  } else refuse(fd, task, "NVRTC gave no reason");
  free(log);
}

static void send_blob(const nvrtc *n, program p, const tc_nvrtc_blob *blob, int fd, uint32_t task) {
  size_t size = 0;
  char *bytes = NULL;
  int failed = blob->ptx ? n->ptx_size(p, &size) : n->cubin_size(p, &size);
  if (!failed && size > 0) bytes = malloc(size);
  if (!bytes || (blob->ptx ? n->ptx(p, bytes) : n->cubin(p, bytes)) != 0)
    refuse(fd, task, "NVRTC made nothing");
  else answer(fd, task, false, bytes, size);
  free(bytes);
}

/* Blob b alone; p gets the program. */
static bool compile_one(const nvrtc *n, const tc_nvrtc_job *job, uint32_t first, uint32_t b, int fd,
                        program *p) {
  const tc_nvrtc_blob *blob = &job->blob[b];
  tc_nvrtc_flags flags;
  tc_nvrtc_put_flags(job, b, &flags);
  if (n->create(p, job->text, job->name, 0, NULL, NULL) != 0) {
    refuse(fd, first + b, "NVRTC could not start");
    return false;
  }
  if (n->compile(*p, TC_NVRTC_FLAGS, flags.flag) != 0) {
    send_log(n, *p, fd, first + b);
    return false;
  }
  send_blob(n, *p, blob, fd, first + b);
  return true;
}

/* Blob b and the PTX that is made with it.  first: number of the job's first task. */
static void lead(const nvrtc *n, const tc_nvrtc_job *job, uint32_t first, uint32_t b, int fd) {
  program p = NULL;
  const bool ok = compile_one(n, job, first, b, fd, &p);
  for (uint32_t i = 0; ok && i < job->nblob; ++i)
    if (i != b && tc_nvrtc_leader(job, i) == b) send_blob(n, p, &job->blob[i], fd, first + i);
  if (p) n->destroy(&p);
}

/* A crash ends this process quietly, and so does a text that takes for ever. */
static void settle(void) {
  static const int deadly[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGPIPE};
  for (size_t i = 0; i < sizeof deadly / sizeof *deadly; ++i) signal(deadly[i], SIG_DFL);
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  setrlimit(RLIMIT_CPU, &(struct rlimit){600, 600});
}

static bool load_any(const char *candidates, nvrtc *n) {
  while (*candidates && !load(n, candidates)) candidates += strlen(candidates) + 1;
  return *candidates != 0;
}

_Noreturn void tc_nvrtc_identify(const char *candidates, int fd) {
  settle();
  nvrtc n = {0};
  if (!load_any(candidates, &n)) _exit(0);
  tc_sha256 h;
  tc_sha256_begin(&h);
  const void *address;
  memcpy(&address, &n.compile, sizeof address);
  tc_add_identity(&h, address);
  const tc_digest id = tc_sha256_end(&h);
  send_bytes(fd, &id, sizeof id);
  _exit(0);
}

_Noreturn void tc_nvrtc_worker(const char *candidates, const tc_nvrtc_job *job,
                               const uint32_t *order, uint32_t count, uint32_t *next, int fd) {
  settle();
  nvrtc n = {0};
  if (!load_any(candidates, &n)) {
    refuse(fd, TC_NVRTC_NO_LIBRARY, "");
    _exit(0);
  }
  for (uint32_t i; (i = __atomic_fetch_add(next, 1, __ATOMIC_RELAXED)) < count;) {
    const uint32_t task = order[i];
    const tc_nvrtc_job *j = &job[task / job->nblob];
    const uint32_t blob = task % job->nblob;
    if (tc_nvrtc_leader(j, blob) == blob) lead(&n, j, task - blob, blob, fd);
  }
  _exit(0);
}
