/* backward.c - tc_backward, tc_grad and their kin. */
#include "runtime/libtcrt/src/autograd/subgraph.h"
#include "runtime/libtcrt/src/device.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- the question ---------------------------------------------------------------------------- */

/* what: a cotangent or a tangent, of y. */
static bool check_direction(const char *name, const char *what, const tc_tensor *y,
                            const tc_tensor *direction) {
  bool same = direction->key.rank == y->key.rank;
  for (int k = 0; k < y->key.rank && same; k++) same = direction->dim[k] == y->dim[k];
  if (!same)
    tc_fail("%s: the %s is %s, and the value %s", name, what, tc_describe(direction).text,
            tc_describe(y).text);
  else if (!tc_is_float((tc_dtype)direction->key.dtype))
    tc_fail("%s: the %s, %s, is not floating", name, what, tc_describe(direction).text);
  else if (tc_place(direction) != tc_place(y))
    tc_fail("%s: the %s is on %s and the value on %s; move it with tc_to", name, what,
            tc_describe_place(tc_place(direction)).text, tc_describe_place(tc_place(y)).text);
  else return true;
  return false;
}

static bool check_value(const char *name, const tc_tensor *y, const tc_tensor *cotangent) {
  if (!tc_given(name, 1, y)) return false;
  if (!y->autograd)
    return tc_fail(
        "%s: no gradient leads to operand 1, %s: it was made of nothing that requires gradients "
        "(tc_requires_grad_), inside of TC_NO_GRAD, or through integers",
        name, tc_describe(y).text);
  if (!cotangent && tc_elements(y) != 1)
    return tc_fail("%s: operand 1 is %s; without a cotangent gradients are of a single number",
                   name, tc_describe(y).text);
  return !cotangent ||
         (tc_given(name, 2, cotangent) && check_direction(name, "cotangent", y, cotangent));
}

/* NULL is a cotangent that is not given, unless an op failed to make it. */
static bool has_failed(const tc_tensor *cotangent) { return !cotangent && tc_error(); }

/* What arrives at y: a tensor of its own. */
static tc_tensor *seed(const tc_tensor *y, const tc_tensor *cotangent) {
  if (!cotangent) return tc_ones_like(y);
  return cotangent->key.dtype == y->key.dtype ? tc_clone(cotangent)
                                              : tc_cast(cotangent, (tc_dtype)y->key.dtype);
}

/* ---- the pass -------------------------------------------------------------------------------- */

static bool check_freed(const tape_plan *p) {
  const tape_op *op = p->freed;
  bool missing = p->all;
  for (size_t k = 0; k < p->grad.n; k++) missing |= p->grad.at[k].wanted && !p->grad.at[k].seen;
  if (!op || !missing) return true;
  return tc_fail(
      "%s: the tape in front of %s was freed by the gradients that were computed before; pass "
      "TC_RETAIN_GRAPH there",
      p->name, tc_describe_op(op).text);
}

static bool travel(tape_plan *p, tape_value *y, tc_tensor *dy) {
  if (!dy || !tc_plan_add(p, y, dy)) return false;
  for (uint32_t at = 0; at < p->op.n;) {
    const tape_subgraph i = tc_plan_subgraph(p, at);
    if (!tc_subgraph_run(p, i)) return false;
    at = i.first + i.n;
  }
  return true;
}

/* Operands are held by the plan through their makers. */
static void release(tape_plan *p) {
  for (size_t k = 0; k < p->op.n; k++) tc_tape_release(p->op.at[k]);
}

/* Fills p->grad.  Recording is on where a tape of the gradients is asked for; derivatives have the
 * dtypes that they have, whatever TC_AUTOCAST the question stands in. */
static bool run(tape_plan *p, const tc_tensor *y, const tc_tensor *cotangent, int flags) {
  const bool before = tc_set_grad_enabled(flags & TC_CREATE_GRAPH);
  const tc_dtype scope = tc_set_autocast(TC_DTYPE_COUNT);
  tape_value *v = y->autograd;
  const bool ok = tc_plan_make(p, v) && check_freed(p) && travel(p, v, seed(y, cotangent));
  tc_set_autocast(scope);
  tc_set_grad_enabled(before);
  return ok;
}

/* ---- into leaves ----------------------------------------------------------------------------- */

/* Threads with tapes of their own may share leaves. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* v->grad += sum, which it takes. */
static bool accumulate(tape_value *v, tc_tensor *sum, bool recorded) {
  tc_tensor *before = v->grad;
  if (!before) {
    tc_scope_remove(sum);
    v->grad = sum;
    return true;
  }
  tc_tensor *both = recorded ? tc_add(before, sum) : tc_add_(before, sum);
  tc_free(sum);
  if (!both || both == before) return both != NULL;
  tc_scope_remove(both);
  v->grad = both;
  tc_free(before);
  return true;
}

static void call_hooks(const tape_grad *e) {
  for (const tape_hook *h = e->value->hook; h; h = h->next) h->run(e->sum, h->context);
}

static bool keep(tape_grad *e, bool recorded) {
  const tape_value *v = e->value;
  tc_tensor *sum = e->sum;
  if (!e->wanted || !sum) return true;
  call_hooks(e);
  if (v->lost || !(v->leaf || v->retain)) return true;
  e->sum = NULL;
  pthread_mutex_lock(&lock);
  const bool ok = accumulate(e->value, sum, recorded);
  pthread_mutex_unlock(&lock);
  return ok;
}

static bool keep_all(tape_plan *p, int flags) {
  const bool recorded = flags & TC_CREATE_GRAPH, before = tc_set_grad_enabled(recorded);
  bool ok = true;
  for (size_t k = 0; k < p->grad.n && ok; k++) ok = keep(&p->grad.at[k], recorded);
  tc_set_grad_enabled(before);
  return ok;
}

static bool backward(const char *name, const tc_tensor *y, const tc_tensor *cotangent, int flags) {
  if (!check_value(name, y, cotangent)) return false;
  tape_plan p = {.name = name, .all = true};
  bool ok = run(&p, y, cotangent, flags);
  if (ok && !(flags & (TC_RETAIN_GRAPH | TC_CREATE_GRAPH))) release(&p);
  ok = ok && keep_all(&p, flags);
  tc_plan_free(&p);
  return ok;
}

bool tc_backward(const tc_tensor *loss) { return backward("tc_backward", loss, NULL, 0); }

bool tc_backward_with(const tc_tensor *y, const tc_tensor *cotangent, int flags) {
  return !has_failed(cotangent) && backward("tc_backward_with", y, cotangent, flags);
}

/* ---- of named tensors ------------------------------------------------------------------------ */

static void clear(int n, tc_tensor **out) {
  for (int k = 0; out && k < n; k++) out[k] = NULL;
}

static bool check_list(const char *name, int n, const tc_tensor *const *wrt, tc_tensor **out) {
  clear(n, out);
  if (n < 0 || (n > 0 && (!wrt || !out))) {
    tc_fail("%s: a list of %d tensors%s", name, n, n < 0 ? "" : " that is NULL");
    return false;
  }
  for (int k = 0; k < n; k++) {
    if (!wrt[k]) return tc_fail_as(TC_ERROR_NULL, "%s: tensor %d of the list is NULL", name, k + 1);
    if (!tc_given(name, k + 1, wrt[k])) return false;
    if (!wrt[k]->autograd)
      return tc_fail("%s: tensor %d of the list, %s, is not tracked: see tc_requires_grad_", name,
                     k + 1, tc_describe(wrt[k]).text);
  }
  return true;
}

static bool name_wanted(tape_plan *p, int n, const tc_tensor *const *wrt) {
  for (int k = 0; k < n; k++) {
    tape_grad *e = tc_plan_grad(p, wrt[k]->autograd);
    if (!e) return false;
    e->wanted = true;
  }
  return true;
}

/* The gradient of tensor k, one of its own though several tensors are the same; or zeros. */
static tc_tensor *gradient(tape_plan *p, int k, int n, const tc_tensor *const *wrt, int flags) {
  const tc_tensor *x = wrt[k];
  tape_grad *e = tc_plan_find(p, x->autograd);
  bool again = false;
  if (!e->sum && !(flags & TC_ALLOW_UNUSED))
    return tc_fail(
        "%s: tensor %d of the list, %s, is not among what operand 1 was computed from, or only "
        "through integers; with TC_ALLOW_UNUSED its gradient is 0",
        p->name, k + 1, tc_describe(x).text);
  for (int later = k + 1; later < n; later++) again |= wrt[later]->autograd == x->autograd;
  if (!e->sum || again) return e->sum ? tc_clone(e->sum) : tc_zeros_like(x);
  tc_tensor *sum = e->sum;
  e->sum = NULL;
  return sum;
}

static bool hand_out(tape_plan *p, int n, const tc_tensor *const *wrt, int flags, tc_tensor **out) {
  const bool before = tc_set_grad_enabled(flags & TC_CREATE_GRAPH);
  bool ok = true;
  for (int k = 0; k < n && ok; k++) {
    out[k] = gradient(p, k, n, wrt, flags);
    ok = out[k] != NULL;
  }
  for (int k = 0; k < n && !ok; k++) {
    tc_free(out[k]);
    out[k] = NULL;
  }
  tc_set_grad_enabled(before);
  return ok;
}

static bool grad(const char *name, const tc_tensor *y, const tc_tensor *cotangent, int n,
                 const tc_tensor *const *wrt, int flags, tc_tensor **out) {
  if (!check_list(name, n, wrt, out) || !check_value(name, y, cotangent)) return false;
  tape_plan p = {.name = name};
  bool ok =
      name_wanted(&p, n, wrt) && run(&p, y, cotangent, flags) && hand_out(&p, n, wrt, flags, out);
  if (ok && !(flags & (TC_RETAIN_GRAPH | TC_CREATE_GRAPH))) release(&p);
  tc_plan_free(&p);
  return ok;
}

bool tc_grad(const tc_tensor *loss, int n, tc_tensor_list wrt, tc_tensor **out) {
  return grad("tc_grad", loss, NULL, n, wrt.at, 0, out);
}

bool tc_grad_named(const char *name, const tc_tensor *y, int n, const tc_tensor *const *wrt,
                   tc_tensor **out) {
  return grad(name, y, NULL, n, wrt, TC_ALLOW_UNUSED, out);
}

bool tc_vjp(const tc_tensor *y, const tc_tensor *cotangent, int n, tc_tensor_list wrt,
            tc_tensor **out) {
  clear(n, out);
  return tc_given("tc_vjp", 2, cotangent) && grad("tc_vjp", y, cotangent, n, wrt.at, 0, out);
}

bool tc_grad_with(const tc_tensor *y, const tc_tensor *cotangent, int n, tc_tensor_list wrt,
                  int flags, tc_tensor **out) {
  clear(n, out);
  return !has_failed(cotangent) && grad("tc_grad_with", y, cotangent, n, wrt.at, flags, out);
}

/* ---- forward mode ---------------------------------------------------------------------------- */

/* With u in place of a cotangent, the gradients are linear in u; the derivative with respect to u
 * of their product with the tangents is the forward one.  g: room for the gradients. */
static tc_tensor *transposed(const tc_tensor *y, int n, const tc_tensor *const *wrt,
                             const tc_tensor *const *tangent, tc_tensor **g) {
  const tc_tensor *u = tc_requires_grad_(tc_zeros_like(y), true), *sum = NULL;
  tc_tensor *out = NULL;
  if (!u || !grad("tc_jvp", y, u, n, wrt, TC_CREATE_GRAPH | TC_ALLOW_UNUSED, g)) return NULL;
  for (int k = 0; k < n; k++) {
    if (!g[k]->autograd) continue;
    const tc_tensor *part = tc_sum(tc_mul(g[k], tangent[k]), TC_ALL, false);
    sum = sum ? tc_add(sum, part) : part;
    if (!sum) return NULL;
  }
  if (!sum || !sum->autograd) return tc_zeros_like(y);
  return grad("tc_jvp", sum, NULL, 1, &u, TC_ALLOW_UNUSED, &out) ? out : NULL;
}

static bool check_tangents(int n, const tc_tensor *const *wrt, const tc_tensor *const *tangent) {
  if (n > 0 && !tangent) return tc_fail("tc_jvp: a list of %d tangents that is NULL", n);
  for (int k = 0; k < n; k++)
    if (!tc_given("tc_jvp", k + 1, tangent[k]) ||
        !check_direction("tc_jvp", "tangent", wrt[k], tangent[k]))
      return false;
  return true;
}

tc_tensor *tc_jvp(const tc_tensor *y, int n, tc_tensor_list wrt, tc_tensor_list tangent) {
  tc_tensor *out = NULL, **g = calloc((size_t)(n > 0 ? n : 0) + 1, sizeof *g);
  const bool before = tc_set_grad_enabled(true);
  if (!g) tc_tape_no_memory();
  else if (tc_given("tc_jvp", 1, y) && check_list("tc_jvp", n, wrt.at, g) &&
           check_tangents(n, wrt.at, tangent.at))
    TC_SCOPE out = tc_keep(transposed(y, n, wrt.at, tangent.at, g));
  tc_set_grad_enabled(before);
  free(g);
  return out;
}
