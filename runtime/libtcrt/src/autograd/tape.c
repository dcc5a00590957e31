/* tape.c - values and ops of a tape: made, counted, freed. */
#include "runtime/libtcrt/src/autograd/tape.h"

#include <stdlib.h>
#include <string.h>

bool tc_tape_no_memory(void) {
  tc_fail_as(TC_ERROR_MEMORY, "out of memory: the tape of gradients");
  return false;
}

/* ---- values ---------------------------------------------------------------------------------- */

static void hold_memory(tape_value *v, const tc_tensor *x) {
  if (x->storage) {
    tc_storage_ref(x->storage);
    atomic_fetch_add_explicit(&x->storage->saved, 1, memory_order_relaxed);
  } else if (x->data && x->key.rank == 0) { /* a C scalar, which lives as long as its call */
    memcpy(v->scalar, x->data, tc_dtype_bytes((tc_dtype)x->key.dtype));
    v->at.data = v->scalar;
  } else {
    v->at.data = NULL;
  }
}

void tc_tape_drop_memory(tape_value *v) {
  tc_storage *s = v->at.storage;
  if (!s) return;
  v->at.storage = NULL;
  v->at.data = NULL;
  atomic_fetch_sub_explicit(&s->saved, 1, memory_order_relaxed);
  tc_storage_unref(s);
}

tape_value *tc_tape_value(const tc_tensor *x, tape_op *maker, int result) {
  tape_value *v = calloc(1, sizeof *v);
  if (!v) tc_tape_no_memory();
  if (!v) return NULL;
  v->refs = 1;
  v->version = tc_tape_version(x);
  v->result = (uint8_t)result;
  v->maker = maker;
  if (maker) tc_tape_op_ref(maker);
  v->at = tc_alias(x);
  v->at.autograd = maker ? v : NULL; /* that of a leaf: tc_requires_grad_ */
  hold_memory(v, x);
  return v;
}

void tc_tape_ref(tape_value *v) { atomic_fetch_add_explicit(&v->refs, 1, memory_order_relaxed); }

void tc_tape_op_ref(tape_op *op) { atomic_fetch_add_explicit(&op->refs, 1, memory_order_relaxed); }

static bool last_reference(_Atomic int32_t *refs) {
  return atomic_fetch_sub_explicit(refs, 1, memory_order_acq_rel) == 1;
}

static void free_hooks(tape_value *v) {
  for (tape_hook *h = v->hook, *next; h; h = next) {
    next = h->next;
    free(h);
  }
  v->hook = NULL;
}

/* The op that nobody needs any more after this, or NULL. */
static tape_op *drop(tape_value *v) {
  if (!v || !last_reference(&v->refs)) return NULL;
  tape_op *maker = v->maker;
  tc_tape_drop_memory(v);
  free_hooks(v);
  free(v);
  return maker && last_reference(&maker->refs) ? maker : NULL;
}

/* ---- ops ------------------------------------------------------------------------------------- */

/* A list in place of recursion: tapes are as long as the program likes. */
static void free_ops(tape_op *dead) {
  while (dead) {
    tape_op *op = dead;
    dead = op->next;
    for (int i = 0; i < op->nin; i++) {
      tape_op *more = drop(op->in[i].value);
      if (!more) continue;
      more->next = dead;
      dead = more;
    }
    free(op);
  }
}

void tc_tape_unref(tape_value *v) {
  tape_op *dead = drop(v);
  if (!dead) return;
  dead->next = NULL;
  free_ops(dead);
}

void tc_tape_op_unref(tape_op *op) {
  if (!last_reference(&op->refs)) return;
  op->next = NULL;
  free_ops(op);
}

void tc_tape_release(tape_op *op) {
  const int n = op->nin;
  op->nin = 0;
  op->freed = true;
  for (int i = 0; i < n; i++) tc_tape_unref(op->in[i].value);
}

/* ---- links ----------------------------------------------------------------------------------- */

/* Nobody can ask for the gradient any more.  It may itself be tracked, by a tape that leads
 * here. */
static void lose(tape_value *v) {
  tc_tensor *grad = v->grad;
  v->grad = NULL;
  v->lost = true;
  if (v->leaf && v->at.storage)
    atomic_fetch_sub_explicit(&v->at.storage->leaves, 1, memory_order_relaxed);
  tc_free(grad);
}

void tc_tape_relink(tc_tensor *x, tape_value *v) {
  tape_value *before = x->autograd;
  x->autograd = v;
  if (!before) return;
  if (before->leaf || before->retain) lose(before);
  tc_tape_unref(before);
}

void tc_tape_forget(tc_tensor *t) { tc_tape_relink(t, NULL); }
