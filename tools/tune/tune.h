/* tune.h - tc-tune: runs a kernel by the schedules that are like its planned one, and finds the
 * fastest.
 *
 *   tune_main.c  what is asked for, and what is told
 *   search.c     from the planned schedule to neighbours, from the fastest of these to its own, while that gains
 *   build.c      texts of candidates, and the library that a compiler makes of them
 *   operands.c   made-up arrays of the kernel's sizes
 *   measure.c    the process that runs them, in turns with the planned one: it may crash or hang
 *   statistics.c medians, and how sure they are
 *   planted.c    defects and times for tests
 *
 * Runs of candidates and of the planned schedule take turns, so that what else the machine does
 * meets all alike; what counts is the median of the ratios of neighbouring runs.  A schedule is
 * taken if its ratio is below 1 by more than the noise: that of its own ratios, and of the planned
 * schedule against itself in the same run. */
#ifndef TC_TUNE_H
#define TC_TUNE_H

#include "backends/backend.h"
#include "backends/schedule/schedule.h"

enum { TUNE_MOST = 64 /* candidates of a run, the planned schedule twice among them */ };

/* Why a candidate is not taken. */
typedef enum {
  TUNE_OPEN,      /* not run yet */
  TUNE_MEASURED,
  TUNE_SAME,      /* its text is that of another one */
  TUNE_REFUSED,   /* by the compiler */
  TUNE_CRASHED,
  TUNE_HUNG,
  TUNE_WRONG,     /* it gives other results than the planned one */
} tune_state;

typedef struct tune_times {
  double us;    /* median of a run, microseconds */
  double ratio; /* median of its runs' ratios to neighbouring ones of the planned schedule */
  double noise; /* half of the ratio's confidence interval */
} tune_times;

typedef struct tune_candidate {
  const tc_schedule *schedule;
  char *change, *text; /* what it does otherwise than the planned schedule; as text */
  char *symbol;        /* of its function; malloc */
  tc_kernel_text code;
  tune_state state;
  tune_times times;
} tune_candidate;

/* What is measured, and how. */
typedef struct tune_problem {
  const tc_backend *b;
  tc_program *p;
  tc_kernel *k;
  const int64_t *sym; /* values of the program's symbols */
  int level;          /* tc_isa */
  int64_t lanes;      /* of a vector there */
  const char *compiler;
  const char *const *macro;
  size_t nmacro;
  double end;         /* of the time (tc_tuning_now) */
  int rounds;         /* of runs, at most */
} tune_problem;


/* search.c: of all that were tried, [0] the planned one.  best: the one to take, 0: the planned
 * schedule stays.  false after saying why on stderr. */
typedef struct tune_result {
  TC_VEC(tune_candidate) tried;
  size_t best;
  double noise; /* of the planned schedule against itself */
  bool idle;    /* the machine was; else decisions of the kernel itself, about threads, stayed */
} tune_result;
bool tune_search(tune_problem *x, tune_result *out);
void tune_result_free(tune_result *r);

/* Lists have the planned schedule in front, twice.
 * build.c: a library at `path` of it, and of those whose state is TUNE_OPEN.  false: nothing could
 * be made of it. */
bool tune_emit(const tune_problem *x, tune_candidate *c);
bool tune_build(const tune_problem *x, tune_candidate *const *list, size_t n, const char *path);

/* measure.c: sets states and times of the list.  *noise as in tune_result.  false: the planned
 * schedule does not run. */
bool tune_measure(tune_problem *x, tune_candidate *const *list, size_t n, const char *path,
                  double *noise);

/* Does the machine do nothing else?  Where it does, teams of threads are slower than they will
 * be. */
bool tune_machine_is_idle(void);

/* operands.c */
typedef struct tune_operands {
  uint32_t n;
  void **buf;       /* what the kernel is given */
  /* each array, and what is in it when the kernel begins: of those that it writes */
  char **memory, **fresh;
  size_t *bytes;
  bool *written;
  bool in_place;    /* it reads what it writes */
  int64_t *sym;
  double *scalar;   /* tc_value */
} tune_operands;
/* Numbers between low and low + 2, integers below `range`. */
bool tune_operands_make(const tune_problem *x, const tc_kernel_text *code, int threads, double low,
                        int64_t range, tune_operands *o);
void tune_operands_reset(const tune_operands *o);
void tune_operands_free(tune_operands *o);
/* Are the arrays that the kernel writes like `other`'s?  To rounding, of the largest element of
 * each. */
bool tune_operands_agree(const tune_problem *x, const tune_operands *o, char *const *other);
bool tune_operands_have_nan(const tune_problem *x, const tune_operands *o);

/* statistics.c: sorts the values. */
double tune_median(double *value, size_t n);
/* Half of the interval that the median lies in: 1.57 IQR / sqrt(n) (McGill, Tukey and Larsen,
 * 1978). */
double tune_notch(const double *sorted, size_t n);
bool tune_is_faster(const tune_times *t, double noise);

/* planted.c: TC_TUNE_TEST, a list "crash:TEXT,hang:TEXT,wrong:TEXT,fast:TEXT": what befalls
 * candidates with that text in their schedules; fast: they take half of the time, and with any
 * `fast` no clock is asked. */
bool tune_planted(const char *what, const tune_candidate *c);
bool tune_plants(const char *what);

#endif
