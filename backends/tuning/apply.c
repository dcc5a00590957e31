/* apply.c - measured schedules in place of planned ones. */
#include <stdlib.h>
#include <string.h>

#include "backends/schedule/words.h"
#include "backends/tuning/tuning.h"

typedef struct tuned {
  const tc_backend *b;
  tc_program *p;
  const tc_function *f;
  tc_buf *why;
  char **key;       /* [nkernel]; NULL: the kernel is not tuned */
  bool *measured;   /* [nkernel] in this compilation */
  tc_buf machine;
  uint32_t n, open; /* kernels that are tuned, or have sizes that are not known */
} tuned;

static void remark(const tuned *t, tc_loc loc, const char *kernel, const char *text) {
  const char *sizes = t->f->sizes ? t->f->sizes : "";
  tc_report(tc_graph_diag(t->p->graph), TC_REMARK, loc, "'%s'%s%s: %s%s%s", t->f->name,
            *sizes ? " for " : "", sizes, kernel, *kernel ? ": " : "", text);
}

static bool make_keys(tuned *t) {
  for (uint32_t i = 0; i < t->p->nkernel; ++i) {
    tc_buf key = {0};
    t->open += !tc_tuning_is_fixed(t->p, i) && tc_tuning_nests(t->p, i);
    if (!tc_tuning_is_fixed(t->p, i)) continue;
    if (!tc_tuning_put_key(t->b, t->p, i, NULL, &key)) return tc_buf_free(&key), false;
    t->key[i] = key.text; /* taken over */
    ++t->n;
  }
  return true;
}

/* ---- what is not known ----------------------------------------------------------------------- */

static const char *obstacle(const tc_tuner *tuner) {
  if (!tuner->tool) return "not measured: tc-tune is not beside the plugin";
  if (!tuner->compiler) return "not measured: there is no clang of this version";
  return tuner->seconds > 0 ? NULL : "not measured: tune-time=0";
}

/* Each gets an equal share of the time that is left. */
static void measure(tuned *t, const tc_tuning *known) {
  uint32_t missing = 0;
  for (uint32_t i = 0; i < t->p->nkernel; ++i)
    missing += t->key[i] && !tc_tuning_find(known, t->key[i], t->machine.text);
  const double end = tc_tuning_now() + t->f->tuner->seconds;
  for (uint32_t i = 0; i < t->p->nkernel; ++i) {
    const tc_kernel *k = &t->p->kernel[i];
    if (!t->key[i] || tc_tuning_find(known, t->key[i], t->machine.text)) continue;
    tc_buf why = {0};
    const char *no = obstacle(t->f->tuner);
    t->measured[i] = !no && tc_tuning_ask(t->b, t->p, i, t->key[i], t->f,
                                          (end - tc_tuning_now()) / missing, &why);
    if (!t->measured[i])
      remark(t, k->loc, k->name, no ? no : why.text ? why.text : "out of memory");
    tc_buf_free(&why);
    --missing;
  }
}

/* ---- what is known --------------------------------------------------------------------------- */

/* Lines of the text have the numbers that they have in the file. */
static bool read_schedule(tuned *t, const tc_kernel *k, const tc_tuning_entry *e) {
  tc_buf text = {0}, problem = {0};
  for (uint32_t i = 3; i < e->line; ++i) tc_put(&text, "\n");
  tc_putf(&text, "program %s\nkernel %s%s\n%s", TC_TUNING_NAME, k->name,
          k->schedule->product ? " nests" : "", e->schedule);
  const bool ok =
      !text.failed && tc_schedule_read(t->b->schedule, text.text, t->p, TC_TUNING_NAME, &problem);
  if (!ok)
    tc_putf(t->why, "%s: %s", t->f->tuner->database, problem.text ? problem.text : "out of memory");
  tc_buf_free(&text);
  tc_buf_free(&problem);
  return ok;
}

static void tell(const tuned *t, uint32_t i, const tc_tuning_entry *e) {
  tc_buf text = {0};
  tc_putf(&text, "%s ", t->measured[i] ? "measured," : "known,");
  if (e->taken > 0) tc_putf(&text, "%s: %.1f us, planned %.1f us", e->change, e->taken, e->planned);
  else tc_putf(&text, "as planned: %.1f us", e->planned);
  if (text.text) remark(t, t->p->kernel[i].loc, t->p->kernel[i].name, text.text);
  tc_buf_free(&text);
}

static bool apply(tuned *t, const tc_tuning *known) {
  for (uint32_t i = 0; i < t->p->nkernel; ++i) {
    const tc_tuning_entry *e = t->key[i] ? tc_tuning_find(known, t->key[i], t->machine.text) : NULL;
    if (!e) continue;
    if (e->taken > 0 && !read_schedule(t, &t->p->kernel[i], e)) return false;
    tell(t, i, e);
  }
  return true;
}

static bool is_missing(const tuned *t, const tc_tuning *known) {
  for (uint32_t i = 0; i < t->p->nkernel; ++i)
    if (t->key[i] && !tc_tuning_find(known, t->key[i], t->machine.text)) return true;
  return false;
}

static bool tune(tuned *t) {
  const char *path = t->f->tuner->database;
  if (!make_keys(t)) return false;
  if (t->open)
    remark(t, (tc_loc){0}, "",
           "kernels of sizes that are not known at build time are not measured");
  if (!t->n) return true;
  tc_tuning *known = tc_tuning_read(path, t->why);
  if (known && is_missing(t, known)) {
    measure(t, known);
    tc_tuning_free(known);
    known = tc_tuning_read(path, t->why);
  }
  const bool ok = known && apply(t, known);
  tc_tuning_free(known);
  return ok;
}

bool tc_tune_program(const tc_backend *b, tc_program *p, const tc_function *f, tc_buf *why) {
  if (!f->tuner || !b->schedule || !b->schedule->other_plan) return true;
  tuned t = {.b = b, .p = p, .f = f, .why = why};
  if (!f->tuner->database)
    return remark(&t, (tc_loc){0}, "", "not measured: there is no cache, and no tune=FILE"), true;
  t.key = calloc(p->nkernel + 1u, sizeof *t.key);
  t.measured = calloc(p->nkernel + 1u, sizeof *t.measured);
  tc_tuning_put_machine(f->levels, &t.machine);
  const bool ok = t.key && t.measured && !t.machine.failed && tune(&t);
  for (uint32_t i = 0; t.key && i < p->nkernel; ++i) free(t.key[i]);
  free(t.key);
  free(t.measured);
  tc_buf_free(&t.machine);
  return ok;
}
