/* tuning.h - schedules that were measured: which kernel they are of, where they are kept, how they
 * are used.
 *
 *   key.c       what a measurement is of: a kernel and its planned schedule; the machine
 *   database.c  the file of results
 *   apply.c     results in place of planned schedules; what is not known is measured
 *   ask.c       the process that measures, tools/tune
 *
 * The file is text.  An entry is a kernel, and what was found out about it on one machine:
 *
 *   kernel 5f0e...91 sum_1              the key; what the kernel was called, for the reader
 *     machine AMD EPYC 9654, v4         the processor, and the level of its kernels
 *     version 0.1.0                     of this compiler
 *     planned 120.5                     microseconds
 *     taken 88.1 by stage 0 unroll 8    without this line: the planned schedule stays
 *     threads 80000                     the schedule, in the form of backends/schedule/words.h
 *     nest 0
 *       vector j
 *       stage 0 unroll 8
 *   end
 *
 * Of entries with one key, machine and version the first counts.  ';' starts a comment. */
#ifndef TC_TUNING_H
#define TC_TUNING_H

#include "backends/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TC_TUNING_KEY = 64 /* hexadecimal digits */ };

typedef struct tc_tuning_entry {
  const char *key, *kernel, *machine, *version;
  double planned, taken;   /* microseconds; taken 0: the planned schedule stays */
  const char *change;      /* what is done otherwise; taken alone */
  const char *schedule;    /* lines, taken alone */
  uint32_t line;           /* of the file, of the first one */
} tc_tuning_entry;

typedef struct tc_tuning tc_tuning;

/* ---- database.c ------------------------------------------------------------------------------ */

/* The entries of a file; of one that is not there: none.  NULL: it is wrong, and why: "FILE: line
 * 7: ...". */
tc_tuning *tc_tuning_read(const char *path, tc_buf *why);
/* The same of a text, called `name`. */
tc_tuning *tc_tuning_parse(const char *text, const char *name, tc_buf *why);
void tc_tuning_free(tc_tuning *t);
uint32_t tc_tuning_count(const tc_tuning *t);
const tc_tuning_entry *tc_tuning_at(const tc_tuning *t, uint32_t i);
/* Of this version; NULL: there is none. */
const tc_tuning_entry *tc_tuning_find(const tc_tuning *t, const char *key, const char *machine);
/* Adds an entry (but for its version and line) behind the others, if there is none like it yet; any
 * number of processes do so at once.  false: why: "FILE: ...". */
bool tc_tuning_add(const char *path, const tc_tuning_entry *e, tc_buf *why);

/* ---- key.c ----------------------------------------------------------------------------------- */

/* What of the kernel has a schedule that can be measured: itself, or the nests that do a product;
 * NULL: nothing. */
const tc_kernel *tc_tuning_nests(const tc_program *p, uint32_t kernel);
/* Is there such, of sizes that are all known? */
bool tc_tuning_is_fixed(const tc_program *p, uint32_t kernel);
/* By the text of the kernel's loops, its schedule, and values of symbols (NULL: all sizes are
 * known). */
bool tc_tuning_put_key(const tc_backend *b, const tc_program *p, uint32_t kernel,
                       const int64_t *sym, tc_buf *key);
/* What program `alone` (tc_kernel_alone) is called in schedules. */
#define TC_TUNING_NAME "kernel"
/* The best level of this machine's that is one of `levels` (bit i: tc_isa i; 0: all); and the
 * machine with that. */
int tc_tuning_level(uint32_t levels);
void tc_tuning_put_machine(uint32_t levels, tc_buf *out);

/* ---- ask.c ----------------------------------------------------------------------------------- */

/* tc-tune, beside this compiler or where it is installed or built.  false: it is not there. */
bool tc_tuning_find_tool(tc_buf *path);
/* Has the tool measure the kernel and write the result to the database, by its key.  false: why. */
bool tc_tuning_ask(const tc_backend *b, const tc_program *p, uint32_t kernel, const char *key,
                   const tc_function *f, double seconds, tc_buf *why);
double tc_tuning_now(void); /* seconds, of a clock that only goes on */

/* ---- apply.c --------------------------------------------------------------------------------- */

/* Puts measured schedules in place of the planned ones, if f->tuner says so, and tells of each as a
 * remark.  false: the database is wrong, or out of memory (nothing said). */
bool tc_tune_program(const tc_backend *b, tc_program *p, const tc_function *f, tc_buf *why);

#ifdef __cplusplus
}
#endif
#endif
