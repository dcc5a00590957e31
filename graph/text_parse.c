/* Reading the text form of a graph (graph/text.h): a line at a time, one builder per op. */
#include "graph/text.h"
#include "graph/graph_impl.h"
#include "graph/text_sizes.h"

#include <stdlib.h>
#include <string.h>

typedef struct reader {
  tc_words w; /* in the line being read, a NUL-terminated copy */
  tc_graph *g;
  tc_diag *diag;
  uint32_t line;       /* from 1 */
  TC_VEC(tc_ref) node; /* graph node of the text's %i */
} reader;

#define fail(r, ...) tc_words_fail(&(r)->w, __VA_ARGS__)

static void skip_space(reader *r) { tc_words_skip(&r->w); }
static bool at_end(reader *r) { return tc_words_end(&r->w); }
static bool accept(reader *r, const char *s) { return tc_words_accept(&r->w, s); }
static bool accept_word(reader *r, const char *s) { return tc_words_accept_word(&r->w, s); }
static bool expect(reader *r, const char *s) { return tc_words_expect(&r->w, s); }
static size_t word(reader *r, const char **start) { return tc_words_next(&r->w, start); }
static bool read_int(reader *r, int64_t *v) { return tc_words_int(&r->w, v); }
static bool read_quoted(reader *r, tc_buf *out) { return tc_words_quoted(&r->w, out); }
static bool read_dtype(reader *r, tc_dtype *d) { return tc_words_dtype(&r->w, d); }
static bool read_dim(reader *r, tc_dim *d) { return tc_words_dim(&r->w, tc_graph_dims(r->g), d); }
static bool read_type(reader *r, tc_type *t) {
  return tc_words_type(&r->w, tc_graph_dims(r->g), t);
}

static bool read_ref(reader *r, tc_ref *ref) {
  int64_t i;
  if (!expect(r, "%") || !read_int(r, &i)) return false;
  if (i < 1 || (uint64_t)i > r->node.n || !r->node.at[i - 1].id)
    return fail(r, "%%%lld is not defined", (long long)i);
  *ref = r->node.at[i - 1];
  return true;
}

/* ---- leaves ---------------------------------------------------------------------------------- */

static tc_loc here(const reader *r) { return (tc_loc){.line = r->line, .col = 1}; }

static bool read_input(reader *r, tc_ref *ref) {
  tc_type t;
  tc_buf name = {0};
  bool ok = read_type(r, &t) && (at_end(r) || read_quoted(r, &name));
  if (ok) *ref = tc_graph_input(r->g, name.text, &t, here(r));
  const uint32_t input = tc_graph_input_count(r->g) - 1;
  if (ok && accept_word(r, "leaf")) tc_graph_require_leaf(r->g, input);
  if (ok && accept_word(r, "row_major")) tc_graph_require_row_major(r->g, input);
  if (ok && accept_word(r, "detached")) tc_graph_set_detached(r->g, input);
  tc_buf_free(&name);
  return ok;
}

static bool read_scalar(reader *r, tc_ref *ref) {
  tc_dtype d;
  tc_buf name = {0};
  bool ok = read_dtype(r, &d) && (at_end(r) || read_quoted(r, &name));
  if (ok) *ref = tc_graph_scalar(r->g, name.text, d, here(r));
  tc_buf_free(&name);
  return ok;
}

static bool read_const(reader *r, tc_ref *ref) {
  tc_dtype d;
  bool weak = accept_word(r, "weak");
  if (!read_dtype(r, &d)) return false;
  if (!tc_dtype_is_float(d)) {
    int64_t i;
    if (!read_int(r, &i)) return false;
    *ref = tc_graph_const_i(r->g, d, weak, i, here(r));
    return true;
  }
  double f;
  if (!tc_words_number(&r->w, &f)) return false;
  *ref = tc_graph_const_f(r->g, d, weak, f, here(r));
  return true;
}

static bool read_dim_node(reader *r, tc_ref *ref) {
  bool weak = accept_word(r, "weak");
  tc_dim d;
  if (!read_dim(r, &d)) return false;
  *ref = tc_graph_dim_value(r->g, d, weak, here(r));
  return true;
}

/* ---- other nodes ----------------------------------------------------------------------------- */

enum { MAX_OPERANDS = 255, MAX_ATTRS = 2 * (TC_MAX_RANK + 1) + 2 };

static bool read_list(reader *r, tc_dim *attr, int *n) {
  int length = *n;
  int64_t items = 0;
  if (!expect(r, "[")) return false;
  if (!accept(r, "]")) {
    do {
      if (++items > TC_MAX_RANK) return fail(r, "more than %d entries", TC_MAX_RANK);
      if (!read_dim(r, &attr[length + items])) return false;
    } while (accept(r, ","));
    if (!expect(r, "]")) return false;
  }
  attr[length] = tc_dim_const(items);
  *n = length + 1 + (int)items;
  return true;
}

static bool read_attrs(reader *r, const char *schema, tc_dim *attr, int *n, tc_buf *string) {
  for (const char *s = schema; *s; s += strcspn(s, " "), s += *s == ' ') {
    const char *start;
    size_t length = strcspn(s, ":");
    if (word(r, &start) != length || memcmp(start, s, length))
      return fail(r, "expected %.*s= before \"%.20s\"", (int)length, s, start);
    if (!expect(r, "=")) return false;
    tc_dtype d;
    switch (s[length + 1]) {
    case 'I':
      if (!read_list(r, attr, n)) return false;
      break;
    case 'S':
      if (!read_quoted(r, string)) return false;
      tc_put(string, "");
      break;
    case 'D':
      if (!read_dtype(r, &d)) return false;
      attr[(*n)++] = tc_dim_const(d);
      break;
    default:
      if (!read_dim(r, &attr[(*n)++])) return false;
    }
  }
  return true;
}

static bool check_type(reader *r, const tc_type *is) {
  tc_type said;
  tc_dims *c = tc_graph_dims(r->g);
  if (!read_type(r, &said)) return false;
  for (int i = 0; i < said.rank; i++) said.dim[i] = tc_dim_norm(c, said.dim[i]);
  if (tc_type_same(&said, is)) return true;
  tc_buf b = {0};
  tc_type_print(c, is, &b);
  fail(r, "the type is %s", b.text);
  tc_buf_free(&b);
  return false;
}

/* The types behind ':' are for the reader, but must be right. */
static bool check_types(reader *r, tc_ref ref) {
  const int count = tc_graph_node(r->g, ref)->nresult;
  if (!accept(r, ":")) return true;
  for (int i = 0; i < count; i++)
    if (!check_type(r, &tc_graph_type(r->g, ref)[i])) return false;
  return true;
}

static bool read_op(reader *r, tc_op op, tc_ref *ref) {
  tc_ref in[MAX_OPERANDS];
  tc_dim attr[MAX_ATTRS];
  int nin = 0, nattr = 0;
  tc_buf string = {0};
  for (skip_space(r); *r->w.at == '%' || (*r->w.at == '_' && !tc_is_word(r->w.at[1]));
       skip_space(r)) {
    if (nin == MAX_OPERANDS) return fail(r, "too many operands");
    in[nin] = (tc_ref){0};
    if (!accept(r, "_") && !read_ref(r, &in[nin])) return false;
    nin++;
  }
  bool ok = read_attrs(r, tc_op_get(op)->attrs, attr, &nattr, &string);
  if (ok) {
    refusal why;
    *ref = tc_graph_try(r->g, op, nin, in, nattr, attr, string.text, here(r), &why);
    if (!ref->id) ok = fail(r, "%s", why.message[0] ? why.message : "an operand is missing");
  }
  tc_buf_free(&string);
  return ok && check_types(r, *ref);
}

/* ---- lines ----------------------------------------------------------------------------------- */

enum { LARGEST_GAP = 1 << 20 }; /* in the numbering of nodes */

/* What stands behind the '=' of a node. */
static bool read_operation(reader *r, tc_ref *ref) {
  const char *start;
  const size_t n = word(r, &start);
  tc_buf name = {0};
  tc_putn(&name, start, n);
  const tc_op op = name.text ? tc_op_find(name.text) : OP_NONE;
  tc_buf_free(&name);
  const bool ok = op == OP_INPUT    ? read_input(r, ref)
                  : op == OP_SCALAR ? read_scalar(r, ref)
                  : op == OP_CONST  ? read_const(r, ref)
                  : op == OP_DIM    ? read_dim_node(r, ref)
                  : op              ? read_op(r, op, ref)
                                    : fail(r, "unknown op '%.*s'", (int)n, start);
  if (ok && !ref->id) return fail(r, "%.*s must come before other nodes", (int)n, start);
  return ok;
}

static bool read_node(reader *r) {
  int64_t i;
  tc_ref ref = {0};
  if (!read_int(r, &i) || !expect(r, "=")) return false;
  if (i < 1 || (uint64_t)i <= r->node.n || (uint64_t)i > r->node.n + LARGEST_GAP)
    return fail(r, "%%%lld is out of order", (long long)i);
  if (!read_operation(r, &ref)) return false;
  while (r->node.n + 1 < (uint64_t)i)
    if (!tc_push(&r->node, (tc_ref){0})) return fail(r, "out of memory");
  return tc_push(&r->node, ref) || fail(r, "out of memory");
}

static bool read_write(reader *r) {
  tc_ref value, input;
  if (!read_ref(r, &value) || !expect(r, "->") || !read_ref(r, &input)) return false;
  const tc_node *n = tc_graph_node(r->g, input);
  if (n->op != OP_INPUT) return fail(r, "only a param can be written");
  return tc_graph_write(r->g, (uint32_t)tc_dim_value(n->attr[0]), value) ||
         fail(r, "the value does not fit the param");
}

static bool read_effects(reader *r) {
  tc_ref last;
  if (!read_ref(r, &last)) return false;
  return tc_graph_set_effect(r->g, last) || fail(r, "this is no effect");
}

static bool read_ret(reader *r) {
  do {
    tc_ref ref;
    if (!read_ref(r, &ref)) return false;
    if (!tc_graph_output(r->g, ref))
      return fail(r, "an effect, or several results at once, cannot be returned");
  } while (accept(r, ",") || !at_end(r));
  return true;
}

static bool read_line(reader *r) {
  if (at_end(r)) return true;
  bool ok = accept(r, "%")              ? read_node(r)
            : accept_word(r, "ret")     ? read_ret(r)
            : accept_word(r, "write")   ? read_write(r)
            : accept_word(r, "effects") ? read_effects(r)
            : accept_word(r, "sym")     ? tc_words_symbol(&r->w, tc_graph_dims(r->g))
            : accept_word(r, "assume")  ? tc_words_assumption(&r->w, tc_graph_dims(r->g))
                                        : fail(r, "unexpected \"%.20s\"", r->w.at);
  return ok && (at_end(r) || fail(r, "unexpected \"%.20s\"", r->w.at));
}

/* "graph name" may come first; the rest of the line is read as any other. */
static bool open_graph(reader *r) {
  bool named = accept_word(r, "graph");
  skip_space(r);
  tc_buf name = {0};
  tc_put(&name, "");
  size_t n = named ? strcspn(r->w.at, " \t\r") : 0;
  tc_putn(&name, r->w.at, n);
  r->w.at += n;
  r->g = tc_graph_new(n ? name.text : "graph", r->diag);
  tc_buf_free(&name);
  return r->g || fail(r, "out of memory");
}

tc_graph *tc_graph_parse(const char *text, tc_diag *diag) {
  return tc_graph_parse_part(text, 1, diag);
}

tc_graph *tc_graph_parse_part(const char *text, uint32_t first, tc_diag *diag) {
  reader r = {.diag = diag, .line = first - 1};
  tc_buf line = {0};
  bool ok = true;
  while (*text && ok) {
    size_t n = strcspn(text, "\n");
    r.line++;
    tc_buf_clear(&line);
    tc_putn(&line, text, tc_words_meaning(text, n));
    text += n + (text[n] == '\n');
    r.w.at = line.text;
    ok = !line.failed || fail(&r, "out of memory");
    if (ok && !at_end(&r)) ok = (r.g || open_graph(&r)) && read_line(&r);
  }
  if (ok && !r.g) ok = fail(&r, "no graph");
  if (!ok) {
    tc_report(diag, TC_ERROR, here(&r), "line %u: %s", r.line, r.w.error);
    tc_graph_free(r.g);
    r.g = NULL;
  }
  tc_buf_free(&line);
  free(r.node.at);
  return r.g;
}
