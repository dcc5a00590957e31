/* function.c - functions of tensors, which the program hands over: value and gradients; parts of a
 * tape that are computed again; all examples of a batch.
 *
 * A tape is a graph whose nodes can be computed: a value without memory is, when gradients need it
 * (eval.c). */
#include "runtime/libtcrt/src/autograd/tape.h"

#include <stdlib.h>
#include <string.h>

static bool check(const char *name, bool f, int n, const tc_tensor *const *x) {
  if (!f) return tc_fail("%s: f is NULL", name);
  if (n < 0 || (n > 0 && !x))
    return tc_fail("%s: a list of %d tensors%s", name, n, n < 0 ? "" : " that is NULL");
  for (int k = 0; k < n; k++)
    if (!tc_given(name, k + 1, x[k])) return false;
  return true;
}

static tc_tensor *call(const char *name, tc_function *f, void *context, tc_tensor *const *x) {
  tc_tensor *y = f(x, context);
  if (!y && !tc_error()) tc_fail("%s: f returned NULL", name);
  return y;
}

/* ---- value and gradients --------------------------------------------------------------------- */

static tc_tensor *value_and_grad(tc_function *f, void *context, int n, const tc_tensor *const *x,
                                 tc_tensor **leaf, tc_tensor **out) {
  for (int k = 0; k < n; k++)
    if (!(leaf[k] = tc_requires_grad_(tc_detach(x[k]), true))) return NULL;
  const tc_tensor *y = call("tc_value_and_grad", f, context, leaf);
  const tc_tensor_list list = {.written = leaf};
  if (!y || !tc_grad_named("tc_value_and_grad", y, n, list.at, out)) return NULL;
  for (int k = 0; k < n; k++) tc_keep(out[k]);
  return tc_keep(tc_detach(y));
}

tc_tensor *tc_value_and_grad(tc_function *f, void *context, int n, tc_tensor_list x,
                             tc_tensor **out) {
  tc_tensor *y = NULL, **leaf = calloc((size_t)(n > 0 ? n : 0) + 1, sizeof *leaf);
  const bool before = tc_set_grad_enabled(true);
  for (int k = 0; out && k < n; k++) out[k] = NULL;
  if (!leaf) tc_tape_no_memory();
  else if (check("tc_value_and_grad", f != NULL, n, x.at))
    TC_SCOPE y = value_and_grad(f, context, n, x.at, leaf, out);
  tc_set_grad_enabled(before);
  free(leaf);
  return y;
}

/* ---- computed again -------------------------------------------------------------------------- */

typedef struct part {
  TC_VEC(tape_op *) op; /* to be looked at, the list is its own queue */
  int n;
  const tc_tensor *const *x;
} part;

static bool is_given(const part *p, const tape_value *v) {
  for (int k = 0; k < p->n; k++)
    if (p->x[k]->autograd == v) return true;
  return false;
}

/* May the memory of v, which op reads, go?  Not that of tensors of the program, of what is read
 * after it was written, and of what is read on another device or where it comes from one. */
static bool may_go(const tape_op *op, tape_use use) {
  const tape_value *v = use.value;
  const tape_op *maker = v->maker;
  return v->at.storage && !v->retain && use.version == v->version && !maker->move && !op->move &&
         maker->level == op->level && maker->device == op->device &&
         tc_tape_headers(v->at.storage) == 0;
}

static bool visit(part *p, tape_op *op) {
  for (int i = 0; i < op->nin; i++) {
    tape_value *v = op->in[i].value;
    if (!v || !v->maker || is_given(p, v)) continue;
    v->again |= may_go(op, op->in[i]);
    if (v->again) tc_tape_drop_memory(v);
    if (v->maker->seen) continue;
    v->maker->seen = true;
    if (!tc_push(&p->op, v->maker)) return tc_tape_no_memory();
  }
  return true;
}

/* What leads from x to y. */
static bool drop(part *p, const tc_tensor *y) {
  tape_op *last = tc_tape_link(y)->maker;
  bool ok = !last || tc_push(&p->op, last);
  for (size_t k = 0; k < p->op.n && ok; k++) ok = visit(p, p->op.at[k]);
  for (size_t k = 0; k < p->op.n; k++) p->op.at[k]->seen = false;
  free(p->op.at);
  return ok;
}

tc_tensor *tc_checkpoint(tc_function *f, void *context, int n, tc_tensor_list x) {
  tc_tensor *y = NULL;
  if (!check("tc_checkpoint", f != NULL, n, x.at)) return NULL;
  TC_SCOPE y = tc_keep(call("tc_checkpoint", f, context, x.written));
  part p = {.n = n, .x = x.at};
  if (!y || !y->autograd || drop(&p, y)) return y;
  tc_free(y);
  return NULL;
}

/* ---- all examples of a batch ----------------------------------------------------------------- */

typedef struct batch {
  tc_example_function *f;
  void *context;
  int n, m;
  const tc_tensor *const *x;
  const int *axes; /* NULL: 0 */
  int64_t size;
  tc_tensor **one;  /* [n] operands of an example */
  tc_tensor **y;    /* [m] its results */
  tc_tensor **part; /* [m][size] [1, shape] */
} batch;

static int axis_of(const batch *b, int k) { return b->axes ? b->axes[k] : 0; }

static bool batch_size(batch *b) {
  b->size = -1;
  for (int k = 0; k < b->n; k++) {
    const tc_tensor *x = b->x[k];
    const int axis = axis_of(b, k),
              at = axis == TC_UNMAPPED ? 0 : tc_check_axis("tc_vmap", x, axis);
    if (at < 0) return false;
    if (axis == TC_UNMAPPED) continue;
    if (b->size >= 0 && x->dim[at] != b->size)
      return tc_fail("tc_vmap: operand %d, %s, has %lld examples, others have %lld", k + 1,
                     tc_describe(x).text, (long long)x->dim[at], (long long)b->size);
    b->size = x->dim[at];
  }
  if (b->size > 0) return true;
  return tc_fail(b->size ? "tc_vmap: no operand is mapped"
                         : "tc_vmap: a batch of 0 examples, whose results have no known shape");
}

/* A copy of result j of example i, which f may write again, or own. */
static bool take(const batch *b, int j, int64_t i) {
  if (!b->y[j]) return tc_error() ? false : tc_fail("tc_vmap: f gave no result %d", j + 1);
  tc_tensor *first = b->part[j * b->size], *t = tc_stack((const tc_tensor *const *)&b->y[j], 1, 0);
  b->part[j * b->size + i] = tc_keep(t);
  const bool same =
      t && (!i || (t->key.dtype == first->key.dtype && t->key.rank == first->key.rank &&
                   !memcmp(t->dim, first->dim, sizeof t->dim)));
  return same || !t ||
         tc_fail("tc_vmap: result %d of example %lld is not like that of example 0: %s", j + 1,
                 (long long)i, tc_describe(b->y[j]).text);
}

static bool example(const batch *b, int64_t i) {
  bool ok = true;
  TC_SCOPE {
    for (int k = 0; k < b->n && ok; k++) {
      const int axis = axis_of(b, k);
      b->one[k] =
          axis == TC_UNMAPPED ? (tc_tensor *)(uintptr_t)b->x[k] : tc_select(b->x[k], axis, i);
      ok = b->one[k] != NULL;
    }
    for (int j = 0; j < b->m; j++) b->y[j] = NULL;
    if (ok && !b->f(b->one, b->context, b->y))
      ok = tc_error() ? false : tc_fail("tc_vmap: f failed");
    for (int j = 0; j < b->m && ok; j++) ok = take(b, j, i);
  }
  return ok;
}

/* Side by side; as many at a time as an operation on the tape takes. */
static tc_tensor *joined(tc_tensor **part, int64_t n) {
  enum { MOST = 255 };
  while (n > 1) {
    int64_t groups = 0;
    for (int64_t i = 0; i < n; i += MOST, groups++) {
      const int64_t k = n - i < MOST ? n - i : MOST;
      part[groups] = tc_concat((const tc_tensor *const *)part + i, (int)k, 0);
    }
    n = groups;
  }
  return part[0];
}

static bool all_examples(const batch *b, tc_tensor **out) {
  bool ok = true;
  TC_SCOPE {
    for (int64_t i = 0; i < b->size && ok; i++) ok = example(b, i);
    for (int j = 0; j < b->m && ok; j++) ok = (b->y[j] = joined(b->part + j * b->size, b->size));
    for (int j = 0; j < b->m && ok; j++) out[j] = tc_keep(b->y[j]);
  }
  return ok;
}

bool tc_vmap(tc_example_function *f, void *context, int n, tc_tensor_list x, const int *axes, int m,
             tc_tensor **out) {
  batch b = {f, context, n, m, x.at, axes, 0, NULL, NULL, NULL};
  for (int j = 0; out && j < m; j++) out[j] = NULL;
  if (!check("tc_vmap", f != NULL, n, x.at)) return false;
  if (m < 0 || (m && !out))
    return tc_fail("tc_vmap: a list of %d results%s", m, m < 0 ? "" : " that is NULL");
  if (!batch_size(&b)) return false;
  const size_t count = (size_t)n + (size_t)m * ((size_t)b.size + 1);
  b.one = calloc(count + 1, sizeof *b.one);
  b.y = b.one + n;
  b.part = b.y + m;
  const bool ok = b.one ? all_examples(&b, out) : tc_tape_no_memory();
  free(b.one);
  return ok;
}
