/* Runs compiled functions against their original bodies: over sizes, layouts, special values, and
 * operands that the guards must refuse. */
#define _GNU_SOURCE /* feenableexcept */
#include "driver.h"

#include <fenv.h>
#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agree.h"
#include "differences.h"
#include "guarded/operand.h"
#include "operands.h"
#include "rounding.h"

static struct {
  int runs, hits, fallbacks, refused, repeated, errors, segments, differences, failed, uncompiled;
} total;

/* ---- effects --------------------------------------------------------------------------------- */

static uint64_t trace;

void fuzz_note(int64_t what) { trace = (trace ^ (uint64_t)what) * 0x9e3779b97f4a7c15u + 1; }

void fuzz_mark(int what) { fuzz_note(what); }

void fuzz_seen(const tc_tensor *x, int what) {
  tc_tensor *all = tc_cast(x, TC_I64), *row = tc_contiguous(all);
  fuzz_note(what);
  for (int64_t i = 0; row && i < tc_numel(row); i++) fuzz_note(((const int64_t *)tc_cdata(row))[i]);
  tc_free(row);
  tc_free(all);
}

void fuzz_log(const char *format, ...) {
  char text[100];
  va_list list;
  va_start(list, format);
  const int n = vsnprintf(text, sizeof text, format, list);
  va_end(list);
  for (int i = 0; i < n; i++) fuzz_note(text[i]);
}

tc_tensor *fuzz_opaque(const tc_tensor *x) {
  fuzz_note(5);
  return tc_neg(x);
}

void fuzz_double(tc_tensor *x) {
  fuzz_note(6);
  tc_add_(x, x);
}

tc_tensor *fuzz_mirrored(const tc_tensor *x, double scale) {
  return tc_concat((const tc_tensor *[]){x, tc_mul_s(x, scale)}, 2, 0);
}

bool fuzz_mirrored_kernel(tc_tensor *out, const tc_tensor *x, double scale) {
  bool done = false;
  TC_SCOPE done = tc_copy_(out, fuzz_mirrored(x, scale)) != NULL;
  return done;
}

fuzz_box fuzz_box_of(tc_tensor *x) {
  fuzz_box b = {.dtype = x ? tc_dtype_of(x) : TC_DTYPE_COUNT,
                .rank = x ? tc_rank(x) : 0,
                .data = x ? tc_data(x) : NULL};
  for (int i = 0; i < b.rank; i++) {
    b.ne[i] = tc_size(x, b.rank - 1 - i);
    b.nb[i] = tc_stride(x, b.rank - 1 - i) * (int64_t)tc_dtype_size(b.dtype);
  }
  return b;
}

/* ---- one call -------------------------------------------------------------------------------- */

static const int rounds[FUZZ_RUNS] = {3, 1, 0}; /* the n of each run */

enum { EXCEPTIONS = FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW }; /* that kernels must not add */

static bool unrecorded; /* the function is called where no gradients are recorded */

/* rounding: how the results of ops are changed, 0: not. */
static outcome call(const fuzz_case *c, tc_tensor *const *x, int run, bool enabled,
                    uint64_t rounding) {
  outcome o = {.n = c->n, .name = c->name};
  for (int i = 0; i < c->n; i++) o.before[i] = x[i] && c->in[i].written ? fuzz_largest(x[i]) : 0;
  const size_t live = tc_memory().live;
  tc_clear_error();
  tc_set_enabled(enabled);
  fuzz_change_roundings(rounding);
  trace = 0;
  feclearexcept(FE_ALL_EXCEPT);
  const bool recorded = tc_set_grad_enabled(!unrecorded);
  o.result = c->run(x, o.output, 0.75, rounds[run]);
  tc_set_grad_enabled(recorded);
  o.raised = fetestexcept(EXCEPTIONS);
  o.bytes = tc_memory().live - live;
  fuzz_change_roundings(0);
  o.trace = trace;
  snprintf(o.error, sizeof o.error, "%s", tc_error() ? tc_error() : "");
  tc_clear_error();
  tc_set_enabled(true);
  for (int i = 0; i < c->n; i++) o.operand[i] = x[i];
  return o;
}

typedef struct counts {
  uint64_t hits, fallbacks;
} counts;

/* Frees what the function made and handed out; how many bytes that were. */
static size_t release(outcome *o) {
  const size_t before = tc_memory().live;
  tc_tensor *made[1 + FUZZ_OUTPUTS] = {o->result};
  memcpy(made + 1, o->output, sizeof o->output);
  for (int i = 0; i < 1 + FUZZ_OUTPUTS; i++) {
    bool mine = made[i];
    for (int k = 0; k < i; k++) mine = mine && made[k] != made[i];
    for (int k = 0; k < o->n; k++) mine = mine && o->operand[k] != made[i];
    if (mine) tc_free(made[i]);
  }
  return before - tc_memory().live;
}

static counts counted(const fuzz_case *c) {
  const tc_stats s = tc_stats_of(c->name);
  return (counts){s.hits, s.fallbacks};
}

/* Operands that gradients are taken with respect to are leaves. */
static void track(const fuzz_case *c, tc_tensor **x) {
  for (int i = 0; i < c->n; i++)
    if (c->in[i].wrt && x[i] && fuzz_floating(tc_dtype_of(x[i]))) tc_requires_grad_(x[i], true);
}

/* Elements of written operands do not share memory, and they are contiguous if they are reshaped: others are not for
 * kernels.  In guarded memory those that are not written can be read only. */
static void make(const fuzz_case *c, int run, unsigned v, int shift, int sample, tc_tensor **x) {
  for (int i = 0; i < c->n; i++) {
    layout l = shift ? (layout)((i + shift) % LAYOUTS) : AS_IS;
    if (c->in[i].written && c->in[i].reshaped && l != SHIFTED) l = AS_IS;
    x[i] = fuzz_operand_of(&c->in[i], run, i, c->in[i].written ? v & ~(unsigned)REPEATED : v, l,
                           sample);
    if (guarded_wanted()) x[i] = guarded_operand(x[i], c->in[i].written);
  }
  track(c, x);
}

static int subject = -1; /* the operand that does not fit */

static void failed(const fuzz_case *c, const char *what, const char *why) {
  total.failed++;
  if (subject < 0) printf("FAIL %s %s: %s\n", c->name, what, why);
  else printf("FAIL %s %s for operand %d: %s\n", c->name, what, subject, why);
}

/* Nothing that was made is left but what was handed out, which is freed here. */
static void no_leak(const fuzz_case *c, const char *what, outcome *o, const char *who) {
  char text[100];
  const size_t handed = release(o);
  if (c->keeps || handed == o->bytes) return;
  snprintf(text, sizeof text, "%s leaves %lld bytes, of which %lld are handed out", who,
           (long long)o->bytes, (long long)handed);
  failed(c, what, text);
}

/* ---- operands that fit
 * ---------------------------------------------------------------------------- */

/* What is done to operands that fit, so that they do not. */
typedef void mutation(const fuzz_case *c, int i, int k, unsigned v, int sample, tc_tensor **x);

static void mutate(const fuzz_case *c, mutation *change, int i, int k, unsigned v, int sample,
                   tc_tensor **x);

/* The body over changed operands and with changed roundings, and unchanged too where its operands
 * are in f64. */
static void run_changed(const fuzz_case *c, int run, unsigned v, mutation *change, int i, int k,
                        body_runs *runs) {
  for (int sample = v & DOUBLE ? -1 : 0; sample < FUZZ_SAMPLES; sample++) {
    tc_tensor *z[FUZZ_OPERANDS];
    const unsigned variation = sample < 0 ? v : v | CHANGED;
    make(c, run, variation, 0, sample, z);
    if (change) mutate(c, change, i, k, variation, sample, z);
    *(sample < 0 ? &runs->as_is : &runs->changed[sample]) =
        call(c, z, run, false, sample < 0 ? 0 : 1 + 1000 * (uint64_t)sample);
  }
}

/* A value that gradients need was written in place: kernels compute with what it was.  Where an error
 * came before, it is the one that is told. */
static bool is_lost(const outcome *body) {
  static const char *losing; /* the function that did so last */
  const bool lost = strstr(body->error, "which was written in place since");
  if (lost) losing = body->name;
  return lost || (*body->error && losing == body->name);
}

/* The body where no value that it makes is less than f64. */
static outcome run_boundless(const fuzz_case *c, int run, unsigned v, mutation *change, int i,
                             int k) {
  tc_tensor *z[FUZZ_OPERANDS];
  make(c, run, v | DOUBLE, 0, 0, z);
  if (change) mutate(c, change, i, k, v | DOUBLE, 0, z);
  fuzz_widen(true);
  const outcome o = call(c, z, run, false, 0);
  fuzz_widen(false);
  return o;
}

/* Whether the outcomes agree; where they differ, what changed operands do to the body is allowed.
 */
static bool same(const fuzz_case *c, int run, unsigned v, mutation *change, int i, int k,
                 const outcome *got, const outcome *want, char why[200]) {
  body_runs body = {.as_is = *want}, wide = {0};
  if (is_lost(want)) return true;
  if (fuzz_agree(c, got, &body, NULL, NULL, why)) return true;
  run_changed(c, run, v, change, i, k, &body);
  run_changed(c, run, v | DOUBLE, change, i, k, &wide);
  if (fuzz_agree(c, got, &body, &wide, NULL, why)) return true;
  if (c->coarsest == TC_F32 || c->coarsest == TC_F64) return false;
  const outcome boundless = run_boundless(c, run, v, change, i, k);
  return fuzz_agree(c, got, &body, &wide, &boundless, why);
}

enum { THREADS = 2, MORE_THREADS = 7 };

/* In place of the library's: kernels that may have a team have one, however busy the machine is. */
int tcrt_team_pays(int64_t work, int64_t least) { return work > least; }

/* What the function did with THREADS, it does with MORE_THREADS, to the bit; with these traps, of
 * which one that fires ends the program. */
static void same_for_threads(const fuzz_case *c, const char *what, int run, unsigned v, int shift,
                             const outcome *got, int traps) {
  tc_tensor *x[FUZZ_OPERANDS];
  char why[200], text[220];
  make(c, run, v, shift, 0, x);
  omp_set_num_threads(MORE_THREADS);
  feenableexcept(traps);
  const outcome more = call(c, x, run, true, 0);
  fedisableexcept(traps);
  omp_set_num_threads(THREADS);
  total.repeated++;
  if (fuzz_equal(got, &more, why)) return;
  snprintf(text, sizeof text, "other threads: %s", why);
  failed(c, what, text);
}

/* Kernels run and no guard fails, but for sizes 0 and 1, where a size that may broadcast was
 * guessed not to. */
static void fits(const fuzz_case *c, const char *what, int run, unsigned v, int shift) {
  tc_tensor *x[FUZZ_OPERANDS], *y[FUZZ_OPERANDS];
  make(c, run, v, shift, 0, x), make(c, run, v, shift, 0, y);
  tc_clear_error();
  outcome want = call(c, x, run, false, 0);
  const counts before = counted(c);
  outcome got = call(c, y, run, true, 0);
  const counts after = counted(c);
  const bool hit = after.hits > before.hits, fell = after.fallbacks > before.fallbacks;
  char why[200];
  total.runs++, total.hits += hit, total.fallbacks += fell, total.errors += !want.result;
  if (run == 0 && v == PLAIN && !want.result && !is_lost(&want))
    return failed(c, "generator", want.error);
  if (run < 2 && want.result && ((fell && !c->may_fall) || (c->strict && !hit)))
    return failed(c, what, "kernels did not run");
  if (!same(c, run, v, NULL, 0, 0, &got, &want, why) ||
      (!is_lost(&want) && !fuzz_same_sharing(&got, &want, why)))
    return failed(c, what, why);
  const bool kernels_only = c->strict && hit && !fell;
  if (kernels_only && (got.raised & ~want.raised))
    return failed(c, what, "exceptions that the body does not raise");
  same_for_threads(c, what, run, v, shift, &got, kernels_only ? EXCEPTIONS & ~got.raised : 0);
  no_leak(c, what, &got, hit ? "the function with kernels" : "the function");
  no_leak(c, what, &want, "the body");
}

/* ---- operands that do not
 * --------------------------------------------------------------------------- */

static void other_dtype(const fuzz_case *c, int i, int k, unsigned v, int sample, tc_tensor **x) {
  (void)c, (void)k, (void)v, (void)sample;
  x[i] = tc_cast(x[i], tc_dtype_of(x[i]) == TC_F64 ? TC_F32 : TC_F64);
}

/* Of which there is code as well. */
static void chosen_dtype(const fuzz_case *c, int i, int dtype, unsigned v, int sample,
                         tc_tensor **x) {
  (void)c;
  if (v & DOUBLE && fuzz_floating((tc_dtype)dtype)) return;
  x[i] = tc_cast(x[i], (tc_dtype)dtype);
  if (v & CHANGED && fuzz_floating((tc_dtype)dtype))
    x[i] = fuzz_changed(x[i], 0, (uint64_t)(i + 99 + 10 * sample));
  if (guarded_wanted()) x[i] = guarded_operand(x[i], c->in[i].written);
}

static void other_rank(const fuzz_case *c, int i, int k, unsigned v, int sample, tc_tensor **x) {
  (void)c, (void)k, (void)v, (void)sample;
  x[i] = tc_clone(tc_unsqueeze(x[i], 0));
}

static void missing(const fuzz_case *c, int i, int k, unsigned v, int sample, tc_tensor **x) {
  (void)c, (void)k, (void)v, (void)sample;
  x[i] = NULL;
}

static void larger(const fuzz_case *c, int i, int axis, unsigned v, int sample, tc_tensor **x) {
  tc_ints dims = fuzz_sizes(x[i]);
  dims.v[axis]++;
  x[i] = fuzz_tensor(&c->in[i], dims, 0, i, v, sample);
}

static void same_memory(const fuzz_case *c, int i, int k, unsigned v, int sample, tc_tensor **x) {
  (void)v, (void)sample;
  if (guarded_wanted() && c->in[k].written) x[i] = guarded_operand(x[i], true);
  x[k] = x[i];
}

/* Both in one memory, one row apart. */
static void shared_memory(const fuzz_case *c, int i, int k, unsigned v, int sample, tc_tensor **x) {
  (void)c, (void)v, (void)sample;
  tc_ints dims = fuzz_sizes(x[i]);
  const int64_t rows = dims.v[0]++;
  tc_tensor *room = tc_zeros(dims, tc_dtype_of(x[i]));
  tc_tensor *low = tc_slice(room, 0, 0, rows, 1), *high = tc_slice(room, 0, 1, rows + 1, 1);
  tc_copy_(low, x[i]), tc_copy_(high, x[k]);
  x[i] = low, x[k] = high;
}

/* Gradients are recorded of operand i: what is no leaf becomes one, and a leaf the result of an operation. */
static void other_leaf(const fuzz_case *c, int i, int k, unsigned v, int sample, tc_tensor **x) {
  (void)k, (void)v, (void)sample;
  tc_set_grad_enabled(true);
  if (!c->in[i].wrt) tc_requires_grad_(x[i], true);
  else x[i] = tc_mul_s(x[i], 1);
  tc_set_grad_enabled(false);
}

/* Operand i is what an operation made of a leaf. */
static void tracked_result(const fuzz_case *c, int i, int k, unsigned v, int sample, tc_tensor **x) {
  (void)c, (void)k, (void)v, (void)sample;
  tc_set_grad_enabled(true);
  x[i] = tc_mul_s(tc_requires_grad_(x[i], true), 1);
  tc_set_grad_enabled(false);
}

static void no_leaf(const fuzz_case *c, int i, int k, unsigned v, int sample, tc_tensor **x) {
  (void)c, (void)k, (void)v, (void)sample;
  x[i] = tc_detach(x[i]);
}

static void as_it_is(const fuzz_case *c, int i, int k, unsigned v, int sample, tc_tensor **x) {
  (void)c, (void)i, (void)k, (void)v, (void)sample, (void)x;
}

static void mutate(const fuzz_case *c, mutation *change, int i, int k, unsigned v, int sample,
                   tc_tensor **x) {
  change(c, i, k, v, sample, x);
  if (change != no_leaf) track(c, x);
}

typedef enum expected { BODY, EITHER, KERNELS } expected;

/* The outcome has to be the same, whether kernels ran or the body. */
static void foreign(const fuzz_case *c, const char *what, mutation *change, int i, int k,
                    expected who) {
  tc_tensor *x[FUZZ_OPERANDS], *y[FUZZ_OPERANDS];
  make(c, 0, PLAIN, 0, 0, x), make(c, 0, PLAIN, 0, 0, y);
  mutate(c, change, i, k, PLAIN, 0, x), mutate(c, change, i, k, PLAIN, 0, y);
  tc_clear_error();
  subject = i;
  const uint64_t hits = tc_stats_of(c->name).hits;
  outcome want = call(c, x, 0, false, 0), got = call(c, y, 0, true, 0);
  char why[200];
  total.runs++, total.refused++;
  const bool hit = tc_stats_of(c->name).hits > hits;
  if (who == BODY && hit) return failed(c, what, "kernels ran on operands they are not made for");
  if (who == KERNELS && !hit && want.result) return failed(c, what, "kernels did not run");
  if (!same(c, 0, PLAIN, change, i, k, &got, &want, why)) failed(c, what, why);
  no_leak(c, what, &got, hit ? "the function with kernels" : "the function");
  no_leak(c, what, &want, "the body");
}

static bool alike(const fuzz_operand *a, const fuzz_operand *b) {
  return a->dtype == b->dtype && a->rank == b->rank && a->values != FUZZ_INDEX &&
         b->values != FUZZ_INDEX && !memcmp(a->dim[0], b->dim[0], sizeof a->dim[0]);
}

static void aliases(const fuzz_case *c, int i) {
  fuzz_case it = *c;
  it.shared = true;
  for (int k = 0; k < c->n; k++) {
    if (k == i || !alike(&c->in[i], &c->in[k])) continue;
    const expected who = c->strict && c->in[i].written ? BODY : EITHER;
    TC_SCOPE foreign(&it, "the same memory twice", same_memory, i, k, who);
    if (c->in[i].rank && c->in[i].dim[0][0] > 1)
      TC_SCOPE foreign(&it, "overlapping memory", shared_memory, i, k, who);
  }
}

/* The case where an operand has dtype d: what it is made of may be rounded to that. */
static fuzz_case with_dtype(const fuzz_case *c, tc_dtype d) {
  fuzz_case it = *c;
  if (fuzz_unit(d) > fuzz_unit(c->coarsest)) it.coarsest = d;
  return it;
}

static void misfits(const fuzz_case *c, int i) {
  const fuzz_operand *o = &c->in[i];
  const expected refused = c->strict ? BODY : EITHER;
  const tc_dtype other = o->dtype == TC_F64 ? TC_F32 : TC_F64; /* as other_dtype has it */
  const fuzz_case with_other = with_dtype(c, other);
  TC_SCOPE foreign(&with_other, "another dtype", other_dtype, i, 0,
                   o->others >> other & 1 ? EITHER : refused);
  for (int d = 0; d < TC_DTYPE_COUNT; d++) {
    const fuzz_case it = with_dtype(c, (tc_dtype)d);
    if (o->others >> d & 1)
      TC_SCOPE foreign(&it, "a dtype to choose", chosen_dtype, i, d, c->strict ? KERNELS : EITHER);
  }
  TC_SCOPE foreign(c, "another rank", other_rank, i, 0, refused);
  TC_SCOPE foreign(c, "NULL", missing, i, 0, refused);
  for (int a = 0; a < o->rank; a++)
    TC_SCOPE foreign(c, "another size", larger, i, a, o->refused >> a & 1 ? refused : EITHER);
  if (c->writes || o->wrt) aliases(c, i);
}

/* Gradients are recorded where they should not be, or the other way round. */
static void other_tapes(const fuzz_case *c) {
  const expected refused = c->strict ? BODY : EITHER;
  bool any = false;
  for (int i = 0; i < c->n; i++) any |= c->in[i].wrt;
  for (int i = 0; i < c->n && any; i++) {
    if (!fuzz_floating(c->in[i].dtype)) continue;
    /* Leaves are not written; those that no gradient is taken with respect to may be constants. */
    if (c->in[i].wrt || !c->in[i].written)
      TC_SCOPE foreign(c, "another kind of leaf", other_leaf, i, 0, c->in[i].wrt ? refused : EITHER);
    if (!c->in[i].wrt && !c->in[i].written)
      TC_SCOPE foreign(c, "a result of a leaf", tracked_result, i, 0, refused);
    if (c->in[i].wrt) TC_SCOPE foreign(c, "no leaf", no_leaf, i, 0, refused);
  }
  unrecorded = any;
  if (any) TC_SCOPE foreign(c, "nothing is recorded", as_it_is, 0, 0, refused);
  unrecorded = false;
}

static void differ(const fuzz_case *c) {
  char why[200];
  TC_SCOPE {
    const fuzz_verdict v = fuzz_differences(c, why);
    total.differences += v == FUZZ_AS_GRADIENTS;
    if (v == FUZZ_NOT_AS_GRADIENTS) failed(c, "differences", why);
  }
}

/* ---- all runs
 * ----------------------------------------------------------------------------------------- */

/* Does the compiler leave statements of it as they are?  They may make operands that fit of others. */
static bool is_broken(const fuzz_case *c) {
  char name[100];
  const char *all = getenv("FUZZ_BROKEN");
  snprintf(name, sizeof name, " %s ", c->name);
  return all && strstr(all, name);
}

static void run_case(const fuzz_case *c) {
  const uint64_t segments = tc_stats_of(c->name).functions;
  if (segments == 0) {
    total.uncompiled++;
    printf("uncompiled %s\n", c->name);
    return;
  }
  total.segments += (int)segments;
  fuzz_case it = *c;
  it.strict = c->strict && segments == (uint64_t)c->combinations && !is_broken(c);
  TC_SCOPE fits(&it, "plain", 0, PLAIN, 0);
  TC_SCOPE fits(&it, "other sizes and layouts", 1, PLAIN, 1);
  TC_SCOPE fits(&it, "more layouts", 0, PLAIN, 4);
  TC_SCOPE fits(&it, "sizes 0 and 1", 2, PLAIN, 0);
  TC_SCOPE fits(&it, "special values", 0, SPECIAL, 0);
  TC_SCOPE fits(&it, "stride 0", 0, REPEATED, 0);
  for (int i = 0; i < c->n; i++) misfits(&it, i);
  other_tapes(&it);
  subject = -1;
  if (c->smooth) differ(c);
}

static bool chosen(const fuzz_case *c, int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    if (!strcmp(argv[i], c->name)) return true;
  return argc < 2;
}

int fuzz_main(const fuzz_case *c, size_t n, int argc, char **argv) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  omp_set_num_threads(THREADS);
  tc_set_grad_enabled(false); /* but while the function runs */
  for (size_t i = 0; i < n; i++)
    if (chosen(&c[i], argc, argv)) {
      printf("run %s\n", c[i].name); /* the last line names the one that crashed */
      run_case(&c[i]);
    }
  printf("total %d runs %d hits %d fallbacks %d refused %d repeated %d errors %d segments "
         "%d differences %d uncompiled %d failed\n",
         total.runs, total.hits, total.fallbacks, total.refused, total.repeated, total.errors,
         total.segments, total.differences, total.uncompiled, total.failed);
  return total.failed != 0;
}
