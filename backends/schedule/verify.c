/* verify.c - is every decision of a schedule allowed, by the nest and by the others? */
#include "backends/schedule/words_impl.h"

/* "line 7: ", or without a text, "sum_1, nest 0: ". */
static void put_place(const tc_schedule_place *at, uint32_t line, tc_buf *why) {
  if (line) tc_putf(why, "line %u: ", line);
  else if (at->nest) tc_putf(why, "%s, nest %d: ", at->k->name, (int)(at->nest - at->k->nest));
  else tc_putf(why, "%s: ", at->k->name);
}

/* "line 7: stage 0 unroll 3: why" */
static bool refuse(const tc_schedule_place *at, const tc_schedule_word *word, const void *fields,
                   uint32_t line, const char *reason, tc_buf *why) {
  put_place(at, line, why);
  if (at->stage >= 0) tc_putf(why, "stage %d ", at->stage);
  tc_word_print(word, fields, at->nest, why);
  tc_putf(why, ": %s", reason);
  return false;
}

/* line: of each word, or NULL. */
static bool verify_level(const tc_schedule_level *level, const void *fields,
                         const tc_schedule_place *at, const uint32_t *line, tc_buf *why) {
  for (size_t i = 0; i < level->nword; ++i) {
    const tc_schedule_word *word = &level->word[i];
    if (!word->refusal || tc_word_is_absent(word, fields)) continue;
    const char *reason = word->refusal(at);
    if (reason) return refuse(at, word, fields, line ? line[i] : 0, reason, why);
  }
  return true;
}

static bool verify_stages(const tc_schedule_words *w, tc_schedule_place *at, tc_buf *why) {
  const tc_schedule_variant *v = at->variant;
  for (uint32_t i = 0; i < at->nest->nstage; ++i) {
    const uint32_t *line = v->line ? v->line + tc_schedule_stage_lines(w, i) : NULL;
    at->stage = (int)i;
    if (!verify_level(&w->stage, tc_schedule_stage(w, v, i), at, line, why)) return false;
  }
  return true;
}

static bool verify_conditions(const tc_schedule_words *w, tc_schedule_place *at, tc_buf *why) {
  const tc_schedule_variant *v = at->variant;
  const uint32_t *line = v->line ? v->line + tc_schedule_when_lines(w, at->nest) : NULL;
  return verify_level(&w->when, v->nest, at, line, why);
}

/* Is the variant, or the kernel, whole? */
static bool verify_rest(const tc_schedule_words *w, const tc_schedule_place *at, tc_buf *why) {
  const char *reason = w->lack ? w->lack(at) : NULL;
  if (!reason) return true;
  const uint32_t *line = at->nest ? at->variant->line : NULL;
  put_place(at, line ? line[tc_schedule_variant_line(w, at->nest)] : 0, why);
  tc_put(why, reason);
  return false;
}

static bool verify_variant(const tc_schedule_words *w, tc_schedule_place *at, tc_buf *why) {
  at->stage = -1;
  at->self = NULL;
  bool ok = !w->open || w->open(at);
  if (!ok) tc_put(why, "out of memory");
  if (ok && at->variant == at->schedule->variant)
    ok = verify_level(&w->common, at->schedule->common, at, at->schedule->line, why);
  ok = ok && verify_conditions(w, at, why) &&
       verify_level(&w->nest, at->variant->nest, at, at->variant->line, why) &&
       verify_stages(w, at, why);
  at->stage = -1;
  ok = ok && verify_rest(w, at, why);
  if (w->close) w->close(at);
  return ok;
}

bool tc_schedule_verify_kernel(const tc_schedule_words *w, const tc_program *p, const tc_kernel *k,
                               tc_buf *why) {
  const tc_schedule *s = k->schedule;
  tc_schedule_place at = {.p = p, .k = k, .stage = -1};
  if (s && s->product && !tc_schedule_verify_kernel(w, p, s->product, why)) return false;
  if (!s || !s->kernel) return true;
  if (!verify_level(&w->kernel, s->kernel, &at, s->line, why) || !verify_rest(w, &at, why))
    return false;
  for (uint32_t i = 0; i < k->nnest; ++i)
    for (uint32_t v = 0; v < s->nest[i].nvariant; ++v) {
      at.nest = &k->nest[i];
      at.schedule = &s->nest[i];
      at.variant = &s->nest[i].variant[v];
      if (!verify_variant(w, &at, why)) return false;
    }
  return true;
}

bool tc_schedule_verify(const tc_schedule_words *w, const tc_program *p, tc_buf *why) {
  for (uint32_t i = 0; i < p->nkernel; ++i)
    if (!tc_schedule_verify_kernel(w, p, &p->kernel[i], why)) return false;
  return true;
}
