/* Scopes: each open one heads a doubly linked list of the tensors made inside it.
 *
 * TC_SCOPE and TC_FUNCTION_SCOPE are the programmer's.  Between them the compiler opens scopes of
 * bodies: around the statements of a compiled function, which free what these made and did not hand
 * out.  The programmer's rules do not know them: what tc_keep moves, and what leaves a body other
 * than by `return`, goes to the scope that would own it if there were none. */
#include "runtime/libtcrt/src/tensor.h"

static TC_FAST_TLS tc_scope *current;

/* The nearest scope that the programmer opened. */
static tc_scope *opened(tc_scope *s) {
  while (s && s->body) s = s->outer;
  return s;
}

static void begin(tc_scope *s, bool body) {
  s->outer = current;
  s->first = NULL;
  s->open = true;
  s->body = body;
  s->unseen = false;
  current = s;
}

void tc_scope_begin(tc_scope *s) { begin(s, false); }

void tc_scope_end(tc_scope *s) {
  while (s->first) tc_free(s->first);
  s->open = false;
  current = s->outer;
}

static void add(tc_tensor *t, tc_scope *s) {
  t->scope = s;
  if (!s) return;
  t->scope_prev = NULL;
  t->scope_next = s->first;
  if (s->first) s->first->scope_prev = t;
  s->first = t;
}

void tc_scope_add(tc_tensor *t) { add(t, current); }

void tc_scope_remove(tc_tensor *t) {
  if (!t->scope) return;
  if (t->scope_prev) t->scope_prev->scope_next = t->scope_next;
  else t->scope->first = t->scope_next;
  if (t->scope_next) t->scope_next->scope_prev = t->scope_prev;
  t->scope = NULL;
}

int tc_scope_over(const struct tc_storage *s, void (*each)(tc_tensor *t, void *arg), void *arg) {
  int n = 0;
  for (const tc_scope *at = current; at; at = at->outer)
    for (tc_tensor *t = at->first; t; t = t->scope_next) {
      if (t->storage != s) continue;
      each(t, arg);
      n++;
    }
  return n;
}

static void move(tc_tensor *t, tc_scope *to) {
  tc_scope_remove(t);
  add(t, to);
}

/* A tensor of an outer scope outlives this one already.  What the statements of a body keep inside
 * of a TC_SCOPE of theirs is the body's; whoever else keeps a tensor may do so for good. */
tc_tensor *tc_keep(tc_tensor *t) {
  if (!t || !tc_given("tc_keep", 1, t)) return NULL;
  tc_scope *here = opened(current);
  if (!t->scope || opened(t->scope) != here) return t;
  bool own = here == current && here && !here->unseen;
  move(t, own ? here->outer : here ? opened(here->outer) : NULL);
  return t;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

struct tc_scope *tcrt_body_begin(struct tc_scope *s) {
  begin(s, true);
  return s;
}

void tcrt_body_end(struct tc_scope *s) {
  while (s->first) tc_free(s->first);
  if (current == s) current = s->outer;
}

struct tc_tensor *tcrt_hand_out(const struct tc_tensor *t) {
  tc_tensor *tensor = (tc_tensor *)(uintptr_t)t;
  if (t && t->scope && t->scope->body) move(tensor, opened(t->scope));
  return tensor;
}

struct tc_tensor *tcrt_returned(const struct tc_tensor *t) {
  tc_tensor *tensor = (tc_tensor *)(uintptr_t)t;
  tc_scope *body = current;
  while (body && !body->body) body = body->outer;
  if (t && body && t->scope == body) move(tensor, body->outer);
  return tensor;
}

struct tc_scope *tcrt_body_leave(void) {
  tc_scope *left = current;
  current = opened(left);
  if (current) current->unseen = true;
  return left;
}

/* Whoever was called may have left another scope open. */
void tcrt_body_resume(struct tc_scope *left) {
  if (current != opened(left)) return;
  if (current) current->unseen = false;
  current = left;
}
