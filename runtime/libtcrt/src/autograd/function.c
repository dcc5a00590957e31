/* function.c - functions of tensors, which the program hands over: value and gradients; parts of a tape that are
 * computed again.
 *
 * A tape is a graph whose nodes can be computed: a value without memory is, when gradients need it (eval.c). */
#include "runtime/libtcrt/src/autograd/tape.h"

#include <stdlib.h>

static bool check(const char *name, tc_function *f, int n, const tc_tensor *const *x) {
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

/* ---- value and gradients ----------------------------------------------------------------------- */

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
  else if (check("tc_value_and_grad", f, n, x.at))
    TC_SCOPE y = value_and_grad(f, context, n, x.at, leaf, out);
  tc_set_grad_enabled(before);
  free(leaf);
  return y;
}

/* ---- computed again ---------------------------------------------------------------------------- */

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

/* May the memory of v, which op reads, go?  Not that of tensors of the program, of what is read after it was
 * written, and of what is read on another device or where it comes from one. */
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
  if (!check("tc_checkpoint", f, n, x.at)) return NULL;
  TC_SCOPE y = tc_keep(call("tc_checkpoint", f, context, x.written));
  part p = {.n = n, .x = x.at};
  if (!y || !y->autograd || drop(&p, y)) return y;
  tc_free(y);
  return NULL;
}
