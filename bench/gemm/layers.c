/* layers.c - the text of the timers, and what they say. */
#define _GNU_SOURCE
#include "layers.h"

#include <dlfcn.h>
#include <string.h>

#include "peaks.h"

enum { OFF, TIMED, ALONE };                 /* layers_mode */
enum { TILES, A, B, EPILOGUE, ALL, PARTS }; /* layers_time */

/* clang-format off */
#define EXPORT "__attribute__((visibility(\"default\"))) "
#define FROM "  const uint64_t from = __builtin_readcyclecounter();\n"
#define TILE(v, w)                                                                                 \
  "static void layers_tile_" #v #w "(int64_t k, const char *a, int64_t rs, int64_t ks,\n"          \
  "                           const char *b, int64_t bs, char *c, int64_t cs, int add,\n"          \
  "                           const char *ahead, int64_t as) {\n" FROM                             \
  "  layers_of->micro[" #v "][" #w "](k, a, rs, ks, b, bs, c, cs, add, ahead, as);\n"              \
  "  layers_add(0, from);\n}\n"

const char layers_text[] =
    EXPORT "int layers_mode;\n"
    EXPORT "uint64_t layers_time[5];\n"
    EXPORT "double layers_flops;\n"
    "static const tc_mm *layers_of;\n"
    "/* What was stored is part of the time. */\n"
    "static void layers_add(int part, uint64_t from) {\n"
    "  __atomic_thread_fence(__ATOMIC_SEQ_CST);\n"
    "  const uint64_t spent = __builtin_readcyclecounter() - from;\n"
    "  __atomic_fetch_add(&layers_time[part], spent, __ATOMIC_RELAXED);\n"
    "}\n"
    TILE(0, 0) TILE(0, 1) TILE(0, 2)
    TILE(1, 0) TILE(1, 1) TILE(1, 2)
    TILE(2, 0) TILE(2, 1) TILE(2, 2)
    "static void layers_a_pack(const tc_mm *g, int64_t batch, int64_t m0, int64_t rows,\n"
    "                          int64_t k0, int64_t kn, char *dst, int64_t stride, int64_t step) {\n"
    FROM
    "  layers_of->a_pack(g, batch, m0, rows, k0, kn, dst, stride, step);\n"
    "  layers_add(1, from);\n}\n"
    "static void layers_b_pack(const tc_mm *g, int64_t batch, int64_t n0, int64_t cols,\n"
    "                          int64_t nr, int64_t k0, int64_t kn, char *dst) {\n"
    FROM
    "  layers_of->b_pack(g, batch, n0, cols, nr, k0, kn, dst);\n"
    "  layers_add(2, from);\n}\n"
    "static void layers_epilogue(const tc_mm *g, int64_t batch, int64_t m0, int64_t rows,\n"
    "                            int64_t n0, int64_t cols, const char *tile, int64_t stride) {\n"
    FROM
    "  layers_of->epilogue(g, batch, m0, rows, n0, cols, tile, stride);\n"
    "  layers_add(3, from);\n}\n"
    "static void layers_timed(const tc_mm *g, char *shared, int64_t bytes, char *own,\n"
    "                         int64_t each) {\n"
    FROM
    "  tc_mm_micro *tile[3][3] = {{layers_tile_00, layers_tile_01, layers_tile_02},\n"
    "                             {layers_tile_10, layers_tile_11, layers_tile_12},\n"
    "                             {layers_tile_20, layers_tile_21, layers_tile_22}};\n"
    "  tc_mm x = *g;\n"
    "  layers_of = g;\n"
    "  __builtin_memcpy(x.micro, tile, sizeof tile);\n"
    "  x.a_pack = layers_a_pack, x.b_pack = layers_b_pack, x.epilogue = layers_epilogue;\n"
    "  tc_mm_run(&x, shared, bytes, own, each);\n"
    "  layers_add(4, from);\n}\n"
    "static void layers_alone(const tc_mm *g, char *shared, char *own) {\n"
    "  const int64_t deep = g->k < g->kc ? g->k : g->kc, kn = (deep + g->kp - 1) / g->kp * g->kp;\n"
    "  const int64_t side = g->mr * g->es, row = kn * g->es + 64;\n"
    "  const int64_t rs = g->a_cols ? g->es : g->a_lines ? 64 : row;\n"
    "  const int64_t ks = (g->a_cols || g->a_lines ? side : g->es) * g->ku;\n"
    "  const int64_t cs = g->nr * g->cs, bs = g->nr * g->es * g->ku;\n"
    "  char *c = own + g->mr * row;\n"
    "  __builtin_memset(shared, 0, g->nr * kn * g->es);\n"
    "  __builtin_memset(own, 0, g->mr * (row + cs));\n"
    "  if (g->begin) g->begin();\n"
    "  for (int i = 0; i < 100; ++i)\n"
    "    g->micro[0][0](kn / g->ku, own, rs, ks, shared, bs, c, cs, 0, shared, 0);\n"
    "  if (g->end) g->end();\n"
    "  layers_flops = 200.0 * g->mr * g->nr * kn;\n}\n"
    "static void layers_run(const tc_mm *g, char *shared, int64_t bytes, char *own,\n"
    "                       int64_t each) {\n"
    "  if (layers_mode == 2) layers_alone(g, shared, own);\n"
    "  else if (layers_mode == 1) layers_timed(g, shared, bytes, own, each);\n"
    "  else tc_mm_run(g, shared, bytes, own, each);\n}\n"
    "#undef tc_mm_run\n"
    "#define tc_mm_run layers_run\n";
/* clang-format on */

bool layers_measure(void *library, mm_function *f, void *const *buf, const int64_t *sym,
                    int threads, layers *l) {
  int *mode = dlsym(library, "layers_mode");
  uint64_t *spent = dlsym(library, "layers_time");
  const double *flops = dlsym(library, "layers_flops");
  if (!mode || !spent || !flops) return false;
  uint64_t least[PARTS] = {0};
  *mode = TIMED;
  for (int i = 0; i < 5; ++i) {
    memset(spent, 0, sizeof least);
    f(buf, sym, NULL);
    if (i == 0 || spent[ALL] < least[ALL]) memcpy(least, spent, sizeof least);
  }
  *l = (layers){0};
  *mode = ALONE;
  for (int i = 0; i < 10 && least[ALL]; ++i) {
    const double from = now();
    f(buf, sym, NULL);
    const double rate = *flops / (now() - from) * 1e-9;
    if (rate > l->alone) l->alone = rate;
  }
  *mode = OFF;
  if (!least[ALL]) return false;
  const double all = (double)least[ALL] * threads;
  l->tiles = (double)least[TILES] / all;
  l->a = (double)least[A] / all;
  l->b = (double)least[B] / all;
  l->epilogue = (double)least[EPILOGUE] / all;
  return true;
}
