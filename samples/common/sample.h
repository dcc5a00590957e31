/* sample.h - what the samples share: options, error exits, and the comparison of a compiled
 * function with its original body that ends up as a row of the table of tools/demo.
 *
 * Lines that a sample prints with '#' in front carry times and counters; all others are answers,
 * which are the same with and without the plugin. */
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
/* Prints "what: v0 v1 ..." with three decimals. */
void sample_print(const char *what, const tc_tensor *vector);
/* Share of equal entries, in percent: the answer as a whole number, digits in a '#' line. */
void sample_print_accuracy(const char *what, const tc_tensor *predicted, const tc_tensor *truth);

/* SAMPLE_MEASURE(f, a, b): calls f(a, b) by its body and compiled, compares the results, takes
 * times when a demo is asked for, and prints the row.  f returns one tensor. */
#define SAMPLE_MEASURE(function, ...)                                                              \
  for (struct sample_run run_ = sample_run_begin(#function); sample_run_next(&run_);)              \
  sample_run_done(&run_, function(__VA_ARGS__))

typedef struct sample_run {
  const char *name;
  tc_stats before;
  bool compiled;         /* the plugin compiled this function */
  bool by_kernels;       /* the call under way */
  tc_tensor *first[2];   /* results of the first calls: body, kernels */
  double seconds[2][32]; /* of each call */
  int calls[2];
  double started;
  tc_scope scope;
} sample_run;

sample_run sample_run_begin(const char *name);
bool sample_run_next(sample_run *r);
void sample_run_done(sample_run *r, tc_tensor *result);

#endif
