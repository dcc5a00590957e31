/* nvrtc.c - hands texts to worker processes and gathers their answers. */
#define _GNU_SOURCE
#include "backends/cuda/nvrtc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 2 };

typedef struct worker {
  pid_t pid; /* 0: not started */
  int fd;    /* -1: has ended */
  tc_buf in; /* what came and has not been understood yet */
} worker;

typedef struct batch {
  tc_nvrtc_job *job;
  size_t n;
  uint32_t count; /* tasks: blobs of all jobs */
  uint32_t *next; /* shared by the workers */
  worker worker[WORKERS];
  bool no_library;
} batch;

/* ---- answers
 * ----------------------------------------------------------------------------------------- */

static void fail(tc_nvrtc_job *job, const char *text, size_t n) {
  if (!job->error) job->error = strndup(text, n);
}

static void take(batch *b, const tc_nvrtc_message *m, const char *data) {
  if (m->task >= b->count) {
    b->no_library |= m->task == TC_NVRTC_NO_LIBRARY;
    return;
  }
  tc_nvrtc_job *job = &b->job[m->task / b->job->nblob];
  tc_nvrtc_blob *blob = &job->blob[m->task % b->job->nblob];
  if (m->failed || blob->bytes) fail(job, data, (size_t)m->size);
  else if ((blob->bytes = malloc((size_t)m->size))) {
    memcpy(blob->bytes, data, (size_t)m->size);
    blob->size = (size_t)m->size;
  }
}

/* Takes the whole messages out of a worker's buffer. */
static void understand(batch *b, worker *w) {
  tc_nvrtc_message m;
  size_t at = 0;
  while (w->in.len - at >= sizeof m) {
    memcpy(&m, w->in.text + at, sizeof m);
    if (w->in.len - at - sizeof m < m.size) break;
    take(b, &m, w->in.text + at + sizeof m);
    at += sizeof m + (size_t)m.size;
  }
  if (at == 0) return;
  memmove(w->in.text, w->in.text + at, w->in.len - at);
  w->in.len -= at;
}

/* One read; false: the worker has ended. */
static bool receive(batch *b, worker *w) {
  char part[1 << 16];
  const ssize_t n = read(w->fd, part, sizeof part);
  if (n < 0 && errno == EINTR) return true;
  if (n <= 0) return false;
  tc_putn(&w->in, part, (size_t)n);
  if (w->in.failed) return false;
  understand(b, w);
  return true;
}

static void gather(batch *b) {
  for (;;) {
    struct pollfd wait[WORKERS];
    int open = 0;
    for (int i = 0; i < WORKERS; ++i) {
      wait[i] = (struct pollfd){b->worker[i].fd, POLLIN, 0};
      open += b->worker[i].fd >= 0;
    }
    if (!open) return;
    if (poll(wait, WORKERS, -1) < 0 && errno != EINTR) return;
    for (int i = 0; i < WORKERS; ++i)
      if (b->worker[i].fd >= 0 && wait[i].revents && !receive(b, &b->worker[i])) {
        close(b->worker[i].fd);
        b->worker[i].fd = -1;
      }
  }
}

/* ---- workers
 * ------------------------------------------------------------------------------------------ */

static void start(batch *b, int i, const char *candidates) {
  int pipe_fd[2];
  if (pipe2(pipe_fd, O_CLOEXEC) != 0) return;
  const pid_t pid = fork();
  if (pid == 0) {
    close(pipe_fd[0]);
    tc_nvrtc_worker(candidates, b->job, b->count, b->next, pipe_fd[1]);
  }
  close(pipe_fd[1]);
  if (pid > 0) b->worker[i] = (worker){pid, pipe_fd[0], {0}};
  else close(pipe_fd[0]);
}

/* One generation of workers. */
static void run(batch *b, const char *candidates) {
  for (int i = 0; i < WORKERS; ++i) b->worker[i] = (worker){.fd = -1};
  for (int i = 0; i < WORKERS && (uint32_t)i < b->count; ++i) start(b, i, candidates);
  gather(b);
  for (int i = 0; i < WORKERS; ++i) {
    worker *w = &b->worker[i];
    if (w->fd >= 0) close(w->fd);
    if (w->pid > 0)
      while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR) {
      }
    tc_buf_free(&w->in);
  }
}

/* A worker that dies takes one task with it; others go on with the rest. */
static void run_all(batch *b, const char *candidates) {
  uint32_t before;
  do {
    before = *b->next;
    run(b, candidates);
  } while (!b->no_library && *b->next < b->count && *b->next > before);
}

/* ---- the interface
 * ------------------------------------------------------------------------------------ */

static void plan(const tc_cuda_options *o, tc_nvrtc_job *job) {
  for (job->nblob = 0; job->nblob < o->narch; ++job->nblob)
    job->blob[job->nblob] = (tc_nvrtc_blob){.arch = o->arch[job->nblob]};
  if (o->ptx) job->blob[job->nblob++] = (tc_nvrtc_blob){.arch = o->ptx, .ptx = true};
}

static void check(tc_nvrtc_job *job) {
  static const char silent[] = "the CUDA compiler stopped without an answer";
  for (uint32_t i = 0; i < job->nblob; ++i)
    if (!job->blob[i].bytes) fail(job, silent, strlen(silent));
}

bool tc_nvrtc_compile(const tc_cuda_options *options, tc_nvrtc_job *job, size_t n, tc_buf *why) {
  batch b = {.job = job, .n = n};
  tc_buf candidates = {0};
  for (size_t i = 0; i < n; ++i) plan(options, &job[i]);
  b.count = n ? (uint32_t)n * job->nblob : 0;
  if (b.count == 0) return true;
  tc_nvrtc_candidates(options->nvrtc, &candidates);
  b.next = mmap(NULL, sizeof *b.next, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (b.next == MAP_FAILED || candidates.failed) {
    tc_put(why, "out of memory");
  } else {
    run_all(&b, candidates.text);
    if (b.no_library)
      tc_put(why, "libnvrtc of CUDA 11.1 or newer was not found: install a CUDA toolkit, or run "
                  "tools/setup --cuda");
    for (size_t i = 0; i < n; ++i) check(&job[i]);
  }
  if (b.next != MAP_FAILED) munmap(b.next, sizeof *b.next);
  tc_buf_free(&candidates);
  return why->len == 0;
}

void tc_nvrtc_job_free(tc_nvrtc_job *job) {
  for (uint32_t i = 0; i < job->nblob; ++i) free(job->blob[i].bytes);
  free(job->error);
}
