/* print.c - schedules to text. */
#include "backends/schedule/words_impl.h"

static const void *field_of(const tc_schedule_word *word, const void *fields) {
  return (const char *)fields + word->offset;
}

bool tc_word_is_absent(const tc_schedule_word *word, const void *fields) {
  const void *field = field_of(word, fields);
  switch (word->kind) {
  case TC_WORD_FLAG:
    return !*(const bool *)field;
  case TC_WORD_COUNT:
    return *(const int64_t *)field == word->absent;
  case TC_WORD_AXIS:
  case TC_WORD_STAGE:
  case TC_WORD_NAME:
    return *(const int *)field < 0;
  default:
    return !((const tc_schedule_list *)field)->n;
  }
}

bool tc_schedule_has_conditions(const tc_schedule_words *w, const tc_schedule_variant *v) {
  bool any = v->nwhen;
  for (size_t i = 0; i < w->when.nword; ++i) any |= !tc_word_is_absent(&w->when.word[i], v->nest);
  return any;
}

static void put_axis(const tc_nest *n, int axis, tc_buf *out) {
  if (n->axis[axis].name) tc_put(out, n->axis[axis].name);
  else tc_putf(out, "%d", axis);
}

void tc_word_print(const tc_schedule_word *word, const void *fields, const tc_nest *n,
                   tc_buf *out) {
  const void *field = field_of(word, fields);
  const tc_schedule_list *l = field;
  tc_put(out, word->word);
  if (word->kind == TC_WORD_FLAG) return;
  if (word->kind >= TC_WORD_COUNTS) {
    for (uint32_t i = 0; i < l->n; ++i)
      tc_putf(out, word->kind == TC_WORD_VALUES ? " %%%u" : " %u", l->at[i]);
    return;
  }
  tc_put(out, " ");
  if (word->kind == TC_WORD_COUNT) tc_putf(out, "%lld", (long long)*(const int64_t *)field);
  else if (word->kind == TC_WORD_AXIS) put_axis(n, *(const int *)field, out);
  else if (word->kind == TC_WORD_NAME) tc_put(out, word->names[*(const int *)field]);
  else tc_putf(out, "%d", *(const int *)field);
}

/* A line for each decision that is not absent; stage: its number, or -1. */
static void put_level(const tc_schedule_level *level, const void *fields, const tc_nest *n,
                      int indent, int stage, tc_buf *out) {
  for (size_t i = 0; i < level->nword; ++i) {
    if (tc_word_is_absent(&level->word[i], fields)) continue;
    tc_putf(out, "%*s", indent, "");
    if (stage >= 0) tc_putf(out, "stage %d ", stage);
    tc_word_print(&level->word[i], fields, n, out);
    tc_put(out, "\n");
  }
}

static void put_compare(const tc_nest *n, const tc_schedule_compare *c, tc_buf *out) {
  put_axis(n, c->axis, out);
  tc_putf(out, " %s %lld%s", c->less ? "<" : ">=", (long long)c->bound,
          c->vectors ? " vectors" : "");
}

static void put_when(const tc_schedule_words *w, const tc_nest *n, const tc_schedule_variant *v,
                     tc_buf *out) {
  bool any = false;
  tc_put(out, tc_schedule_has_conditions(w, v) ? "    when" : "    else");
  for (uint32_t i = 0; i < v->nwhen; ++i, any = true) {
    tc_put(out, any ? ", " : " ");
    put_compare(n, &v->when[i], out);
  }
  for (size_t i = 0; i < w->when.nword; ++i) {
    if (tc_word_is_absent(&w->when.word[i], v->nest)) continue;
    tc_put(out, any ? ", " : " ");
    tc_word_print(&w->when.word[i], v->nest, n, out);
    any = true;
  }
  tc_put(out, "\n");
}

static void put_nest(const tc_schedule_words *w, const tc_nest *n, const tc_schedule_nest *s,
                     tc_buf *out) {
  put_level(&w->common, s->common, n, 4, -1, out);
  for (uint32_t i = 0; i < s->nvariant; ++i) {
    const tc_schedule_variant *v = &s->variant[i];
    if (s->nvariant > 1) put_when(w, n, v, out);
    put_level(&w->nest, v->nest, n, 4, -1, out);
    for (uint32_t st = 0; st < n->nstage; ++st)
      put_level(&w->stage, tc_schedule_stage(w, v, st), n, 4, (int)st, out);
  }
}

static void put_kernel(const tc_schedule_words *w, const tc_kernel *k, const char *form,
                       tc_buf *out) {
  const tc_schedule *s = k->schedule;
  if (s && s->product) put_kernel(w, s->product, " nests", out);
  if (!s || !s->kernel) return;
  tc_putf(out, "kernel %s%s\n", k->name, form);
  put_level(&w->kernel, s->kernel, NULL, 2, -1, out);
  for (uint32_t i = 0; i < k->nnest; ++i) {
    if (!s->nest[i].nvariant) continue;
    tc_putf(out, "  nest %u\n", i);
    put_nest(w, &k->nest[i], &s->nest[i], out);
  }
}

void tc_schedule_print(const tc_schedule_words *w, const tc_program *p, const char *name,
                       tc_buf *out) {
  tc_putf(out, "program %s for %s\n", name, w->backend);
  for (uint32_t i = 0; i < p->nkernel; ++i) put_kernel(w, &p->kernel[i], "", out);
}
