/* read.c - the loop IR from text (tc_program_read): a line at a time, each of which opens something or belongs to
 * what is open. */
#include "lower/read.h"

#include <string.h>

/* ---- what all parts need --------------------------------------------------------------------- */

void *lo_make(lo_reader *r, size_t bytes) {
  void *made = tc_arena_alloc(r->p->arena, bytes + 1);
  if (!made) tc_words_fail(&r->w, "out of memory");
  return made;
}

/* Lists double where they hold a power of two. */
bool lo_room(lo_reader *r, void *items, uint32_t n, size_t size) {
  void *old;
  if (n & (n - 1)) return true;
  void *grown = lo_make(r, (n ? 2 * (size_t)n : 1) * size);
  if (!grown) return false;
  memcpy(&old, items, sizeof old);
  if (n) memcpy(grown, old, n * size);
  memcpy(items, &grown, sizeof grown);
  return true;
}

bool lo_read_count(lo_reader *r, int64_t end, const char *what, uint32_t *out) {
  int64_t v;
  tc_words_skip(&r->w);
  const char *const start = r->w.at;
  if (*start < '0' || *start > '9' || !tc_words_int(&r->w, &v))
    return tc_words_fail(&r->w, "expected a %s before \"%.20s\"", what, start);
  if (v >= end) return tc_words_fail(&r->w, "there is no %s %lld", what, (long long)v);
  *out = (uint32_t)v;
  return true;
}

bool lo_read_dim(lo_reader *r, tc_dim *d) {
  if (!tc_words_dim(&r->w, r->dims, d)) return false;
  if (r->open || tc_dims_sym_count(r->dims) == r->nsym) return true;
  return tc_words_fail(&r->w, "no input has the size %s", tc_dims_sym(r->dims, r->nsym)->name);
}

bool lo_read_label(lo_reader *r, char end, uint32_t *buffer) {
  size_t longest = 0;
  tc_words_skip(&r->w);
  for (uint32_t i = 0; i < r->p->nbuffer; i++) {
    const size_t n = strlen(r->label[i]);
    if (n <= longest || strncmp(r->w.at, r->label[i], n) != 0) continue;
    if (r->w.at[n] != end && (end != ' ' || r->w.at[n])) continue;
    longest = n;
    *buffer = i;
  }
  if (!longest) return tc_words_fail(&r->w, "expected a buffer before \"%.20s\"", r->w.at);
  r->w.at += longest;
  return true;
}

static const char *read_word(lo_reader *r) {
  const char *start;
  const size_t n = tc_words_next(&r->w, &start);
  if (!n) {
    tc_words_fail(&r->w, "expected a name before \"%.20s\"", r->w.at);
    return NULL;
  }
  char *own = lo_make(r, n + 1);
  if (own) memcpy(own, start, n);
  return own;
}

/* ---- axes ------------------------------------------------------------------------------------ */

static int find_axis(const tc_axis *axis, int n, const char *name) {
  for (int i = 0; i < n; i++)
    if (!strcmp(axis[i].name, name)) return i;
  return -1;
}

/* An axis, as long as the text names it: chunks may be those of a later one. */
typedef struct axes {
  tc_axis *axis;
  int n;
  const char *of[TC_MAX_AXES];
} axes;

/* NAME < EXTENT */
static bool read_axis(lo_reader *r, axes *a) {
  if (a->n == TC_MAX_AXES) return tc_words_fail(&r->w, "there are %d axes at most", TC_MAX_AXES);
  tc_axis *x = &a->axis[a->n];
  *x = (tc_axis){.name = read_word(r), .of = -1, .total = tc_dim_const(0)};
  if (!x->name) return false;
  if (find_axis(a->axis, a->n, x->name) >= 0) return tc_words_fail(&r->w, "two axes are %s", x->name);
  if (!tc_words_expect(&r->w, "<") || !lo_read_dim(r, &x->extent)) return false;
  a->of[a->n++] = NULL;
  return true;
}

/* "(chunk i of N)" behind an axis */
static bool read_chunk(lo_reader *r, axes *a) {
  if (!tc_words_accept(&r->w, "(")) return true;
  if (!tc_words_expect(&r->w, "chunk") || !(a->of[a->n - 1] = read_word(r))) return false;
  return tc_words_expect(&r->w, "of") && lo_read_dim(r, &a->axis[a->n - 1].total) && tc_words_expect(&r->w, ")");
}

static bool find_chunks(lo_reader *r, axes *a) {
  for (int i = 0; i < a->n; i++) {
    if (!a->of[i]) continue;
    a->axis[i].of = find_axis(a->axis, a->n, a->of[i]);
    if (a->axis[i].of < 0 || a->axis[i].of == i) return tc_words_fail(&r->w, "there is no axis %s", a->of[i]);
  }
  return true;
}

/* Does a word of what stands behind the axes of a nest follow, or nothing? */
static bool is_behind_axes(lo_reader *r) {
  static const char *const word[] = {"lanes", "serial", "where", "work"};
  if (tc_words_end(&r->w)) return true;
  for (int i = 0; i < 4; i++) {
    tc_words ahead = r->w;
    if (tc_words_accept_word(&ahead, word[i]) && !tc_words_accept(&ahead, "<")) return true;
  }
  return false;
}

/* ---- nests ----------------------------------------------------------------------------------- */

static bool read_axes(lo_reader *r, tc_nest *n) {
  axes a = {.axis = n->axis};
  n->nparallel = -1;
  while (!is_behind_axes(r)) {
    if (tc_words_accept(&r->w, "|")) {
      if (n->nparallel >= 0) return tc_words_fail(&r->w, "a second '|'");
      n->nparallel = a.n;
    }
    if (!read_axis(r, &a) || !read_chunk(r, &a)) return false;
  }
  n->naxis = a.n;
  if (n->nparallel < 0) n->nparallel = a.n;
  return find_chunks(r, &a);
}

static bool read_lanes(lo_reader *r, tc_nest *n) {
  if (!tc_words_accept_word(&r->w, "lanes")) return true;
  const char *name = read_word(r);
  if (!name) return false;
  n->vector = find_axis(n->axis, n->naxis, name);
  return n->vector >= 0 || tc_words_fail(&r->w, "there is no axis %s", name);
}

/* "where cut (N elements, M results, whole up to 4096)" */
static bool read_when(lo_reader *r, tc_nest *n) {
  if (!tc_words_accept_word(&r->w, "where")) return true;
  n->when = tc_words_accept_word(&r->w, "cut") ? TC_WHERE_CUT : TC_WHERE_WHOLE;
  if (n->when == TC_WHERE_WHOLE && !tc_words_expect(&r->w, "whole")) return false;
  return tc_words_expect(&r->w, "(") && lo_read_dim(r, &n->elements) && tc_words_expect(&r->w, "elements,") &&
         lo_read_dim(r, &n->results) && tc_words_expect(&r->w, "results, whole up to") &&
         tc_words_int(&r->w, &n->whole) && tc_words_expect(&r->w, ")");
}

static tc_dim product(lo_reader *r, tc_dim a, tc_dim b) {
  const tc_dim d = tc_dim_mul(r->dims, a, b);
  return tc_dim_bad(d) ? a : d;
}

/* Points of the axes in the set; a cut axis counts as a whole. */
static tc_dim points_of(lo_reader *r, const tc_nest *n, uint32_t set) {
  tc_dim points = tc_dim_const(1);
  uint32_t cut = 0;
  for (int i = 0; i < n->naxis; i++)
    if (set >> i & 1 && n->axis[i].of >= 0) cut |= 1u << n->axis[i].of;
  for (int i = 0; i < n->naxis; i++)
    if ((set & ~cut) >> i & 1) points = product(r, points, n->axis[i].of >= 0 ? n->axis[i].total : n->axis[i].extent);
  return points;
}

/* The stage must be what its lines said that it is. */
static bool close_stage(lo_reader *r) {
  tc_stage *s = r->stage;
  r->stage = NULL;
  if (!s) return true;
  if (!s->naction) return tc_words_fail(&r->w, "the stage in front of this line does nothing");
  if (s->if_skipped && r->nalike != s->naction)
    return tc_words_fail(&r->w, "the stage in front of this line has %u actions, and %u", s->naction, r->nalike);
  if (!s->skip_if.id) return true;
  if (s->naction != 1 || s->action->kind != TC_ACT_REDUCE || s->action->index != (uint32_t)r->known)
    return tc_words_fail(&r->w, "the stage in front of this line reduces to something else than #%lld", (long long)r->known);
  s->points = points_of(r, r->nest, s->axes);
  return true;
}

static bool close_nest(lo_reader *r) {
  if (!close_stage(r)) return false;
  tc_nest *n = r->nest;
  r->nest = NULL;
  if (!n) return true;
  if (!n->nstage) return tc_words_fail(&r->w, "the nest in front of this line has no stage");
  if (r->streamed && !n->nstreamed) return tc_words_fail(&r->w, "no stage for rows that are not kept");
  if (tc_dim_bad(n->work)) /* an operation for each value */
    n->work = product(r, points_of(r, n, (1u << n->naxis) - 1), tc_dim_const(1 + r->nvalue));
  return true;
}

static bool open_nest(lo_reader *r) {
  tc_kernel *k = r->k;
  if (!close_nest(r)) return false;
  if (k->kind == TC_KERNEL_MATMUL) return tc_words_fail(&r->w, "a product has no nests beside it");
  if (!lo_room(r, &k->nest, k->nnest, sizeof *k->nest)) return false;
  tc_nest *n = r->nest = &k->nest[k->nnest++];
  *n = (tc_nest){.vector = -1, .work = TC_DIM_INVALID};
  r->streamed = false;
  r->nvalue = 0;
  if (!read_axes(r, n) || !read_lanes(r, n)) return false;
  n->serial = tc_words_accept_word(&r->w, "serial");
  r->axis = n->axis;
  r->naxis = n->naxis;
  return read_when(r, n) && (!tc_words_accept_word(&r->w, "work") || lo_read_dim(r, &n->work));
}

static bool open_stage(lo_reader *r) {
  tc_nest *n = r->nest;
  if (!close_stage(r)) return false;
  if (!n) return tc_words_fail(&r->w, "a stage of no nest");
  const uint32_t number = tc_nest_stages(n);
  if (!lo_room(r, &n->stage, number, sizeof *n->stage) || !tc_words_expect(&r->w, "{")) return false;
  n->stage[number] = (tc_stage){0};
  while (!tc_words_accept(&r->w, "}")) {
    const char *name = read_word(r);
    if (!name) return false;
    const int axis = find_axis(n->axis, n->naxis, name);
    if (axis < n->nparallel) return tc_words_fail(&r->w, "the nest has no sequential axis %s", name);
    n->stage[number].axes |= 1u << axis;
  }
  r->stage = &n->stage[number];
  r->nalike = 0;
  if (r->streamed) n->nstreamed++;
  else n->nstage++;
  return true;
}

/* "or, where rows are not kept": the stages that follow; "or, where the stage of #2 was skipped": the actions. */
static bool open_other_way(lo_reader *r) {
  tc_words *w = &r->w;
  if (!r->nest) return tc_words_fail(w, "another way of no nest");
  if (!tc_words_expect(w, ",") || !tc_words_expect(w, "where")) return false;
  if (tc_words_accept_word(w, "rows")) {
    if (r->streamed) return tc_words_fail(w, "the nest has stages for rows that are not kept");
    return close_stage(r) && (r->streamed = tc_words_expect(w, "are not kept"));
  }
  tc_stage *s = r->stage;
  if (!s || !s->naction || s->if_skipped) return tc_words_fail(w, "other actions of no stage");
  if (!tc_words_expect(w, "the stage of #") || !lo_read_count(r, INT32_MAX, "result", &s->skipped)) return false;
  s->if_skipped = lo_make(r, s->naction * sizeof *s->if_skipped);
  return s->if_skipped && tc_words_expect(w, "was skipped");
}

/* ---- products -------------------------------------------------------------------------------- */

/* An axis of a product whose parts follow: "(c < C, r < 3)". */
static bool read_parts(lo_reader *r, axes *part, int whole) {
  if (!tc_words_accept(&r->w, "(")) return true;
  do {
    if (!read_axis(r, part)) return false;
    part->axis[part->n - 1].of = whole;
  } while (tc_words_accept(&r->w, ","));
  return tc_words_expect(&r->w, ")");
}

/* Batch axes, m, n, k, and behind them the parts of all. */
static bool join_axes(lo_reader *r, tc_mm_loop *m, const axes *whole, const axes *part) {
  if (whole->n < 3) return tc_words_fail(&r->w, "a product has axes m, n and k");
  if (whole->n + part->n > TC_MAX_AXES) return tc_words_fail(&r->w, "there are %d axes at most", TC_MAX_AXES);
  m->nbatch = whole->n - 3;
  m->npart = part->n;
  for (int i = 0; i < part->n; i++) {
    m->axis[whole->n + i] = part->axis[i];
    if (part->axis[i].of < m->nbatch) return tc_words_fail(&r->w, "a batch axis has no parts");
    if (find_axis(m->axis, whole->n, part->axis[i].name) >= 0)
      return tc_words_fail(&r->w, "two axes are %s", part->axis[i].name);
  }
  return true;
}

static bool open_matmul(lo_reader *r) {
  tc_kernel *k = r->k;
  tc_mm_loop *m = &k->mm;
  tc_axis parts[TC_MAX_AXES];
  axes whole = {.axis = m->axis}, part = {.axis = parts};
  if (!close_nest(r)) return false;
  if (k->nnest || k->kind == TC_KERNEL_MATMUL) return tc_words_fail(&r->w, "a kernel is nests, or one product");
  k->kind = TC_KERNEL_MATMUL;
  if (!tc_words_dtype(&r->w, &m->operand)) return false;
  if (m->operand == TC_BOOL) return tc_words_fail(&r->w, "no product is of bool");
  m->acc = m->operand == TC_F16 || m->operand == TC_BF16 ? TC_F32 : m->operand;
  while (!tc_words_end(&r->w))
    if (!read_axis(r, &whole) || !read_parts(r, &part, whole.n - 1)) return false;
  if (!join_axes(r, m, &whole, &part)) return false;
  r->axis = m->axis;
  r->naxis = tc_mm_axes(m);
  return true;
}

/* "a %3  b %7": what they are follows. */
static bool read_factors(lo_reader *r) {
  tc_mm_loop *m = &r->k->mm;
  if (r->k->kind != TC_KERNEL_MATMUL || m->a.id) return tc_words_fail(&r->w, "operands of no product");
  return tc_words_expect(&r->w, "%") && lo_read_count(r, (int64_t)r->length, "value", &m->a.id) &&
         tc_words_expect(&r->w, "b %") && lo_read_count(r, (int64_t)r->length, "value", &m->b.id);
}

static bool read_room(lo_reader *r) {
  uint32_t buffer;
  if (r->k->kind != TC_KERNEL_MATMUL || r->stage) return tc_words_fail(&r->w, "room of no product");
  if (!lo_read_label(r, ' ', &buffer)) return false;
  r->k->mm.product = lo_argument(r, buffer) + 1;
  return r->k->mm.product != 0;
}

static bool open_epilogue(lo_reader *r) {
  if (r->k->kind != TC_KERNEL_MATMUL || r->stage) return tc_words_fail(&r->w, "an epilogue of no product");
  r->stage = &r->k->mm.epilogue;
  return true;
}

static bool is_defined(const tc_kernel *k, tc_val v) {
  return v.id && v.id < k->nexpr && k->expr[v.id].kind != TC_EX_NONE;
}

static bool close_matmul(lo_reader *r) {
  tc_kernel *k = r->k;
  if (!is_defined(k, k->mm.a) || !is_defined(k, k->mm.b))
    return tc_words_fail(&r->w, "an operand of the product in front of this line is not defined");
  if (!k->mm.epilogue.naction) return tc_words_fail(&r->w, "the product in front of this line has no epilogue");
  uint8_t *of_product = lo_make(r, k->nexpr);
  if (!of_product) return false;
  k->mm.costly = tc_costly_epilogue(k, of_product);
  return true;
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* Values that nothing takes are zeros; arguments begin where their lines say. */
static bool finish_kernel(lo_reader *r) {
  tc_kernel *k = r->k;
  for (uint32_t i = 1; i < k->nexpr; i++)
    if (k->expr[i].kind == TC_EX_NONE) k->expr[i] = (tc_expr){.kind = TC_EX_CONST, .dtype = TC_I64};
  k->base = lo_make(r, k->nbuffer * sizeof *k->base);
  for (uint32_t i = 0; k->base && i < k->nbuffer; i++) k->base[i] = r->base[k->buffer[i]];
  return k->base != NULL;
}

static bool close_kernel(lo_reader *r) {
  tc_kernel *k = r->k;
  if (!k) return true;
  if (!close_nest(r)) return false;
  if (k->kind == TC_KERNEL_NESTS && !k->nnest) return tc_words_fail(&r->w, "the kernel in front of this line has no nest");
  if (k->kind == TC_KERNEL_MATMUL && !close_matmul(r)) return false;
  return finish_kernel(r);
}

static bool open_kernel(lo_reader *r) {
  tc_program *p = r->p;
  if (!lo_close_head(r) || !close_kernel(r)) return false;
  if (!lo_room(r, &p->kernel, p->nkernel, sizeof *p->kernel)) return false;
  tc_kernel *k = r->k = &p->kernel[p->nkernel++];
  *k = (tc_kernel){.name = read_word(r), .flops = tc_dim_const(0), .bytes = tc_dim_const(0), .nexpr = 1};
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
  return lo_read_label(r, ' ', &buffer) && tc_words_expect(&r->w, "from element") && lo_read_dim(r, &r->base[buffer]);
}

/* "own0 is N" */
static bool read_own_size(lo_reader *r) {
  tc_kernel *k = r->k;
  tc_own_size s;
  const char *name = read_word(r);
  if (!name || !tc_dim_find_sym(r->dims, name, &s.sym) || tc_dims_sym(r->dims, s.sym)->input != TC_SYM_OWN)
    return tc_words_fail(&r->w, "kernels have no size %s of their own", name ? name : "");
  if (!tc_words_expect(&r->w, "is") || !lo_read_dim(r, &s.value)) return false;
  if (!lo_room(r, &k->size, k->nsize, sizeof *k->size)) return false;
  k->size[k->nsize++] = s;
  return true;
}

/* "  NAME from element .." and "  NAME is ..", which may be any name. */
static bool is_base(const lo_reader *r) { return !strstr(r->w.at, " = ") && strstr(r->w.at, " from element "); }

static bool is_own_size(const lo_reader *r) {
  tc_words ahead = r->w;
  const char *name;
  return tc_words_next(&ahead, &name) && tc_words_accept_word(&ahead, "is");
}

/* In front of its nests. */
static bool read_kernel_line(lo_reader *r) {
  tc_words *w = &r->w;
  if (is_base(r)) return read_base(r);
  if (is_own_size(r)) return read_own_size(r);
  if (tc_words_accept_word(w, "the")) return read_sibling(r, false);
  if (tc_words_accept_word(w, "in")) return read_sibling(r, true);
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
  if (tc_words_accept_word(w, "nest")) return open_nest(r);
  if (tc_words_accept_word(w, "stage")) return open_stage(r);
  if (tc_words_accept_word(w, "or")) return open_other_way(r);
  if (tc_words_accept_word(w, "matmul")) return open_matmul(r);
  if (tc_words_accept_word(w, "a")) return read_factors(r);
  if (tc_words_accept_word(w, "product")) return read_room(r);
  if (tc_words_accept_word(w, "epilogue")) return open_epilogue(r);
  return read_action(r);
}

static bool is_inside(const lo_reader *r) { return r->nest || r->k->kind == TC_KERNEL_MATMUL; }

static bool begins_inside(const lo_reader *r) {
  tc_words ahead = r->w;
  return !is_base(r) && !is_own_size(r) &&
         (tc_words_accept_word(&ahead, "nest") || tc_words_accept_word(&ahead, "matmul"));
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
  return tc_words_fail(&r->w, "%lld kernels are announced, and %u there", (long long)r->kernels, r->p->nkernel);
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
      ok = read_line(r) && (tc_words_end(&r->w) || tc_words_fail(&r->w, "unexpected \"%.20s\"", r->w.at));
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
  if (!ok) tc_report(diag, TC_ERROR, (tc_loc){.line = r.line, .col = 1}, "line %u: %s", r.line, r.w.error);
  if (ok && verify(&r)) return r.p;
  tc_graph *g = r.p ? r.p->graph : NULL;
  tc_program_free(r.p);
  tc_graph_free(g);
  return NULL;
}
