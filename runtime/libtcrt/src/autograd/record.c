/* record.c - ops of which an operand is tracked are put on the tape. */
#include "runtime/libtcrt/src/autograd/tape.h"

#include <stdlib.h>
#include <string.h>

#include "autodiff/autodiff.h"

enum { MOST_OPERANDS = 255 }; /* of a node of a graph */

TC_FAST_TLS bool tc_tape_off;

bool tc_tape_records(const tc_tensor *x, const tc_tensor *y) {
  return !tc_tape_off && (x->autograd || (y && y->autograd));
}

/* ---- an op ----------------------------------------------------------------------------------- */

static tape_op *op_new(const tc_eager_call *c, int nattr) {
  const size_t uses = (size_t)c->nin * sizeof(tape_use), attrs = (size_t)nattr * sizeof(tc_dim);
  const size_t text = c->string ? strlen(c->string) + 1 : 0;
  tape_op *op = calloc(1, sizeof *op + uses + attrs + text);
  if (!op) tc_tape_no_memory();
  if (!op) return NULL;
  char *behind = (char *)op->in + uses;
  op->refs = 1;
  op->op = c->op;
  op->name = c->name;
  op->place = tc_last_place();
  op->device = c->device;
  op->nattr = nattr;
  op->attr = (const tc_dim *)behind;
  if (attrs) memcpy(behind, c->attr, attrs);
  op->string = text ? memcpy(behind + attrs, c->string, text) : NULL;
  return op;
}

bool tc_tape_take(tape_op *op, tape_value *v, uint32_t version) {
  if (!v) return false;
  op->in[op->nin++] = (tape_use){v, version};
  const tape_op *before = v->maker;
  if (before && before->depth >= op->depth) op->depth = before->depth + 1;
  if (before && before->level > op->level) op->level = before->level;
  return true;
}

static bool take_operand(tape_op *op, const tc_tensor *x) {
  if (!x) {
    op->in[op->nin++] = (tape_use){NULL, 0};
    return true;
  }
  tape_value *v = tc_tape_link(x);
  if (v) tc_tape_ref(v);
  return tc_tape_take(op, v ? v : tc_tape_value(x, NULL, 0), tc_tape_version(x));
}

static bool take_operands(tape_op *op, const tc_eager_call *c) {
  for (int i = 0; i < c->nin; i++)
    if (!take_operand(op, c->in[i])) return false;
  return true;
}

bool tc_tape_link_result(tape_op *op, tc_tensor *t, int result) {
  if (!t || !tc_is_float((tc_dtype)t->key.dtype)) return true;
  tape_value *v = tc_tape_value(t, op, result);
  if (v) tc_tape_relink(t, v);
  return v != NULL;
}

static bool record(const tc_eager_call *c, int nattr, tc_tensor *out, int nfurther) {
  tape_op *op = op_new(c, nattr);
  if (!op) return false;
  bool done = take_operands(op, c) && tc_tape_link_result(op, out, 0);
  for (int k = 0; k < nfurther && done; k++)
    if (c->further[k]) done = tc_tape_link_result(op, *c->further[k], k + 1);
  tc_tape_op_unref(op);
  return done;
}

tape_value *tc_tape_node(tc_op op, const char *name, int nin, tape_value *const *in, int nattr,
                         const tc_dim *attr, const tc_tensor *like) {
  const tc_eager_call c = {
      .op = op, .name = name, .nin = nin, .attr = attr, .device = tc_place(like)};
  tape_op *node = op_new(&c, nattr);
  for (int i = 0; node && i < nin; i++) {
    tc_tape_ref(in[i]);
    tc_tape_take(node, in[i], in[i]->version);
  }
  tape_value *v = node ? tc_tape_value(like, node, 0) : NULL;
  if (node) tc_tape_op_unref(node);
  return v;
}

/* ---- what is recorded ------------------------------------------------------------------------ */

/* Does a derivative pass from an operand to a result? */
static bool matters(const tc_eager_call *c, const tc_tensor *out, int nfurther) {
  bool from = false, to = tc_is_float((tc_dtype)out->key.dtype);
  for (int k = 0; k < nfurther; k++)
    if (c->further[k]) to |= tc_is_float((tc_dtype)(*c->further[k])->key.dtype);
  for (int i = 0; i < c->nin && to; i++)
    from |= c->in[i] && c->in[i]->autograd && !tc_autodiff_refusal(c->op, i);
  return from;
}

bool tc_tape_is_current(const char *name, const tc_tensor *x) {
  if (!x->storage ||
      atomic_load_explicit(&x->storage->recorded, memory_order_relaxed) <= tc_tape_link(x)->version)
    return true;
  return tc_tape_follow(name, (tc_tensor *)(uintptr_t)x);
}

static bool are_current(const tc_eager_call *c) {
  for (int i = 0; i < c->nin; i++)
    if (c->in[i] && c->in[i]->autograd && !tc_tape_is_current(c->name, c->in[i])) return false;
  if (c->nin <= MOST_OPERANDS) return true;
  tc_fail("%s: gradients are recorded of at most %d operands; join them in parts", c->name,
          MOST_OPERANDS);
  return false;
}

static void drop_results(const tc_eager_call *c, tc_tensor *out, int nfurther) {
  tc_free(out);
  for (int k = 0; k < nfurther; k++) {
    if (!c->further[k]) continue;
    tc_free(*c->further[k]);
    *c->further[k] = NULL;
  }
}

/* Functions of the API that the op uses inside are no ops of the program. */
static tc_tensor *run_silently(tc_eager_call *c, int nattr) {
  tc_tape_off = true;
  tc_tensor *out = tc_eager_run(c, nattr);
  tc_tape_off = false;
  return out;
}

tc_tensor *tc_tape_run(tc_eager_call *c, int nattr, int nfurther) {
  if (tc_tape_off) return tc_eager_run(c, nattr);
  tc_tensor *out = are_current(c) ? run_silently(c, nattr) : NULL;
  if (!out || !matters(c, out, nfurther) || record(c, nattr, out, nfurther)) return out;
  drop_results(c, out, nfurther);
  return NULL;
}

tc_tensor *tc_tape_identity(const char *name, const tc_tensor *x, tc_tensor *y) {
  if (!y || !tc_tape_records(x, NULL) || !tc_is_float((tc_dtype)y->key.dtype)) return y;
  const tc_eager_call c = {
      .op = OP_CONTIGUOUS, .name = name, .nin = 1, .in = &x, .device = tc_place(y)};
  tape_op *op = tc_tape_is_current(name, x) ? op_new(&c, 0) : NULL;
  bool done = op && take_operands(op, &c);
  if (done && tc_place(x) != tc_place(y)) {
    op->move = true;
    op->level++;
  }
  done = done && tc_tape_link_result(op, y, 0);
  if (op) tc_tape_op_unref(op);
  if (done) return y;
  tc_free(y);
  return NULL;
}
