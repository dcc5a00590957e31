/* Generated matrix products against their definition in f64 (integers: exactly, modulo 2^bits), for
 * every level this machine has: dtypes, layouts, sizes around the tiles and blocks, batches,
 * symbolic sizes, prologue and epilogue; and bit for bit the same on 1, 2 and 7 threads. */
#include <criterion/criterion.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mm_case.h"

typedef struct data {
  void *buf[MM_BUFFERS + 2];
  int64_t sym[3];
} data;

static uint64_t state = 88172645463325252u;
static double random_value(tc_dtype d) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  if (!tc_dtype_is_float(d))
    return (double)(int64_t)(state >> 33 & 0xffff) - 32768; /* wraps where narrower */
  return (double)(int64_t)(state >> 11) / (1LL << 52) - 1;  /* products round */
}

/* This row of A begins with infinity, which no sum of the row in front of it may have a term of: not even zero times it. */
enum { INFINITE = 1 };
static bool has_infinite(const mm_case *c) { return tc_dtype_is_float(c->operand) && c->m > INFINITE && c->k > 0; }

/* Every buffer ends at its last element (aligned sizes would hide overruns); scratch is dirty. */
static void open_data(const mm_case *c, data *d) {
  int64_t shared, own;
  for (int i = 0; i < MM_BUFFERS; ++i) {
    const int64_t n = mm_numel(c, i);
    d->buf[i] = malloc((size_t)n * tc_dtype_bytes(mm_dtype(c, i)));
    for (int64_t j = 0; j < n; ++j)
      mm_set(d->buf[i], mm_dtype(c, i), j, random_value(mm_dtype(c, i)));
  }
  for (int64_t b = 0; has_infinite(c) && b < mm_batches(c); ++b)
    mm_set(d->buf[MM_A], c->operand, mm_a_at(c, b, INFINITE, 0), INFINITY);
  mm_scratch(c, &shared, &own);
  own = (own + 63) / 64 * 64;
  const size_t each[2] = {((size_t)shared + 64) / 64 * 64, (size_t)own * 8};
  for (int i = 0; i < 2; ++i) {
    d->buf[MM_BUFFERS + i] = aligned_alloc(64, each[i]);
    memset(d->buf[MM_BUFFERS + i], 0x7f, each[i]);
  }
  d->sym[0] = c->m, d->sym[1] = c->n, d->sym[2] = c->k;
}

static void close_data(data *d) {
  for (int i = 0; i < MM_BUFFERS + 2; ++i) free(d->buf[i]);
}

/* ---- reference ------------------------------------------------------------------------------- */

static double round_to(tc_dtype d, double v) {
  uint64_t t = 0;
  mm_set(&t, d, 0, v);
  return mm_get(&t, d, 0);
}

static double left(const mm_case *c, const data *d, int64_t b, int64_t m, int64_t k) {
  const double a = mm_get(d->buf[MM_A], c->operand, mm_a_at(c, b, m, k));
  return c->prologue ? round_to(c->operand, fmax(a, 0) + mm_get(d->buf[MM_ROW], c->operand, m)) : a;
}

static double right(const mm_case *c, const data *d, int64_t b, int64_t k, int64_t n) {
  const double v = mm_get(d->buf[MM_B], c->operand, mm_b_at(c, b, k, n));
  return c->prologue ? round_to(c->operand, v * mm_get(d->buf[MM_COL], c->operand, n)) : v;
}

/* The element, and the sum of the magnitudes of its terms, to which its error is relative. */
static double expected(const mm_case *c, const data *d, int64_t b, int64_t m, int64_t n,
                       double *size) {
  double sum = 0;
  uint64_t whole = 0;
  *size = 0;
  for (int64_t k = 0; k < c->k; ++k) {
    const double x = left(c, d, b, m, k), y = right(c, d, b, k, n);
    sum += x * y, *size += fabs(x * y);
    if (!tc_dtype_is_float(c->operand)) whole += (uint64_t)(int64_t)x * (uint64_t)(int64_t)y;
  }
  if (!tc_dtype_is_float(c->operand))
    sum = round_to(c->operand, (double)(int64_t)(whole << 16) / 65536);
  if (c->epilogue) {
    sum = fmax(sum + mm_get(d->buf[MM_BIAS], c->out, n), 0);
    sum += mm_get(d->buf[MM_C0], c->out, mm_c_at(c, b, m, n));
    *size += 4;
  }
  return sum;
}

static double tolerance(const mm_case *c) {
  switch (c->out) {
  case TC_F64:
    return 1e-14;
  case TC_F32:
    return c->operand == TC_F32 ? 1e-6 : 2e-6;
  case TC_F16:
    return 1e-3;
  case TC_BF16:
    return 8e-3;
  default:
    return 0;
  }
}

/* All of a small product, a sample of a large one. */
static int wrong(const mm_case *c, const data *d, char *what, size_t room) {
  const int64_t total = mm_batches(c) * c->m * c->n, step = total * c->k > 2000000 ? 97 : 1;
  for (int64_t i = 0; i < total; i += step) {
    const int64_t b = i / (c->m * c->n), m = i / c->n % c->m, n = i % c->n;
    if (m == INFINITE && has_infinite(c)) continue;
    double size, want = expected(c, d, b, m, n, &size);
    const double got = mm_get(d->buf[MM_C], c->out, mm_c_at(c, b, m, n));
    want = round_to(c->out, want);
    if (!(fabs(got - want) <= tolerance(c) * (size + fabs(want)))) {
      snprintf(what, room, "[%lld,%lld,%lld]: %.9g, expected %.9g", (long long)b, (long long)m,
               (long long)n, got, want);
      return 1;
    }
  }
  return 0;
}

static void describe(const mm_case *c, char *t, size_t room) {
  static const char layout[] = "ncs";
  snprintf(t, room, "%s->%s %lldx%lldx%lld a:%c b:%c batch %lld%s%s%s%s", tc_dtype_text(c->operand),
           tc_dtype_text(c->out), (long long)c->m, (long long)c->n, (long long)c->k, layout[c->a],
           layout[c->b], (long long)mm_batches(c), c->b_batched ? " of both" : "",
           c->symbolic ? " symbolic" : "", c->prologue ? " prologue" : "",
           c->epilogue ? " epilogue" : "");
}

/* ---- running --------------------------------------------------------------------------------- */

/* Teams are taken, however busy the machine is. */
int tcrt_team_pays(int64_t work, int64_t least) { return work > least; }

static int check(const mm_case *c, mm_function *f, const char *level) {
  char name[160], what[160] = "";
  data d;
  int bad = 0;
  describe(c, name, sizeof name);
  open_data(c, &d);
  const size_t bytes = (size_t)mm_numel(c, MM_C) * tc_dtype_bytes(c->out);
  void *first = malloc(bytes);
  static const int threads[] = {1, 2, 7};
  for (int i = 0; i < 3; ++i) {
    memset(d.buf[MM_C], 0x55, bytes);
    omp_set_num_threads(threads[i]);
    if (f(d.buf, d.sym, NULL) != 0) snprintf(what, sizeof what, "returned 1"), bad = 1;
    if (i == 0) memcpy(first, d.buf[MM_C], bytes);
    else if (memcmp(first, d.buf[MM_C], bytes))
      snprintf(what, sizeof what, "differs on %d threads", threads[i]), bad = 1;
  }
  if (!bad) bad = wrong(c, &d, what, sizeof what);
  cr_expect(!bad, "%s %s: %s", level, name, what);
  free(first);
  close_data(&d);
  return bad;
}

/* Whether the level has other code for these operands than the one below. */
static bool matters(const mm_case *c, tc_isa level) {
  return level < TC_ISA_BF16 || c->operand == TC_BF16 || tc_dtype_bytes(c->operand) == 1;
}

static void run_at(const mm_case *c, int n, tc_isa level, const char *optimized) {
  tc_buf text = {0};
  int cases = 0, bad = 0;
  for (int i = 0; i < n; ++i)
    if (matters(&c[i], level)) {
      cr_assert(mm_emit(&c[i], i, &text), "emission");
      cases++;
    }
  if (!cases) return;
  void *library = mm_load(text.text, level, optimized);
  cr_assert(library, "%s", mm_level(level));
  for (int i = 0; i < n; ++i)
    if (matters(&c[i], level)) bad += check(&c[i], mm_find(library, i), mm_level(level));
  printf("%s: %d cases, %d wrong\n", mm_level(level), cases, bad);
  tc_buf_free(&text);
}

static void run_optimized(const mm_case *c, int n, const char *optimized) {
  for (tc_isa level = TC_ISA_V2; level < TC_ISA_COUNT; ++level) {
    if (!mm_runs(level)) continue;
    run_at(c, n, level, optimized);
#ifdef MM_ONE_LEVEL
    break;
#endif
  }
}

static void run(const mm_case *c, int n) { run_optimized(c, n, "-O0"); }

/* ---- cases ----------------------------------------------------------------------------------- */

enum { MOST = 400 };
typedef struct list {
  mm_case at[MOST];
  int n;
} list;

static void add(list *l, mm_case c) {
  if (c.out == TC_BOOL) c.out = c.operand;
  cr_assert(l->n < MOST);
  l->at[l->n++] = c;
}

static const tc_dtype dtypes[] = {TC_F32, TC_F64, TC_BF16, TC_F16, TC_I8,
                                  TC_U8,  TC_I16, TC_I32,  TC_I64};

/* Every dtype x layout of A x layout of B, with and without prologue and epilogue. */
Test(matmul, layouts) {
  static list l;
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; ++d)
    for (int a = MM_ROWS; a <= MM_STRIDED; ++a)
      for (int b = MM_ROWS; b <= MM_STRIDED; ++b)
        for (int fused = 0; fused <= tc_dtype_is_float(dtypes[d]); ++fused)
          add(&l, (mm_case){.operand = dtypes[d],
                            .m = 45,
                            .n = 83,
                            .k = 37,
                            .a = (mm_layout)a,
                            .b = (mm_layout)b,
                            .prologue = fused,
                            .epilogue = fused,
                            .symbolic = fused});
  run(l.at, l.n);
}

/* Sizes at and around the tiles, symbolic ones so that each is one kernel's run-time choice, and as
 * constants so that the choice is the emitter's. */
static void sizes(tc_dtype d) {
  static list l;
  static const int64_t m[] = {1, 2, 5, 8, 14, 15, 28, 31, 33}, n[] = {1, 7, 16, 17, 33, 48, 97};
  l.n = 0;
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < 7; ++j)
      add(&l, (mm_case){.operand = d,
                        .m = m[i],
                        .n = n[j],
                        .k = 19 + (i + j) % 3,
                        .a = (mm_layout)(i % 2),
                        .b = (mm_layout)(j % 2),
                        .epilogue = i / 2 % 2});
  run(l.at, l.n);
}
Test(matmul, sizes_f32) { sizes(TC_F32); }
Test(matmul, sizes_f64) { sizes(TC_F64); }
Test(matmul, sizes_bf16) { sizes(TC_BF16); }

/* Nothing to do, and sums of nothing. */
Test(matmul, empty) {
  static list l;
  for (int zero = 0; zero < 3; ++zero)
    for (int s = 0; s < 2; ++s)
      for (int e = 0; e < 2; ++e)
        add(&l, (mm_case){.operand = s ? TC_F32 : TC_BF16,
                          .m = zero == 0 ? 0 : 5,
                          .n = zero == 1 ? 0 : 6,
                          .k = zero == 2 ? 0 : 7,
                          .symbolic = s,
                          .epilogue = e});
  run(l.at, l.n);
}

/* Several blocks of k, several tasks, several superblocks; strides that are and are not read in
 * place. */
Test(matmul, blocks) {
  static list l;
  static const tc_dtype few[] = {TC_F32, TC_BF16, TC_F64, TC_I8};
  for (int d = 0; d < 4; ++d)
    for (int v = 0; v < 4; ++v) {
      const mm_layout a = v & 1 ? MM_COLS : MM_ROWS, b = v & 2 ? MM_COLS : MM_ROWS;
      add(&l, (mm_case){.operand = few[d], .m = 150, .n = 300, .k = 1100 + v, .a = a, .b = b});
      add(&l, (mm_case){.operand = few[d],
                        .m = 300,
                        .n = 140,
                        .k = 2048,
                        .a = a,
                        .b = b,
                        .symbolic = true,
                        .epilogue = tc_dtype_is_float(few[d])});
    }
  /* With all rows of C in a task and not; more B than is packed at a time; C in place on tiles. */
  for (int v = 0; v < 4; ++v)
    add(&l, (mm_case){.operand = v & 1 ? TC_BF16 : TC_F32,
                      .out = TC_F32,
                      .m = v & 2 ? 140 : 40,
                      .n = v == 3 ? 1440 : 700,
                      .k = 9000,
                      .b = MM_COLS,
                      .epilogue = v != 3});
  add(&l, (mm_case){.operand = TC_I8, .m = 70, .n = 90, .k = 7000});
  for (int v = 0; v < 3; ++v)
    add(&l, (mm_case){.operand = few[v], .m = 40, .n = 1111, .k = 1700, .epilogue = v});
  /* Columns in groups that have sums at a time, with A packed once for all of them. */
  add(&l, (mm_case){.operand = TC_BF16, .m = 260, .n = 700, .k = 1300, .epilogue = true});
  add(&l, (mm_case){.operand = TC_F32, .m = 100, .n = 1300, .k = 1600, .epilogue = true});
  run(l.at, l.n);
}

/* Few rows times a B in place whose rows share sets of the caches: blocks of k that all panels of rows take before the next,
 * tiles that are finished in C and such that are not. */
Test(matmul, rows_of_one_set) {
  static list l;
  static const int64_t m[] = {7, 12, 16, 21, 33}, k[] = {0, 100, 257, 700, 1700};
  for (int d = 0; d < 2; ++d)
    for (int i = 0; i < 5; ++i)
      for (int s = 0; s < 2; ++s)
        add(&l, (mm_case){.operand = d ? TC_F64 : TC_F32,
                          .m = m[i],
                          .n = d ? 512 : 1024,
                          .k = k[(i + s + d) % 5],
                          .a = s ? MM_COLS : MM_ROWS,
                          .symbolic = s,
                          .epilogue = i == 3});
  /* The last of its blocks of k is shorter than the others are. */
  add(&l, (mm_case){.operand = TC_F32, .m = 40, .n = 256, .k = 893});
  run(l.at, l.n);
}

/* Many rows times columns of one vector or less: higher tiles, and what is left of the rows. */
Test(matmul, narrow) {
  static list l;
  static const int64_t m[] = {31, 32, 57, 163}, n[] = {3, 8, 9, 16};
  for (int d = 0; d < 2; ++d)
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j)
        add(&l, (mm_case){.operand = d ? TC_F64 : TC_F32,
                          .m = m[i],
                          .n = n[j],
                          .k = j == 3 ? 1300 : 33,
                          .a = i == 2 ? MM_COLS : MM_ROWS,
                          .b = j == 2 ? MM_COLS : MM_ROWS,
                          .symbolic = (i + j) % 2,
                          .epilogue = j == 1});
  run(l.at, l.n);
}

Test(matmul, batches) {
  static list l;
  static const int64_t m[] = {1, 20, 70}, n[] = {64, 9, 100};
  for (int d = 0; d < 2; ++d)
    for (int i = 0; i < 3; ++i)
      for (int both = 0; both < 2; ++both)
        for (int s = 0; s < 2; ++s)
          add(&l, (mm_case){.operand = d ? TC_BF16 : TC_F32,
                            .m = m[i],
                            .n = n[i],
                            .k = 50,
                            .nbatch = 2,
                            .batch = {3, 4},
                            .b_batched = both,
                            .b = s ? MM_COLS : MM_ROWS,
                            .symbolic = s,
                            .epilogue = i == 2,
                            .prologue = i == 1});
  /* Enough for several threads: B in place but for its last columns, which each packs for itself;
   * and B that each packs a part of, or all share. */
  for (int d = 0; d < 2; ++d)
    for (int both = 0; both < 2; ++both)
      for (int s = 0; s < 3; ++s)
        add(&l, (mm_case){.operand = d ? TC_BF16 : TC_F32,
                          .m = s == 1 ? 12 : 90,
                          .n = s == 1 ? 900 : 83,
                          .k = 220,
                          .nbatch = 1,
                          .batch = {5},
                          .b_batched = both,
                          .b = s == 2 ? MM_COLS : MM_ROWS,
                          .epilogue = s == 0});
  run(l.at, l.n);
}

/* Tasks of each thread begin with a tile that asks for rows of B in place; where optimisers move operations from loop to loop it
 * rounds as others do. */
Test(matmul, first_tiles) {
  static list l;
  for (int d = 0; d < 2; ++d)
    add(&l, (mm_case){.operand = d ? TC_F64 : TC_F32,
                      .m = 64,
                      .n = d ? 34 : 68,
                      .k = 32,
                      .nbatch = 1,
                      .batch = {7},
                      .b_batched = true,
                      .symbolic = true});
  run_optimized(l.at, l.n, "-O1");
}
