/* tape.h - what eager ops record while gradients are tracked.
 *
 * The autograd link of a tensor is a value: a leaf, or what an op gave.  A value holds the op that
 * made it, an op the values that it read, so that a tape lives as long as a tensor can reach it.  A
 * value is a header of its own over the memory of the tensor, and says as which version of that
 * memory it counts: each write in place makes another (tc_written). */
#ifndef TC_TAPE_H
#define TC_TAPE_H

#include "runtime/libtcrt/src/eager/eager.h"
#include "runtime/libtcrt/src/memory/check.h"

typedef struct tape_op tape_op;

typedef struct tape_hook {
  struct tape_hook *next;
  void (*run)(const tc_tensor *grad, void *context);
  void *context;
} tape_hook;

typedef struct tape_value {
  _Atomic int32_t refs;
  uint32_t version;  /* of the memory, when the value was made */
  tape_op *maker;    /* NULL: a leaf, or a constant */
  uint8_t result;    /* which one of the maker's */
  bool leaf;         /* tc_requires_grad_ */
  bool retain;       /* tc_retain_grad */
  bool lost;         /* its tensor is gone, and with it what wanted a gradient */
  bool again;        /* its memory was dropped: it is computed when it is needed */
  tc_tensor at;      /* no tensor of the program; data NULL: only type and place are known */
  uint8_t scalar[8]; /* what `at` points to, for C scalars */
  tc_tensor *grad;   /* of a leaf, or retained; in no scope */
  tape_hook *hook;
} tape_value;

/* An operand: the value, and the version of its memory that was read. */
typedef struct tape_use {
  tape_value *value; /* NULL: not given */
  uint32_t version;
} tape_use;

struct tape_op {
  _Atomic int32_t refs;
  tc_op op;
  bool move; /* from one device to another; op is then the identity */
  /* In place of op; in[]: operands, results, what was saved (compiled.c). */
  const tcrt_gradient *compiled;
  bool freed;       /* a backward pass was here, and dropped the operands */
  bool seen;        /* by a walk that is going on */
  uint32_t depth;   /* longest way from a leaf: an order in which operands come first */
  uint32_t level;   /* most ops on such a way that are subgraphs of their own */
  tc_device device; /* of the results */
  int nin, nattr;
  const char *name; /* of the public function, and where it was called */
  tc_place_called place;
  tape_op *next; /* among those to be freed */
  const tc_dim *attr;
  const char *string;
  tc_value *scalar; /* compiled: [scalars + 1] */
  tape_use in[];    /* [nin] */
};

/* Its gradients are computed apart from those of others. */
static inline bool tc_tape_is_alone(const tape_op *op) { return op->move || op->compiled; }

/* ---- life (tape.c) --------------------------------------------------------------------------- */

static inline tape_value *tc_tape_link(const tc_tensor *t) { return t->autograd; }

/* A value over x's memory: a leaf, or result `result` of maker.  One reference; NULL with an
 * error. */
tape_value *tc_tape_value(const tc_tensor *x, tape_op *maker, int result);
void tc_tape_ref(tape_value *v);
void tc_tape_unref(tape_value *v); /* NULL is fine; frees any length of tape without recursion */
void tc_tape_drop_memory(tape_value *v);
void tc_tape_op_ref(tape_op *op);
void tc_tape_op_unref(tape_op *op);
/* Drops the operands.  The caller holds the op, and the makers of the operands. */
void tc_tape_release(tape_op *op);

bool tc_tape_no_memory(void); /* false, with an error */

/* x links to v, whose reference it takes, in place of what it was linked to.  v NULL: to
 * nothing. */
void tc_tape_relink(tc_tensor *x, tape_value *v);
/* The tensor is freed, or a leaf no longer. */
void tc_tape_forget(tc_tensor *t);

/* ---- gradients (backward.c) ------------------------------------------------------------------ */

/* tc_grad for the public function `name`; 0 for what y does not depend on. */
bool tc_grad_named(const char *name, const tc_tensor *y, int n, const tc_tensor *const *wrt,
                   tc_tensor **out);

/* ---- recording (record.c) -------------------------------------------------------------------- */

/* Is recording on, and x or y tracked?  y may be NULL. */
bool tc_tape_records(const tc_tensor *x, const tc_tensor *y);
/* tc_eager_run, and the op on the tape; nfurther: length of c->further. */
tc_tensor *tc_tape_run(tc_eager_call *c, int nattr, int nfurther);
/* The next operand of an op under construction: v, whose reference it takes.  false: v is NULL. */
bool tc_tape_take(tape_op *op, tape_value *v, uint32_t version);
/* t, if it is floating, is a result of the op. */
bool tc_tape_link_result(tape_op *op, tc_tensor *t, int result);
/* Brings the history of x, which is tracked, up to date.  false with an error. */
bool tc_tape_is_current(const char *name, const tc_tensor *x);
/* y, made by no op of the table, is x; move: on another device.  Returns y; NULL with an error, y
 * is freed. */
tc_tensor *tc_tape_identity(const char *name, const tc_tensor *x, tc_tensor *y);

/* Op `op` on values, without running it; the result is like `like`, whose memory, if it has any, is
 * the value's.  NULL with an error. */
tape_value *tc_tape_node(tc_op op, const char *name, int nin, tape_value *const *in, int nattr,
                         const tc_dim *attr, const tc_tensor *like);

/* ---- other tensors over written memory (alias.c) --------------------------------------------- */

/* x was written, and is v now; NULL: a constant.  false with an error. */
bool tc_tape_note(const tc_tensor *x, const tape_value *v);
/* Brings x, tracked, up to date with what was written through others since.  false with an
 * error. */
bool tc_tape_follow(const char *name, tc_tensor *x);
/* x is not tracked, and something tracked is to be written to it: may all tensors over its memory
 * be found, so that they follow?  Links them. */
bool tc_tape_find_others(tc_tensor *x);
/* t, which is not tracked, follows what is written to its memory from now on.  false with an
 * error. */
bool tc_tape_link_constant(tc_tensor *t);
/* One of the tensors over the memory is freed. */
void tc_tape_leave(tc_storage *s);

/* ---- writes in place (write.c) --------------------------------------------------------------- */

/* Writes to the memory of a tensor so far. */
static inline uint32_t tc_tape_version(const tc_tensor *x) {
  return x->storage ? atomic_load_explicit(&x->storage->version, memory_order_relaxed) : 0;
}
/* The elements of x were written, by what the tape does not know.  Threads may write parts of one
 * memory: a count that is lost between them is no lost write. */
static inline void tc_written(const tc_tensor *x) {
  if (x->storage)
    atomic_store_explicit(&x->storage->version, tc_tape_version(x) + 1, memory_order_relaxed);
}
/* References to the memory that are not the tape's: tensors of the program. */
static inline int tc_tape_headers(const tc_storage *s) {
  return atomic_load_explicit(&s->refs, memory_order_relaxed) -
         atomic_load_explicit(&s->saved, memory_order_relaxed);
}
/* x takes the elements of y, which broadcasts to x and converts to its dtype, and, where gradients
 * are recorded, its history.  own: y was made for this.  false with an error, x is as it was. */
bool tc_tape_assign(const char *name, tc_tensor *x, const tc_tensor *y, bool own);
/* Every element of x = value. */
bool tc_tape_fill(const char *name, tc_tensor *x, double value);

/* Recording is switched off in this thread: tc_set_grad_enabled, TC_NO_GRAD, and while an op
 * runs. */
extern TC_FAST_TLS bool tc_tape_off;

#endif
