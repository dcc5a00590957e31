/* run.c - see run.h: operands in, results out. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TC_NO_LOCATIONS
#include <tcompile.h>

#include "tools/opt/run.h"

static bool complain(const char *path, const char *why) {
  fprintf(stderr, "tc-opt: %s: %s\n", path, why);
  return false;
}

/* ---- operands -------------------------------------------------------------------------------- */

static bool ends(const char *s, const char *with) {
  const size_t n = strlen(s), m = strlen(with);
  return n >= m && !strcmp(s + n - m, with);
}

/* A file, or a number. */
static tc_tensor *read_operand(const char *text) {
  char *end, *whole_end;
  if (ends(text, ".npy")) return tc_load_npy(text);
  errno = 0;
  const double value = strtod(text, &end);
  if (end == text || *end)
    return tc_fail_as(TC_ERROR_ARGUMENT, "'%s' is neither a .npy file nor a number", text);
  const long long whole = strtoll(text, &whole_end, 10);
  return *whole_end || errno == ERANGE ? tc_scalar(value) : tc_scalar_int(whole);
}

static bool read_operands(const run_request *r, tc_tensor **operand) {
  for (size_t i = 0; i < r->noperand; i++)
    if (!(operand[i] = read_operand(r->operand[i]))) return complain(r->operand[i], tc_error());
  return true;
}

typedef struct narrowing {
  const tc_graph *g;
  tc_tensor **operand;
  size_t n;
} narrowing;

/* .npy has no bf16: what is f32 there is rounded where the graph takes bf16. */
static bool narrow(void *self, uint32_t number, bool scalar, uint32_t index) {
  const narrowing *w = self;
  if (scalar || number >= w->n || tc_graph_input_at(w->g, index)->type.dtype != TC_BF16)
    return true;
  if (tc_dtype_of(w->operand[number]) == TC_F32)
    w->operand[number] = tc_cast(w->operand[number], TC_BF16);
  return w->operand[number];
}

/* ---- results --------------------------------------------------------------------------------- */

/* The pattern with the number in place of its %d. */
static bool put_path(const char *pattern, uint32_t number, tc_buf *path) {
  const char *at = strstr(pattern, "%d");
  if (at) tc_putf(path, "%.*s%u%s", (int)(at - pattern), pattern, number, at + 2);
  else tc_put(path, pattern);
  return !path->failed;
}

static bool save(const run_request *r, uint32_t number, const tc_tensor *t) {
  tc_buf path = {0};
  if (tc_dtype_of(t) == TC_BF16) t = tc_cast(t, TC_F32);
  const bool ok = put_path(r->out, number, &path) && t && tc_save_npy(path.text, t);
  if (!ok) complain(path.text ? path.text : r->out, path.failed ? "out of memory" : tc_error());
  tc_buf_free(&path);
  return ok;
}

/* "result 0: f32[2,3]", "x, written: ..." */
static void print(const tc_graph *g, uint32_t i, const tc_tensor *t) {
  const uint32_t outputs = tc_graph_output_count(g);
  uint32_t input;
  if (i < outputs) printf("result %u: ", i);
  else {
    tc_graph_write_at(g, i - outputs, &input);
    printf("%s, written: ", tc_graph_input_at(g, input)->name);
  }
  tc_print(t);
}

static bool give_out(const tc_graph *g, const run_request *r, uint32_t n, tc_tensor *const *out) {
  if (r->out && n > 1 && !strstr(r->out, "%d"))
    return complain(r->out, "there are several results: say where their numbers go by %d");
  for (uint32_t i = 0; i < n; i++)
    if (!r->out) print(g, i, out[i]);
    else if (!save(r, i, out[i])) return false;
  return true;
}

/* ---- the graph ------------------------------------------------------------------------------- */

static bool run_one(tc_graph *g, const run_values *v, const run_request *r) {
  const uint32_t n = tc_graph_output_count(g) + tc_graph_write_count(g);
  tc_tensor **out = calloc(n + 1u, sizeof *out);
  bool ok = out || complain(r->path, "out of memory");
  if (ok && !run_graph(g, v, out)) ok = complain(r->path, tc_error());
  ok = ok && give_out(g, r, n, out);
  free(out);
  return ok;
}

/* Runs it if it takes the operands; *fits: does it?  If not, why. */
static bool try_graph(tc_graph *g, const run_request *r, tc_tensor *const *operand, bool *fits,
                      tc_buf *why) {
  run_values v = {0};
  tc_tensor **own = calloc(r->noperand + 1, sizeof *own);
  narrowing w = {g, own, r->noperand};
  if (own) memcpy(own, operand, r->noperand * sizeof *own);
  const bool room = own && run_each_parameter(g, narrow, &w);
  if (!room) tc_put(why, "out of memory");
  *fits = room && run_bind(g, own, r->operand, r->noperand, &v, why);
  const bool ok = *fits && run_one(g, &v, r);
  run_values_free(&v);
  free(own);
  return ok;
}

/* The first graph that takes them; what each has against them, where none does. */
static bool choose(tc_file *f, const run_request *r, tc_tensor *const *operand) {
  tc_buf all = {0};
  bool fits = false, ok = false;
  for (size_t i = 0; i < f->graph.n && !fits; i++) {
    if (r->graph && (size_t)r->graph != i + 1) continue;
    const char *sizes = f->graph.at[i].sizes;
    tc_buf why = {0};
    ok = try_graph(f->graph.at[i].graph, r, operand, &fits, &why);
    tc_putf(&all, "tc-opt: %s: graph %zu%s%s: %s\n", r->path, i + 1, *sizes ? ", for " : "", sizes,
            why.text ? why.text : "");
    tc_buf_free(&why);
  }
  if (!fits) fputs(all.text ? all.text : "tc-opt: out of memory\n", stderr);
  tc_buf_free(&all);
  return ok;
}

int run_file(tc_file *f, const run_request *r) {
  bool ok = false;
  if (r->graph < 0 || (size_t)r->graph > f->graph.n) {
    fprintf(stderr, "tc-opt: %s: there is no graph %d, but 1 to %zu\n", r->path, r->graph,
            f->graph.n);
    return 1;
  }
  tc_tensor **operand = calloc(r->noperand + 1, sizeof *operand);
  TC_SCOPE ok = operand && read_operands(r, operand) && choose(f, r, operand);
  free(operand);
  return !ok;
}
