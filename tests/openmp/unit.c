#include "tests/openmp/unit.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const level_name[TC_ISA_COUNT] = {"v2", "v3", "v4", "bf16", "amx"};
#if defined(__x86_64__)
static const char *const level_flags[TC_ISA_COUNT] = {
    "-march=x86-64-v2", "-march=x86-64-v3", "-march=x86-64-v4",
    "-march=x86-64-v4 -mavx512bf16 -mavx512vnni", "-march=sapphirerapids"};
uint32_t omp_levels_here(void) {
  uint32_t levels = 1;
#ifdef UNIT_ONE_LEVEL
  return levels;
#endif
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) levels |= 2;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl"))
    levels |= 4;
  if (levels >= 7 && __builtin_cpu_supports("avx512bf16")) levels |= 8;
  if (levels >= 15 && __builtin_cpu_is("sapphirerapids")) levels |= 16;
  return levels;
}
#else
static const char *const level_flags[TC_ISA_COUNT] = {"", "", "", "", ""};
uint32_t omp_levels_here(void) { return 1; }
#endif

static bool write_file(const char *path, const char *text) {
  FILE *f = fopen(path, "w");
  if (!f) return false;
  const bool ok = fputs(text ? text : "", f) >= 0;
  return fclose(f) == 0 && ok;
}

static bool sh(const char *command) {
  const int status = system(command);
  if (status) fprintf(stderr, "failed: %s\n", command);
  return status == 0;
}

/* host.o, one kernels object a level, and unit.so from them; names are relative, for a compiler cache.  Results of v3 and
 * bf16 stream whatever their size, so that small ones reach that code too.  Compiled quickly: kernels as users have them run in
 * tests of ops, programs and samples. */
static bool build(const char *dir, uint32_t levels) {
  char command[2048], objects[512] = "";
  snprintf(command, sizeof command, "cd %s && %s -O1 -fPIC -Werror -c -o host.o host.c", dir, TC_TEST_CLANG);
  if (!sh(command)) return false;
  for (int i = 0; i < TC_ISA_COUNT; ++i) {
    if (!(levels >> i & 1)) continue;
    snprintf(command, sizeof command, "cd %s && %s -O0 -w -fPIC %s -DTC_LEVEL=%s %s -c -o %s.o kernels.c", dir, TC_TEST_CLANG,
             level_flags[i], level_name[i], i % 2 ? "-DTC_NONTEMPORAL_BYTES=1 -DTC_SINGLE_PASS_POINTS=1" : "", level_name[i]);
    if (!sh(command)) return false;
    snprintf(objects + strlen(objects), sizeof objects - strlen(objects), " %s.o", level_name[i]);
  }
  snprintf(command, sizeof command, "cd %s && %s -shared -o unit.so host.o%s", dir, TC_TEST_CLANG, objects);
  return sh(command);
}

static bool load(omp_unit *u, const char *dir, uint32_t levels) {
  char path[600];
  snprintf(path, sizeof path, "%s/host.c", dir);
  if (!write_file(path, u->texts.host.text)) return false;
  snprintf(path, sizeof path, "%s/kernels.c", dir);
  if (!write_file(path, u->texts.nkernels ? u->texts.kernels->text.text : "") ||
      !build(dir, levels))
    return false;
  snprintf(path, sizeof path, "%s/unit.so", dir);
  u->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!u->library) fprintf(stderr, "%s\n", dlerror());
  for (int i = 0; u->library && i < u->n; ++i) {
    snprintf(path, sizeof path, "test_%d", i);
    *(void **)&u->entry[i] = dlsym(u->library, path);
  }
  return u->library != NULL;
}

static bool compile(omp_unit *u, tc_graph **graph, uint32_t levels, const tc_backend *b) {
  const tc_choice choice = {b, TC_WISH_WANT};
  tc_function *f = calloc((size_t)u->n, sizeof *f);
  char(*symbol)[16] = calloc((size_t)u->n, sizeof *symbol);
  for (int i = 0; i < u->n; ++i) {
    snprintf(symbol[i], sizeof symbol[i], "test_%d", i);
    f[i] = (tc_function){.symbol = symbol[i],
                         .name = symbol[i],
                         .file = "test.c",
                         .line = 1,
                         .graph = graph[i],
                         .choice = &choice,
                         .nchoice = b != NULL,
                         .levels = levels};
  }
  const bool ok = tc_compile_functions(f, u->n, NULL, u->result, &u->texts);
  free(f);
  free(symbol);
  return ok;
}

/* None where all results are operands. */
static uint32_t levels_of(const tc_texts *t) { return t->nkernels ? t->kernels->levels : 0; }

static bool replace_host(omp_unit *u, char *text) {
  tc_buf_free(&u->texts.host);
  u->texts.host = (tc_buf){0};
  if (text) tc_put(&u->texts.host, text);
  free(text);
  return text && !u->texts.host.failed;
}

static bool print(omp_unit *u, tc_graph **graph, int n, uint32_t levels, const tc_backend *b) {
  *u = (omp_unit){.n = n};
  u->result = calloc((size_t)n + 1, sizeof *u->result);
  u->entry = calloc((size_t)n + 1, sizeof *u->entry);
  return compile(u, graph, levels & omp_levels_here(), b);
}

static bool make(omp_unit *u, tc_graph **graph, int n, uint32_t levels,
                 char *(*edit)(const char *host), const tc_backend *b) {
  if (!print(u, graph, n, levels, b)) return false;
  if (u->texts.functions == 0) return true;
  if (edit && !replace_host(u, edit(u->texts.host.text))) return false;
  char dir[] = "/tmp/tc-omp-XXXXXX", command[64];
  if (!mkdtemp(dir)) return false;
  const bool ok = load(u, dir, levels_of(&u->texts));
  const char *keep = getenv("TC_TEST_KEEP");
  if (keep || !ok) fprintf(stderr, "texts are in %s\n", dir);
  else {
    snprintf(command, sizeof command, "rm -r %s", dir);
    sh(command);
  }
  return ok;
}

bool omp_unit_build(omp_unit *u, tc_graph **graph, int n, uint32_t levels, tc_diag *diag) {
  return omp_unit_build_edited(u, graph, n, levels, diag, NULL);
}

bool omp_unit_build_edited(omp_unit *u, tc_graph **graph, int n, uint32_t levels, tc_diag *diag,
                           char *(*edit)(const char *host)) {
  (void)diag;
  return make(u, graph, n, levels, edit, NULL);
}

bool omp_unit_build_by(omp_unit *u, tc_graph **graph, int n, uint32_t levels, const tc_backend *b) {
  return make(u, graph, n, levels, NULL, b);
}

bool omp_unit_print(omp_unit *u, tc_graph **graph, int n, uint32_t levels) {
  return print(u, graph, n, levels, NULL);
}

void omp_unit_free(omp_unit *u) {
  if (u->library) dlclose(u->library);
  tc_texts_free(&u->texts);
  free(u->result);
  free(u->entry);
}
