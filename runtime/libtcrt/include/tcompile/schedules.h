/* schedules.h - learning rates over the steps of training: functions of C numbers.
 *
 *   o.rate = tc_rate_cosine(tc_rate_linear(1e-3, step, 100, 0, 1), step, steps, 0);
 *
 * step counts from 1, as for optimisers: step k has the rate that the scheduler of torch.optim.lr_scheduler, which each
 * comment names, sets for epoch k - 1. */
#ifndef TCOMPILE_SCHEDULES_H
#define TCOMPILE_SCHEDULES_H

#include <math.h>
#include <stdint.h>

/* rate gamma^k after k times `every` steps, every >= 1: StepLR. */
static inline double tc_rate_step(double rate, int64_t step, int64_t every, double gamma) {
  return rate * pow(gamma, (double)((step - 1) / every));
}

/* rate gamma^(step - 1): ExponentialLR. */
static inline double tc_rate_exponential(double rate, int64_t step, double gamma) {
  return rate * pow(gamma, (double)(step - 1));
}

/* From `start` to `end` along half a wave of the cosine, t from 0 to 1. */
static inline double tc_rate_along_cosine(double start, double end, double t) {
  return end + (start - end) * (1 + cos(3.14159265358979323846 * t)) / 2;
}

/* From rate to `least` in `steps` >= 1, and on along the cosine after them: CosineAnnealingLR.
 * Loshchilov and Hutter, SGDR: Stochastic gradient descent with warm restarts, 2017, without restarts. */
static inline double tc_rate_cosine(double rate, int64_t step, int64_t steps, double least) {
  return tc_rate_along_cosine(rate, least, (double)(step - 1) / (double)steps);
}

/* From `from` times the rate to `to` times the rate in `steps` >= 1, and constant after them: LinearLR.  A warm-up has
 * to = 1. */
static inline double tc_rate_linear(double rate, int64_t step, int64_t steps, double from,
                                    double to) {
  return rate * (from + (to - from) * fmin((double)(step - 1) / (double)steps, 1));
}

typedef struct tc_one_cycle_options {
  double most;         /* the highest rate */
  double rising;       /* share of the steps on which the rate rises, 0..1 */
  double first_factor; /* the first rate is most / first_factor, */
  double last_factor;  /* and the last the first / last_factor */
} tc_one_cycle_options;

/* rising 0.3, first_factor 25, last_factor 1e4. */
static inline tc_one_cycle_options tc_one_cycle_defaults(double most) {
  tc_one_cycle_options o = {most, 0.3, 25, 1e4};
  return o;
}

/* Up to the highest rate and down to almost nothing in `steps`, along cosines: OneCycleLR.
 * Smith and Topin, Super-convergence: very fast training of neural networks using large learning rates, 2018. */
static inline double tc_rate_one_cycle(int64_t step, int64_t steps, tc_one_cycle_options o) {
  const double first = o.most / o.first_factor, top = o.rising * (double)steps - 1;
  const double at = (double)(step - 1), falling = fmax((double)(steps - 1) - top, 1e-300);
  return at < top ? tc_rate_along_cosine(first, o.most, at / top)
                  : tc_rate_along_cosine(o.most, first / o.last_factor, (at - top) / falling);
}

#endif
