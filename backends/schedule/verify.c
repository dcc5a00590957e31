/* verify.c - is every decision of a schedule allowed, by the nest and by the others? */
#include "backends/schedule/words_impl.h"

/* "line 7: stage 0 unroll 3: why", or without a text, "sum_1, nest 0: stage 0 unroll 3: why". */
static bool refuse(const tc_schedule_place *at, const tc_schedule_word *word, const void *fields,
                   uint32_t line, const char *reason, tc_buf *why) {
  if (line) tc_putf(why, "line %u: ", line);
  else if (at->nest) tc_putf(why, "%s, nest %d: ", at->k->name, (int)(at->nest - at->k->nest));
  else tc_putf(why, "%s: ", at->k->name);
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
    const uint32_t *line = v->line ? v->line + w->nest.nword + i * w->stage.nword : NULL;
    at->stage = (int)i;
    if (!verify_level(&w->stage, tc_schedule_stage(w, v, i), at, line, why)) return false;
  }
  return true;
}

static bool verify_variant(const tc_schedule_words *w, tc_schedule_place *at, tc_buf *why) {
  at->stage = -1;
  at->self = NULL;
  bool ok = !w->open || w->open(at);
  if (!ok) tc_put(why, "out of memory");
  ok = ok && verify_level(&w->nest, at->variant->nest, at, at->variant->line, why) &&
       verify_stages(w, at, why);
  if (w->close) w->close(at);
  return ok;
}

static bool verify_kernel(const tc_schedule_words *w, const tc_program *p, const tc_kernel *k,
                          tc_buf *why) {
  const tc_schedule *s = k->schedule;
  tc_schedule_place at = {.p = p, .k = k, .stage = -1};
  if (s && s->product && !verify_kernel(w, p, s->product, why)) return false;
  if (!s || !s->kernel) return true;
  if (!verify_level(&w->kernel, s->kernel, &at, s->line, why)) return false;
  for (uint32_t i = 0; i < k->nnest; ++i)
    for (uint32_t v = 0; v < s->nest[i].nvariant; ++v) {
      at.nest = &k->nest[i];
      at.variant = &s->nest[i].variant[v];
      if (!verify_variant(w, &at, why)) return false;
    }
  return true;
}

bool tc_schedule_verify(const tc_schedule_words *w, const tc_program *p, tc_buf *why) {
  for (uint32_t i = 0; i < p->nkernel; ++i)
    if (!verify_kernel(w, p, &p->kernel[i], why)) return false;
  return true;
}
