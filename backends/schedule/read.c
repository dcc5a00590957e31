/* read.c - schedules from text: line by line, each of which opens a program, a kernel, a nest or a
 * variant, or says one decision of what is open. */
#include "backends/schedule/words_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
  const tc_schedule_words *w;
  tc_program *p;
  const char *name;
  tc_buf *why;
  uint32_t line;
  const char *at, *end; /* what is left of the line */
  bool skip;            /* the part of another program */
  /* What is open. */
  tc_kernel *k;
  tc_schedule *s;
  uint32_t *kernel_line;
  const tc_nest *nest;
  tc_schedule_nest *ns;
  uint32_t *common_line; /* ns->line */
  tc_schedule_variant *v;
  uint32_t *line_of; /* v->line */
} reader;

static bool wrong(reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool wrong(reader *r, const char *format, ...) {
  char text[160];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  tc_putf(r->why, "line %u: %s", r->line, text);
  return false;
}

static void *make(reader *r, size_t bytes) {
  void *made = tc_arena_alloc(r->p->arena, bytes + 1);
  if (!made) tc_put(r->why, "out of memory");
  return made;
}

/* ---- words of a line ------------------------------------------------------------------------- */

typedef struct piece {
  const char *text;
  int len;
} piece;

static bool is_break(char c) { return c == ' ' || c == '\t' || c == '\r' || c == ','; }

static bool next(reader *r, piece *out) {
  while (r->at < r->end && is_break(*r->at)) ++r->at;
  out->text = r->at;
  while (r->at < r->end && !is_break(*r->at)) ++r->at;
  out->len = (int)(r->at - out->text);
  return out->len > 0;
}

static bool is(piece x, const char *word) {
  return strlen(word) == (size_t)x.len && !strncmp(x.text, word, (size_t)x.len);
}

/* Takes the word if it is the next one. */
static bool take(reader *r, const char *word) {
  const char *at = r->at;
  piece x;
  if (next(r, &x) && is(x, word)) return true;
  r->at = at;
  return false;
}

static bool number_of(piece x, int64_t *out) {
  char text[24], *end;
  if (x.len <= 0 || x.len >= (int)sizeof text || x.text[0] < '0' || x.text[0] > '9') return false;
  memcpy(text, x.text, (size_t)x.len);
  text[x.len] = 0;
  *out = strtoll(text, &end, 10);
  return !*end && *out < INT64_MAX;
}

static bool read_number(reader *r, int64_t least, int64_t end, const char *what, int64_t *out) {
  piece x;
  if (!next(r, &x)) return wrong(r, "%s is missing", what);
  if (!number_of(x, out) || *out < least || *out >= end)
    return wrong(r, "'%.*s' is no %s", x.len, x.text, what);
  return true;
}

static bool read_axis(reader *r, int *out) {
  piece x;
  int64_t number;
  if (!next(r, &x)) return wrong(r, "an axis is missing");
  for (*out = 0; *out < r->nest->naxis; ++*out) {
    const char *name = r->nest->axis[*out].name;
    if (name ? is(x, name) : number_of(x, &number) && number == *out) return true;
  }
  return wrong(r, "the nest has no axis '%.*s'", x.len, x.text);
}

static bool read_end(reader *r) {
  piece x;
  return !next(r, &x) || wrong(r, "'%.*s' is more than there is to say", x.len, x.text);
}

/* ---- decisions ------------------------------------------------------------------------------- */

/* Fields are what they are where no line says anything. */
static void set_absent(const tc_schedule_level *level, void *fields) {
  memset(fields, 0, level->size);
  for (size_t i = 0; i < level->nword; ++i) {
    const tc_schedule_word *word = &level->word[i];
    char *field = (char *)fields + word->offset;
    if (word->kind == TC_WORD_COUNT) *(int64_t *)field = word->absent;
    if (word->kind == TC_WORD_AXIS || word->kind == TC_WORD_STAGE || word->kind == TC_WORD_NAME)
      *(int *)field = -1;
  }
}

static bool read_item(reader *r, tc_word_kind kind, uint32_t stage, int64_t *out) {
  if (kind == TC_WORD_COUNTS) return read_number(r, 1, UINT32_MAX, "count", out);
  if (kind == TC_WORD_STAGES) return read_number(r, 0, tc_nest_stages(r->nest), "stage", out);
  if (kind == TC_WORD_ACTIONS)
    return read_number(r, 0, r->nest->stage[stage].naction, "action of the stage", out);
  piece x;
  if (!next(r, &x)) return wrong(r, "a value is missing");
  const piece number = {x.text + 1, x.len - 1};
  if (*x.text != '%' || !number_of(number, out) || *out < 1 || *out >= r->k->nexpr)
    return wrong(r, "the kernel has no value '%.*s'", x.len, x.text);
  return true;
}

static bool is_line_over(const reader *r) {
  const char *at = r->at;
  while (at < r->end && is_break(*at)) ++at;
  return at == r->end;
}

static bool read_list(reader *r, tc_word_kind kind, uint32_t stage, tc_schedule_list *l) {
  l->at = make(r, (size_t)(r->end - r->at) * sizeof *l->at); /* a character each, at least */
  if (!l->at) return false;
  do {
    int64_t item;
    if (!read_item(r, kind, stage, &item)) return false;
    if (tc_word_is_set(kind) && l->n && item <= l->at[l->n - 1]) return wrong(r, "numbers ascend");
    l->at[l->n++] = (uint32_t)item;
  } while (!is_line_over(r));
  return true;
}

static bool read_name(reader *r, const char *const *names, int *out) {
  piece x;
  if (!next(r, &x)) return wrong(r, "a name is missing");
  for (*out = 0; names[*out]; ++*out)
    if (is(x, names[*out])) return true;
  return wrong(r, "'%.*s' is not understood here", x.len, x.text);
}

static bool read_value(reader *r, const tc_schedule_word *word, uint32_t stage, void *field) {
  int64_t number;
  switch (word->kind) {
  case TC_WORD_FLAG:
    return *(bool *)field = true;
  case TC_WORD_COUNT:
    return read_number(r, 1, INT64_MAX, "count", field);
  case TC_WORD_AXIS:
    return read_axis(r, field);
  case TC_WORD_STAGE:
    if (!read_number(r, 0, r->nest->nstage, "stage", &number)) return false;
    *(int *)field = (int)number;
    return true;
  case TC_WORD_NAME:
    return read_name(r, word->names, field);
  default:
    return read_list(r, word->kind, stage, field);
  }
}

/* The level's word x, or its number of words: it has none such. */
static size_t find_word(const tc_schedule_level *level, piece x) {
  size_t i = 0;
  while (i < level->nword && !is(x, level->word[i].word)) ++i;
  return i;
}

/* What follows word i of the level. */
static bool read_field(reader *r, const tc_schedule_level *level, size_t i, void *fields,
                       uint32_t stage, uint32_t *line) {
  const tc_schedule_word *word = &level->word[i];
  if (line[i]) return wrong(r, "'%s' was said in line %u", word->word, line[i]);
  line[i] = r->line;
  return read_value(r, word, stage, (char *)fields + word->offset);
}

/* The decision that the line goes on with, of fields of that level. */
static bool read_word(reader *r, const tc_schedule_level *level, void *fields, uint32_t stage,
                      uint32_t *line) {
  piece x;
  if (!next(r, &x)) return wrong(r, "a decision is missing");
  const size_t i = find_word(level, x);
  if (i == level->nword) return wrong(r, "'%.*s' is not understood here", x.len, x.text);
  return read_field(r, level, i, fields, stage, line) && read_end(r);
}

/* Is the line's first word one of the level? */
static bool is_of(const reader *r, const tc_schedule_level *level) {
  reader ahead = *r;
  piece x;
  return next(&ahead, &x) && find_word(level, x) < level->nword;
}

static bool read_stage_word(reader *r) {
  int64_t stage;
  if (!read_number(r, 0, r->nest->nstage, "stage", &stage)) return false;
  return read_word(r, &r->w->stage, (char *)r->v->stage + (size_t)stage * r->w->stage.size,
                   (uint32_t)stage, r->line_of + tc_schedule_stage_lines(r->w, (uint32_t)stage));
}

/* ---- what they are of ------------------------------------------------------------------------ */

static bool open_variant(reader *r) {
  const uint32_t n = r->ns->nvariant++;
  tc_schedule_variant *all = make(r, (n + 1) * sizeof *all);
  const size_t line = tc_schedule_variant_line(r->w, r->nest);
  char *nest = make(r, r->w->nest.size), *stage = make(r, r->nest->nstage * r->w->stage.size);
  r->line_of = make(r, (line + 1) * sizeof *r->line_of);
  if (!all || !nest || !stage || !r->line_of) return false;
  if (n) memcpy(all, r->ns->variant, n * sizeof *all);
  r->line_of[line] = r->line;
  set_absent(&r->w->nest, nest);
  for (uint32_t i = 0; i < r->nest->nstage; ++i)
    set_absent(&r->w->stage, stage + i * r->w->stage.size);
  r->ns->variant = all;
  r->v = &all[n];
  *r->v = (tc_schedule_variant){.nest = nest, .stage = stage, .line = r->line_of};
  return true;
}

static bool is_conditional(const reader *r) { return tc_schedule_has_conditions(r->w, r->v); }

/* A nest ends with the variant that has no conditions, so that one of them always runs. */
static bool close_nest(reader *r) {
  if (r->nest && !r->v && !open_variant(r)) return false; /* nothing was said of it */
  if (r->v && is_conditional(r)) return wrong(r, "the nest in front of this line has no 'else'");
  r->nest = NULL;
  r->v = NULL;
  return true;
}

static bool open_program(reader *r) {
  piece x;
  if (!close_nest(r)) return false;
  r->k = NULL;
  if (!next(r, &x)) return wrong(r, "the name of a program is missing");
  r->skip = !is(x, r->name);
  if (take(r, "for")) {
    if (!next(r, &x)) return wrong(r, "the name of a backend is missing");
    r->skip |= !is(x, r->w->backend);
  }
  return read_end(r);
}

static tc_kernel *find_kernel(reader *r, piece name) {
  for (uint32_t i = 0; i < r->p->nkernel; ++i)
    if (r->p->kernel[i].name && is(name, r->p->kernel[i].name)) return &r->p->kernel[i];
  return NULL;
}

/* The kernel's schedule becomes a copy, of which nests that the text has are replaced. */
static bool open_kernel(reader *r) {
  piece x;
  if (!close_nest(r)) return false;
  if (!next(r, &x)) return wrong(r, "the name of a kernel is missing");
  r->k = find_kernel(r, x);
  if (r->k && take(r, "nests")) r->k = r->k->schedule ? r->k->schedule->product : NULL;
  if (!r->k || !r->k->schedule || !r->k->schedule->kernel)
    return wrong(r, "the program has no nests of a kernel '%.*s'", x.len, x.text);
  const tc_schedule *planned = r->k->schedule;
  void *own = make(r, r->w->kernel.size);
  r->s = make(r, sizeof *r->s);
  r->kernel_line = make(r, r->w->kernel.nword * sizeof *r->kernel_line);
  tc_schedule_nest *nest = make(r, r->k->nnest * sizeof *nest);
  if (!own || !r->s || !r->kernel_line || !nest) return false;
  set_absent(&r->w->kernel, own);
  if (r->k->nnest) memcpy(nest, planned->nest, r->k->nnest * sizeof *nest);
  *r->s = (tc_schedule){
      .kernel = own, .line = r->kernel_line, .nest = nest, .product = planned->product};
  r->k->schedule = r->s;
  return read_end(r);
}

static bool open_nest(reader *r) {
  int64_t number;
  if (!r->k) return wrong(r, "a nest of no kernel");
  if (!close_nest(r) || !read_number(r, 0, r->k->nnest, "nest of the kernel", &number))
    return false;
  r->nest = &r->k->nest[number];
  r->ns = &r->s->nest[number];
  if (!r->ns->nvariant) return wrong(r, "nothing is to be decided about that nest");
  void *common = make(r, r->w->common.size);
  r->common_line = make(r, r->w->common.nword * sizeof *r->common_line);
  if (!common || !r->common_line) return false;
  set_absent(&r->w->common, common);
  *r->ns = (tc_schedule_nest){.common = common, .line = r->common_line};
  return read_end(r);
}

static bool read_compare(reader *r, tc_schedule_compare *c) {
  *c = (tc_schedule_compare){0};
  if (!read_axis(r, &c->axis)) return false;
  c->less = take(r, "<");
  if (!c->less && !take(r, ">=")) return wrong(r, "'<' or '>=' is missing");
  if (!read_number(r, 1, INT64_MAX, "count", &c->bound)) return false;
  c->vectors = take(r, "vectors");
  return true;
}

static bool read_condition(reader *r) {
  const tc_schedule_level *level = &r->w->when;
  piece x;
  if (is_of(r, level)) {
    next(r, &x);
    return read_field(r, level, find_word(level, x), (void *)r->v->nest, 0,
                      r->line_of + tc_schedule_when_lines(r->w, r->nest));
  }
  if (r->v->nwhen == TC_SCHEDULE_COMPARES) return wrong(r, "too many conditions");
  return read_compare(r, &r->v->when[r->v->nwhen++]);
}

static bool read_when(reader *r) {
  if (!r->nest) return wrong(r, "a variant of no nest");
  if (r->v && !is_conditional(r)) return wrong(r, "a variant behind one that always runs");
  if (!open_variant(r)) return false;
  do {
    if (!read_condition(r)) return false;
  } while (!is_line_over(r));
  return true;
}

static bool read_else(reader *r) {
  if (!r->v || !is_conditional(r)) return wrong(r, "'else' without 'when'");
  return open_variant(r) && read_end(r);
}

static bool read_nest_line(reader *r) {
  if (!r->v && is_of(r, &r->w->common))
    return read_word(r, &r->w->common, (void *)r->ns->common, 0, r->common_line);
  if (!r->v && !open_variant(r)) return false;
  if (take(r, "stage")) return read_stage_word(r);
  return read_word(r, &r->w->nest, (void *)r->v->nest, 0, r->line_of);
}

static bool read_line(reader *r) {
  if (is_line_over(r)) return true;
  if (take(r, "program")) return open_program(r);
  if (r->skip) return true;
  if (take(r, "kernel")) return open_kernel(r);
  if (take(r, "nest")) return open_nest(r);
  if (take(r, "when")) return read_when(r);
  if (take(r, "else")) return read_else(r);
  if (r->nest) return read_nest_line(r);
  if (!r->k) return wrong(r, "a decision about no kernel");
  return read_word(r, &r->w->kernel, (void *)r->s->kernel, 0, r->kernel_line);
}

bool tc_schedule_read(const tc_schedule_words *w, const char *text, tc_program *p, const char *name,
                      tc_buf *why) {
  reader r = {.w = w, .p = p, .name = name, .why = why, .skip = true};
  for (const char *at = text; *at;) {
    const size_t len = strcspn(at, "\n"), code = strcspn(at, ";\n");
    ++r.line;
    r.at = at;
    r.end = at + code;
    if (!read_line(&r)) return false;
    at += len + (at[len] == '\n');
  }
  ++r.line;
  return close_nest(&r) && tc_schedule_verify(w, p, why);
}
