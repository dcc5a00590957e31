/* Result type of einsum: labels of each operand against its shape, then the labels of the result.
 *
 * A label is a letter, or one of the axes that "..." stands for, counted from the right.  Sizes of
 * one label are equal or broadcast; within one operand, where it means a diagonal, they are equal.
 * Without "->" the result has what "..." stands for, then the letters that occur once, in
 * alphabetical order (capitals first). */
#include "graph/infer/infer_impl.h"

enum { LETTERS = 128, LABELS = LETTERS + TC_MAX_RANK };

typedef struct einsum {
  tc_infer *c;
  const char *at;
  tc_dim size[LABELS];
  uint16_t count[LABELS];
  int operand[LABELS]; /* the last one with the label, counted from 1, and its size there */
  tc_dim own[LABELS];
  int dots; /* most axes that an ellipsis stands for */
} einsum;

typedef struct labels {
  int n;       /* letters and dots */
  int dots_at; /* position of "..." among them, or -1 */
  int dots;    /* axes it stands for; they are not in label[] */
  uint8_t label[TC_MAX_RANK];
} labels;

static bool is_letter(char ch) { return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z'); }

static void skip_space(einsum *e) {
  while (*e->at == ' ') e->at++;
}

static bool read_labels(einsum *e, labels *l) {
  *l = (labels){.dots_at = -1};
  for (skip_space(e); *e->at && *e->at != ',' && *e->at != '-'; skip_space(e)) {
    if (e->at[0] == '.' && e->at[1] == '.' && e->at[2] == '.') {
      if (l->dots_at >= 0)
        return infer_fail(e->c, "\"%s\": '...' appears twice in one operand", e->c->string);
      l->dots_at = l->n;
      e->at += 3;
    } else if (!is_letter(*e->at)) {
      return infer_fail(e->c, "\"%s\": unexpected '%c'", e->c->string, *e->at);
    } else if (l->n == TC_MAX_RANK) {
      return infer_fail(e->c, "\"%s\": more than %d labels", e->c->string, TC_MAX_RANK);
    } else l->label[l->n++] = (uint8_t)*e->at++;
  }
  return true;
}

static bool note(einsum *e, int label, tc_dim size, int operand, int axis) {
  tc_dim *known = &e->size[label], both = size;
  const bool diagonal = e->operand[label] == operand + 1;
  bool fits = !diagonal || !tc_dim_bad(both = tc_dim_unify(e->c->dims, e->own[label], size));
  if (!fits) known = &e->own[label];
  else e->own[label] = both;
  e->operand[label] = operand + 1;
  if (!e->count[label]++) return *known = size, true;
  if (!fits || !infer_broadcast_dim(e->c, *known, both, &both)) {
    tc_infer *c = e->c;
    return infer_fail(c, "\"%s\": axis %d of operand %d has size %s, but '%c' is %s elsewhere",
                      c->string, axis, operand + 1, SIZE(size), label < LETTERS ? label : '.',
                      SIZE(*known));
  }
  *known = both;
  return true;
}

static bool operand(einsum *e, int k) {
  tc_infer *c = e->c;
  const tc_type *x = c->in[k];
  labels l;
  if (!read_labels(e, &l)) return false;
  l.dots = x->rank - l.n;
  if (l.dots < 0 || (l.dots > 0 && l.dots_at < 0))
    return infer_fail(c, "\"%s\": operand %d has %d labels, but is %s", c->string, k + 1, l.n,
                      SHAPE(x));
  if (l.dots_at >= 0 && l.dots > e->dots) e->dots = l.dots;
  for (int i = 0; i < x->rank; i++) {
    bool dot = l.dots_at >= 0 && i >= l.dots_at && i < l.dots_at + l.dots;
    int from_right = l.dots_at + l.dots - 1 - i;
    int label =
        dot ? LETTERS + from_right : l.label[l.dots_at >= 0 && i >= l.dots_at ? i - l.dots : i];
    if (!note(e, label, x->dim[i], k, i)) return false;
  }
  return true;
}

static bool push_dots(einsum *e, tc_type *out) {
  for (int i = e->dots - 1; i >= 0; i--)
    if (!infer_push_dim(e->c, out, e->size[LETTERS + i])) return false;
  return true;
}

static bool explicit_result(einsum *e, tc_type *out) {
  labels l;
  bool used[LETTERS] = {0};
  e->at += 2;
  if (!read_labels(e, &l)) return false;
  if (*e->at) return infer_fail(e->c, "\"%s\": unexpected '%c'", e->c->string, *e->at);
  if (l.dots_at < 0 && e->dots)
    return infer_fail(e->c, "\"%s\": the result lacks '...'", e->c->string);
  for (int i = 0; i <= l.n; i++) {
    if (i == l.dots_at && !push_dots(e, out)) return false;
    if (i == l.n) break;
    int ch = l.label[i];
    if (!e->count[ch]) return infer_fail(e->c, "\"%s\": '%c' is in no operand", e->c->string, ch);
    if (used[ch])
      return infer_fail(e->c, "\"%s\": '%c' appears twice in the result", e->c->string, ch);
    used[ch] = true;
    if (!infer_push_dim(e->c, out, e->size[ch])) return false;
  }
  return true;
}

static bool implicit_result(einsum *e, tc_type *out) {
  if (!push_dots(e, out)) return false;
  for (int ch = 0; ch < LETTERS; ch++)
    if (e->count[ch] == 1 && !infer_push_dim(e->c, out, e->size[ch])) return false;
  return true;
}

bool infer_einsum(tc_infer *c, tc_type *out) {
  einsum e = {.c = c, .at = c->string};
  if (!c->string) return infer_fail(c, "has no specification");
  out->dtype = (uint8_t)infer_promoted(c);
  if (out->dtype == TC_BOOL) return infer_fail(c, "not defined for bool; cast first");
  for (int k = 0; k < c->nin; k++) {
    if (k && *e.at++ != ',')
      return infer_fail(c, "\"%s\" has %d operand%s, but %d are given", c->string, k,
                        k == 1 ? "" : "s", c->nin);
    if (!operand(&e, k)) return false;
  }
  if (e.at[0] == '-' && e.at[1] == '>') return explicit_result(&e, out);
  if (!*e.at) return implicit_result(&e, out);
  if (*e.at == ',')
    return infer_fail(c, "\"%s\" has more operands than the %d given", c->string, c->nin);
  return infer_fail(c, "\"%s\": unexpected '%c'", c->string, *e.at);
}
