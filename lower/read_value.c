/* read_value.c - addresses, values and actions from text. */
#include "lower/read.h"

#include <string.h>

/* ---- addresses ------------------------------------------------------------------------------- */

/* The axis of that name, or -1. */
static int find_axis(const lo_reader *r, const char *name, size_t n) {
  for (int i = 0; i < r->naxis; i++)
    if (strlen(r->axis[i].name) == n && !memcmp(r->axis[i].name, name, n)) return i;
  return -1;
}

static bool fits(lo_reader *r, tc_dim d) {
  return !tc_dim_bad(d) || tc_words_fail(&r->w, "the address exceeds 64 bits");
}

static bool add(lo_reader *r, tc_dim *sum, tc_dim d) {
  *sum = tc_dim_add(r->dims, *sum, d);
  return fits(r, *sum);
}

/* "4{<N}", or "4" of what is not checked, behind '%' */
static bool read_term(lo_reader *r, tc_dim stride, tc_address *a) {
  tc_term t = {.stride = stride};
  if (a->nterm == 2) return tc_words_fail(&r->w, "an address has two index operands at most");
  r->w.at--;
  if (!lo_read_operand(r, &t.value)) return false;
  t.free = !tc_words_accept(&r->w, "{<");
  if (!t.free && (!lo_read_dim(r, &t.bound) || !tc_words_expect(&r->w, "}"))) return false;
  a->term[a->nterm++] = t;
  return true;
}

static bool read_symbol(lo_reader *r, const char *name, size_t n, tc_dim *d) {
  tc_buf text = {0};
  uint32_t sym;
  tc_putn(&text, name, n);
  const bool known = n && text.text && tc_dim_find_sym(r->dims, text.text, &sym);
  tc_buf_free(&text);
  if (!known)
    return tc_words_fail(&r->w, "no axis or size has the name \"%.*s\"", n ? (int)n : 20, name);
  *d = tc_dim_norm(r->dims, tc_dims_sym_dim(r->dims, sym));
  return true;
}

/* A number, a size in parentheses, or the name of one. */
static bool read_factor(lo_reader *r, const char *name, size_t n, tc_dim *d) {
  int64_t v;
  if (tc_words_accept(&r->w, "(")) return lo_read_dim(r, d) && tc_words_expect(&r->w, ")");
  if (*r->w.at < '0' || *r->w.at > '9') return r->w.at += n, read_symbol(r, name, n, d);
  if (!tc_words_int(&r->w, &v)) return false;
  *d = tc_dim_const(v);
  return fits(r, *d);
}

/* FACTOR * .. * AXIS, FACTOR * .. * %VALUE{<BOUND}, or a product of factors. */
static bool read_product(lo_reader *r, bool negative, tc_address *a) {
  tc_dim product = tc_dim_const(negative ? -1 : 1), factor;
  do {
    const char *name;
    while (tc_words_accept(&r->w, "-")) product = tc_dim_sub(r->dims, tc_dim_const(0), product);
    if (tc_words_accept(&r->w, "%")) return read_term(r, product, a);
    const size_t n = tc_words_next(&r->w, &name);
    tc_words_skip(&r->w);
    const int axis = *r->w.at == '*' ? -1 : find_axis(r, name, n);
    if (axis >= 0) return add(r, &a->coef[axis], product);
    r->w.at = name;
    if (!read_factor(r, name, n, &factor)) return false;
    product = tc_dim_mul(r->dims, product, factor);
    if (!fits(r, product)) return false;
  } while (tc_words_accept(&r->w, "*"));
  return add(r, &a->offset, product);
}

static bool read_address(lo_reader *r, tc_address *a) {
  bool negative = false;
  memset(a, 0, sizeof *a); /* constants 0 */
  do {
    if (!read_product(r, negative, a)) return false;
    negative = tc_words_accept(&r->w, "-");
  } while (negative || tc_words_accept(&r->w, "+"));
  return true;
}

uint32_t lo_argument(lo_reader *r, uint32_t buffer) {
  tc_kernel *k = r->k;
  if (!r->argument[buffer]) {
    if (!lo_room(r, &k->buffer, k->nbuffer, sizeof *k->buffer)) return UINT32_MAX;
    k->buffer[k->nbuffer++] = buffer;
    r->argument[buffer] = k->nbuffer;
  }
  return r->argument[buffer] - 1;
}

/* BUFFER[ADDRESS] */
static bool read_place(lo_reader *r, uint32_t *argument, tc_address *a) {
  uint32_t buffer;
  if (!lo_read_label(r, '[', &buffer)) return false;
  *argument = lo_argument(r, buffer);
  return *argument != UINT32_MAX && tc_words_expect(&r->w, "[") && read_address(r, a) &&
         tc_words_expect(&r->w, "]");
}

/* ---- values ---------------------------------------------------------------------------------- */

bool lo_read_operand(lo_reader *r, tc_val *v) {
  if (!tc_words_expect(&r->w, "%")) return false;
  if (!lo_read_count(r, INT32_MAX, "value", &v->id)) return false;
  if (!v->id || v->id >= r->k->nexpr || r->k->expr[v->id].kind == TC_EX_NONE)
    return tc_words_fail(&r->w, "%%%u is not defined", v->id);
  return true;
}

static bool is_next(lo_reader *r, char ch) {
  tc_words_skip(&r->w);
  return *r->w.at == ch;
}

static bool read_guard(lo_reader *r, tc_val *guard) {
  return !tc_words_accept_word(&r->w, "where") || lo_read_operand(r, guard);
}

static tc_dtype computed(tc_dtype d) { return tc_dtype_is_half(d) ? TC_F32 : d; }

static bool read_load(lo_reader *r, tc_expr *e) {
  e->kind = TC_EX_LOAD;
  return read_place(r, &e->buffer, &e->address) && read_guard(r, &e->guard);
}

static bool read_round(lo_reader *r, tc_expr *e) {
  e->kind = TC_EX_ROUND;
  return tc_words_dtype(&r->w, &e->storage) && lo_read_operand(r, &e->in[0]);
}

static bool read_random(lo_reader *r, tc_expr *e) {
  e->kind = TC_EX_RANDOM;
  e->storage = TC_DTYPE_COUNT; /* that of the value */
  if (!is_next(r, '%') && !tc_words_dtype(&r->w, &e->storage)) return false;
  return lo_read_operand(r, &e->in[0]) && tc_words_expect(&r->w, "at") &&
         read_address(r, &e->address);
}

static bool read_operands(lo_reader *r, tc_expr *e) {
  e->kind = TC_EX_OP;
  e->reproducible = tc_words_accept_word(&r->w, "reproducible");
  for (int i = 0; is_next(r, '%'); i++) {
    if (i == 3) return tc_words_fail(&r->w, "an operation has three operands at most");
    if (!lo_read_operand(r, &e->in[i])) return false;
  }
  return true;
}

static tc_op find_op(const char *start, size_t n) {
  tc_buf name = {0};
  tc_putn(&name, start, n);
  const tc_op op = name.text ? tc_op_find(name.text) : OP_NONE;
  tc_buf_free(&name);
  return op;
}

static bool read_op(lo_reader *r, tc_expr *e) {
  const char *start;
  const size_t n = tc_words_next(&r->w, &start);
  e->op = find_op(start, n);
  if (e->op == OP_RAND || e->op == OP_RANDN) return read_random(r, e);
  if (e->op == OP_ROUND && !is_next(r, '%') && strncmp(r->w.at, "reproducible", 12) != 0)
    return e->op = OP_NONE, read_round(r, e);
  if (!e->op) return tc_words_fail(&r->w, "expected a value before \"%.20s\"", start);
  return read_operands(r, e);
}

static bool read_cast(lo_reader *r, tc_expr *e) {
  e->kind = TC_EX_CAST;
  return lo_read_operand(r, &e->in[0]);
}

static bool read_size(lo_reader *r, tc_expr *e) {
  e->kind = TC_EX_DIM;
  return lo_read_dim(r, &e->dim);
}

static bool read_index(lo_reader *r, tc_expr *e) {
  e->kind = TC_EX_INDEX;
  return read_address(r, &e->address);
}

static bool read_scalar(lo_reader *r, tc_expr *e) {
  const uint32_t n = tc_graph_scalar_count(r->p->graph) + r->p->nconstant;
  e->kind = TC_EX_SCALAR;
  return lo_read_count(r, n, "scalar", &e->index);
}

/* Results are counted by those who set them (tc_program_verify). */
static bool read_taken(lo_reader *r, tc_expr *e) {
  e->kind = TC_EX_RESULT;
  return lo_read_count(r, INT32_MAX, "result", &e->index);
}

/* Its number is read once its type is known. */
static bool skip_constant(lo_reader *r, tc_expr *e, const char **number) {
  e->kind = TC_EX_CONST;
  *number = r->w.at;
  r->w.at += strcspn(r->w.at, " \t\r:");
  return true;
}

static bool is_number(const char *at) {
  if (*at == '-') at++;
  return (*at >= '0' && *at <= '9') || !strncmp(at, "NAN", 3) || !strncmp(at, "INFINITY", 8);
}

static bool read_what(lo_reader *r, tc_expr *e, const char **number) {
  tc_words *w = &r->w;
  tc_words_skip(w);
  if (is_number(w->at)) return skip_constant(r, e, number);
  if (tc_words_accept(w, "#")) return read_taken(r, e);
  if (tc_words_accept_word(w, "load")) return read_load(r, e);
  if (tc_words_accept_word(w, "index")) return read_index(r, e);
  if (tc_words_accept_word(w, "dim")) return read_size(r, e);
  if (tc_words_accept_word(w, "scalar")) return read_scalar(r, e);
  if (tc_words_accept_word(w, "cast")) return read_cast(r, e);
  return read_op(r, e);
}

static bool read_constant(lo_reader *r, tc_expr *e, const char *number) {
  tc_words w = {.at = number};
  const bool is_float = tc_dtype_is_float(e->dtype);
  const bool ok = is_float ? tc_words_number(&w, &e->f) : tc_words_int(&w, &e->i);
  if (ok && (*w.at == ' ' || *w.at == ':') && (is_float || tc_dtype_wrap(e->dtype, e->i) == e->i))
    return true;
  return tc_words_fail(&r->w, "no number of type %s: \"%.20s\"", tc_dtype_text(e->dtype), number);
}

/* Behind ':' */
static bool read_type(lo_reader *r, tc_expr *e, const char *number) {
  if (!tc_words_expect(&r->w, ":") || !tc_words_dtype(&r->w, &e->dtype)) return false;
  if (e->kind == TC_EX_CONST) return read_constant(r, e, number);
  if (e->kind == TC_EX_RANDOM && e->storage == TC_DTYPE_COUNT) e->storage = e->dtype;
  if (e->kind != TC_EX_LOAD) return true;
  const tc_dtype d = computed(r->p->buffer[r->k->buffer[e->buffer]].dtype);
  return d == e->dtype || tc_words_fail(&r->w, "the load gives %s", tc_dtype_text(d));
}

/* Numbers that no line defines are those of values that nothing takes. */
static bool make_room(lo_reader *r, uint32_t id) {
  tc_kernel *k = r->k;
  for (; k->nexpr <= id; k->nexpr++) {
    if (!lo_room(r, &k->expr, k->nexpr, sizeof *k->expr)) return false;
    memset(&k->expr[k->nexpr], 0, sizeof *k->expr);
  }
  return true;
}

bool lo_read_value(lo_reader *r) {
  tc_expr e = {.loc = {.line = r->line, .col = 1}};
  const char *number = NULL;
  uint32_t id;
  if (!lo_read_count(r, (int64_t)r->length, "number of a value", &id) ||
      !tc_words_expect(&r->w, "="))
    return false;
  if (!id || (id < r->k->nexpr && r->k->expr[id].kind != TC_EX_NONE))
    return tc_words_fail(&r->w, "%%%u is defined already", id);
  if (!read_what(r, &e, &number) || !read_type(r, &e, number) || !make_room(r, id)) return false;
  r->k->expr[id] = e;
  r->nvalue++;
  return true;
}

/* ---- actions --------------------------------------------------------------------------------- */

/* Of the stage; where another one is skipped, in the place of one that it has. */
static bool add_action(lo_reader *r, const tc_action *a) {
  tc_stage *s = r->stage;
  if (s->if_skipped) {
    if (r->nalike == s->naction)
      return tc_words_fail(&r->w, "the stage has %u actions otherwise", s->naction);
    s->if_skipped[r->nalike++] = *a;
    return true;
  }
  if (!lo_room(r, &s->action, s->naction, sizeof *s->action)) return false;
  s->action[s->naction++] = *a;
  return true;
}

bool lo_read_store(lo_reader *r, tc_act_kind kind) {
  tc_action a = {.kind = kind};
  if (!read_place(r, &a.buffer, &a.address) || !lo_read_operand(r, &a.value) ||
      !read_guard(r, &a.guard))
    return false;
  const tc_dtype d = r->p->buffer[r->k->buffer[a.buffer]].dtype, is = r->k->expr[a.value.id].dtype;
  a.dtype = computed(d);
  if (is != a.dtype)
    return tc_words_fail(&r->w, "%s is stored to %s", tc_dtype_text(is), tc_dtype_text(d));
  return add_action(r, &a);
}

static tc_reducer find_reducer(const char *name, size_t n) {
  for (int i = TC_REDUCE_NONE + 1; i < TC_REDUCE_COUNT; i++) {
    const char *const text = tc_reducer_get((tc_reducer)i)->text;
    if (strlen(text) == n && !memcmp(text, name, n)) return (tc_reducer)i;
  }
  return TC_REDUCE_NONE;
}

/* What joins the accumulators, and how. */
static bool read_combined(lo_reader *r, tc_action *a, int results) {
  const char *name;
  a->kind = tc_words_accept_word(&r->w, "running") ? TC_ACT_SCAN : TC_ACT_REDUCE;
  const size_t n = tc_words_next(&r->w, &name);
  a->reducer = find_reducer(name, n);
  if (!a->reducer) return tc_words_fail(&r->w, "expected a reduction before \"%.20s\"", name);
  if (tc_reducer_get(a->reducer)->n != results)
    return tc_words_fail(&r->w, "%.*s has %d results", (int)n, name, tc_reducer_get(a->reducer)->n);
  if (!lo_read_operand(r, &a->value)) return false;
  for (int i = 1; i < results; i++)
    if (!tc_words_expect(&r->w, ",") || !lo_read_operand(r, &a->further[i - 1])) return false;
  if (tc_words_accept_word(&r->w, "of") &&
      (!tc_words_expect(&r->w, "terms") || !lo_read_operand(r, &a->term)))
    return false;
  return tc_words_expect(&r->w, ":") && tc_words_dtype(&r->w, &a->dtype);
}

/* "%8 where %7, from 384 points on, else" */
static bool read_known(lo_reader *r, uint32_t result) {
  tc_stage *s = r->stage;
  uint32_t points = 0;
  if (s->naction || s->skip_if.id)
    return tc_words_fail(&r->w, "what is known stands in front of the stage's action");
  if (!lo_read_operand(r, &s->skip_value) || !tc_words_expect(&r->w, "where") ||
      !lo_read_operand(r, &s->skip_if))
    return false;
  if (!tc_words_expect(&r->w, ",")) return false;
  if (tc_words_accept_word(&r->w, "from") &&
      (!lo_read_count(r, INT32_MAX, "number of points", &points) ||
       !tc_words_expect(&r->w, "points on,")))
    return false;
  s->skip_points = points;
  r->known = result;
  return tc_words_expect(&r->w, "else");
}

static bool read_serves(lo_reader *r, tc_action *a) {
  if (!tc_words_accept_word(&r->w, "serves")) return true;
  if (!tc_words_expect(&r->w, "#") || !lo_read_count(r, INT32_MAX, "result", &a->serves))
    return false;
  a->serves++;
  return true;
}

bool lo_read_result(lo_reader *r) {
  tc_action a = {0};
  uint32_t next;
  int n = 1;
  if (!r->nest && !r->inner)
    return tc_words_fail(&r->w, "a product is all that an epilogue reduces");
  if (!r->nest && (r->stage != &r->k->mm.inner.rows || r->stage->naction))
    return tc_words_fail(&r->w, "rows of a chain are reduced once");
  if (!lo_read_count(r, INT32_MAX, "result", &a.index)) return false;
  for (; n < TC_MAX_ACCUMULATORS && tc_words_accept(&r->w, ","); n++) {
    if (!tc_words_expect(&r->w, "#") || !lo_read_count(r, INT32_MAX, "result", &next)) return false;
    if (next != a.index + (uint32_t)n)
      return tc_words_fail(&r->w, "results of a reduction follow each other");
  }
  if (!tc_words_expect(&r->w, "=")) return false;
  if (is_next(r, '%') && !r->nest) return tc_words_fail(&r->w, "rows of a chain are reduced");
  if (is_next(r, '%'))
    return n == 1 ? read_known(r, a.index) : tc_words_fail(&r->w, "one result is known");
  if (!read_combined(r, &a, n) || !read_serves(r, &a) || !add_action(r, &a)) return false;
  if (r->nest && r->nest->nresult < a.index + (uint32_t)n) r->nest->nresult = a.index + (uint32_t)n;
  return true;
}
