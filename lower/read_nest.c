/* read_nest.c - nests and products from text. */
#include "lower/read.h"

#include <string.h>

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
  *x = (tc_axis){.name = lo_read_word(r), .of = -1, .total = tc_dim_const(0)};
  if (!x->name) return false;
  if (find_axis(a->axis, a->n, x->name) >= 0)
    return tc_words_fail(&r->w, "two axes are %s", x->name);
  if (!tc_words_expect(&r->w, "<") || !lo_read_dim(r, &x->extent)) return false;
  a->of[a->n++] = NULL;
  return true;
}

/* "(chunk i of N)" behind an axis */
static bool read_chunk(lo_reader *r, axes *a) {
  if (!tc_words_accept(&r->w, "(")) return true;
  if (!tc_words_expect(&r->w, "chunk") || !(a->of[a->n - 1] = lo_read_word(r))) return false;
  return tc_words_expect(&r->w, "of") && lo_read_dim(r, &a->axis[a->n - 1].total) &&
         tc_words_expect(&r->w, ")");
}

static bool find_chunks(lo_reader *r, axes *a) {
  for (int i = 0; i < a->n; i++) {
    if (!a->of[i]) continue;
    a->axis[i].of = find_axis(a->axis, a->n, a->of[i]);
    if (a->axis[i].of < 0 || a->axis[i].of == i)
      return tc_words_fail(&r->w, "there is no axis %s", a->of[i]);
  }
  return true;
}

/* Does a word of what stands behind the axes of a nest follow, or nothing? */
static bool is_behind_axes(lo_reader *r) {
  static const char *const word[] = {"lanes", "serial", "where", "work"};
  if (tc_words_end(&r->w)) return true;
  for (int i = 0; i < 4; i++) {
    tc_words next = r->w;
    if (tc_words_accept_word(&next, word[i]) && !tc_words_accept(&next, "<")) return true;
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
  const char *name = lo_read_word(r);
  if (!name) return false;
  n->vector = find_axis(n->axis, n->naxis, name);
  return n->vector >= 0 || tc_words_fail(&r->w, "there is no axis %s", name);
}

/* "where cut (N elements, M results, whole up to 4096 or from 512)" */
static bool read_when(lo_reader *r, tc_nest *n) {
  if (!tc_words_accept_word(&r->w, "where")) return true;
  n->when = tc_words_accept_word(&r->w, "cut") ? TC_WHERE_CUT : TC_WHERE_WHOLE;
  if (n->when == TC_WHERE_WHOLE && !tc_words_expect(&r->w, "whole")) return false;
  return tc_words_expect(&r->w, "(") && lo_read_dim(r, &n->elements) &&
         tc_words_expect(&r->w, "elements,") && lo_read_dim(r, &n->results) &&
         tc_words_expect(&r->w, "results, whole up to") && tc_words_int(&r->w, &n->whole) &&
         tc_words_expect(&r->w, "or from") && tc_words_int(&r->w, &n->many) &&
         tc_words_expect(&r->w, ")");
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
    if ((set & ~cut) >> i & 1)
      points = product(r, points, n->axis[i].of >= 0 ? n->axis[i].total : n->axis[i].extent);
  return points;
}

/* The stage must be what its lines said that it is. */
static bool close_stage(lo_reader *r) {
  tc_stage *s = r->stage;
  r->stage = NULL;
  if (!s) return true;
  if (!s->naction) return tc_words_fail(&r->w, "the stage in front of this line does nothing");
  if (s->if_skipped && r->nalike != s->naction)
    return tc_words_fail(&r->w, "the stage in front of this line has %u actions, and %u",
                         s->naction, r->nalike);
  if (!s->skip_if.id) return true;
  if (s->naction != 1 || s->action->kind != TC_ACT_REDUCE || s->action->index != r->known)
    return tc_words_fail(
        &r->w, "the stage in front of this line reduces to something else than #%u", r->known);
  s->points = points_of(r, r->nest, s->axes);
  return true;
}

bool lo_close_nest(lo_reader *r) {
  if (!close_stage(r)) return false;
  tc_nest *n = r->nest;
  r->nest = NULL;
  if (!n) return true;
  if (!n->nstage) return tc_words_fail(&r->w, "the nest in front of this line has no stage");
  if (r->streamed && !n->nstreamed)
    return tc_words_fail(&r->w, "no stage for rows that are not kept");
  if (tc_dim_bad(n->work)) /* an operation for each value */
    n->work = product(r, points_of(r, n, (1u << n->naxis) - 1), tc_dim_const(1 + r->nvalue));
  return true;
}

bool lo_open_nest(lo_reader *r) {
  tc_kernel *k = r->k;
  if (!lo_close_nest(r)) return false;
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

/* "from A to B" behind the vector axis */
static bool read_interval(lo_reader *r, tc_stage *s) {
  if (!tc_words_accept_word(&r->w, "from")) return true;
  s->interval = true;
  return lo_read_dim(r, &s->first) && tc_words_expect(&r->w, "to") && lo_read_dim(r, &s->end);
}

bool lo_open_stage(lo_reader *r) {
  tc_nest *n = r->nest;
  if (!close_stage(r)) return false;
  if (!n) return tc_words_fail(&r->w, "a stage of no nest");
  const uint32_t number = tc_nest_stages(n);
  if (!lo_room(r, &n->stage, number, sizeof *n->stage) || !tc_words_expect(&r->w, "{"))
    return false;
  n->stage[number] = (tc_stage){0};
  while (!tc_words_accept(&r->w, "}")) {
    const char *name = lo_read_word(r);
    if (!name) return false;
    const int axis = find_axis(n->axis, n->naxis, name);
    if (axis < n->nparallel)
      return tc_words_fail(&r->w, "the nest has no sequential axis %s", name);
    n->stage[number].axes |= 1u << axis;
    if (axis == n->vector && !read_interval(r, &n->stage[number])) return false;
  }
  r->stage = &n->stage[number];
  r->nalike = 0;
  if (r->streamed) n->nstreamed++;
  else n->nstage++;
  return true;
}

/* "or, where rows are not kept": the stages that follow; "or, where the stage of #2 was skipped":
 * the actions. */
bool lo_open_variant(lo_reader *r) {
  tc_words *w = &r->w;
  if (!r->nest) return tc_words_fail(w, "a variant of no nest");
  if (!tc_words_expect(w, ",") || !tc_words_expect(w, "where")) return false;
  if (tc_words_accept_word(w, "rows")) {
    if (r->streamed) return tc_words_fail(w, "the nest has stages for rows that are not kept");
    return close_stage(r) && (r->streamed = tc_words_expect(w, "are not kept"));
  }
  tc_stage *s = r->stage;
  if (!s || !s->naction || s->if_skipped) return tc_words_fail(w, "other actions of no stage");
  if (!tc_words_expect(w, "the stage of #") || !lo_read_count(r, INT32_MAX, "result", &s->skipped))
    return false;
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
  if (whole->n + part->n > TC_MAX_AXES)
    return tc_words_fail(&r->w, "there are %d axes at most", TC_MAX_AXES);
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

static bool read_named_dim(lo_reader *r, const char *name, tc_dim *d) {
  return tc_words_expect(&r->w, name) && lo_read_dim(r, d);
}

/* "result.0 of x  outer R  n C  inner 1  first 5  descending" */
bool lo_read_sort(lo_reader *r) {
  tc_kernel *k = r->k;
  tc_sort_loop *s = &k->sort;
  uint32_t to, from;
  if (k->nnest || k->kind != TC_KERNEL_NESTS)
    return tc_words_fail(&r->w, "a kernel is nests, a product or a sort");
  k->kind = TC_KERNEL_SORT;
  if (!lo_read_label(r, ' ', &to) || !tc_words_expect(&r->w, "of") || !lo_read_label(r, ' ', &from))
    return false;
  if (lo_argument(r, to) == UINT32_MAX || lo_argument(r, from) == UINT32_MAX) return false;
  s->dtype = r->p->buffer[from].dtype;
  const bool ok = read_named_dim(r, "outer", &s->outer) && read_named_dim(r, "n", &s->n) &&
                  read_named_dim(r, "inner", &s->inner) && read_named_dim(r, "first", &s->k);
  s->descending = ok && tc_words_accept_word(&r->w, "descending");
  return ok;
}

bool lo_open_product(lo_reader *r) {
  tc_kernel *k = r->k;
  tc_mm_loop *m = &k->mm;
  tc_axis parts[TC_MAX_AXES];
  axes whole = {.axis = m->axis}, part = {.axis = parts};
  if (!lo_close_nest(r)) return false;
  if (k->nnest || k->kind == TC_KERNEL_MATMUL)
    return tc_words_fail(&r->w, "a kernel is nests, or one product");
  k->kind = TC_KERNEL_MATMUL;
  if (!tc_words_dtype(&r->w, &m->operand)) return false;
  if (m->operand == TC_BOOL) return tc_words_fail(&r->w, "no product is of bool");
  m->acc = tc_dtype_is_half(m->operand) ? TC_F32 : m->operand;
  while (!tc_words_end(&r->w) && !tc_words_accept_word(&r->w, "inner"))
    if (!read_axis(r, &whole) || !read_parts(r, &part, whole.n - 1)) return false;
  if (!join_axes(r, m, &whole, &part)) return false;
  r->inner = !tc_words_end(&r->w);
  r->beside = false;
  if (r->inner && part.n) return tc_words_fail(&r->w, "axes of a chain have no parts");
  for (m->inner.n = r->opened = 0; !tc_words_end(&r->w); m->inner.n++) {
    if (m->inner.n == TC_MM_INNERS)
      return tc_words_fail(&r->w, "a chain has %d inner products at most", TC_MM_INNERS);
    if (!read_axis(r, &whole)) return false;
  }
  r->axis = m->axis;
  r->naxis = whole.n + part.n;
  return true;
}

/* "a %3  b %7": what they are follows. */
bool lo_read_factors(lo_reader *r) {
  tc_mm_loop *m = &r->k->mm;
  const int i = r->opened - 1;
  if (r->inner && i < 0) return tc_words_fail(&r->w, "operands of no product");
  tc_val *a = r->inner ? &m->inner.a[i] : r->beside ? &m->beside.a : &m->a;
  tc_val *b = r->inner ? &m->inner.b[i] : r->beside ? &m->beside.b : &m->b;
  if (r->k->kind != TC_KERNEL_MATMUL || a->id)
    return tc_words_fail(&r->w, "operands of no product");
  return tc_words_expect(&r->w, "%") && lo_read_count(r, (int64_t)r->length, "value", &a->id) &&
         tc_words_expect(&r->w, "b %") && lo_read_count(r, (int64_t)r->length, "value", &b->id);
}

bool lo_open_inner(lo_reader *r) {
  if (r->k->kind != TC_KERNEL_MATMUL || !r->inner || r->stage || r->opened == r->k->mm.inner.n)
    return tc_words_fail(&r->w, "an inner product of no chain");
  r->opened++;
  return true;
}

/* Have all inner products operands? */
static bool has_inner(const lo_reader *r) {
  const tc_mm_loop *m = &r->k->mm;
  return r->k->kind == TC_KERNEL_MATMUL && r->inner && m->inner.n && r->opened == m->inner.n &&
         m->inner.a[m->inner.n - 1].id;
}

bool lo_open_rows(lo_reader *r) {
  if (!has_inner(r) || r->stage) return tc_words_fail(&r->w, "rows of no inner product");
  r->stage = &r->k->mm.inner.rows;
  return true;
}

bool lo_open_finish(lo_reader *r) {
  tc_mm_inner_products *m = &r->k->mm.inner;
  if (!has_inner(r) || r->stage != &m->rows || !m->rows.naction)
    return tc_words_fail(&r->w, "there are no rows to finish");
  r->stage = &m->finish;
  return true;
}

bool lo_open_outer(lo_reader *r) {
  const tc_mm_inner_products *m = &r->k->mm.inner;
  if (!has_inner(r)) return tc_words_fail(&r->w, "no inner product in front");
  if (r->stage && !m->rows.naction) return tc_words_fail(&r->w, "rows that are not reduced");
  r->stage = NULL;
  r->inner = false;
  return true;
}

bool lo_open_beside(lo_reader *r) {
  const tc_kernel *k = r->k;
  if (k->kind != TC_KERNEL_MATMUL || !tc_mm_is_chain(&k->mm) || r->inner || r->stage || !k->mm.a.id)
    return tc_words_fail(&r->w, "a second product of no chain");
  r->beside = true;
  return true;
}

bool lo_read_room(lo_reader *r) {
  uint32_t buffer;
  if (r->k->kind != TC_KERNEL_MATMUL || r->stage) return tc_words_fail(&r->w, "room of no product");
  if (!lo_read_label(r, ' ', &buffer)) return false;
  r->k->mm.product = lo_argument(r, buffer) + 1;
  return r->k->mm.product != 0;
}

bool lo_open_epilogue(lo_reader *r) {
  if (r->k->kind != TC_KERNEL_MATMUL || r->stage)
    return tc_words_fail(&r->w, "an epilogue of no product");
  r->stage = &r->k->mm.epilogue;
  return true;
}

bool lo_open_across(lo_reader *r) {
  tc_mm_loop *m = &r->k->mm;
  if (r->k->kind != TC_KERNEL_MATMUL || !tc_mm_is_chain(m) || r->stage != &m->epilogue)
    return tc_words_fail(&r->w, "sums along m of no chain, or in front of its epilogue");
  r->stage = &m->across.epilogue;
  return tc_words_expect(&r->w, "b %") &&
         lo_read_count(r, (int64_t)r->length, "value", &m->across.b.id);
}

static bool is_defined(const tc_kernel *k, tc_val v) {
  return v.id && v.id < k->nexpr && k->expr[v.id].kind != TC_EX_NONE;
}

bool lo_close_product(lo_reader *r) {
  tc_kernel *k = r->k;
  const tc_mm_inner_products *in = &k->mm.inner;
  const bool across = tc_mm_has_across(&k->mm);
  bool defined = is_defined(k, k->mm.a) && is_defined(k, k->mm.b);
  for (int i = 0; i < in->n; i++)
    defined = defined && is_defined(k, in->a[i]) && is_defined(k, in->b[i]);
  if (r->beside)
    defined = defined && is_defined(k, k->mm.beside.a) && is_defined(k, k->mm.beside.b);
  if (across) defined = defined && is_defined(k, k->mm.across.b);
  if (!defined)
    return tc_words_fail(&r->w, "an operand of the product in front of this line is not defined");
  if (!k->mm.epilogue.naction)
    return tc_words_fail(&r->w, "the product in front of this line has no epilogue");
  uint8_t *of_product = lo_make(r, k->nexpr);
  if (!of_product) return false;
  k->mm.costly = tc_costly_epilogue(k, of_product);
  return true;
}
