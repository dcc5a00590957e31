/* formula.c - the formulas of rules.def: a recursive descent parser that builds nodes as it reads.
 *
 *   formula = { letter "=" choice ";" } choice
 *   choice  = binary [ "?" choice ":" choice ]
 *   binary  = operands and operators of the table below, by level
 *   operand = number | letter | op "(" choice { "," choice } ")" | "(" choice ")" | "-" operand
 *
 * Equal nodes are one node, so a part that is written twice is computed once. */
#include "autodiff/rules.h"

#include <string.h>

typedef struct formula {
  tc_vjp *v;
  const char *at;
  tc_ref named[26]; /* by "a = ...;" */
} formula;

static const struct {
  char text[3];
  uint8_t level; /* binds stronger */
  uint8_t op;
} operators[] = {{"||", 1, OP_OR}, {"&&", 2, OP_AND}, {"==", 3, OP_EQ}, {"<=", 3, OP_LE},
                 {">=", 3, OP_GE}, {"<", 3, OP_LT},   {">", 3, OP_GT},  {"+", 4, OP_ADD},
                 {"-", 4, OP_SUB}, {"*", 5, OP_MUL},  {"/", 5, OP_DIV}};

static void skip_space(formula *f) {
  while (*f->at == ' ') f->at++;
}

static bool accept(formula *f, const char *s) {
  const size_t n = strlen(s);
  skip_space(f);
  if (strncmp(f->at, s, n)) return false;
  f->at += n;
  return true;
}

static bool is_digit(char ch) { return ch >= '0' && ch <= '9'; }
static bool is_letter(char ch) { return ch >= 'a' && ch <= 'z'; }

/* Up to 19 digits, whatever the locale. */
static tc_ref number(formula *f) {
  uint64_t digits = 0;
  double scale = 1;
  bool fraction = false;
  for (; is_digit(*f->at) || *f->at == '.'; f->at++) {
    if (*f->at == '.') {
      fraction = true;
      continue;
    }
    digits = digits * 10 + (uint64_t)(*f->at - '0');
    if (fraction) scale *= 10;
  }
  return dc_const(&f->v->c, (double)digits / scale);
}

/* Masks stay bool. */
static tc_ref operand_of(const tc_vjp *v, int i) {
  const bool mask = i < v->n->nin && tc_graph_type(v->c.g, v->n->in[i])->dtype == TC_BOOL;
  return mask ? v->n->in[i] : vj_in(v, i);
}

static tc_ref variable(formula *f, char name) {
  if (f->named[name - 'a'].id) return f->named[name - 'a'];
  if (name == 'g') return vj_dy(f->v);
  if (name == 'r') return vj_self(f->v);
  return name < 'x' ? (tc_ref){0} : operand_of(f->v, name - 'x');
}

static tc_ref choice(formula *f);

static tc_ref call(formula *f, const char *name, size_t length) {
  char text[16] = "";
  tc_ref in[3];
  int n = 0;
  if (length < sizeof text) memcpy(text, name, length);
  const tc_op op = tc_op_find(text);
  do in[n++] = choice(f);
  while (n < 3 && accept(f, ","));
  return accept(f, ")") ? tc_build(f->v->c.g, op, n, in, 0, NULL, NULL, f->v->c.loc) : (tc_ref){0};
}

static tc_ref operand(formula *f) {
  if (accept(f, "-")) return dc1(&f->v->c, OP_NEG, operand(f));
  if (accept(f, "(")) {
    const tc_ref inner = choice(f);
    return accept(f, ")") ? inner : (tc_ref){0};
  }
  if (is_digit(*f->at)) return number(f);
  const char *name = f->at;
  while (is_letter(*f->at) || is_digit(*f->at) || *f->at == '_') f->at++;
  const size_t length = (size_t)(f->at - name);
  if (accept(f, "(")) return call(f, name, length);
  return length == 1 ? variable(f, *name) : (tc_ref){0};
}

/* The operator that stands here, of at least `level`; -1: none. */
static int next_operator(formula *f, int level) {
  enum { COUNT = sizeof operators / sizeof *operators };
  for (int k = 0; k < COUNT; k++)
    if (operators[k].level >= level && accept(f, operators[k].text)) return k;
  return -1;
}

/* Operators of one level join from the left. */
static tc_ref binary(formula *f, int level) {
  tc_ref left = operand(f);
  for (int k; (k = next_operator(f, level)) >= 0;)
    left = dc2(&f->v->c, (tc_op)operators[k].op, left, binary(f, operators[k].level + 1));
  return left;
}

static tc_ref choice(formula *f) {
  const tc_ref condition = binary(f, 1);
  if (!accept(f, "?")) return condition;
  const tc_ref yes = choice(f);
  if (!accept(f, ":")) return (tc_ref){0};
  return dc3(&f->v->c, OP_WHERE, condition, yes, choice(f));
}

/* "a = ...;" in front */
static void definitions(formula *f) {
  for (skip_space(f); is_letter(f->at[0]) && !strncmp(f->at + 1, " = ", 3); skip_space(f)) {
    const int name = *f->at - 'a';
    f->at += 4;
    f->named[name] = choice(f);
    accept(f, ";");
  }
}

static tc_ref formula_of(tc_vjp *v, const char *line) {
  formula f = {.v = v, .at = line};
  if (*line == '0' && (!line[1] || line[1] == '\n')) return TC_VJP_ZERO;
  definitions(&f);
  const tc_ref y = choice(&f);
  return !*f.at || *f.at == '\n' ? y : (tc_ref){0};
}

/* More than one rounding: computed in f32 where the result is f16 or bf16. */
static bool rounds_often(const char *line) {
  int n = 0;
  for (; *line && *line != '\n'; line++) n += strchr("+*/(", *line) != NULL;
  return n > 1;
}

void tc_vjp_formulas(tc_vjp *v, const char *text) {
  const tc_dtype wide = v->c.dtype;
  for (int i = 0; i < v->n->nin; i++) {
    v->c.dtype = rounds_often(text) ? wide : (tc_dtype)tc_graph_type(v->c.g, v->self)->dtype;
    if (v->want[i]) v->din[i] = formula_of(v, text);
    while (*text && *text++ != '\n') {
    }
  }
}
