/* Every guard is needed.  Operands are changed one thing at a time; entries have to refuse exactly
 * those that their kernels are not made for.  Then each check that the generator printed is taken
 * out in turn, and some refusal has to be gone (or the entry crashes).
 *
 * For that, the host text is edited: check number i holds only where tc_without is not i, and a
 * compare of keys is taken apart into NULL, dtype, device, rank, weak and autograd. */
#include <criterion/criterion.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "graph/text.h"
#include "tests/openmp/unit.h"

/* ---- graphs ---------------------------------------------------------------------------------- */

static const char *const graphs[] = {
    /* fixed sizes, equal sizes */
    "graph g\n%1 = param f32[B,C] \"x\"\n%2 = param f32[C,8] \"w\"\n%3 = matmul %1 %2\nret %3\n",
    /* ranges and multiples */
    "graph g\nsym B 2..64\nsym T 0..inf %8\n%1 = param f32[B,T,6] \"x\"\n%2 = exp %1\nret %2\n",
    /* arithmetic between sizes */
    "graph g\n%1 = param f32[N,2*K+1] \"x\"\n%2 = param i64[K] \"k\"\n%3 = exp %1\n%4 = neg %2\n"
    "ret %3\nret %4\n",
    /* what inference assumed */
    "graph g\n%1 = param f32[B,N] \"x\"\n%2 = param f32[D,E] \"y\"\nassume B-D in 0..3\n"
    "assume N+D = 2*E\n%3 = exp %1\n%4 = exp %2\nret %3\nret %4\n",
    /* a size from a number */
    "graph g\nsym n 1..50 = scalar 0\n%1 = param f32[B] \"x\"\n%2 = scalar i64 \"n\"\n"
    "%3 = exp %1\nret %3\n",
    /* writes */
    "graph g\n%1 = param f32[B,C] \"out\"\n%2 = param f32[B,C] \"x\"\n%3 = param f64[C] \"y\"\n"
    "%4 = exp %2\nwrite %4 -> %1\n%5 = neg %3\nret %5\n",
    /* a C scalar among the operands */
    "graph g\n%1 = param weak f64[] \"s\"\n%2 = param bf16[B] \"x\"\n%3 = mul %2 %1\nret %3\n",
};
enum { GRAPHS = sizeof graphs / sizeof *graphs, OPERANDS = 3, BYTES = 1 << 18 };

/* Operands that fit each graph. */
typedef struct shape { tc_dtype dtype; int rank; int64_t dim[3]; bool weak; } shape;
static const shape usual[GRAPHS][OPERANDS] = {
    {{TC_F32, 2, {5, 7}, 0}, {TC_F32, 2, {7, 8}, 0}},
    {{TC_F32, 3, {4, 16, 6}, 0}},
    {{TC_F32, 2, {4, 11}, 0}, {TC_I64, 1, {5}, 0}},
    {{TC_F32, 2, {6, 7}, 0}, {TC_F32, 2, {5, 6}, 0}},
    {{TC_F32, 1, {9}, 0}},
    {{TC_F32, 2, {5, 6}, 0}, {TC_F32, 2, {5, 6}, 0}, {TC_F64, 1, {6}, 0}},
    {{TC_F64, 0, {0}, true}, {TC_BF16, 1, {33}, 0}},
};
static const int operands[GRAPHS] = {2, 1, 2, 2, 1, 3, 2};

/* ---- mutations ------------------------------------------------------------------------------- */

typedef enum kind {
  NOTHING, MISSING, DTYPE, DEVICE, RANK, WEAK, GRADIENT, SIZE, SCALAR, SWITCHED_OFF,
  STRIDED, READ_ONLY, SAME_MEMORY, OVERLAP_BEHIND, OVERLAP_BEFORE, INSIDE, ADJACENT,
  TRANSPOSED, REVERSED, REPEATED, UNALIGNED, OF_LEAF, KINDS
} kind;

typedef struct change {
  int graph, operand;
  kind kind;
  int64_t axis, value; /* SIZE: the size; DTYPE, RANK, SCALAR, alias kinds: value or other operand */
  bool runs;           /* kernels are made for it */
} change;

/* Beside those that every operand has (see each_operand). */
static const change changes[] = {
    {0, 0, SIZE, 0, 40, true}, {0, 0, SIZE, 0, 0, true}, {0, 0, SIZE, 1, 6, false}, {0, 0, SIZE, 1, 8, false},
    {0, 1, SIZE, 0, 6, false}, {0, 1, SIZE, 1, 7, false}, {0, 1, SIZE, 1, 9, false}, {0, 1, SIZE, 1, 1, false},
    {1, 0, SIZE, 0, 1, false}, {1, 0, SIZE, 0, 2, true}, {1, 0, SIZE, 0, 64, true}, {1, 0, SIZE, 0, 65, false},
    {1, 0, SIZE, 1, 15, false}, {1, 0, SIZE, 1, 0, true}, {1, 0, SIZE, 1, 8, true}, {1, 0, SIZE, 2, 5, false}, {1, 0, SIZE, 2, 7, false},
    {2, 0, SIZE, 0, 9, true}, {2, 0, SIZE, 1, 10, false}, {2, 0, SIZE, 1, 12, false}, {2, 1, SIZE, 0, 4, false}, {2, 1, SIZE, 0, 6, false},
    {3, 0, SIZE, 0, 8, true}, {3, 0, SIZE, 0, 9, false}, {3, 0, SIZE, 0, 4, false}, {3, 0, SIZE, 1, 8, false}, {3, 1, SIZE, 1, 7, false},
    {4, 0, SIZE, 0, 200, true}, {4, 0, SCALAR, 0, 0, false}, {4, 0, SCALAR, 0, 51, false}, {4, 0, SCALAR, 0, 50, true}, {4, 0, SCALAR, 0, 1, true},
    {5, 0, SIZE, 0, 6, false}, {5, 1, SIZE, 0, 4, false}, {5, 1, SIZE, 1, 5, false}, {5, 2, SIZE, 0, 5, false},
    {5, 0, STRIDED, 0, 0, true}, {5, 0, TRANSPOSED, 0, 0, true}, {5, 0, REVERSED, 0, 0, true}, {5, 0, READ_ONLY, 0, 0, false}, {5, 0, OF_LEAF, 0, 0, false}, {5, 1, OF_LEAF, 0, 0, true},
    {5, 1, READ_ONLY, 0, 0, true}, {5, 2, READ_ONLY, 0, 0, true}, {5, 1, SAME_MEMORY, 0, 0, false}, {5, 2, SAME_MEMORY, 0, 0, false},
    {5, 1, OVERLAP_BEHIND, 0, 0, false}, {5, 1, OVERLAP_BEFORE, 0, 0, false}, {5, 2, OVERLAP_BEHIND, 0, 0, false}, {5, 2, INSIDE, 0, 0, false},
    {5, 1, ADJACENT, 0, 0, true}, {5, 2, ADJACENT, 0, 0, true}, {5, 2, SAME_MEMORY, 0, 1, true},
    {6, 1, SIZE, 0, 1, true}, {6, 1, SIZE, 0, 0, true},
};
enum { CHANGES = sizeof changes / sizeof *changes };

/* ---- operands -------------------------------------------------------------------------------- */

static char memory[OPERANDS][BYTES] __attribute__((aligned(64)));
static struct tc_tensor tensor[OPERANDS];
static tc_value scalar[1];

static void set_strides(struct tc_tensor *t) {
  int64_t step = 1;
  for (int a = TC_MAX_RANK - 1; a >= 0; a--) {
    if (a >= t->key.rank) t->dim[a] = 1, t->stride[a] = 0;
    else t->stride[a] = step, step *= t->dim[a];
  }
}

static int64_t bytes_of(const struct tc_tensor *t) {
  int64_t n = (int64_t)tc_dtype_bytes((tc_dtype)t->key.dtype);
  for (int a = 0; a < t->key.rank; a++) n *= t->dim[a];
  return n;
}

static void make_usual(int graph) {
  memset(memory, 0, sizeof memory);
  scalar[0].i = 7;
  for (int i = 0; i < operands[graph]; i++) {
    const shape *s = &usual[graph][i];
    struct tc_tensor *t = &tensor[i];
    *t = (struct tc_tensor){.data = memory[i] + BYTES / 2};
    t->key.dtype = (uint8_t)s->dtype;
    t->key.device = TC_CPU;
    t->key.rank = (uint8_t)s->rank;
    t->key.flags = (uint8_t)(TC_FLAG_CONTIGUOUS | (s->weak ? TC_FLAG_WEAK : 0));
    memcpy(t->dim, s->dim, sizeof s->dim);
    set_strides(t);
  }
}

static void strided(struct tc_tensor *t, kind k) {
  const int last = t->key.rank - 1;
  t->key.flags &= (uint8_t)~TC_FLAG_CONTIGUOUS;
  if (k == STRIDED)
    for (int a = 0; a <= last; a++) t->stride[a] *= 2;
  if (k == REPEATED) t->stride[0] = 0;
  if (k == TRANSPOSED) {
    const int64_t s = t->stride[0];
    t->stride[0] = t->dim[last] ? t->stride[last] : 0, t->stride[last] = last ? t->dim[0] : s;
  }
  if (k == REVERSED) {
    for (int a = 0; a <= last; a++) t->stride[a] = -t->stride[a];
    t->data = (char *)t->data + bytes_of(t) - (int64_t)tc_dtype_bytes((tc_dtype)t->key.dtype);
  }
}

/* Operand i lies at `from` bytes from where the other one does. */
static void share(struct tc_tensor *t, const struct tc_tensor *other, kind k) {
  const int64_t size = bytes_of(other), mine = bytes_of(t);
  const int64_t from = k == OVERLAP_BEHIND ? size - 8 : k == OVERLAP_BEFORE ? 8 - mine
                       : k == INSIDE ? 8 : k == ADJACENT ? size : 0;
  t->data = (char *)other->data + from;
}

/* Of tcompile.h, which does not stand next to the compiler's headers. */
struct tc_tensor *tc_eye(int64_t n, int64_t m, tc_dtype dtype);
struct tc_tensor *tc_requires_grad_(struct tc_tensor *t, bool on);

static struct tc_tensor *leaf(void) {
  static struct tc_tensor *t;
  if (!t) t = tc_requires_grad_(tc_eye(2, 2, TC_F32), true);
  return t;
}

static void apply(const change *c, const struct tc_tensor **in) {
  struct tc_tensor *t = &tensor[c->operand];
  switch (c->kind) {
  case MISSING: in[c->operand] = NULL; break;
  case DTYPE: t->key.dtype = (uint8_t)c->value; break;
  case DEVICE: t->key.device = TC_CUDA; break;
  case RANK: t->key.rank = (uint8_t)c->value, t->dim[t->key.rank ? t->key.rank - 1 : 0] = 1; break;
  case WEAK: t->key.flags ^= TC_FLAG_WEAK; break;
  case GRADIENT: t->autograd = memory; break;
  case SIZE: t->dim[c->axis] = c->value, set_strides(t); break;
  case SCALAR: scalar[0].i = c->value; break;
  case SWITCHED_OFF: tcrt_enabled = 0; break;
  case STRIDED: case TRANSPOSED: case REVERSED: case REPEATED: strided(t, c->kind); break;
  case UNALIGNED: t->data = (char *)t->data + tc_dtype_bytes((tc_dtype)t->key.dtype); break;
  case READ_ONLY: t->key.flags |= TC_FLAG_READONLY; break;
  case OF_LEAF: t->storage = leaf()->storage; break;
  case NOTHING: case KINDS: break;
  default: share(t, &tensor[c->value], c->kind); break;
  }
}

/* ---- the checks of the host text ------------------------------------------------------------- */

static int checks, sites; /* checks that can be taken out; places that they stand in */

static const char keys[] = "  if (__builtin_expect(!x";

/* NULL, then the parts of the key, then the autograd link: six checks. */
static void put_key(const char *line, tc_buf *out) {
  unsigned x, want;
  int end = 0;
  sscanf(line, "  if (__builtin_expect(!x%u || tc_key_of(x%*u) != 0x%xu || (x%*u->autograd && tcrt_recording()), 0))\n%n",
         &x, &want, &end);
  cr_assert(end, "not the key guard that is known here: %.150s", line);
  tc_putf(out,
          "  if ((tc_without != %d && !x%u) || ((tc_key_of(x%u) ^ 0x%08xu) & ~(tc_without == %d ? 0xffu : "
          "tc_without == %d ? 0xff00u : tc_without == %d ? 0xff0000u : tc_without == %d ? 0xff000000u : 0u)) ||\n"
          "      (tc_without != %d && x%u->autograd && tcrt_recording()))\n",
          checks, x, x, want, checks + 1, checks + 2, checks + 3, checks + 4, checks + 5, x);
  checks += 6;
}

static bool starts(const char *line, const char *with) { return !strncmp(line, with, strlen(with)); }

/* Numbers each check of a line, or leaves the line as it is. */
static void put_line(const char *line, size_t n, tc_buf *out) {
  sites += starts(line, keys) + starts(line, "  TC_GUARD(") + starts(line, "  if (tc_overlap(") +
           starts(line, "  if (__builtin_expect(!tcrt_enabled") + starts(line, "  if ((x");
  if (starts(line, keys)) {
    put_key(line, out);
  } else if (starts(line, "  if ((x")) {
    int x;
    cr_assert_eq(sscanf(line, "  if ((x%d->key.flags & (TC_FLAG_CONTIGUOUS | TC_FLAG_READONLY)) != TC_FLAG_CONTIGUOUS && !tcrt_may_unpack(", &x), 1);
    tc_putf(out,
            "  if ((tc_without != %d && !(x%d->key.flags & (TC_FLAG_CONTIGUOUS | TC_FLAG_READONLY)) && !tcrt_may_unpack(x%d)) ||\n"
            "      (tc_without != %d && x%d->key.flags & TC_FLAG_READONLY))\n",
            checks, x, x, checks + 1, x);
    checks += 2;
  } else if (starts(line, "  TC_GUARD(") || starts(line, "  if (tc_overlap(") ||
             starts(line, "  if (__builtin_expect(!tcrt_enabled")) {
    tc_putf(out, "  if (tc_without != %d)\n", checks++);
    tc_putn(out, line, n);
  } else {
    tc_putn(out, line, n);
  }
}

static int occurrences(const char *text, const char *what) {
  int n = 0;
  for (const char *at = text; (at = strstr(at, what)); at++) n++;
  return n;
}

/* All that can end an entry before anything was made is one of the checks. */
static char *edit(const char *host) {
  tc_buf out = {0};
  tc_put(&out, "__attribute__((visibility(\"default\"))) int tc_without = -1;\n");
  const char *entries = strstr(host, "\nint test_0(");
  cr_assert_not_null(entries);
  tc_putn(&out, host, (size_t)(entries - host));
  for (const char *line = entries; *line;) {
    const char *end = strchr(line, '\n');
    const size_t n = end ? (size_t)(end - line) + 1 : strlen(line);
    put_line(line, n, &out);
    line += n;
  }
  const int ends = occurrences(entries, "tcrt_miss(") + occurrences(entries, "tc_key_miss(") +
                   occurrences(entries, "TC_GUARD(") - occurrences(entries, "TC_MISS_MEMORY");
  cr_expect_eq(ends, sites, "%d places give up, %d of them are known", ends, sites);
  return out.text;
}

/* ---- trying ---------------------------------------------------------------------------------- */

static omp_unit unit;
static int *without, right, made;

/* 1: the kernels ran. */
static int decide(const change *c) {
  const struct tc_tensor *in[OPERANDS] = {&tensor[0], &tensor[1], &tensor[2]};
  struct tc_tensor *out[4];
  make_usual(c->graph);
  tcrt_enabled = 1;
  apply(c, in);
  return unit.entry[c->graph](in, scalar, out) != 0;
}

static bool wrong(const change *c) {
  made++;
  if (decide(c) == c->runs) return false;
  if (*without < 0)
    cr_expect(false, "graph %d, operand %d, kind %d, value %d: kernels %s", c->graph, c->operand, c->kind,
              (int)c->value, c->runs ? "did not run" : "ran");
  return true;
}

/* What every operand can have wrong, or be stored like. */
static bool each_operand(int g, int i) {
  const shape *s = &usual[g][i];
  const bool written = g == 5 && i == 0;
  bool bad = false;
  const change all[] = {{g, i, NOTHING, 0, 0, true}, {g, i, MISSING, 0, 0, false}, {g, i, DEVICE, 0, 0, false},
                        {g, i, RANK, 0, s->rank + 1, false}, {g, i, RANK, 0, s->rank ? s->rank - 1 : 2, false},
                        {g, i, WEAK, 0, 0, false}, {g, i, GRADIENT, 0, 0, false}, {g, i, SWITCHED_OFF, 0, 0, false},
                        {g, i, STRIDED, 0, 0, true}, {g, i, REPEATED, 0, 0, !written},
                        {g, i, REVERSED, 0, 0, true}, {g, i, UNALIGNED, 0, 0, true}};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) bad |= wrong(&all[k]);
  for (int d = 0; d < TC_DTYPE_COUNT; d++)
    if (d != (int)s->dtype) bad |= wrong(&(change){g, i, DTYPE, 0, d, false});
  return bad;
}

static bool any_wrong(void) {
  bool bad = false;
  for (int g = 0; g < GRAPHS; g++)
    for (int i = 0; i < operands[g]; i++) bad |= each_operand(g, i);
  for (int k = 0; k < CHANGES; k++) bad |= wrong(&changes[k]);
  return bad;
}

/* Whether something goes wrong without check i: in a process of its own, which may crash. */
static bool missed(int i) {
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    *without = i;
    _exit(any_wrong() ? 1 : 0);
  }
  int status = 0;
  cr_assert(child > 0 && waitpid(child, &status, 0) == child);
  return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

static void report(void *self, tc_severity s, tc_loc loc, const char *text) {
  (void)self;
  if (s >= TC_MISSED) fprintf(stderr, "%u: %s\n", loc.line, text);
}

Test(guards, each_is_needed, .timeout = 300) {
  tc_diag diag = {report, NULL};
  tc_graph *g[GRAPHS];
  for (int i = 0; i < GRAPHS; i++) cr_assert_not_null(g[i] = tc_graph_parse(graphs[i], &diag), "graph %d", i);
  cr_assert(omp_unit_build_edited(&unit, g, GRAPHS, 1, &diag, edit));
  for (int i = 0; i < GRAPHS; i++) cr_assert(unit.result[i].compiled, "graph %d", i);
  without = dlsym(unit.library, "tc_without");
  cr_assert_not_null(without);
  cr_expect_not(any_wrong());
  const int mutations = made;
  for (int i = 0; i < checks; i++) right += missed(i);
  for (int i = 0; i < checks && right < checks; i++)
    cr_expect(missed(i), "nothing notices that check %d is gone", i);
  printf("%d mutations; %d checks in %d places, %d of them needed\n", mutations, checks, sites, right);
  cr_expect_geq(mutations, 50);
  omp_unit_free(&unit);
}
