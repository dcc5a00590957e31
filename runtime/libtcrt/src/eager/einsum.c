/* einsum, as it is defined: for every index of the result, the sum over all other labels of the
 * product of the operands' elements.
 *
 * A label is a letter, or one of the axes that "..." stands for, counted from the right. Inference
 * has checked the specification. */
#include <string.h>

#include "runtime/libtcrt/src/eager/eager.h"
#include "graph/ops/formulas.h"

enum { LETTERS = 128, LABELS = LETTERS + TC_MAX_RANK };

typedef struct labels {
  int n;
  uint8_t label[TC_MAX_RANK];
} labels;

typedef struct space {
  int out_rank, rank; /* of the result; with the summed labels behind */
  uint8_t label[TC_SEQ_RANK];
  int64_t dim[TC_SEQ_RANK];
  int64_t outer, inner;
  tc_dtype dtype;
  int n;
  const tc_seq *operand; /* [n], over the space */
} space;

static bool ends(char ch) { return ch == 0 || ch == ',' || ch == '-'; }

/* Labels of one operand of this rank, or of the result with `dots` axes for "...". */
static const char *parse(const char *s, int dots, labels *l) {
  for (l->n = 0; !ends(*s); s++) {
    if (*s == ' ') continue;
    if (*s != '.') {
      l->label[l->n++] = (uint8_t)*s;
      continue;
    }
    for (int i = dots - 1; i >= 0; i--) l->label[l->n++] = (uint8_t)(LETTERS + i);
    s += 2;
  }
  return s;
}

static int letters_in(const char *s) {
  int n = 0;
  for (; !ends(*s); s++) n += *s != ' ' && *s != '.';
  return n;
}

/* Without "->": the axes of "...", then the letters that occur once, in order. */
static void implicit_result(const int *count, int dots, labels *l) {
  l->n = 0;
  for (int i = dots - 1; i >= 0; i--) l->label[l->n++] = (uint8_t)(LETTERS + i);
  for (int ch = 0; ch < LETTERS; ch++)
    if (count[ch] == 1) l->label[l->n++] = (uint8_t)ch;
}

/* The result's labels, then every other one. */
static bool make_space(space *s, const labels *result, const int *count, const int64_t *size) {
  bool placed[LABELS] = {0};
  for (int i = 0; i < result->n; i++) {
    placed[result->label[i]] = true;
    s->label[s->rank++] = result->label[i];
  }
  s->out_rank = s->rank;
  for (int k = 0; k < LABELS; k++) {
    if (!count[k] || placed[k]) continue;
    if (s->rank == TC_SEQ_RANK) return false;
    s->label[s->rank++] = (uint8_t)k;
  }
  s->outer = s->inner = 1;
  for (int i = 0; i < s->rank; i++) {
    s->dim[i] = size[s->label[i]];
    *(i < s->out_rank ? &s->outer : &s->inner) *= s->dim[i];
  }
  return true;
}

/* Steps along a label: the sum over the operand's axes that carry it (twice: the diagonal). */
static tc_seq over_space(const space *s, const tc_tensor *x, const labels *l) {
  int64_t stride[TC_SEQ_RANK] = {0};
  for (int i = 0; i < s->rank; i++)
    for (int k = 0; k < l->n; k++)
      if (l->label[k] == s->label[i] && x->dim[k] > 1) stride[i] += x->stride[k];
  return tc_seq_make(x, s->rank, s->dim, stride);
}

static double sum_f(const space *s, int64_t o) {
  double sum = 0, p[TC_BLOCK], v[TC_BLOCK];
  for (int64_t at = 0; at < s->inner; at += TC_BLOCK) {
    int64_t n = s->inner - at < TC_BLOCK ? s->inner - at : TC_BLOCK;
    tc_seq_read_as_f(&s->operand[0], s->dtype, o * s->inner + at, n, p);
    for (int k = 1; k < s->n; k++) {
      tc_seq_read_as_f(&s->operand[k], s->dtype, o * s->inner + at, n, v);
      for (int64_t i = 0; i < n; i++) p[i] *= v[i];
    }
    for (int64_t i = 0; i < n; i++) sum += p[i];
  }
  return sum;
}

static int64_t sum_i(const space *s, int64_t o) {
  int64_t sum = 0, p[TC_BLOCK], v[TC_BLOCK];
  for (int64_t at = 0; at < s->inner; at += TC_BLOCK) {
    int64_t n = s->inner - at < TC_BLOCK ? s->inner - at : TC_BLOCK;
    tc_seq_read_as_i(&s->operand[0], s->dtype, o * s->inner + at, n, p);
    for (int k = 1; k < s->n; k++) {
      tc_seq_read_as_i(&s->operand[k], s->dtype, o * s->inner + at, n, v);
      for (int64_t i = 0; i < n; i++) p[i] = tc_i_mul(p[i], v[i]);
    }
    for (int64_t i = 0; i < n; i++) sum = tc_i_add(sum, p[i]);
  }
  return sum;
}

typedef struct sums {
  const space *s;
  tc_seq y;
} sums;

static void sum_all(const void *p, int64_t begin, int64_t end) {
  const sums *r = p;
  for (int64_t o = begin; o < end; o++) {
    if (tc_is_float(r->s->dtype)) {
      double v = sum_f(r->s, o);
      tc_seq_write_f(&r->y, o, 1, &v);
    } else {
      int64_t v = sum_i(r->s, o);
      tc_seq_write_i(&r->y, o, 1, &v);
    }
  }
}

static void run(const space *s, const tc_tensor *out) {
  const sums r = {s, tc_seq_of(out)};
  tc_for(s->outer, 1, s->outer * s->inner, sum_all, &r);
}

/* Labels of every operand and of the result; counts and sizes of each label. */
static void parse_all(const tc_eager_call *c, labels *operand, labels *result, int *count,
                      int64_t *size) {
  const char *s = c->string;
  int most = 0;
  for (int k = 0; k < c->nin; k++) {
    const tc_tensor *x = c->in[k];
    int dots = x->key.rank - letters_in(s);
    most = dots > most ? dots : most;
    s = parse(s, dots, &operand[k]);
    for (int i = 0; i < operand[k].n; i++) {
      int label = operand[k].label[i];
      if (!count[label]++ || size[label] == 1) size[label] = x->dim[i];
    }
    s += *s == ',';
  }
  if (*s == '-') parse(s + 2, most, result);
  else implicit_result(count, most, result);
}

bool tc_eager_einsum(tc_eager_call *c) {
  size_t n = (size_t)c->nin;
  tc_storage *memory = tc_storage_new(n * (sizeof(labels) + sizeof(tc_seq)));
  if (!memory) return false;
  tc_seq *walk = memory->data;
  labels *operand = (labels *)(walk + n), result = {0};
  int count[LABELS] = {0};
  int64_t size[LABELS] = {0};
  parse_all(c, operand, &result, count, size);
  space s = {.dtype = (tc_dtype)c->out->key.dtype, .n = c->nin, .operand = walk};
  bool fits = make_space(&s, &result, count, size);
  for (size_t k = 0; k < n && fits; k++) walk[k] = over_space(&s, c->in[k], &operand[k]);
  if (fits) run(&s, c->out);
  else tc_fail("%s: \"%s\" has more than %d different labels", c->name, c->string, TC_SEQ_RANK);
  tc_storage_unref(memory);
  return fits;
}
