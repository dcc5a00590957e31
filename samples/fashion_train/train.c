/* fashion_train - a network 784-256-10 learns to tell clothes in 70,000 photographs (Xiao, Rasul, Vollgraf 2017).
 *
 * A step of training is one compiled function: images of a shuffled minibatch, forward, gradients, AdamW.
 *
 *   --weights FILE   the weights as safetensors, for fashion_predict
 *   --curve FILE     the learning curve as SVG
 *   --check N        first, N steps by kernels and by bodies: the losses have to agree, and no step behind the
 *                    first may take memory from the system
 *   --least PERCENT  fails where fewer of the test images are told right */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "common/save.h"
#include "curve.h"
#include "step.h"

enum { MOST_EPOCHS = 100 };

static const double highest_rate = 2e-3;

/* The numbers 0 to n - 1 in random order, i64[n]: Fisher and Yates. */
static tc_tensor *shuffled(int64_t n, uint64_t seed) {
  int64_t *order = malloc(sizeof *order * (size_t)n);
  if (!order) exit(1);
  for (int64_t i = 0; i < n; i++) {
    const int64_t k = sample_random(&seed) % (i + 1);
    order[i] = order[k];
    order[k] = i;
  }
  tc_tensor *t = sample_check(tc_to(tc_from(TC_DIMS(n), order, TC_I64), tc_default_device()));
  free(order);
  return t;
}

/* ---- training -------------------------------------------------------------------------------- */

static double seconds(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The step on images `at` and following of `order`, which takes the rate down to 0 in `steps`. */
static double step_at(const training *t, const images *all, const tc_tensor *order, int64_t at,
                      int64_t step, int64_t steps) {
  double loss = 0;
  TC_SCOPE {
    const tc_tensor *batch = tc_slice(order, 0, at, at + BATCH, 1);
    const double rate = highest_rate * (double)(steps - step + 1) / (double)steps;
    loss = tc_item(sample_check(train_step(t, all, batch, rate, step)));
  }
  return loss;
}

static double accuracy_of(const network *net, const images *test) {
  double share = 0;
  TC_SCOPE TC_NO_GRAD {
    const tc_tensor *right = tc_eq(classify(net, test->pixels), test->classes);
    share = tc_item(sample_check(tc_mean(right, TC_ALL, false)));
  }
  return share;
}

static epoch train_epoch(const training *t, const images *train, const images *test, int number,
                         int epochs) {
  const int64_t n = tc_numel(train->classes), steps = (n + BATCH - 1) / BATCH;
  epoch e = {0, 0};
  TC_SCOPE {
    const tc_tensor *order = shuffled(n, (uint64_t)number);
    const double started = seconds();
    for (int64_t i = 0; i < steps; i++)
      e.loss += step_at(t, train, order, i * BATCH, number * steps + i + 1, epochs * steps);
    const double took = seconds() - started;
    e.loss /= (double)steps;
    e.accuracy = accuracy_of(&t->net, test);
    printf("# epoch %2d: loss %.4f, test accuracy %.2f %%, %.0f samples/s\n", number + 1, e.loss,
           100 * e.accuracy, (double)n / took);
    fflush(stdout);
  }
  return e;
}

static void save(const char *path, const network *net) {
  static const char *const name[] = {"w1", "b1", "w2", "b2"};
  tc_tensor *p[PARAMETERS];
  list(net, p);
  save_safetensors(path, PARAMETERS, name, p);
}

/* ---- comparison ------------------------------------------------------------------------------ */

/* n steps from the same start, of which loss[i] is the loss; the storages taken from the system behind the
 * first. */
static uint64_t losses_of(const images *all, double *loss, int64_t n, bool kernels) {
  uint64_t taken = 0;
  const bool before = tc_set_enabled(kernels);
  TC_SCOPE {
    const training t = start();
    const int64_t batches = (tc_numel(all->classes) + BATCH - 1) / BATCH;
    const tc_tensor *order = shuffled(tc_numel(all->classes), 0);
    for (int64_t i = 0; i < n; i++) {
      loss[i] = step_at(&t, all, order, i % batches * BATCH, i + 1, n);
      if (i == 0) taken = tc_memory().mallocs;
    }
    taken = tc_memory().mallocs - taken;
  }
  tc_set_enabled(before);
  return taken;
}

/* Rounding is another in kernels, and steps carry it on: 1e-3 of the loss after hundreds of them. */
static void check(const images *all, int64_t n) {
  double *loss = malloc(2 * sizeof *loss * (size_t)n), apart = 0;
  if (!loss) exit(1);
  const uint64_t taken = losses_of(all, loss, n, true);
  losses_of(all, loss + n, n, false);
  for (int64_t i = 0; i < n; i++) apart = fmax(apart, fabs(loss[i] - loss[n + i]) / loss[n + i]);
  printf("# losses of %lld steps are apart by %.1e at most, and end at %.6f and %.6f\n",
         (long long)n, apart, loss[n - 1], loss[2 * n - 1]);
  printf("# storages taken from the system behind the first step: %llu\n",
         (unsigned long long)taken);
  const tc_stats stats = tc_stats_of("train_step");
  const bool same = apart < 1e-3;
  sample_print_close("loss", 1e-3, loss, (int)n);
  const bool steady = stats.functions == 0 || (taken == 0 && stats.hits == (uint64_t)n);
  printf("steps by kernels and by bodies: %s\n", same ? "the same" : "not the same");
  if (!same || !steady) exit(1);
  free(loss);
}

/* The row of the table: steps of rate 0, which leave the weights as they are. */
static void measure(const training *t, const images *all) {
  TC_SCOPE {
    tc_tensor *w[PARAMETERS];
    list(&t->net, w);
    for (int i = 0; i < PARAMETERS; i++)
      w[i] = tc_requires_grad_(tc_clone(tc_detach(sample_widen_tensor(w[i]))), true);
    training wide = {.net = {w[0], w[1], w[2], w[3]}};
    wide.mean = zeros(&wide.net), wide.square = zeros(&wide.net);
    const tc_tensor *batch =
        sample_check(tc_slice(shuffled(tc_numel(all->classes), 0), 0, 0, BATCH, 1));
    for (sample_run run = sample_run_begin("train_step", NULL); sample_run_next(&run);)
      sample_run_done(&run, train_step(run.way == SAMPLE_WIDE ? &wide : t, all, batch, 0, 1));
  }
}

int main(int argc, char **argv) {
  sample_begin(argc, argv,
               "[--data FOLDER] [--images N] [--epochs N] [--weights FILE] [--curve FILE] "
               "[--check N] [--least PERCENT]");
  const char *folder = sample_option("--data", FASHION_MNIST);
  const int64_t n = strtoll(sample_option("--images", "60000"), NULL, 10);
  const int64_t compared = strtoll(sample_option("--check", "0"), NULL, 10);
  const int epochs = atoi(sample_option("--epochs", "8"));
  const char *weights = sample_option("--weights", NULL), *curve = sample_option("--curve", NULL);
  if (n < BATCH || epochs < 1 || epochs > MOST_EPOCHS || compared < 0)
    return fprintf(stderr, "--images wants %d or more, --epochs 1 to %d\n", BATCH, MOST_EPOCHS), 2;
  bool learned = true;
  TC_SCOPE {
    const images train = load_images(folder, "train", n), test = load_images(folder, "t10k", 10000);
    if (compared) check(&train, compared);
    const training t = start();
    epoch e[MOST_EPOCHS];
    for (int i = 0; i < epochs; i++) e[i] = train_epoch(&t, &train, &test, i, epochs);
    learned = 100 * e[epochs - 1].accuracy >= atof(sample_option("--least", "0"));
    sample_print_accuracy("fashion_train", classify(&t.net, test.pixels), test.classes);
    if (weights) save(weights, &t.net);
    if (curve) draw_curve(curve, e, epochs);
    if (sample_is_demo()) measure(&t, &train);
  }
  return learned ? 0 : 1;
}
