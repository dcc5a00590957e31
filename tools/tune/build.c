/* build.c - candidates as a library. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/tuning/tuning.h"
#include "tools/tune/tune.h"

extern char **environ;

/* As driver/kernels.cpp has them for the levels. */
static const char *const level_flags[TC_ISA_COUNT][4] = {
    {"-march=x86-64-v2"},
    {"-march=x86-64-v3"},
    {"-march=x86-64-v4", "-mprefer-vector-width=512"},
    {"-march=x86-64-v4", "-mprefer-vector-width=512", "-mavx512bf16", "-mavx512vnni"},
    {"-march=sapphirerapids", "-mprefer-vector-width=512"},
};

/* The level whose text runs at the machine's. */
static int level_of(const tune_problem *x, const tune_candidate *c) {
  int level = x->level;
  while (level && !(c->code.levels >> level & 1)) --level;
  return level;
}

bool tune_emit(const tune_problem *x, tune_candidate *c) {
  const tc_schedule *planned = x->k->schedule;
  tc_buf symbol = {0};
  x->k->schedule = c->schedule;
  bool ok = x->b->supports(x->k, x->p) && x->b->emit_kernel(x->k, x->p, &c->code);
  x->k->schedule = planned;
  if (ok) tc_putf(&symbol, "%s_%s", c->code.name.text, tc_isa_name[level_of(x, c)]);
  c->symbol = symbol.text;
  return ok && !symbol.failed;
}

static bool write_texts(const tune_problem *x, tune_candidate *const *list, size_t n,
                        const char *path) {
  tc_buf bare = {0}, all = {0};
  for (size_t i = 0; i < n; ++i)
    if (i != 1 && (list[i]->state == TUNE_OPEN || i == 0)) tc_put(&bare, list[i]->code.text.text);
  bool ok = !bare.failed && x->b->complete(bare.text, &all);
  /* the functions are hidden */
  for (size_t i = 0; i < n; ++i)
    if (i != 1 && (list[i]->state == TUNE_OPEN || i == 0))
      tc_putf(&all, "__attribute__((visibility(\"default\"))) void *const tune_%s = (void *)%s;\n",
              list[i]->symbol, list[i]->symbol);
  ok = ok && !all.failed;
  FILE *f = ok ? fopen(path, "w") : NULL;
  ok = f && fwrite(all.text, 1, all.len, f) == all.len;
  if (f && fclose(f)) ok = false;
  tc_buf_free(&bare);
  tc_buf_free(&all);
  return ok;
}

static bool run(char **argument) {
  pid_t pid;
  int status;
  posix_spawn_file_actions_t files;
  if (posix_spawn_file_actions_init(&files)) return false;
  int error = getenv("TC_TUNE_SHOW")
                  ? 0
                  : posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
  if (!error) error = posix_spawnp(&pid, argument[0], &files, NULL, argument, environ);
  posix_spawn_file_actions_destroy(&files);
  if (error) return false;
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return false;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool compile(const tune_problem *x, const tune_candidate *planned, const char *from,
                    const char *to) {
  TC_VEC(char *) a = {0};
  char level[32];
  static const char *const common[] = {
      "-O3", "-w", "-fPIC", "-shared", "-std=gnu17", "-ffp-contract=on", "-fomit-frame-pointer"};
  const int at = level_of(x, planned);
  snprintf(level, sizeof level, "-DTC_LEVEL=%s", tc_isa_name[at]);
  bool ok = tc_push(&a, (char *)x->compiler) && tc_push(&a, level);
  for (size_t i = 0; i < sizeof common / sizeof *common; ++i)
    ok = ok && tc_push(&a, (char *)common[i]);
#if defined(__x86_64__)
  for (int i = 0; i < 4 && level_flags[at][i]; ++i)
    ok = ok && tc_push(&a, (char *)level_flags[at][i]);
#endif
  /* "-DNAME=N" */
  for (size_t i = 0; i < x->nmacro; ++i) ok = ok && tc_push(&a, (char *)x->macro[i]);
  ok = ok && tc_push(&a, (char *)from) && tc_push(&a, (char *)"-o") && tc_push(&a, (char *)to) &&
       tc_push(&a, (char *)NULL);
  ok = ok && run(a.at);
  free(a.at);
  return ok;
}

/* What the compiler refuses is found one by one. */
bool tune_build(const tune_problem *x, tune_candidate *const *list, size_t n, const char *path) {
  tc_buf source = {0};
  tc_putf(&source, "%s.c", path);
  bool ok = !source.failed && write_texts(x, list, n, source.text) &&
            compile(x, list[0], source.text, path);
  for (size_t i = 2; !ok && i < n; ++i) {
    tune_candidate *pair[] = {list[0], list[i]};
    if (list[i]->state == TUNE_OPEN &&
        !(write_texts(x, pair, 2, source.text) && compile(x, list[0], source.text, path)))
      list[i]->state = TUNE_REFUSED;
    if (i + 1 == n)
      ok = write_texts(x, list, n, source.text) && compile(x, list[0], source.text, path);
  }
  tc_buf_free(&source);
  return ok;
}
