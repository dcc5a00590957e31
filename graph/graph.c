/* The graph: nodes in chunks that never move, found again through a hash of (op, operands,
 * attributes), so that building n nodes costs O(n). */
#include "graph/graph_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- life ------------------------------------------------------------------------------------ */

static tc_graph *graph_with(const char *name, tc_diag *diag, shared_dims *shared) {
  tc_graph *g = calloc(1, sizeof *g);
  if (!g) return NULL;
  g->diag = diag;
  g->arena = tc_arena_new();
  g->name = g->arena ? tc_arena_str(g->arena, name ? name : "graph") : NULL;
  if (!shared && (shared = calloc(1, sizeof *shared))) shared->dims = tc_dims_new();
  g->shared = shared;
  if (shared) shared->users++;
  if (g->name && shared && shared->dims) return g;
  tc_graph_free(g);
  return NULL;
}

tc_graph *tc_graph_new(const char *name, tc_diag *diag) { return graph_with(name, diag, NULL); }

void tc_graph_free(tc_graph *g) {
  if (!g) return;
  if (g->shared && --g->shared->users == 0) {
    tc_dims_free(g->shared->dims);
    free(g->shared);
  }
  free(g->chunk.at);
  free(g->string.at);
  free(g->input.at);
  free(g->scalar.at);
  free(g->output.at);
  free(g->write.at);
  free(g->written.at);
  tc_table_free(&g->interned);
  tc_table_free(&g->strings);
  tc_arena_free(g->arena);
  free(g);
}

const char *tc_graph_name(const tc_graph *g) { return g->name; }
tc_dims *tc_graph_dims(tc_graph *g) { return g->shared->dims; }
tc_diag *tc_graph_diag(tc_graph *g) { return g->diag; }
tc_arena *tc_graph_arena(tc_graph *g) { return g->arena; }

static bool intern_string(tc_graph *g, const char *s, tc_dim *index);

/* Strings keep their indices, so attributes of g's nodes mean the same in d. */
static bool copy_strings(tc_graph *d, const tc_graph *g) {
  tc_dim index;
  for (size_t i = 0; i < g->string.n; i++)
    if (!intern_string(d, g->string.at[i], &index)) return false;
  return true;
}

tc_graph *tc_graph_derive(tc_graph *g) {
  tc_graph *d = graph_with(g->name, g->diag, g->shared);
  if (d && !copy_strings(d, g)) {
    tc_graph_free(d);
    d = NULL;
  }
  if (!d) return NULL;
  d->derived = true;
  for (uint32_t id = 1; id <= g->count; id++) {
    const tc_node *n = tc_graph_node(g, (tc_ref){id});
    uint32_t k = n->nattr ? (uint32_t)tc_dim_value(n->attr[0]) : 0;
    tc_ref r;
    if (n->op == OP_INPUT) r = tc_graph_input(d, g->input.at[k].name, &g->input.at[k].type, n->loc);
    else if (n->op == OP_SCALAR)
      r = tc_graph_scalar(d, g->scalar.at[k].name, g->scalar.at[k].dtype, n->loc);
    else break;
    if (r.id != id) {
      tc_graph_free(d);
      return NULL;
    }
    if (n->op != OP_INPUT) continue;
    d->input.at[k].leaf = g->input.at[k].leaf;
    d->input.at[k].row_major = g->input.at[k].row_major;
    d->input.at[k].detached = g->input.at[k].detached;
  }
  return d;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

uint32_t tc_graph_count(const tc_graph *g) { return g->count; }

static tc_node *node_at(const tc_graph *g, uint32_t id) {
  return &g->chunk.at[(id - 1) >> CHUNK_BITS][(id - 1) & (CHUNK - 1)];
}

const tc_node *tc_graph_node(const tc_graph *g, tc_ref r) {
  return r.id && r.id <= g->count ? node_at(g, r.id) : NULL;
}

const tc_type *tc_graph_type(const tc_graph *g, tc_ref r) {
  const tc_node *n = tc_graph_node(g, r);
  return !n ? NULL : n->result ? n->result : &n->type;
}

static void normalise(tc_dims *c, tc_type *t) {
  for (int i = 0; i < t->rank; i++) t->dim[i] = tc_dim_norm(c, t->dim[i]);
}

void tc_graph_update_types(tc_graph *g) {
  for (uint32_t id = 1; id <= g->count; id++) {
    tc_node *n = node_at(g, id);
    normalise(tc_graph_dims(g), &n->type);
    for (int k = 0; n->result && k < n->nresult; k++) normalise(tc_graph_dims(g), &n->result[k]);
  }
}

static uint64_t key_hash(const node_key *k) {
  uint64_t h = tc_hash(k->in, (size_t)k->nin * sizeof *k->in, (uint64_t)k->op);
  return tc_hash(k->attr, (size_t)k->nattr * sizeof *k->attr, h);
}

static bool key_equal(const void *owner, uint32_t id, const void *key) {
  const tc_node *n = node_at(owner, id);
  const node_key *k = key;
  return n->op == k->op && n->nin == k->nin && n->nattr == k->nattr &&
         (!k->nin || !memcmp(n->in, k->in, (size_t)k->nin * sizeof *k->in)) &&
         (!k->nattr || !memcmp(n->attr, k->attr, (size_t)k->nattr * sizeof *k->attr));
}

tc_ref tc_graph_find(const tc_graph *g, const node_key *key) {
  return (tc_ref){tc_table_find(&g->interned, key_hash(key), key_equal, g, key)};
}

static void *copy(tc_arena *a, const void *from, size_t bytes) {
  void *p = tc_arena_alloc(a, bytes ? bytes : 1);
  return p && bytes ? memcpy(p, from, bytes) : p;
}

static tc_ref append(tc_graph *g, const node_key *k, int nresult, const tc_type *type, tc_loc loc) {
  if (g->count >> CHUNK_BITS == g->chunk.n) {
    tc_node *chunk = tc_arena_alloc(g->arena, CHUNK * sizeof *chunk);
    if (!chunk || !tc_push(&g->chunk, chunk)) return (tc_ref){0};
  }
  const tc_ref *in = copy(g->arena, k->in, (size_t)k->nin * sizeof *in);
  const tc_dim *attr = copy(g->arena, k->attr, (size_t)k->nattr * sizeof *attr);
  tc_type *all = nresult > 1 ? copy(g->arena, type, (size_t)nresult * sizeof *all) : NULL;
  uint32_t id = g->count + 1;
  if (!in || !attr || (nresult > 1 && !all) || id == UINT32_MAX ||
      !tc_table_add(&g->interned, key_hash(k), id))
    return (tc_ref){0};
  g->count = id;
  *node_at(g, id) = (tc_node){.op = k->op,
                              .nin = (uint16_t)k->nin,
                              .nattr = (uint16_t)k->nattr,
                              .nresult = (uint8_t)nresult,
                              .in = in,
                              .attr = attr,
                              .type = *type,
                              .result = all,
                              .loc = loc};
  return (tc_ref){id};
}

/* ---- strings --------------------------------------------------------------------------------- */

static bool string_equal(const void *owner, uint32_t id, const void *key) {
  const tc_graph *g = owner;
  return !strcmp(g->string.at[id - 1], key);
}

static bool intern_string(tc_graph *g, const char *s, tc_dim *index) {
  uint64_t h = tc_hash(s, strlen(s), 0);
  uint32_t id = tc_table_find(&g->strings, h, string_equal, g, s);
  if (!id) {
    char *own = tc_arena_str(g->arena, s);
    if (!own || !tc_push(&g->string, own)) return false;
    id = (uint32_t)g->string.n;
    if (!tc_table_add(&g->strings, h, id)) return false;
  }
  *index = tc_dim_const(id - 1);
  return true;
}

const char *tc_graph_string(const tc_graph *g, tc_dim attr) {
  if (!tc_dim_is_const(attr) || tc_dim_value(attr) < 0) return NULL;
  uint64_t i = (uint64_t)tc_dim_value(attr);
  return i < g->string.n ? g->string.at[i] : NULL;
}

/* ---- leaves ---------------------------------------------------------------------------------- */

/* Inputs and scalars come first. */
static bool leaves_only(const tc_graph *g) { return g->count == g->input.n + g->scalar.n; }

static tc_ref declare(tc_graph *g, tc_op op, size_t index, const tc_type *type, tc_loc loc) {
  tc_dim attr = tc_dim_const((int64_t)index);
  node_key k = {op, 0, 1, NULL, &attr};
  if (leaves_only(g)) return append(g, &k, 1, type, loc);
  tc_report(g->diag, TC_MISSED, loc, "%s declared behind other nodes", tc_op_get(op)->text);
  return (tc_ref){0};
}

/* A bare symbol is read from the first input that has it. */
static void bind_symbols(tc_graph *g, const tc_type *type, int32_t input) {
  uint32_t sym;
  for (int i = 0; i < type->rank; i++) {
    if (!tc_dim_is_sym(tc_graph_dims(g), type->dim[i], &sym)) continue;
    tc_sym *s = tc_dims_sym(tc_graph_dims(g), sym);
    if (s->input >= 0) continue;
    s->input = input;
    s->axis = i;
  }
}

tc_ref tc_graph_input(tc_graph *g, const char *name, const tc_type *type, tc_loc loc) {
  tc_ref r = declare(g, OP_INPUT, g->input.n, type, loc);
  char *own = tc_arena_str(g->arena, name ? name : "");
  if (!r.id || !own || !tc_push(&g->input, ((tc_input){.name = own, .node = r, .type = *type})))
    return (tc_ref){0};
  bind_symbols(g, type, (int32_t)g->input.n - 1);
  return r;
}

tc_ref tc_graph_scalar(tc_graph *g, const char *text, tc_dtype dtype, tc_loc loc) {
  tc_type type = {.dtype = (uint8_t)dtype, .weak = true};
  tc_ref r = declare(g, OP_SCALAR, g->scalar.n, &type, loc);
  char *own = tc_arena_str(g->arena, text ? text : "");
  if (!r.id || !own || !tc_push(&g->scalar, ((tc_scalar_arg){own, dtype, r}))) return (tc_ref){0};
  return r;
}

void tc_graph_require_leaf(tc_graph *g, uint32_t input) {
  if (input < g->input.n) g->input.at[input].leaf = true;
}

void tc_graph_require_row_major(tc_graph *g, uint32_t input) {
  if (input < g->input.n) g->input.at[input].row_major = true;
}

void tc_graph_set_detached(tc_graph *g, uint32_t input) {
  if (input < g->input.n) g->input.at[input].detached = true;
}

uint32_t tc_graph_input_count(const tc_graph *g) { return (uint32_t)g->input.n; }
const tc_input *tc_graph_input_at(const tc_graph *g, uint32_t i) {
  return i < g->input.n ? &g->input.at[i] : NULL;
}
uint32_t tc_graph_scalar_count(const tc_graph *g) { return (uint32_t)g->scalar.n; }
const tc_scalar_arg *tc_graph_scalar_at(const tc_graph *g, uint32_t i) {
  return i < g->scalar.n ? &g->scalar.at[i] : NULL;
}

static tc_ref constant(tc_graph *g, tc_dtype dtype, bool weak, uint64_t bits, tc_loc loc) {
  tc_dim attr[4] = {tc_dim_const(dtype), tc_dim_const(weak), tc_dim_const((int64_t)(bits >> 32)),
                    tc_dim_const((int64_t)(bits & UINT32_MAX))};
  return tc_build(g, OP_CONST, 0, NULL, 4, attr, NULL, loc);
}

tc_ref tc_graph_const_f(tc_graph *g, tc_dtype dtype, bool weak, double v, tc_loc loc) {
  if (!tc_dtype_is_float(dtype))
    return tc_graph_const_i(g, dtype, weak, tc_dtype_truncate(dtype, v), loc);
  uint64_t bits;
  v = tc_dtype_round(dtype, v);
  memcpy(&bits, &v, sizeof bits);
  return constant(g, dtype, weak, bits, loc);
}

tc_ref tc_graph_const_i(tc_graph *g, tc_dtype dtype, bool weak, int64_t v, tc_loc loc) {
  if (tc_dtype_is_float(dtype)) return tc_graph_const_f(g, dtype, weak, (double)v, loc);
  return constant(g, dtype, weak, (uint64_t)tc_dtype_wrap(dtype, v), loc);
}

tc_ref tc_graph_dim_value(tc_graph *g, tc_dim d, bool weak, tc_loc loc) {
  d = tc_dim_norm(tc_graph_dims(g), d);
  if (tc_dim_is_const(d)) return tc_graph_const_i(g, TC_I64, weak, tc_dim_value(d), loc);
  tc_dim attr[2] = {d, tc_dim_const(weak)};
  return tc_build(g, OP_DIM, 0, NULL, 2, attr, NULL, loc);
}

bool tc_node_const(const tc_node *n, double *f, int64_t *i) {
  if (!n || n->op != OP_CONST) return false;
  uint64_t bits = (uint64_t)tc_dim_value(n->attr[2]) << 32 | (uint64_t)tc_dim_value(n->attr[3]);
  double v;
  memcpy(&v, &bits, sizeof v);
  bool floating = tc_dtype_is_float((tc_dtype)n->type.dtype);
  if (f) *f = floating ? v : (double)(int64_t)bits;
  if (i) *i = floating ? tc_dtype_truncate(TC_I64, v) : (int64_t)bits;
  return true;
}

/* ---- building -------------------------------------------------------------------------------- */

enum { MAX_OPERANDS = 255, MAX_ATTRS = 2 * (TC_MAX_RANK + 1) + 2 };

/* The attribute of RESULT: one of n's. */
static bool names_result(const tc_node *n, tc_dim i) {
  return tc_dim_is_const(i) && tc_dim_value(i) >= 0 && tc_dim_value(i) < n->nresult;
}

/* Several results are read by RESULT alone, which reads nothing else. */
static bool reads_values(const tc_graph *g, const node_key *key, refusal *why) {
  for (int i = 0; i < key->nin; i++) {
    const tc_node *n = tc_graph_node(g, key->in[i]);
    if (n && (n->op == OP_EFFECT) != (key->op == OP_EFFECT && i == 1)) {
      snprintf(why->message, sizeof why->message, "operand %d is %s effect", i + 1,
               n->op == OP_EFFECT ? "an" : "no");
      return false;
    }
    if (!n || (n->nresult > 1) == (key->op == OP_RESULT)) continue;
    snprintf(why->message, sizeof why->message, "operand %d has %d results", i + 1, n->nresult);
    return false;
  }
  if (key->op != OP_RESULT || key->nin != 1 || key->nattr != 1) return true;
  const tc_node *n = tc_graph_node(g, key->in[0]);
  if (names_result(n, key->attr[0])) return true;
  snprintf(why->message, sizeof why->message, "no such result of %s", tc_op_get(n->op)->text);
  return false;
}

int tc_graph_infer(tc_graph *g, const node_key *key, const char *string, tc_type *out,
                   refusal *why) {
  const tc_type *in[MAX_OPERANDS];
  if (!reads_values(g, key, why)) return 0;
  for (int i = 0; i < key->nin; i++) in[i] = tc_graph_type(g, key->in[i]);
  tc_dims *dims = tc_graph_dims(g);
  tc_infer c = {.op = key->op, .dims = dims, .nin = key->nin, .in = in, .nattr = key->nattr};
  c.attr = key->attr;
  c.string = string;
  c.message = why->message;
  c.message_size = sizeof why->message;
  bool ok = tc_infer_type(&c, out);
  why->soft = c.soft;
  for (int k = 0; ok && k < c.nresult; k++) normalise(dims, &out[k]);
  return ok ? c.nresult : 0;
}

/* A failure of ours, not of the program that is compiled. */
static tc_ref refuse(refusal *why, const char *message) {
  strncpy(why->message, message, sizeof why->message - 1);
  why->soft = true;
  return (tc_ref){0};
}

/* RESULT of a TUPLE is what the tuple was made of. */
static tc_ref taken(const tc_node *tuple, int nattr, const tc_dim *attr, refusal *why) {
  const bool valid = nattr == 1 && names_result(tuple, attr[0]);
  return valid ? tuple->in[tc_dim_value(attr[0])] : refuse(why, "no such result of a tuple");
}

tc_ref tc_graph_try(tc_graph *g, tc_op op, int nin, const tc_ref *in, int nattr, const tc_dim *attr,
                    const char *string, tc_loc loc, refusal *why) {
  *why = (refusal){0};
  if (!tc_op_get(op)) return refuse(why, "no such op");
  if (nin < 0 || nin > MAX_OPERANDS) return refuse(why, "too many operands");
  if (nattr < 0 || nattr > MAX_ATTRS) return refuse(why, "too many attributes");
  uint32_t optional = tc_op_get(op)->optional;
  for (int i = 0; i < nin; i++) {
    if (!in[i].id && !(i < 32 && optional >> i & 1)) return (tc_ref){0};
    if (in[i].id > g->count) return refuse(why, "operand of another graph");
  }
  if (op == OP_RESULT && nin == 1 && tc_graph_node(g, in[0])->op == OP_TUPLE)
    return taken(tc_graph_node(g, in[0]), nattr, attr, why);
  tc_dims *dims = tc_graph_dims(g);
  tc_dim a[MAX_ATTRS];
  for (int i = 0; i < nattr; i++) a[i] = tc_dim_norm(dims, attr[i]);
  if (string) { /* the one S attribute is the last */
    if (nattr == MAX_ATTRS || !intern_string(g, string, &a[nattr++]))
      return refuse(why, "out of memory");
  }
  node_key key = {op, nin, nattr, in, a};
  tc_ref found = tc_graph_find(g, &key);
  if (found.id) return found;
  tc_type type[TC_MAX_RESULTS];
  const int nresult = tc_graph_infer(g, &key, string, type, why);
  if (!nresult) return (tc_ref){0};
  for (int i = 0; i < nattr; i++) a[i] = tc_dim_norm(dims, a[i]);
  if (nin) key.nattr = tc_attr_canonical(dims, op, tc_graph_type(g, in[0]), type, nattr, a);
  found = tc_graph_find(g, &key);
  if (!found.id) found = append(g, &key, nresult, type, loc);
  return found.id ? found : refuse(why, "out of memory");
}

tc_ref tc_build(tc_graph *g, tc_op op, int nin, const tc_ref *in, int nattr, const tc_dim *attr,
                const char *string, tc_loc loc) {
  refusal why;
  tc_ref r = tc_graph_try(g, op, nin, in, nattr, attr, string, loc, &why);
  tc_severity severity = why.soft || g->derived ? TC_MISSED : TC_ERROR;
  if (!r.id && why.message[0]) tc_report(g->diag, severity, loc, "%s", why.message);
  return r;
}

/* ---- roots ----------------------------------------------------------------------------------- */

bool tc_graph_output(tc_graph *g, tc_ref r) {
  const tc_node *n = tc_graph_node(g, r);
  return n && n->nresult == 1 && n->op != OP_EFFECT && tc_push(&g->output, r);
}
uint32_t tc_graph_output_count(const tc_graph *g) { return (uint32_t)g->output.n; }
tc_ref tc_graph_output_at(const tc_graph *g, uint32_t i) {
  return i < g->output.n ? g->output.at[i] : (tc_ref){0};
}

bool tc_graph_write(tc_graph *g, uint32_t input, tc_ref value) {
  const tc_node *v = tc_graph_node(g, value);
  if (!v || v->nresult > 1 || input >= g->input.n) return false;
  tc_input *to = &g->input.at[input];
  bool fits = v->type.dtype == to->type.dtype && v->type.rank == to->type.rank;
  for (int i = 0; i < v->type.rank && fits; i++)
    fits = !tc_dim_bad(tc_dim_unify(tc_graph_dims(g), to->type.dim[i], v->type.dim[i]));
  if (!fits) {
    tc_buf b = {0};
    tc_type_print(tc_graph_dims(g), &v->type, &b);
    tc_put(&b, " into ");
    tc_type_print(tc_graph_dims(g), &to->type, &b);
    bool soft = g->derived || tc_dims_guessed(tc_graph_dims(g));
    tc_report(g->diag, soft ? TC_MISSED : TC_ERROR, v->loc, "cannot write %s \"%s\"",
              b.text ? b.text : "", to->name);
    tc_buf_free(&b);
    return false;
  }
  to->written = true;
  return tc_push(&g->write, value) && tc_push(&g->written, input);
}
uint32_t tc_graph_write_count(const tc_graph *g) { return (uint32_t)g->written.n; }
tc_ref tc_graph_write_at(const tc_graph *g, uint32_t i, uint32_t *input) {
  if (i >= g->written.n) return (tc_ref){0};
  *input = g->written.at[i];
  return g->write.at[i];
}

/* ---- effects --------------------------------------------------------------------------------- */

tc_ref tc_graph_effect(const tc_graph *g) { return g->effect; }

bool tc_graph_set_effect(tc_graph *g, tc_ref r) {
  const tc_node *n = tc_graph_node(g, r);
  if (n && n->op != OP_EFFECT) return false;
  g->effect = r;
  return true;
}

int tc_call_first(const tc_node *n) { return n->op == OP_EFFECT ? 2 : 1; }

tc_ref tc_build_effect(tc_graph *g, int nin, const tc_ref *in, const char *types, tc_loc loc) {
  tc_ref all[MAX_OPERANDS];
  if (nin < 1 || nin >= MAX_OPERANDS) return (tc_ref){0};
  all[0] = in[0];
  all[1] = g->effect;
  memcpy(all + 2, in + 1, (size_t)(nin - 1) * sizeof *in);
  const tc_ref r = tc_build(g, OP_EFFECT, nin + 1, all, 0, NULL, types, loc);
  if (r.id) g->effect = r;
  return r;
}

bool tc_graph_same_effects(const tc_graph *a, const tc_graph *b) {
  const tc_node *x = tc_graph_node(a, a->effect), *y = tc_graph_node(b, b->effect);
  while (x && y) { /* arguments keep their ids, strings their indices */
    if (x->nin != y->nin || x->in[0].id != y->in[0].id) return false;
    if (!tc_dim_same(x->attr[0], y->attr[0])) return false;
    x = tc_graph_node(a, x->in[1]);
    y = tc_graph_node(b, y->in[1]);
  }
  return !x && !y;
}
