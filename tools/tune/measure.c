/* measure.c - runs candidates in a process of their own.
 *
 * What becomes of them stands in memory that both processes have: where the child ends or makes no
 * progress, the one that ran is out, and another child goes on with the rest. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backends/tuning/tuning.h"
#include "tools/tune/tune.h"

enum {
  LEAST_ROUNDS = 5,
  MOST_ROUNDS = 101,
  WARM = 2,
  SAMPLES = 3 /* of a timed run, of which the shortest counts: what else the machine does comes in bursts */
};
static const double sample_seconds = 150e-6; /* that a sample takes at least, by repetition */
/* without progress, beside what the planned schedule takes */
static const double hang_seconds = 4;

typedef int kernel_fn(void *const *buf, const int64_t *sym, const void *scalar);

typedef void team_share(void *arg, int part, int parts);
extern void tcrt_team(team_share *share, void *arg, int most);
extern int tcrt_max_threads(void);

typedef struct board {
  volatile int running;       /* the candidate at hand */
  volatile uint64_t progress;
  volatile double planned;    /* seconds of its first run */
  volatile int states[TUNE_MOST];
  tune_times times[TUNE_MOST];
  double noise;
  volatile bool done;
} board;

/* ---- the child ------------------------------------------------------------------------------- */

typedef struct child {
  const tune_problem *x;
  tune_candidate *const *list;
  size_t n;
  board *at;
  kernel_fn *run[TUNE_MOST];
  tune_operands o;
  char **right; /* the results of the planned schedule */
  int repeat;
  double *ratio[TUNE_MOST], *time[TUNE_MOST];
  int rounds;
} child;

static void step(child *c, int running) {
  c->at->running = running;
  ++c->at->progress;
}

static void befall(const tune_candidate *x) {
  if (tune_planted("crash", x)) raise(SIGSEGV);
  while (tune_planted("hang", x)) pause();
}

static double sample(child *c, size_t i) {
  if (c->o.in_place) tune_operands_reset(&c->o);
  const double start = tc_tuning_now();
  for (int r = 0; r < c->repeat; ++r) c->run[i](c->o.buf, c->o.sym, c->o.scalar);
  return (tc_tuning_now() - start) / c->repeat;
}

static double timed(child *c, size_t i) {
  if (tune_plants("fast")) return tune_planted("fast", c->list[i]) ? 50e-6 : 100e-6;
  double shortest = sample(c, i);
  for (int s = 1; s < SAMPLES; ++s) {
    const double t = sample(c, i);
    if (t < shortest) shortest = t;
  }
  return shortest;
}

/* Operands that the planned schedule runs on: indices that are not out of range, and numbers that
 * it has results for. */
static bool make_operands(child *c) {
  double low = -0.5;
  for (int64_t range = 1 << 16; range; range /= 4) {
    if (!tune_operands_make(c->x, &c->list[0]->code, tcrt_max_threads(), low, range, &c->o))
      return false;
    const double start = tc_tuning_now();
    if (!c->run[0](c->o.buf, c->o.sym, c->o.scalar)) {
      c->at->planned = tc_tuning_now() - start;
      if (low > 0 || !tune_operands_have_nan(c->x, &c->o)) return true;
      low = 0.25;
      range *= 4;
    }
    tune_operands_free(&c->o);
  }
  return false;
}

/* Runs it once: is the result right? */
static bool try_one(child *c, size_t i) {
  befall(c->list[i]);
  tune_operands_reset(&c->o);
  if (c->run[i](c->o.buf, c->o.sym, c->o.scalar)) return false;
  return !tune_planted("wrong", c->list[i]) && tune_operands_agree(c->x, &c->o, c->right);
}

static bool keep_right(child *c) {
  c->right = calloc(c->o.n + 1u, sizeof *c->right);
  for (uint32_t i = 0; c->right && i < c->o.n; ++i) {
    if (!c->o.written[i]) continue;
    c->right[i] = malloc(c->o.bytes[i] + 1);
    if (!c->right[i]) return false;
    memcpy(c->right[i], c->o.memory[i], c->o.bytes[i]);
  }
  return c->right;
}

static void choose_repeat(child *c) {
  for (int i = 0; i < WARM; ++i) timed(c, 0);
  const double one = timed(c, 0);
  const double wanted = sample_seconds / (one > 1e-9 ? one : 1e-9);
  c->repeat = wanted < 1 ? 1 : wanted > 10000 ? 10000 : (int)wanted;
  if (c->o.in_place && c->repeat > 8) c->repeat = 8; /* values drift */
}

/* Clearly slower ones are not run to the end. */
static bool is_out(const child *c, size_t i) {
  if (c->at->states[i] != TUNE_MEASURED) return true;
  if (i < 2 || c->rounds < LEAST_ROUNDS) return false;
  double sorted[MOST_ROUNDS];
  memcpy(sorted, c->ratio[i], (size_t)c->rounds * sizeof *sorted);
  return tune_median(sorted, (size_t)c->rounds) > 1.25;
}

/* The planned schedule, in the middle of a few candidates: each has a neighbouring run of it. */
static void measure_round(child *c) {
  double planned = 0;
  enum { BETWEEN = 3 };
  int since = BETWEEN;
  for (size_t i = 1; i < c->n; ++i) {
    if (is_out(c, i)) continue;
    if (since++ == BETWEEN) {
      step(c, 0);
      planned = timed(c, 0);
      since = 1;
    }
    step(c, (int)i);
    c->time[i][c->rounds] = timed(c, i);
    c->ratio[i][c->rounds] = c->time[i][c->rounds] / planned;
  }
  c->time[0][c->rounds] = planned;
  ++c->rounds;
}

/* Of candidate i, whose last rounds may be missing. */
static void sum_up(child *c, size_t i) {
  size_t n = 0;
  while (n < (size_t)c->rounds && c->time[i][n] > 0) ++n;
  if (!n) return;
  tune_times *t = &c->at->times[i];
  t->us = 1e6 * tune_median(c->time[i], n);
  if (i) t->ratio = tune_median(c->ratio[i], n);
  if (i) t->noise = tune_notch(c->ratio[i], n);
}

static bool has_room(child *c) {
  for (size_t i = 0; i < c->n; ++i) {
    c->time[i] = calloc(MOST_ROUNDS, sizeof **c->time);
    c->ratio[i] = calloc(MOST_ROUNDS, sizeof **c->ratio);
    if (!c->time[i] || !c->ratio[i]) return false;
  }
  return true;
}

/* list[1] is the planned schedule again. */
static bool run_all(child *c) {
  step(c, 0);
  if (!make_operands(c)) return false;
  tune_operands_reset(&c->o);
  if (c->run[0](c->o.buf, c->o.sym, c->o.scalar) || !keep_right(c) || !has_room(c)) return false;
  for (size_t i = 1; i < c->n; ++i) {
    if (c->at->states[i] != TUNE_OPEN) continue;
    step(c, (int)i);
    c->at->states[i] = try_one(c, i) ? TUNE_MEASURED : TUNE_WRONG;
  }
  c->repeat = 1;
  choose_repeat(c);
  while (c->rounds < c->x->rounds && (c->rounds < LEAST_ROUNDS || tc_tuning_now() < c->x->end))
    measure_round(c);
  for (size_t i = 0; i < c->n; ++i) sum_up(c, i);
  const tune_times *self = &c->at->times[1];
  c->at->noise = (self->ratio > 1 ? self->ratio - 1 : 1 - self->ratio) + self->noise;
  return true;
}

static void *find(void *library, const tune_candidate *c) {
  tc_buf name = {0};
  tc_putf(&name, "tune_%s", c->symbol);
  void *found = name.text ? dlsym(library, name.text) : NULL;
  tc_buf_free(&name);
  return found;
}

_Noreturn static void be_child(const tune_problem *x, tune_candidate *const *list, size_t n,
                               const char *path, board *at) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  child c = {.x = x, .list = list, .n = n, .at = at};
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) fprintf(stderr, "tc-tune: %s\n", dlerror());
  for (size_t i = 0; library && i < n; ++i) {
    kernel_fn *const *found = at->states[i] == TUNE_OPEN || i == 0 ? find(library, list[i]) : NULL;
    if (found) c.run[i] = *found;
    if (!found && at->states[i] == TUNE_OPEN) at->states[i] = TUNE_REFUSED;
  }
  at->done = library && c.run[0] && run_all(&c);
  _exit(0);
}

/* ---- the machine ----------------------------------------------------------------------------- */

static double own_time(void) {
  struct timespec at;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
  return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

/* Is one of the threads not served while all of them compute? */
static void spin(void *busy, int part, int parts) {
  (void)part, (void)parts;
  const double start = tc_tuning_now(), own = own_time(), seconds = 30e-3;
  while (tc_tuning_now() < start + seconds) continue;
  if (own_time() - own < 0.9 * (tc_tuning_now() - start))
    __atomic_store_n((int *)busy, 1, __ATOMIC_RELAXED);
}

bool tune_machine_is_idle(void) {
  int status = 1;
  if (getenv("TC_TUNE_TEST")) return true;
  fflush(NULL);
  const pid_t pid = fork();
  if (!pid) {
    int busy = 0;
    tcrt_team(spin, &busy, 0);
    _exit(busy);
  }
  return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

/* One process measures at a time.  A descriptor to be closed, or -1: there are no locks. */
static int take_turn(void) {
  char path[64];
  snprintf(path, sizeof path, "/tmp/tc-tune-%u.lock", (unsigned)getuid());
  const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd >= 0) flock(fd, LOCK_EX);
  return fd;
}

/* ---- the parent ------------------------------------------------------------------------------ */

/* Waits for its end.  false: it made no progress, and was ended. */
static bool watch(pid_t pid, const board *at) {
  uint64_t seen = at->progress;
  double since = tc_tuning_now();
  const double patience = tune_plants("hang") ? 0.5 : hang_seconds;
  for (int status;;) {
    const pid_t ended = waitpid(pid, &status, WNOHANG);
    if (ended == pid || (ended < 0 && errno != EINTR)) return true;
    usleep(2000);
    if (at->progress != seen) seen = at->progress, since = tc_tuning_now();
    if (tc_tuning_now() - since < patience + 100 * at->planned) continue;
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    return false;
  }
}

static bool run_children(const tune_problem *x, tune_candidate *const *list, size_t n,
                         const char *path, board *at) {
  while (!at->done) {
    for (size_t i = 0; i < n; ++i)
      if (at->states[i] == TUNE_MEASURED) at->states[i] = TUNE_OPEN;
    at->running = 0;
    fflush(NULL);
    const pid_t pid = fork();
    if (pid < 0) return false;
    if (!pid) be_child(x, list, n, path, at);
    const bool moved = watch(pid, at);
    if (at->done) break;
    if (at->running < 2) return false; /* the planned schedule */
    at->states[at->running] = moved ? TUNE_CRASHED : TUNE_HUNG;
  }
  return true;
}

bool tune_measure(tune_problem *x, tune_candidate *const *list, size_t n, const char *path,
                  double *noise) {
  board *at = mmap(NULL, sizeof *at, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return false;
  for (size_t i = 0; i < n; ++i) at->states[i] = i < 2 ? TUNE_OPEN : list[i]->state;
  const double asked = tc_tuning_now();
  const int turn = take_turn();
  x->end += tc_tuning_now() - asked;
  const bool ok = run_children(x, list, n, path, at);
  if (turn >= 0) close(turn);
  *noise = at->noise;
  for (size_t i = 0; i < n; ++i) {
    if (i != 1) list[i]->state = i ? (tune_state)at->states[i] : TUNE_MEASURED;
    if (i != 1) list[i]->times = at->times[i];
  }
  munmap(at, sizeof *at);
  return ok;
}
