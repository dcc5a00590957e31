/* read_head.c - what stands in front of the kernels of a text: sizes, scalars, buffers.  A graph
 * that has its inputs, and zeros for its results, stands for the one that the program was made
 * of. */
#include "lower/read.h"

#include <string.h>

/* ---- the first line -------------------------------------------------------------------------- */

static const char *last_colon(const char *text) {
  const char *found = NULL;
  for (; *text; text++)
    if (*text == ':' && text[1] == ' ') found = text;
  return found;
}

static const char *copy_text(lo_reader *r, const char *text, size_t n) {
  char *own = lo_make(r, n + 1);
  if (own) memcpy(own, text, n);
  return own;
}

/* Begins the program, its arena and its graph. */
static bool begin_program(lo_reader *r, const char *name, size_t n) {
  tc_buf text = {0};
  tc_putn(&text, name, n);
  tc_graph *g = text.failed ? NULL : tc_graph_new(text.text, r->diag);
  tc_buf_free(&text);
  tc_arena *arena = g ? tc_arena_new() : NULL;
  r->p = arena ? tc_arena_alloc(arena, sizeof *r->p) : NULL;
  if (r->p) {
    *r->p = (tc_program){.graph = g, .arena = arena, .workspace = tc_dim_const(0)};
    r->dims = tc_graph_dims(g);
    r->open = true;
    return true;
  }
  if (arena) tc_arena_free(arena);
  tc_graph_free(g);
  return tc_words_fail(&r->w, "out of memory");
}

bool lo_read_program(lo_reader *r) {
  tc_words *w = &r->w;
  uint32_t launches;
  if (r->p) return tc_words_fail(w, "a second program");
  tc_words_skip(w);
  const char *const name = w->at, *const colon = last_colon(name);
  const size_t n = colon ? (size_t)(colon - name) : strlen(name);
  if (!n) return tc_words_fail(w, "expected the name of the program");
  if (!begin_program(r, name, n)) return false;
  w->at += n;
  r->kernels = -1;
  if (!tc_words_accept(w, ":")) return true;
  if (!tc_words_int(w, &r->kernels) || !tc_words_expect(w, "kernels")) return false;
  if (tc_words_accept_word(w, "in") &&
      (!lo_read_count(r, UINT32_MAX, "number of launches", &launches) ||
       !tc_words_expect(w, "launch")))
    return false;
  tc_words_accept_word(w, "es");
  if (!tc_words_accept(w, ",")) return true;
  if (!tc_words_expect(w, "workspace")) return false;
  r->workspace = copy_text(r, w->at, strlen(w->at)); /* sizes are known later */
  w->at += strlen(w->at);
  return r->workspace != NULL;
}

/* ---- buffers --------------------------------------------------------------------------------- */

/* A word up to the next space, or a quoted one. */
static bool read_name(lo_reader *r, const char **name) {
  tc_buf text = {0};
  tc_words_skip(&r->w);
  bool ok = true;
  if (*r->w.at == '"') ok = tc_words_quoted(&r->w, &text);
  else {
    const size_t n = strcspn(r->w.at, " \t\r");
    tc_putn(&text, r->w.at, n);
    r->w.at += n;
    ok = n > 0 || tc_words_fail(&r->w, "expected a name");
  }
  *name = ok ? copy_text(r, text.text ? text.text : "", text.len) : NULL;
  tc_buf_free(&text);
  return *name != NULL;
}

static bool add_input(lo_reader *r, uint32_t index, const lo_input *in) {
  while (r->ninput <= index) {
    if (!lo_room(r, &r->input, r->ninput, sizeof *r->input)) return false;
    r->input[r->ninput++] = (lo_input){0};
  }
  if (r->input[index].there) return tc_words_fail(&r->w, "input %u has a line already", index);
  r->input[index] = *in;
  return true;
}

static bool read_unread(lo_reader *r) {
  uint32_t index;
  lo_input in = {.there = true};
  return tc_words_expect(&r->w, "input") && lo_read_count(r, (int64_t)r->length, "input", &index) &&
         read_name(r, &in.name) && tc_words_type(&r->w, r->dims, &in.type) &&
         add_input(r, index, &in);
}

/* "STRIDE per BLOCK by WITHIN" for each axis. */
static bool read_layout(lo_reader *r, tc_buffer *b) {
  b->layout.strided = true;
  if (!tc_words_expect(&r->w, "[")) return false;
  for (int i = 0; i < b->type.rank; i++) {
    tc_buf_axis *x = &b->layout.axis[i];
    if (i && !tc_words_expect(&r->w, ",")) return false;
    if (!lo_read_dim(r, &x->stride)) return false;
    if (!tc_words_accept_word(&r->w, "per")) continue;
    if (!tc_words_int(&r->w, &x->block) || !tc_words_expect(&r->w, "by") ||
        !lo_read_dim(r, &x->within))
      return false;
    if (x->block < 2 || tc_dim_bad(tc_dim_const(x->block)))
      return tc_words_fail(&r->w, "no block has %lld elements", (long long)x->block);
  }
  return tc_words_expect(&r->w, "]");
}

/* Inputs that versions name may have their lines later. */
static bool note_version(lo_reader *r) {
  const uint32_t n = r->nversion;
  if (!lo_room(r, &r->version, n, sizeof *r->version) || !lo_room(r, &r->of, n, sizeof *r->of))
    return false;
  const char *const end = strstr(r->w.at, " is unchanged");
  if (!end) return tc_words_fail(&r->w, "expected 'is unchanged'");
  tc_words_skip(&r->w);
  r->version[n] = r->p->nbuffer;
  r->of[n] = copy_text(r, r->w.at, end > r->w.at ? (size_t)(end - r->w.at) : 0);
  r->w.at = end + strlen(" is unchanged");
  r->nversion++;
  return r->of[n] != NULL;
}

static bool read_version(lo_reader *r, tc_buffer *b) {
  b->version = TC_STATE;
  if (tc_words_accept_word(&r->w, "while")) return note_version(r);
  return tc_words_expect(&r->w, "as the last call left it");
}

static bool read_kind(lo_reader *r, tc_buffer *b) {
  static const char *const kind[] = {"input", "output", "arena", "local", "kept", "private"};
  const char *start;
  const size_t n = tc_words_next(&r->w, &start);
  for (int i = 0; i < 6; i++) {
    if (strlen(kind[i]) != n || memcmp(kind[i], start, n) != 0) continue;
    b->kind = (tc_buf_kind)i;
    return i > TC_BUF_OUTPUT || lo_read_count(r, (int64_t)r->length, kind[i], &b->index);
  }
  return tc_words_fail(
      &r->w, "expected input, output, arena, local, kept or private before \"%.20s\"", start);
}

static bool read_buffer(lo_reader *r) {
  tc_words *w = &r->w;
  const uint32_t n = r->p->nbuffer;
  tc_buffer b = {.offset = tc_dim_const(0)};
  uint32_t number;
  if (!lo_read_count(r, INT32_MAX, "number of a buffer", &number)) return false;
  if (number != n) return tc_words_fail(w, "expected buffer %u", n);
  if (!read_kind(r, &b) || !read_name(r, &b.name) || !tc_words_type(w, r->dims, &b.type))
    return false;
  b.dtype = (tc_dtype)b.type.dtype;
  if (b.kind == TC_BUF_ARENA && (!tc_words_expect(w, "at") || !lo_read_dim(r, &b.offset)))
    return false;
  if (tc_words_accept_word(w, "layout") && !read_layout(r, &b)) return false;
  b.numel = tc_layout_numel(r->dims, &b.type, &b.layout);
  if (tc_dim_bad(b.numel)) return tc_words_fail(w, "elements of the layout share places");
  if (b.kind == TC_BUF_KEPT && !read_version(r, &b)) return false;
  b.written = b.kind == TC_BUF_INPUT && tc_words_accept_word(w, "written");
  const lo_input in = {b.name, b.type, true, b.written};
  if (b.kind == TC_BUF_INPUT && !add_input(r, b.index, &in)) return false;
  if (!lo_room(r, &r->p->buffer, n, sizeof *r->p->buffer)) return false;
  r->p->buffer[r->p->nbuffer++] = b;
  return true;
}

/* ---- scalars and sizes ----------------------------------------------------------------------- */

typedef struct scalar {
  tc_dtype dtype;
  const char *name;
} scalar;

static bool read_scalar(lo_reader *r) {
  tc_graph *g = r->p->graph;
  uint32_t number;
  scalar s;
  if (r->ninput || r->p->nconstant)
    return tc_words_fail(&r->w, "scalars stand in front of constants and buffers");
  if (!lo_read_count(r, (int64_t)r->length, "scalar", &number) ||
      !tc_words_dtype(&r->w, &s.dtype) || !read_name(r, &s.name))
    return false;
  if (number != tc_graph_scalar_count(g))
    return tc_words_fail(&r->w, "expected scalar %u", tc_graph_scalar_count(g));
  if (s.dtype != TC_F64 && s.dtype != TC_I64) return tc_words_fail(&r->w, "scalars are f64 or i64");
  return tc_graph_scalar(g, s.name, s.dtype, (tc_loc){.line = r->line, .col = 1}).id ||
         tc_words_fail(&r->w, "out of memory");
}

static bool read_constant(lo_reader *r) {
  tc_program *p = r->p;
  uint32_t number;
  const uint32_t next = tc_graph_scalar_count(p->graph) + p->nconstant;
  if (!lo_read_count(r, (int64_t)r->length, "constant", &number)) return false;
  if (number != next) return tc_words_fail(&r->w, "expected constant %u", next);
  return lo_room(r, &p->constant, p->nconstant, sizeof *p->constant) &&
         tc_words_number(&r->w, &p->constant[p->nconstant++]);
}

/* "B, M 1..4096 %8, n 0..inf = scalar 0" */
static bool read_symbols(lo_reader *r) {
  do {
    if (!tc_words_symbol(&r->w, r->dims)) return false;
  } while (tc_words_accept(&r->w, ","));
  return true;
}

bool lo_read_head_line(lo_reader *r) {
  tc_words *w = &r->w;
  if (tc_words_accept_word(w, "buffer")) return read_buffer(r);
  if (tc_words_accept_word(w, "sizes")) return read_symbols(r);
  if (tc_words_accept_word(w, "assume")) return tc_words_assumption(w, r->dims);
  if (tc_words_accept_word(w, "scalar")) return read_scalar(r);
  if (tc_words_accept_word(w, "constant")) return read_constant(r);
  return tc_words_accept_word(w, "unread") && read_unread(r);
}

/* ---- the graph ------------------------------------------------------------------------------- */

static bool add_inputs(lo_reader *r) {
  for (uint32_t i = 0; i < r->ninput; i++) {
    const lo_input *in = &r->input[i];
    if (!in->there) return tc_words_fail(&r->w, "input %u has no line", i);
    if (!tc_graph_input(r->p->graph, in->name, &in->type, (tc_loc){0}).id)
      return tc_words_fail(&r->w, "out of memory");
  }
  return true;
}

/* An array of zeros. */
static tc_ref zeros(lo_reader *r, const tc_type *t) {
  tc_dim attr[TC_MAX_RANK + 2] = {tc_dim_const(t->rank)};
  if (t->weak) return tc_graph_const_f(r->p->graph, (tc_dtype)t->dtype, true, 0, (tc_loc){0});
  const tc_ref zero = tc_graph_const_i(r->p->graph, TC_I64, true, 0, (tc_loc){0});
  for (int i = 0; i < t->rank; i++) attr[i + 1] = t->dim[i];
  attr[t->rank + 1] = tc_dim_const(t->dtype);
  return tc_build(r->p->graph, OP_FULL, 1, &zero, t->rank + 2, attr, NULL, (tc_loc){0});
}

static bool add_writes(lo_reader *r) {
  for (uint32_t i = 0; i < r->ninput; i++)
    if (r->input[i].written && !tc_graph_write(r->p->graph, i, zeros(r, &r->input[i].type)))
      return tc_words_fail(&r->w, "input %u cannot be written", i);
  return true;
}

/* p->output[i] is the buffer of result i. */
static bool add_outputs(lo_reader *r) {
  tc_program *p = r->p;
  for (uint32_t i = 0; i < p->nbuffer; i++) p->noutput += p->buffer[i].kind == TC_BUF_OUTPUT;
  p->output = lo_make(r, p->noutput * sizeof *p->output);
  if (!p->output) return false;
  for (uint32_t i = 0; i < p->nbuffer; i++) {
    const tc_buffer *b = &p->buffer[i];
    if (b->kind != TC_BUF_OUTPUT) continue;
    if (b->index >= p->noutput || p->output[b->index])
      return tc_words_fail(&r->w, "results are numbered from 0 on, and each has one buffer");
    p->output[b->index] = i + 1;
  }
  for (uint32_t i = 0; i < p->noutput; i++) {
    tc_buffer *b = &p->buffer[--p->output[i]];
    b->node = zeros(r, &b->type);
    if (!b->node.id || !tc_graph_output(p->graph, b->node))
      return tc_words_fail(&r->w, "result %u cannot be made", i);
  }
  return true;
}

static bool label_buffers(lo_reader *r) {
  const uint32_t n = r->p->nbuffer;
  r->label = lo_make(r, n * sizeof *r->label);
  r->argument = lo_make(r, n * sizeof *r->argument);
  r->base = lo_make(r, n * sizeof *r->base);
  for (uint32_t i = 0; i < n && r->base; i++) {
    tc_buf text = {0};
    lo_put_label(r->p, i, &text);
    r->label[i] = text.failed ? NULL : copy_text(r, text.text, text.len);
    tc_buf_free(&text);
    if (!r->label[i]) return tc_words_fail(&r->w, "out of memory");
  }
  return r->base != NULL;
}

static bool find_version(lo_reader *r, uint32_t v) {
  const tc_program *p = r->p;
  for (uint32_t i = 0; i < p->nbuffer; i++) {
    if (p->buffer[i].kind != TC_BUF_INPUT || strcmp(r->label[i], r->of[v]) != 0) continue;
    p->buffer[r->version[v]].version = p->buffer[i].index;
    return true;
  }
  return tc_words_fail(&r->w, "buffer %u depends on '%s', which is no input", r->version[v],
                       r->of[v]);
}

/* The inputs whose pitches are among the sizes. */
static void mark_pitched(lo_reader *r) {
  for (uint32_t i = 0; i < tc_dims_sym_count(r->dims); i++) {
    const tc_sym *s = tc_dims_sym(r->dims, i);
    for (uint32_t b = 0; s->pitch && b < r->p->nbuffer; b++)
      if (r->p->buffer[b].kind == TC_BUF_INPUT && r->p->buffer[b].index == (uint32_t)s->input)
        r->p->buffer[b].pitched = true;
  }
}

static bool check_symbols(lo_reader *r) {
  r->nsym = tc_dims_sym_count(r->dims);
  for (uint32_t i = 0; i < r->nsym; i++) {
    const tc_sym *s = tc_dims_sym(r->dims, i);
    if (s->input == -1) return tc_words_fail(&r->w, "no input has the size %s", s->name);
    if (s->pitch && ((uint32_t)s->input >= tc_graph_input_count(r->p->graph) ||
                     s->axis != tc_graph_input_at(r->p->graph, (uint32_t)s->input)->type.rank - 1))
      return tc_words_fail(&r->w, "%s is the pitch of no input", s->name);
    if (s->input >= 0 && s->axis < 0 && (uint32_t)s->input >= tc_graph_scalar_count(r->p->graph))
      return tc_words_fail(&r->w, "there is no scalar %d", s->input);
  }
  return true;
}

static bool read_workspace(lo_reader *r) {
  tc_words w = {.at = r->workspace};
  if (!w.at) return true;
  const bool ok = tc_words_dim(&w, r->dims, &r->p->workspace) && tc_words_expect(&w, "bytes") &&
                  (tc_words_end(&w) || tc_words_fail(&w, "unexpected \"%.20s\"", w.at));
  return ok || tc_words_fail(&r->w, "workspace: %s", w.error);
}

bool lo_close_head(lo_reader *r) {
  if (!r->open) return true;
  r->open = false;
  if (!add_inputs(r) || !read_workspace(r) || !check_symbols(r)) return false;
  mark_pitched(r);
  if (!add_writes(r) || !add_outputs(r) || !label_buffers(r)) return false;
  for (uint32_t v = 0; v < r->nversion; v++)
    if (!find_version(r, v)) return false;
  return true;
}
