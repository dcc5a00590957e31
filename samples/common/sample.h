/* sample.h - what the samples share: options, error exits, and the comparison of a compiled
 * function with its original body that ends up as a row of the table of tools/demo.
 *
 * Lines that a sample prints with '#' in front carry times and counters; all others are answers,
 * which are the same with and without the plugin, or with '~' in front within a tolerance. */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <stdbool.h>
#include <stdio.h>

#include <tcompile.h>

/* Takes "--demo FILE" (rows are appended to FILE, and calls are repeated to time them) and the
 * options in `usage`, of the form "--key VALUE", out of the arguments.  Anything else: usage, exit.
 */
void sample_begin(int argc, char **argv, const char *usage);
/* The value given for "--key", or what stands in for it. */
const char *sample_option(const char *key, const char *otherwise);
bool sample_is_demo(void);

/* t, or exit with tc_error() when t is NULL. */
tc_tensor *sample_check(tc_tensor *t);
/* From the generator of MMIX (Knuth), 0 <= number < 2^31. */
int64_t sample_random(uint64_t *seed);
/* Prints "what: v0 v1 ..." with three decimals. */
void sample_print(const char *what, const tc_tensor *vector);
/* Prints n numbers, "~tolerance what: v0 v1 ...", which agree within that part of themselves however the sample was
 * built. */
void sample_print_close(const char *what, double tolerance, const double *v, int n);
/* Share of equal entries, in percent: the answer as a whole number, digits in a '#' line. */
void sample_print_accuracy(const char *what, const tc_tensor *predicted, const tc_tensor *truth);

/* SAMPLE_MEASURE(f, a, b): calls f(a, b) by its body and compiled, takes times when a demo is asked
 * for, compares both results with the body run on operands widened to f64, and prints the row.
 * f takes tensors and numbers, at most six, and returns one tensor. */
#define SAMPLE_MEASURE(function, ...) SAMPLE_MEASURE_TERMS(NULL, function, __VA_ARGS__)
/* The same of a result that is the difference of larger numbers, of at most `terms` each (a tensor of
 * its shape): a number that is rounded to p bits is right to 2^-p of itself, and so is the difference to
 * 2^-p of what it was taken from, however little is left.  Its tolerance is relative to the terms.  An error
 * of the kernels beyond it ends the program. */
#define SAMPLE_MEASURE_TERMS(terms, function, ...)                                                 \
  for (struct sample_run run_ = sample_run_begin(#function, terms); sample_run_next(&run_);)       \
  sample_run_done(&run_, run_.way == SAMPLE_WIDE ? function(SAMPLE_WIDENED(__VA_ARGS__))           \
                                                 : function(__VA_ARGS__))

#define SAMPLE_WIDENED(...)                                                                        \
  SAMPLE_PICK(__VA_ARGS__, SAMPLE_W7, SAMPLE_W6, SAMPLE_W5, SAMPLE_W4, SAMPLE_W3, SAMPLE_W2,       \
              SAMPLE_W1, )                                                                         \
  (__VA_ARGS__)
#define SAMPLE_PICK(a, b, c, d, e, f, g, name, ...) name
#define SAMPLE_W1(a) sample_widen(a)
#define SAMPLE_W2(a, ...) sample_widen(a), SAMPLE_W1(__VA_ARGS__)
#define SAMPLE_W3(a, ...) sample_widen(a), SAMPLE_W2(__VA_ARGS__)
#define SAMPLE_W4(a, ...) sample_widen(a), SAMPLE_W3(__VA_ARGS__)
#define SAMPLE_W5(a, ...) sample_widen(a), SAMPLE_W4(__VA_ARGS__)
#define SAMPLE_W6(a, ...) sample_widen(a), SAMPLE_W5(__VA_ARGS__)
#define SAMPLE_W7(a, ...) sample_widen(a), SAMPLE_W6(__VA_ARGS__)

/* A tensor of a floating dtype becomes f64, all else stays as it is. */
#define sample_widen(x)                                                                            \
  _Generic((x), tc_tensor *: sample_widen_tensor, const tc_tensor *: sample_widen_tensor,          \
           int: sample_same_int, double: sample_same_double)(x)
tc_tensor *sample_widen_tensor(const tc_tensor *t);
static inline int sample_same_int(int x) { return x; }
static inline double sample_same_double(double x) { return x; }

typedef enum { SAMPLE_BODY, SAMPLE_KERNELS, SAMPLE_WIDE, SAMPLE_WAYS } sample_way;

typedef struct sample_run {
  const char *name;
  const tc_tensor *terms;        /* or NULL */
  tc_stats before, after;        /* the wide call is not counted */
  bool compiled;                 /* the plugin compiled this function */
  sample_way way;                /* of the call under way */
  tc_tensor *first[SAMPLE_WAYS]; /* results of the first calls */
  double seconds[2][32];         /* of each call by body, by kernels */
  int calls[SAMPLE_WAYS];
  double started;
  tc_scope scope;
} sample_run;

sample_run sample_run_begin(const char *name, const tc_tensor *terms);
bool sample_run_next(sample_run *r);
void sample_run_done(sample_run *r, tc_tensor *result);

#endif
