/* case.c - from a line to text, and from text to a graph; see case.h. */
#include "tests/common/case.h"

#include "graph/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const case_line case_lines[] = {
#define CASE(line) {line, 2},
#define CASE1(line) {line, 1},
#include "tests/autodiff/cases.def"
};
const int case_count = sizeof case_lines / sizeof *case_lines;

/* Shapes of up to three operands that broadcast. */
static const char *const shapes[][3] = {
    {"[3,4]", "[3,4]", "[3,4]"}, {"[3,4]", "[4]", "[3,1]"},      {"[3,1]", "[1,4]", "[]"},
    {"[]", "[3,4]", "[4]"},      {"[2,1,3]", "[3,1]", "[1]"},    {"[0,4]", "[4]", "[1,1]"},
    {"[1]", "[]", "[]"},         {"[2,3,4]", "[2,1,1]", "[3,4]"}};
const int case_shapes = sizeof shapes / sizeof *shapes;

typedef struct operand {
  char type[48]; /* "": no argument */
  char domain;   /* f p u g z, b mask, i index */
  int below;     /* of indices */
  char node[32]; /* "%3", "_", or the text of a leaf: "const weak f64 0.5" */
} operand;

typedef struct reader {
  const case_options *o;
  operand at[MAX_WRT];
  int n;
  char op[32], attrs[96];
  uint64_t seed;
} reader;

/* ---- reading a line ---------------------------------------------------------------------------- */

bool case_has_shapes(const char *line) {
  const char *space = strchr(line, ' ');
  return space && strchr("fpugb", space[1]) && (space[2] == ' ' || !space[2]);
}

tc_op case_op(const char *line) {
  char name[32] = "";
  strncpy(name, line, strcspn(line, " "));
  return tc_op_find(name);
}

/* Sizes 3 and 2, alone, as symbols. */
static void put_type(reader *r, operand *p, const char *dtype, const char *shape, size_t n) {
  int k = snprintf(p->type, sizeof p->type, "%s", dtype);
  for (size_t i = 0; i < n; i++) {
    const bool alone = i && !isdigit(shape[i - 1]) && !isdigit(shape[i + 1]);
    char ch = shape[i];
    if (r->o->symbolic && alone && ch == '3') ch = 'B';
    if (r->o->symbolic && alone && ch == '2') ch = 'T';
    p->type[k++] = ch;
  }
  p->type[k] = 0;
}

static const char *dtype_for(const reader *r, const char *text) {
  return !strcmp(text, "f64") ? tc_dtype_text(r->o->dtype) : text;
}

static void read_operand(reader *r, const char *s, size_t n) {
  operand *p = &r->at[r->n];
  const char *shape = memchr(s, '[', n);
  char dtype[8] = "";
  *p = (operand){.domain = 'f'};
  if (shape) {
    const char *end = memchr(s, ']', n);
    memcpy(dtype, s, (size_t)(shape - s));
    put_type(r, p, dtype_for(r, dtype), shape, (size_t)(end + 1 - shape));
    if (dtype[0] == 'b') p->domain = 'b';
    if (dtype[0] == 'i') p->domain = 'i', p->below = atoi(end + 2);
    else if (end + 1 < s + n) p->domain = end[2];
  } else if (n == 1 && strchr("fpugb", *s)) {
    const char *broadcast = shapes[r->o->shape][r->n];
    p->domain = *s;
    put_type(r, p, *s == 'b' ? "bool" : dtype_for(r, "f64"), broadcast, strlen(broadcast));
  } else if (n == 6 && !memcmp(s, "scalar", n)) {
    p->domain = 's';
  } else if (*s == '_') {
    strcpy(p->node, "_");
  } else {
    const bool infinite = strstr(s, "inf") && strstr(s, "inf") < s + n;
    if (infinite)
      snprintf(p->node, sizeof p->node, "const weak f64 %sINFINITY", *s == '-' ? "-" : "");
    else snprintf(p->node, sizeof p->node, "const weak f64 %.*s", (int)n, s);
  }
  r->n++;
}

static void read_line(reader *r, const char *line) {
  size_t n = strcspn(line, " ");
  memcpy(r->op, line, n);
  for (line += n; *line; line += n) {
    line += *line == ' ';
    n = strcspn(line, " ");
    if (memchr(line, '=', n)) break;
    read_operand(r, line, n);
  }
  snprintf(r->attrs, sizeof r->attrs, "%s", line);
}

/* ---- text -------------------------------------------------------------------------------------- */

static bool is_wrt(const operand *p) { return p->type[0] && strchr("fpugz", p->domain); }

static int put_params(const reader *r, const tc_buf *dy, tc_buf *out) {
  int id = 0;
  for (int i = 0; i < r->n; i++)
    if (r->at[i].type[0]) tc_putf(out, "%%%d = param %s \"x\"\n", ++id, r->at[i].type);
  if (dy) {
    for (const char *s = dy->text; s && *s; s += strcspn(s, "\n") + 1)
      tc_putf(out, "%%%d = param %.*s \"dy\"\n", ++id, (int)strcspn(s, "\n"), s);
    for (int i = 0; i < r->n; i++)
      if (is_wrt(&r->at[i])) tc_putf(out, "%%%d = param %s \"v\"\n", ++id, r->at[i].type);
  }
  return id;
}

/* dy: types of the floating results, a line each; NULL: not known yet. */
static tc_graph *graph_of(reader *r, const tc_buf *dy) {
  tc_buf text = {0}, node = {0};
  int id = put_params(r, dy, &text), param = 0;
  int scalar = id; /* scalars stand behind the parameters, in order */
  for (int i = 0; i < r->n; i++)
    if (r->at[i].domain == 's') tc_putf(&text, "%%%d = scalar f64 \"a\"\n", ++id);
  tc_putf(&node, " = %s", r->op);
  for (int i = 0; i < r->n; i++) {
    const operand *p = &r->at[i];
    if (p->domain == 's') tc_putf(&node, " %%%d", ++scalar);
    else if (p->type[0]) tc_putf(&node, " %%%d", ++param);
    else if (p->node[0] == '_') tc_put(&node, " _");
    else {
      tc_putf(&text, "%%%d = %s\n", ++id, p->node);
      tc_putf(&node, " %%%d", id);
    }
  }
  tc_putf(&text, "%%%d%s %s\n", id + 1, node.text, r->attrs);
  tc_graph *g = tc_graph_parse(text.text, r->o->diag);
  tc_buf_free(&text);
  tc_buf_free(&node);
  return g;
}

/* Types of the floating results. */
static void result_types(tc_graph *g, tc_buf *out) {
  const tc_node *n = tc_graph_node(g, (tc_ref){tc_graph_count(g)});
  for (int k = 0; k < n->nresult; k++) {
    const tc_type *t = n->result ? &n->result[k] : &n->type;
    if (!tc_dtype_is_float((tc_dtype)t->dtype)) continue;
    tc_type_print(tc_graph_dims(g), t, out);
    tc_put(out, "\n");
  }
}

/* ---- values ------------------------------------------------------------------------------------ */

static double uniform(reader *r) { /* splitmix64, in 0 .. 1 */
  uint64_t z = r->seed += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static double element(reader *r, const operand *p) {
  const double u = uniform(r);
  switch (p->domain) {
  case 'p':
    return 0.3 + 2 * u;
  case 'u':
    return 1.8 * u - 0.9;
  case 'g':
    return 1.2 + 2 * u;
  case 'b':
    return u < 0.5;
  case 'i':
    return floor(u * p->below);
  case 'z':
    if (u < 0.4) return 0;
    /* fall through */
  default:
    return 4 * uniform(r) - 2;
  }
}

static int64_t size_of(tc_graph *g, tc_dim d) {
  uint32_t s;
  int64_t sym[8] = {0}, v = 0;
  if (tc_dim_find_sym(tc_graph_dims(g), "B", &s)) sym[s] = 3;
  if (tc_dim_find_sym(tc_graph_dims(g), "T", &s)) sym[s] = 2;
  return tc_dim_is_const(d) ? tc_dim_value(d) : tc_dim_eval(tc_graph_dims(g), d, sym, &v) ? v : -1;
}

static interp_array *argument(reader *r, tc_graph *g, const tc_type *t, const operand *p) {
  int64_t dim[TC_MAX_RANK];
  for (int i = 0; i < t->rank; i++) dim[i] = size_of(g, t->dim[i]);
  interp_array *a = interp_new((tc_dtype)t->dtype, t->rank, dim);
  for (int64_t k = 0; k < a->count; k++)
    interp_set(a, k, tc_dtype_round(a->f ? a->dtype : TC_F64, element(r, p)));
  return a;
}

static void fill(reader *r, grad_case *c) {
  static const operand plain = {.domain = 'f'};
  uint32_t k = 0;
  for (int i = 0; i < r->n; i++) {
    const operand *p = &r->at[i];
    if (!p->type[0]) continue;
    const tc_input *in = tc_graph_input_at(c->g, k);
    c->input[k] = argument(r, c->g, &in->type, p);
    if (is_wrt(p)) c->x[c->nwrt] = c->input[k], c->wrt[c->nwrt++] = in->node;
    k++;
  }
  uint32_t nv = 0;
  for (c->ninput = tc_graph_input_count(c->g); k < c->ninput; k++) {
    const tc_input *in = tc_graph_input_at(c->g, k);
    c->input[k] = argument(r, c->g, &in->type, &plain);
    if (in->name[0] == 'd') c->dy[c->ny++] = in->node;
    else c->v[nv++] = in->node;
  }
  c->scalar[0].f = c->scalar[1].f = 1.5;
}

/* Those of operands with a derivative; their tangents are constants. */
static void add_scalars(const reader *r, grad_case *c) {
  const tc_loc nowhere = {0, 0, 0, 0};
  uint32_t k = 0;
  for (int i = 0; i < r->n; i++) {
    if (r->at[i].domain != 's') continue;
    const tc_ref argument = tc_graph_scalar_at(c->g, k++)->node;
    if (tc_autodiff_refusal(tc_op_find(r->op), i)) continue;
    c->v[c->nwrt] = tc_graph_const_f(c->g, TC_F64, false, 0.75, nowhere);
    c->wrt[c->nwrt++] = argument;
  }
}

static void set_results(grad_case *c, tc_ref last) {
  const tc_loc nowhere = {0, 0, 0, 0};
  const tc_node *n = tc_graph_node(c->g, last);
  c->y[0] = last;
  for (int k = 0, i = 0; n->nresult > 1 && k < n->nresult; k++)
    if (tc_dtype_is_float((tc_dtype)n->result[k].dtype))
      c->y[i++] = tc_build_result(c->g, last, k, nowhere);
}

bool case_make(const char *line, const case_options *o, grad_case *c) {
  reader r = {.o = o, .seed = tc_hash(line, strlen(line), (uint64_t)o->shape)};
  tc_buf types = {0};
  *c = (grad_case){0};
  read_line(&r, line);
  tc_graph *first = graph_of(&r, NULL);
  if (!first) return false;
  result_types(first, &types);
  tc_graph_free(first);
  c->g = graph_of(&r, &types);
  tc_buf_free(&types);
  if (!c->g) return false;
  const tc_ref last = {tc_graph_count(c->g)};
  fill(&r, c);
  add_scalars(&r, c);
  set_results(c, last);
  return true;
}

void case_free(grad_case *c) {
  for (uint32_t i = 0; i < c->ninput; i++) interp_free(c->input[i]);
  tc_graph_free(c->g);
}

interp_run case_run(const grad_case *c, tc_graph *g, bool round) {
  interp_run run = {
      .g = g, .input = (const interp_array *const *)c->input, .scalar = c->scalar, .round = round};
  if (!interp_graph(&run)) run.noutput = 0;
  return run;
}

tc_autodiff case_request(const grad_case *c) {
  return (tc_autodiff){
      .noutput = c->ny, .output = c->y, .cotangent = c->dy, .nwrt = c->nwrt, .wrt = c->wrt};
}
