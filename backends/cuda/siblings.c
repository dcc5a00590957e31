/* siblings.c - siblings (lower/siblings.c) in one launch: the updates of many parameters.
 *
 * What a launch takes is a table of 4096 bytes, the most that every driver takes, in words of 8:
 * the number of siblings, what they share, then of each the first of its blocks and what is its
 * own.  A block looks up whose it is.  Where the table is full, or a sibling wants another of the
 * kernel's functions (an array that is not aligned), there is one more launch.
 *
 * Pointwise kernels do: their threads need to know nothing of each other.  Siblings of another form
 * are launched one by one. */
#include "backends/cuda/emit.h"
#include "backends/cuda/nest/nest.h"

#include <string.h>

enum { WORDS = 512 /* of the table: TCRT_CUDA_WORDS of tcompile/cuda.h; in the prelude, too */ };

typedef struct count {
  int shared, own;
} count;

static void count_one(const tc_cuda_parameter *a, void *arg) {
  count *n = arg;
  if (a->kind == TC_CUDA_LAUNCH) return;
  if (a->shared) ++n->shared;
  else ++n->own;
}

static bool count_words(const tc_kernel *k, const tc_program *p, const char *body, count *n) {
  *n = (count){0};
  return tc_cuda_visit_parameters(k, p, body, count_one, n);
}

bool tc_cuda_joins(const tc_cuda_text *t, const char *body) {
  count n;
  return t->k->sibling && tc_cuda_nest_schedule_of(t->schedule)->form == TC_CUDA_FLAT &&
         count_words(t->k, t->p, body, &n) && 2 + n.shared + n.own <= WORDS;
}

/* ---- the device ------------------------------------------------------------------------------ */

const char tc_cuda_table_parameter[] = "const __grid_constant__ tc_siblings all";

typedef struct unpacking {
  tc_buf *out;
  int shared, own; /* words so far */
} unpacking;

static void unpack(const tc_cuda_parameter *a, void *arg) {
  unpacking *u = arg;
  if (a->kind == TC_CUDA_LAUNCH) {
    tc_putf(u->out, "  %s%s = 1;\n", a->type, a->name);
    return;
  }
  const char *restricted = strstr(a->type, "__restrict__");
  const size_t cast = restricted ? (size_t)(restricted - a->type) : strlen(a->type);
  tc_putf(u->out, "  %s%s%s = ", a->type, a->name, a->comment);
  if (a->kind == TC_CUDA_POINTER) tc_putf(u->out, "(%.*s)(", (int)cast, a->type);
  else tc_put(u->out, a->kind == TC_CUDA_NUMBER ? "__longlong_as_double((tc_i64)" : "(tc_i64)(");
  tc_put(u->out, "all.word[");
  if (a->shared) tc_putf(u->out, "%d]);\n", 1 + u->shared++);
  else tc_putf(u->out, "own + %d]);\n", u->own++);
}

void tc_cuda_put_own_parameters(const tc_kernel *k, const tc_program *p, const char *body,
                                tc_buf *out) {
  unpacking u = {.out = out};
  count n;
  bool ok = count_words(k, p, body, &n);
  tc_putf(out, "  tc_blocks block, blocks;\n  const int own = tc_find_sibling(all, %d, %d, &block, &blocks);\n", n.shared,
          n.own);
  ok = ok && tc_cuda_visit_parameters(k, p, body, unpack, &u);
  if (!ok) out->failed = true;
}

/* ---- the host -------------------------------------------------------------------------------- */

typedef struct addresses {
  tc_buf *out;
  bool shared, any;
} addresses;

static void put_address(const tc_cuda_parameter *a, void *arg) {
  addresses *l = arg;
  if (a->kind == TC_CUDA_LAUNCH || a->shared != l->shared) return;
  tc_putf(l->out, "%s%s", l->any ? ", " : "", a->address);
  l->any = true;
}

void tc_cuda_put_join(const tc_kernel *k, const tc_program *p, const char *body, tc_buf *out) {
  count n;
  if (!count_words(k, p, body, &n)) out->failed = true;
  for (int shared = 1; shared >= 0; --shared) {
    addresses l = {.out = out, .shared = shared};
    tc_putf(out, "    void *const %s[] = {", shared ? "common" : "own");
    if (!tc_cuda_visit_parameters(k, p, body, put_address, &l)) out->failed = true;
    tc_putf(out, "%s};\n", l.any ? "" : "0");
  }
  tc_putf(out,
          "    (void)group, (void)shared;\n"
          "    const int status = tc_cuda_join(c, &@NAME@_image, &all[f - forms], f->function, grid, block,\n"
          "                                    common, %d, own, %d);\n"
          "    if (status) return status;\n  }\n",
          n.shared, n.own);
}

void tc_cuda_put_siblings_launcher(const tc_kernel *k, int functions, tc_buf *out) {
  tc_putf(out,
          "static int @NAME@(const tcrt_cuda_call *c, void *const *buf, const int64_t *sym,\n"
          "                  const tc_value *scalar) {\n"
          "  tc_cuda_launch all[%d];\n"
          "  int status = 0;\n"
          "  for (int i = 0; i < %d; ++i) all[i].siblings = 0;\n"
          "  for (int64_t i = 0; i < sym[0] && !status; ++i)\n"
          "    status = @NAME@_one(c, buf + i * %u, sym + 4 + i * (1 + sym[1]), scalar + i * sym[2], all);\n"
          "  for (int i = 0; i < %d && !status; ++i) status = tc_cuda_run(c, &@NAME@_image, &all[i]);\n"
          "  return status;\n}\n",
          functions, functions, k->nbuffer, functions);
}

static const char helpers[] =
    "/* A launch of siblings, as far as it is known. */\n"
    "typedef struct tc_cuda_launch {\n"
    "  unsigned function, siblings, words;\n"
    "  int64_t grid, block;\n"
    "  uint64_t word[TCRT_CUDA_WORDS];\n"
    "} tc_cuda_launch;\n"
    "TC_CUDA_FN int tc_cuda_run(const tcrt_cuda_call *c, tcrt_cuda_image *image, tc_cuda_launch *l) {\n"
    "  if (!l->siblings) return 0;\n"
    "  l->word[0] = l->siblings;\n"
    "  while (l->words < TCRT_CUDA_WORDS) l->word[l->words++] = 0;\n"
    "  l->siblings = 0;\n"
    "  return tcrt_cuda_follow_table(c, image, l->function, (unsigned)l->grid, (unsigned)l->block, l->word);\n"
    "}\n"
    "TC_CUDA_FN void tc_cuda_put_words(tc_cuda_launch *l, void *const *address, int n) {\n"
    "  for (int i = 0; i < n; ++i) l->word[l->words++] = *(const uint64_t *)address[i];\n"
    "}\n"
    "TC_CUDA_FN int tc_cuda_join(const tcrt_cuda_call *c, tcrt_cuda_image *image, tc_cuda_launch *l,\n"
    "                            unsigned function, int64_t grid, int64_t block, void *const *common,\n"
    "                            int ncommon, void *const *own, int nown) {\n"
    "  const int64_t most = 1 << 30; /* threads go on by the size of the grid */\n"
    "  int status = 0;\n"
    "  if (grid <= 0) return 0;\n"
    "  if (grid > most) grid = most;\n"
    "  if (l->siblings && (l->words + 1 + nown > TCRT_CUDA_WORDS || l->grid + grid > most))\n"
    "    status = tc_cuda_run(c, image, l);\n"
    "  if (!l->siblings) {\n"
    "    l->function = function, l->grid = 0, l->block = block, l->words = 1;\n"
    "    tc_cuda_put_words(l, common, ncommon);\n"
    "  }\n"
    "  l->word[l->words++] = (uint64_t)l->grid;\n"
    "  tc_cuda_put_words(l, own, nown);\n"
    "  l->grid += grid;\n"
    "  ++l->siblings;\n"
    "  return status;\n"
    "}\n";

void tc_cuda_put_sibling_helpers(tc_buf *out) { tc_put(out, helpers); }
