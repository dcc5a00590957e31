/* words_impl.h - decisions as fields, for the files of this folder. */
#ifndef TC_SCHEDULE_WORDS_IMPL_H
#define TC_SCHEDULE_WORDS_IMPL_H

#include "backends/schedule/words.h"

/* The struct of a stage's decisions; NULL of a backend that has none. */
static inline const char *tc_schedule_stage(const tc_schedule_words *w,
                                            const tc_schedule_variant *v, uint32_t stage) {
  return v->stage ? (const char *)v->stage + stage * w->stage.size : NULL;
}

/* Lists whose numbers name things come in their order, each once. */
static inline bool tc_word_is_set(tc_word_kind kind) {
  return kind == TC_WORD_VALUES || kind == TC_WORD_ACTIONS || kind == TC_WORD_STAGES;
}

/* Lines of a variant: of its words, of those of each stage, of its conditions, and where it
 * begins. */
static inline size_t tc_schedule_stage_lines(const tc_schedule_words *w, uint32_t stage) {
  return w->nest.nword + stage * w->stage.nword;
}
static inline size_t tc_schedule_when_lines(const tc_schedule_words *w, const tc_nest *n) {
  return tc_schedule_stage_lines(w, n->nstage);
}
static inline size_t tc_schedule_variant_line(const tc_schedule_words *w, const tc_nest *n) {
  return tc_schedule_when_lines(w, n) + w->when.nword;
}

/* Is the variant not to be taken in every case? */
bool tc_schedule_has_conditions(const tc_schedule_words *w, const tc_schedule_variant *v);
/* Is the field what it is where no line says anything? */
bool tc_word_is_absent(const tc_schedule_word *word, const void *fields);
/* "word 4", "word %3 %5": what the line says behind its level. */
void tc_word_print(const tc_schedule_word *word, const void *fields, const tc_nest *n, tc_buf *out);

#endif
