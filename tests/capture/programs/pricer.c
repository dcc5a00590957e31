// Monte Carlo: paths of one asset, a payoff chosen by the caller, until the error is small enough.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

enum option_kind { CALL, PUT, ASIAN_CALL, KINDS };

struct market { double spot, rate, volatility; };
struct estimate { double price, error; int64_t paths; };

typedef tc_tensor *payoff_fn(const tc_tensor *last, const tc_tensor *mean, double strike);

static tc_tensor *call(const tc_tensor *last, const tc_tensor *mean, double strike) {
  (void)mean;
  return tc_maximum_s(tc_sub_s(last, strike), 0);
}
static tc_tensor *put(const tc_tensor *last, const tc_tensor *mean, double strike) {
  (void)mean;
  return tc_maximum_s(tc_rsub_s(last, strike), 0);
}
static tc_tensor *asian_call(const tc_tensor *last, const tc_tensor *mean, double strike) {
  return call(mean, last, strike);
}
static payoff_fn *const payoff[KINDS] = {[CALL] = call, [PUT] = put, [ASIAN_CALL] = asian_call};

/* Antithetic geometric Brownian motion. */
static inline tc_tensor *paths(const struct market *m, double expiry, int64_t n, int steps, uint64_t seed) {
  double dt = expiry / steps, drift = (m->rate - 0.5 * m->volatility * m->volatility) * dt;
  tc_tensor *z = tc_randn(TC_DIMS(n / 2, steps), seed, TC_F32);
  z = tc_concat((const tc_tensor *[]){z, tc_neg(z)}, 2, 0);
  tc_tensor *growth = tc_add_s(tc_mul_s(z, m->volatility * sqrt(dt)), drift);
  return tc_mul_s(tc_exp(tc_cumsum(growth, 1)), m->spot);
}

TC_COMPILE TC_SPECIALIZE("kind=0") TC_SPECIALIZE("kind=1") TC_SPECIALIZE("kind=2")
static struct estimate price(enum option_kind kind, const struct market *m, double strike, double expiry, double tolerance,
                             int64_t batch) {
  struct estimate e = {.error = INFINITY};
  double sum = 0, squares = 0, discount = exp(-m->rate * expiry);
  for (uint64_t round = 0; round < 64 && e.error > tolerance; round++)
    TC_SCOPE {
      tc_tensor *s = paths(m, expiry, batch, 16, 1000 + round);
      tc_tensor *v = tc_mul_s(payoff[kind](tc_select(s, 1, 15), tc_mean(s, TC_AXES(1), false), strike), discount);
      sum += tc_item(tc_sum(v, TC_ALL, false));
      squares += tc_item(tc_sum(tc_square(v), TC_ALL, false));
      e.paths += batch;
      e.price = sum / (double)e.paths;
      double variance = squares / (double)e.paths - e.price * e.price;
      e.error = sqrt(fmax(variance, 0) / (double)e.paths);
    }
  return e;
}

static void run(int scale) {
  static const char *const name[KINDS] = {"call", "put", "asian call"};
  const struct market m = {.spot = 100, .rate = 0.03, .volatility = 0.2};
  for (enum option_kind k = CALL; k < KINDS; k++) {
    struct estimate e = price(k, &m, 102, 1, 0.2, 1000 * scale);
    printf("%s %.4f +- %.4f after %d\n", name[k], e.price, e.error, (int)e.paths);
  }
}

int main(void) {
  run(1);
  return finish();
}
// CHECK-DAG: remark: 'price' compiled for kind=0: 18 ops in {{[0-9]+}} kernel{{s?}}, 1 segment 
// CHECK-DAG: remark: 'price' compiled for kind=1: 18 ops in {{[0-9]+}} kernel{{s?}}, 1 segment 
// CHECK-DAG: remark: 'price' compiled for kind=2: 18 ops in {{[0-9]+}} kernel{{s?}}, 1 segment 
// CHECK-DAG: remark: 'price' compiled for payoff[kind] == call: 18 ops in {{[0-9]+}} kernel{{s?}}, 1 segment 
// CHECK-DAG: remark: graph break in 'price': the number of rounds of the loop depends on a value that is not known at build time
// CHECK-NOT: remark: graph break in 'price': a function is called through a pointer
// CHECK-DAG: price [payoff[kind] == call] {{.*}} 0 0 0 
// CHECK-DAG: price [kind=2] {{.*}} 2 0 0 
// CHECK-DAG: price [kind=1] {{.*}} 3 0 0 
// CHECK-DAG: price [kind=0] {{.*}} 5 0 0 
