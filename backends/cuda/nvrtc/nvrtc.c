/* nvrtc.c - hands texts to worker processes and gathers their answers. */
#define _GNU_SOURCE
#include "backends/cuda/nvrtc/nvrtc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/jobs.h"

typedef struct worker {
  pid_t pid; /* 0: not started */
  int fd;    /* -1: has ended */
  tc_buf in; /* what came and has not been understood yet */
} worker;

struct tc_nvrtc_run {
  tc_nvrtc_job *job;
  size_t n;
  uint32_t blobs;  /* of all jobs */
  uint32_t count;  /* tasks: blobs that have to be made */
  uint32_t *order; /* of the tasks: numbers of blobs */
  uint32_t *next;  /* shared by the workers */
  tc_buf candidates;
  tc_cache *cache;
  tc_digest library;
  uint32_t jobs; /* workers at once */
  int workers;
  worker worker[TC_MOST_JOBS];
  bool no_library;
  bool threaded; /* answers are gathered by `thread` */
  pthread_t thread;
};
typedef struct tc_nvrtc_run batch;

/* ---- answers --------------------------------------------------------------------------------- */

static void fail(tc_nvrtc_job *job, const char *text, size_t n) {
  if (!job->error) job->error = strndup(text, n);
}

static void take(batch *b, const tc_nvrtc_message *m, const char *data) {
  if (m->task >= b->blobs) {
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
    struct pollfd wait[TC_MOST_JOBS];
    int open = 0;
    for (int i = 0; i < b->workers; ++i) {
      wait[i] = (struct pollfd){b->worker[i].fd, POLLIN, 0};
      open += b->worker[i].fd >= 0;
    }
    if (!open) return;
    if (poll(wait, (nfds_t)b->workers, -1) < 0 && errno != EINTR) return;
    for (int i = 0; i < b->workers; ++i)
      if (b->worker[i].fd >= 0 && wait[i].revents && !receive(b, &b->worker[i])) {
        close(b->worker[i].fd);
        b->worker[i].fd = -1;
      }
  }
}

static void *gather_all(void *run) {
  gather(run);
  return NULL;
}

/* ---- workers --------------------------------------------------------------------------------- */

static void start(batch *b, int i) {
  int pipe_fd[2];
  if (pipe2(pipe_fd, O_CLOEXEC) != 0) return;
  const pid_t pid = fork();
  if (pid == 0) {
    close(pipe_fd[0]);
    tc_nvrtc_worker(b->candidates.text, b->job, b->order, b->count, b->next, pipe_fd[1]);
  }
  close(pipe_fd[1]);
  if (pid > 0) b->worker[i] = (worker){pid, pipe_fd[0], {0}};
  else close(pipe_fd[0]);
}

/* One generation of workers: begun here, and ended by end_workers. */
static void start_workers(batch *b) {
  b->workers = (int)(b->jobs < b->count ? b->jobs : b->count);
  for (int i = 0; i < b->workers; ++i) b->worker[i] = (worker){.fd = -1};
  for (int i = 0; i < b->workers; ++i) start(b, i);
}

static void end_workers(batch *b) {
  for (int i = 0; i < b->workers; ++i) {
    worker *w = &b->worker[i];
    if (w->fd >= 0) close(w->fd);
    if (w->pid > 0)
      while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR) {
      }
    tc_buf_free(&w->in);
  }
  b->workers = 0;
}

/* A worker that dies takes one task with it; others go on with the rest. */
static void finish_workers(batch *b) {
  if (b->threaded) pthread_join(b->thread, NULL);
  else gather(b);
  end_workers(b);
  for (uint32_t before = 0; !b->no_library && *b->next<b->count && * b->next> before;) {
    before = *b->next;
    start_workers(b);
    gather(b);
    end_workers(b);
  }
}

/* ---- the interface --------------------------------------------------------------------------- */

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

static void release(batch *b) {
  if (b->next && b->next != MAP_FAILED) munmap(b->next, sizeof *b->next);
  free(b->order);
  tc_buf_free(&b->candidates);
  free(b);
}

typedef struct length {
  size_t bytes;
  uint32_t job;
} length;

static int by_length(const void *a, const void *b) {
  const length *x = a, *y = b;
  if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
  return x->job < y->job ? -1 : 1;
}

/* What is still to be made, of the longest texts first: they would keep one worker busy at the
 * end. */
static bool put_in_order(batch *b) {
  length *list = malloc(b->n * sizeof *list);
  b->order = malloc(b->blobs * sizeof *b->order);
  if (list && b->order) {
    for (size_t i = 0; i < b->n; ++i) list[i] = (length){strlen(b->job[i].text), (uint32_t)i};
    qsort(list, b->n, sizeof *list, by_length);
    for (uint32_t i = 0; i < b->blobs; ++i) {
      const uint32_t job = list[i / b->job->nblob].job, blob = i % b->job->nblob;
      if (!b->job[job].blob[blob].bytes) b->order[b->count++] = job * b->job->nblob + blob;
    }
  }
  free(list);
  return list && b->order;
}

/* Which library the workers are going to find; false: none. */
static bool identify(batch *b) {
  int pipe_fd[2];
  if (pipe2(pipe_fd, O_CLOEXEC) != 0) return true;
  const pid_t pid = fork();
  if (pid == 0) {
    close(pipe_fd[0]);
    tc_nvrtc_identify(b->candidates.text, pipe_fd[1]);
  }
  close(pipe_fd[1]);
  ssize_t n = pid > 0 ? read(pipe_fd[0], &b->library, sizeof b->library) : -1;
  close(pipe_fd[0]);
  int status = 0;
  while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (n != sizeof b->library) b->cache = NULL;
  return n != 0 || !WIFEXITED(status);
}

/* Finds out what has to be made; false: there is no library. */
static bool recall(batch *b) {
  if (b->cache && !identify(b)) return false;
  for (size_t i = 0; b->cache && i < b->n; ++i) tc_nvrtc_recall(b->cache, &b->library, &b->job[i]);
  return true;
}

tc_nvrtc_run *tc_nvrtc_start(const tc_cuda_options *options, tc_nvrtc_job *job, size_t n) {
  batch *b = calloc(1, sizeof *b);
  if (!b) return NULL;
  b->job = job;
  b->n = n;
  for (size_t i = 0; i < n; ++i) plan(options, &job[i]);
  b->blobs = n ? (uint32_t)n * job->nblob : 0;
  if (b->blobs == 0) return b;
  b->cache = options->cache;
  b->jobs = options->jobs;
  if (!b->jobs) {
    tc_jobs usual = tc_jobs_take(0);
    b->jobs = usual.n;
    tc_jobs_give_back(&usual);
  }
  tc_nvrtc_candidates(options->nvrtc, &b->candidates);
  b->no_library = !b->candidates.failed && !recall(b);
  if (b->no_library) return b;
  const bool ordered = put_in_order(b);
  b->next = mmap(NULL, sizeof *b->next, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (!ordered || b->next == MAP_FAILED || b->candidates.failed) {
    release(b);
    return NULL;
  }
  if (!b->count) return b;
  start_workers(b);
  b->threaded = pthread_create(&b->thread, NULL, gather_all, b) == 0;
  return b;
}

bool tc_nvrtc_finish(tc_nvrtc_run *b, tc_buf *why) {
  if (b->count) finish_workers(b);
  if (b->no_library)
    tc_put(why, "libnvrtc of CUDA 11.1 or newer was not found: install a CUDA toolkit, or run "
                "tools/setup --cuda");
  for (size_t i = 0; b->blobs && i < b->n; ++i) {
    check(&b->job[i]);
    tc_nvrtc_remember(b->cache, &b->library, &b->job[i]);
  }
  release(b);
  return why->len == 0;
}

bool tc_nvrtc_compile(const tc_cuda_options *options, tc_nvrtc_job *job, size_t n, tc_buf *why) {
  tc_nvrtc_run *run = tc_nvrtc_start(options, job, n);
  if (run) return tc_nvrtc_finish(run, why);
  tc_put(why, "out of memory");
  return false;
}

void tc_nvrtc_job_free(tc_nvrtc_job *job) {
  for (uint32_t i = 0; i < job->nblob; ++i) free(job->blob[i].bytes);
  free(job->error);
}
