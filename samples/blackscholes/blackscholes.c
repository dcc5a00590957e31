/* blackscholes - European options, 16 million contracts (Black and Scholes 1973, closed form):
 *
 *   d1 = (ln(S/K) + (r + v^2/2) T) / (v sqrt T),  d2 = d1 - v sqrt T,  N(x) = (1 + erf(x / sqrt 2))
 * / 2 call = S N(d1) - K e^(-rT) N(d2)              put = K e^(-rT) N(-d2) - S N(-d1)
 *
 * Each pricing function reads 16 bytes and writes 4 per contract: as one kernel that is all its
 * traffic; op by op it is twenty times that. */
#include "common/sample.h"

#include <math.h>
#include <stdlib.h>

/* Standard normal distribution function. */
static tc_tensor *normal_cdf(const tc_tensor *x) {
  return tc_mul_s(tc_add_s(tc_erf(tc_mul_s(x, 0.70710678118654752440)), 1.0), 0.5);
}

static tc_tensor *moneyness(const tc_tensor *spot, const tc_tensor *strike, const tc_tensor *years,
                            const tc_tensor *volatility, double rate) {
  tc_tensor *drift = tc_add_s(tc_mul_s(tc_square(volatility), 0.5), rate);
  tc_tensor *d = tc_add(tc_log(tc_div(spot, strike)), tc_mul(drift, years));
  return tc_div(d, tc_mul(volatility, tc_sqrt(years)));
}

static tc_tensor *discounted(const tc_tensor *strike, const tc_tensor *years, double rate) {
  return tc_mul(strike, tc_exp(tc_mul_s(years, -rate)));
}

TC_COMPILE static tc_tensor *call_price(const tc_tensor *spot TC_SHAPE("f32[N]"),
                                        const tc_tensor *strike TC_SHAPE("f32[N]"),
                                        const tc_tensor *years TC_SHAPE("f32[N]"),
                                        const tc_tensor *volatility TC_SHAPE("f32[N]"),
                                        double rate) {
  tc_tensor *d1 = moneyness(spot, strike, years, volatility, rate);
  tc_tensor *d2 = tc_sub(d1, tc_mul(volatility, tc_sqrt(years)));
  return tc_sub(tc_mul(spot, normal_cdf(d1)),
                tc_mul(discounted(strike, years, rate), normal_cdf(d2)));
}

TC_COMPILE static tc_tensor *put_price(const tc_tensor *spot TC_SHAPE("f32[N]"),
                                       const tc_tensor *strike TC_SHAPE("f32[N]"),
                                       const tc_tensor *years TC_SHAPE("f32[N]"),
                                       const tc_tensor *volatility TC_SHAPE("f32[N]"),
                                       double rate) {
  tc_tensor *d1 = moneyness(spot, strike, years, volatility, rate);
  tc_tensor *d2 = tc_sub(d1, tc_mul(volatility, tc_sqrt(years)));
  return tc_sub(tc_mul(discounted(strike, years, rate), normal_cdf(tc_neg(d2))),
                tc_mul(spot, normal_cdf(tc_neg(d1))));
}

/* Put-call parity: call - put = S - K e^(-rT).  The largest violation. */
TC_COMPILE static tc_tensor *parity_gap(const tc_tensor *call TC_SHAPE("f32[N]"),
                                        const tc_tensor *put TC_SHAPE("f32[N]"),
                                        const tc_tensor *spot TC_SHAPE("f32[N]"),
                                        const tc_tensor *strike TC_SHAPE("f32[N]"),
                                        const tc_tensor *years TC_SHAPE("f32[N]"), double rate) {
  tc_tensor *forward = tc_sub(spot, discounted(strike, years, rate));
  return tc_max(tc_abs(tc_sub(tc_sub(call, put), forward)), TC_ALL, false);
}

/* The same price in double, by libm. */
static double reference_call(double s, double k, double t, double v, double r) {
  double d1 = (log(s / k) + (r + v * v / 2) * t) / (v * sqrt(t)), d2 = d1 - v * sqrt(t);
  return s * erfc(-d1 / sqrt(2)) / 2 - k * exp(-r * t) * erfc(-d2 / sqrt(2)) / 2;
}

/* Uniform in [lo, hi). */
static tc_tensor *uniform(int64_t n, uint64_t seed, double lo, double hi) {
  return sample_check(tc_add_s(tc_mul_s(tc_rand(TC_DIMS(n), seed, TC_F32), hi - lo), lo));
}

/* The elements in the CPU's memory, wherever x is. */
static const float *on_host(const tc_tensor *x) {
  return tc_cdata(sample_check(tc_to(x, TC_CPU)));
}

int main(int argc, char **argv) {
  sample_begin(argc, argv, "[--contracts N]");
  int64_t n = strtoll(sample_option("--contracts", "16777216"), NULL, 10);
  const double rate = 0.02;
  if (n < 1) return fprintf(stderr, "--contracts wants a positive number\n"), 2;
  TC_SCOPE {
    tc_tensor *spot = uniform(n, 1, 50, 150), *strike = uniform(n, 2, 50, 150);
    tc_tensor *years = uniform(n, 3, 0.1, 2), *volatility = uniform(n, 4, 0.1, 0.6);
    tc_tensor *call = sample_check(call_price(spot, strike, years, volatility, rate));
    tc_tensor *put = sample_check(put_price(spot, strike, years, volatility, rate));
    printf("contracts: %lld\n", (long long)n);
    printf("mean call price: %.2f\n", tc_item(tc_mean(call, TC_ALL, false)));
    printf("mean put price: %.2f\n", tc_item(tc_mean(put, TC_ALL, false)));

    double worst = 0;
    const float *s = on_host(spot), *k = on_host(strike), *t = on_host(years);
    const float *v = on_host(volatility), *c = on_host(call);
    for (int64_t i = 0; i < n; i += 1 + n / 10000)
      worst = fmax(worst, fabs(c[i] - reference_call(s[i], k[i], t[i], v[i], rate)));
    double gap = tc_item(sample_check(parity_gap(call, put, spot, strike, years, rate)));
    printf("a sample of calls agrees with double arithmetic to a hundredth of a cent: %s\n",
           worst < 1e-4 ? "yes" : "no");
    printf("put-call parity holds to a hundredth of a cent: %s\n", gap < 1e-4 ? "yes" : "no");
    printf("# largest difference %.2g, largest gap %.2g\n", worst, gap);
    tc_free(call);
    tc_free(put);
    /* Prices are differences of S N(d1) and K e^(-rT) N(d2): up to 150, where the last bit of f32 is
     * 1.5e-5, be the price a cent.  Products that round correctly each miss a tolerance of the price. */
    tc_tensor *terms = sample_check(tc_maximum(spot, strike));
    SAMPLE_MEASURE_TERMS(terms, call_price, spot, strike, years, volatility, rate);
    SAMPLE_MEASURE_TERMS(terms, put_price, spot, strike, years, volatility, rate);
  }
}
