/* read.c - the loop IR from text (tc_program_read): a line at a time, each of which opens something
 * or belongs to what is open. */
#include "lower/read.h"

#include <string.h>

/* ---- kernels --------------------------------------------------------------------------------- */

/* Values that nothing takes are zeros; arguments begin where their lines say. */
static bool finish_kernel(lo_reader *r) {
  tc_kernel *k = r->k;
  for (uint32_t i = 0; i < r->p->nbuffer; i++)
    if (!tc_dim_is(r->base[i], 0) && lo_argument(r, i) == UINT32_MAX) return false;
  for (uint32_t i = 1; i < k->nexpr; i++)
    if (k->expr[i].kind == TC_EX_NONE) k->expr[i] = (tc_expr){.kind = TC_EX_CONST, .dtype = TC_I64};
  k->base = lo_make(r, k->nbuffer * sizeof *k->base);
  for (uint32_t i = 0; k->base && i < k->nbuffer; i++) k->base[i] = r->base[k->buffer[i]];
  return k->base != NULL;
}

static bool close_kernel(lo_reader *r) {
  tc_kernel *k = r->k;
  if (!k) return true;
  if (!lo_close_nest(r)) return false;
  if (k->kind == TC_KERNEL_NESTS && !k->nnest)
    return tc_words_fail(&r->w, "the kernel in front of this line has no nest");
  if (k->kind == TC_KERNEL_MATMUL && !lo_close_product(r)) return false;
  return finish_kernel(r);
}

static bool open_kernel(lo_reader *r) {
  tc_program *p = r->p;
  if (!lo_close_head(r) || !close_kernel(r)) return false;
  if (!lo_room(r, &p->kernel, p->nkernel, sizeof *p->kernel)) return false;
  tc_kernel *k = r->k = &p->kernel[p->nkernel++];
  *k = (tc_kernel){
      .name = lo_read_word(r), .flops = tc_dim_const(0), .bytes = tc_dim_const(0), .nexpr = 1};
  k->loc = (tc_loc){.line = r->line, .col = 1};
  k->expr = lo_make(r, sizeof *k->expr);
  for (uint32_t i = 0; i < p->nbuffer; i++) r->argument[i] = 0, r->base[i] = tc_dim_const(0);
  if (!k->name || !k->expr) return false;
  if (tc_words_accept_word(&r->w, "flops") && !lo_read_dim(r, &k->flops)) return false;
  return !tc_words_accept_word(&r->w, "bytes") || lo_read_dim(r, &k->bytes);
}

/* "the first of a launch", "in the launch in front" */
static bool read_sibling(lo_reader *r, bool joins) {
  if (!tc_words_expect(&r->w, joins ? "the launch in front" : "first of a launch")) return false;
  if (joins && r->p->nkernel == 1) return tc_words_fail(&r->w, "no launch is in front");
  r->k->sibling = true;
  r->k->joins = joins;
  return true;
}

/* "x from element 4" */
static bool read_base(lo_reader *r) {
  uint32_t buffer;
  return lo_read_label(r, ' ', &buffer) && tc_words_expect(&r->w, "from element") &&
         lo_read_dim(r, &r->base[buffer]);
}

/* "own0 is N" */
static bool read_own_size(lo_reader *r) {
  tc_kernel *k = r->k;
  tc_own_size s;
  const char *name = lo_read_word(r);
  if (!name || !tc_dim_find_sym(r->dims, name, &s.sym) ||
      tc_dims_sym(r->dims, s.sym)->input != TC_SYM_OWN)
    return tc_words_fail(&r->w, "kernels have no size %s of their own", name ? name : "");
  if (!tc_words_expect(&r->w, "is") || !lo_read_dim(r, &s.value)) return false;
  if (!lo_room(r, &k->size, k->nsize, sizeof *k->size)) return false;
  k->size[k->nsize++] = s;
  return true;
}

/* "for plane < N*C" */
static bool read_outer_loop(lo_reader *r) {
  tc_outer_loop *o = &r->k->outer;
  const char *name = lo_read_word(r);
  if (!name || !tc_dim_find_sym(r->dims, name, &o->sym) ||
      tc_dims_sym(r->dims, o->sym)->input != TC_SYM_OWN)
    return tc_words_fail(&r->w, "kernels have no size %s of their own", name ? name : "");
  o->fused = true;
  return tc_words_expect(&r->w, "<") && lo_read_dim(r, &o->extent);
}

/* "  NAME from element .." and "  NAME is ..", which may be any name. */
static bool is_base(const lo_reader *r) {
  return !strstr(r->w.at, " = ") && strstr(r->w.at, " from element ");
}

static bool is_own_size(const lo_reader *r) {
  tc_words next = r->w;
  const char *name;
  return tc_words_next(&next, &name) && tc_words_accept_word(&next, "is");
}

/* In front of its nests. */
static bool read_kernel_line(lo_reader *r) {
  tc_words *w = &r->w;
  if (is_base(r)) return read_base(r);
  if (is_own_size(r)) return read_own_size(r);
  if (tc_words_accept_word(w, "for")) return read_outer_loop(r);
  if (tc_words_accept_word(w, "the")) return read_sibling(r, false);
  if (tc_words_accept_word(w, "in")) return read_sibling(r, true);
  if (tc_words_accept_word(w, "sort")) return lo_read_sort(r);
  if (tc_words_accept_word(w, "calls")) return tc_words_fail(w, "calls of functions are not read");
  return tc_words_fail(w, "unexpected \"%.20s\"", w->at);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static bool read_action(lo_reader *r) {
  tc_words *w = &r->w;
  if (!r->stage) return tc_words_fail(w, "an action of no stage");
  if (tc_words_accept(w, "#")) return lo_read_result(r);
  if (tc_words_accept_word(w, "store")) return lo_read_store(r, TC_ACT_STORE);
  return tc_words_expect(w, "add") && lo_read_store(r, TC_ACT_ADD);
}

/* Of a nest or a product. */
static bool read_inner_line(lo_reader *r) {
  tc_words *w = &r->w;
  if (tc_words_accept(w, "%")) return lo_read_value(r);
  if (tc_words_accept_word(w, "nest")) return lo_open_nest(r);
  if (tc_words_accept_word(w, "stage")) return lo_open_stage(r);
  if (tc_words_accept_word(w, "or")) return lo_open_variant(r);
  if (tc_words_accept_word(w, "matmul")) return lo_open_product(r);
  if (tc_words_accept_word(w, "a")) return lo_read_factors(r);
  if (tc_words_accept_word(w, "inner")) return lo_open_inner(r);
  if (tc_words_accept_word(w, "rows")) return lo_open_rows(r);
  if (tc_words_accept_word(w, "finish")) return lo_open_finish(r);
  if (tc_words_accept_word(w, "outer")) return lo_open_outer(r);
  if (tc_words_accept_word(w, "beside")) return lo_open_beside(r);
  if (tc_words_accept_word(w, "across")) return lo_open_across(r);
  if (tc_words_accept_word(w, "product")) return lo_read_room(r);
  if (tc_words_accept_word(w, "epilogue")) return lo_open_epilogue(r);
  return read_action(r);
}

static bool is_inside(const lo_reader *r) { return r->nest || r->k->kind == TC_KERNEL_MATMUL; }

static bool begins_inside(const lo_reader *r) {
  tc_words next = r->w;
  return !is_base(r) && !is_own_size(r) &&
         (tc_words_accept_word(&next, "nest") || tc_words_accept_word(&next, "matmul"));
}

static bool read_line(lo_reader *r) {
  tc_words *w = &r->w;
  if (tc_words_accept_word(w, "program")) return lo_read_program(r);
  if (!r->p) return tc_words_fail(w, "expected 'program' before \"%.20s\"", w->at);
  if (r->open && lo_read_head_line(r)) return true;
  if (w->error[0]) return false;
  if (tc_words_accept_word(w, "kernel")) return open_kernel(r);
  if (!r->k) return tc_words_fail(w, "expected 'kernel' before \"%.20s\"", w->at);
  return is_inside(r) || begins_inside(r) ? read_inner_line(r) : read_kernel_line(r);
}

static bool read_end(lo_reader *r) {
  if (!r->p) return tc_words_fail(&r->w, "no program");
  if (!lo_close_head(r) || !close_kernel(r)) return false;
  if (r->kernels < 0 || r->kernels == r->p->nkernel) return true;
  return tc_words_fail(&r->w, "%lld kernels are announced, and %u there", (long long)r->kernels,
                       r->p->nkernel);
}

static bool read_lines(lo_reader *r, const char *text) {
  tc_buf line = {0};
  bool ok = true;
  while (*text && ok) {
    const size_t n = strcspn(text, "\n");
    r->line++;
    tc_buf_clear(&line);
    tc_putn(&line, text, tc_words_meaning(text, n));
    text += n + (text[n] == '\n');
    r->w.at = line.text;
    ok = !line.failed || tc_words_fail(&r->w, "out of memory");
    if (ok && !tc_words_end(&r->w))
      ok = read_line(r) &&
           (tc_words_end(&r->w) || tc_words_fail(&r->w, "unexpected \"%.20s\"", r->w.at));
  }
  r->w.at = "";
  ok = ok && read_end(r);
  tc_buf_free(&line);
  return ok;
}

static bool verify(lo_reader *r) {
  char message[256] = "";
  if (tc_program_verify(r->p, message, sizeof message)) return true;
  tc_report(r->diag, TC_ERROR, (tc_loc){0}, "%s", message);
  return false;
}

tc_program *tc_program_read(const char *text, tc_diag *diag) {
  lo_reader r = {.diag = diag, .length = strlen(text)};
  bool ok = read_lines(&r, text);
  if (!ok)
    tc_report(diag, TC_ERROR, (tc_loc){.line = r.line, .col = 1}, "line %u: %s", r.line, r.w.error);
  if (ok && verify(&r)) return r.p;
  tc_graph *g = r.p ? r.p->graph : NULL;
  tc_program_free(r.p);
  tc_graph_free(g);
  return NULL;
}
