/* Scopes: each open one heads a doubly linked list of the tensors made inside it. */
#include "runtime/libtcrt/src/tensor.h"

static TC_FAST_TLS tc_scope *current;

void tc_scope_begin(tc_scope *s) {
  s->outer = current;
  s->first = NULL;
  s->open = true;
  current = s;
}

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

/* A tensor of an outer scope outlives this one already. */
tc_tensor *tc_keep(tc_tensor *t) {
  if (!t || !t->scope || t->scope != current) return t;
  tc_scope *outer = t->scope->outer;
  tc_scope_remove(t);
  add(t, outer);
  return t;
}
