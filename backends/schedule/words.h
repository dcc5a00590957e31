/* words.h - schedules as text.
 *
 *   program softmax for openmp           ; the entry's symbol; without a backend: for all
 *   kernel sum_1
 *     threads 80000                      ; decisions of the kernel, one a line
 *     nest 0
 *       when j < 16, i >= 1 vectors      ; a variant; the last one begins with `else`
 *       vector i                         ; decisions of the nest, one a line
 *       else
 *       vector j
 *       stage 0 unroll 4                 ; a decision of a stage
 *   kernel matmul_2 nests                ; of a product: the nests that do it, or what is left of it
 *   program softmax for cuda
 *   kernel softmax_1
 *     nest 0
 *       form rows                          ; decisions that hold in all variants
 *       when aligned, longest 512          ; conditions of the backend's own
 *       unroll 4
 *       else
 *       unroll 2
 *
 * What no line says is as it would be without the decision.  Axes have the names that TC_DUMP=loops
 * prints, %7 is an expression, plain numbers count, stages and actions from 0.  ';' starts a
 * comment.
 *
 * A backend says in a table of words what there is to decide; what is printed, read back and
 * refused follows from its rows. */
#ifndef TC_SCHEDULE_WORDS_H
#define TC_SCHEDULE_WORDS_H

#include "backends/schedule/schedule.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What follows a word, and the type of its field. */
typedef enum {
  TC_WORD_FLAG,    /* nothing: bool */
  TC_WORD_COUNT,   /* a number from 1 on: int64_t */
  TC_WORD_AXIS,    /* an axis: int, -1 is none */
  TC_WORD_STAGE,   /* a stage: int, -1 is none */
  TC_WORD_NAME,    /* one of `names`: int, its place there, -1 is none */
  TC_WORD_COUNTS,  /* numbers from 1 on: tc_schedule_list */
  TC_WORD_VALUES,  /* expressions: tc_schedule_list, ascending */
  TC_WORD_ACTIONS, /* actions of the stage: tc_schedule_list, ascending */
  TC_WORD_STAGES,  /* stages: tc_schedule_list, ascending */
} tc_word_kind;

/* Where a decision stands. */
typedef struct tc_schedule_place {
  const tc_program *p;
  const tc_kernel *k;
  const tc_nest *nest;              /* NULL: a decision of the kernel */
  const tc_schedule_nest *schedule; /* of the nest, */
  /* and the one at hand: of decisions that hold in all, the first */
  const tc_schedule_variant *variant;
  int stage;    /* -1: a decision of the nest */
  void *self;   /* the backend's (tc_schedule_words.open) */
} tc_schedule_place;

typedef struct tc_schedule_word {
  const char *word;
  tc_word_kind kind;
  size_t offset;  /* of the field */
  int64_t absent; /* COUNT: what it is where no line says it */
  /* Optional.  Why the nest and the decisions around it do not allow it; NULL: they do. */
  const char *(*refusal)(const tc_schedule_place *at);
  const char *const *names; /* NAME: ends with NULL */
  /* Optional.  What may be tried in place of a value (neighbours.h).  COUNT: values in ascending
   * order, 0 for the absent one; ends with -1.  Other kinds: not NULL: other values of the field
   * are tried. */
  const int64_t *tries;
} tc_schedule_word;

typedef struct tc_schedule_level {
  const tc_schedule_word *word;
  size_t nword, size; /* of the struct that has the fields */
} tc_schedule_level;

/* nest: of a variant.  common: what holds in all variants of a nest, said in front of them.  when:
 * conditions of a variant, FLAGs and COUNTs, whose fields are in the struct of `nest`.  Levels may
 * be without words. */
typedef struct tc_schedule_words {
  const char *backend;
  tc_schedule_level kernel, common, when, nest, stage;
  /* Optional.  Why a kernel's own decisions, or a variant as a whole, are not allowed: what they
   * lack. */
  const char *(*lack)(const tc_schedule_place *at);
  /* Optional.  What refusals of one variant share: sets at->self.  false: out of memory. */
  bool (*open)(tc_schedule_place *at);
  void (*close)(tc_schedule_place *at);
  /* Optional.  Plans of nest n of k that differ in more than one decision, in the program's arena:
   * number i, from 0 on, is a variant without conditions.  They may be refused.  *more: there are
   * such from i on; false: out of memory. */
  bool (*other_plan)(tc_program *p, const tc_kernel *k, uint32_t n, uint32_t i,
                     tc_schedule_variant *v, bool *more);
} tc_schedule_words;

/* The schedules of all kernels of p, which is called `name`. */
void tc_schedule_print(const tc_schedule_words *w, const tc_program *p, const char *name,
                       tc_buf *out);
/* Puts in place of planned schedules what the text says of the program called `name`: of kernels
 * and of nests that it names.  false: it is wrong, and why: "line 7: ...". */
bool tc_schedule_read(const tc_schedule_words *w, const char *text, tc_program *p, const char *name,
                      tc_buf *why);
bool tc_schedule_read_file(const tc_schedule_words *w, const char *path, tc_program *p,
                           const char *name, tc_buf *why);
/* Asks the words of all decisions whether they are allowed.  false: why, with the line if there is
 * one. */
bool tc_schedule_verify(const tc_schedule_words *w, const tc_program *p, tc_buf *why);
bool tc_schedule_verify_kernel(const tc_schedule_words *w, const tc_program *p, const tc_kernel *k,
                               tc_buf *why);

#ifdef __cplusplus
}
#endif
#endif
