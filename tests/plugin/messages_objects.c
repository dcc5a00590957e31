// What is not captured of objects, operands and results, and what is said about it: one function for each
// reason.
// RUN: %tc -w -fsyntax-only %s -Rpass-missed=tc 2>&1 | %check %s
#include <stdio.h>
#include <tcompile.h>

#define X const tc_tensor *x TC_SHAPE("f32[N]")
struct part { tc_tensor *w TC_SHAPE("f32[N]"); double scale; volatile double changes; union { double d; float f; } u; };
static int counter;

// ---- objects
TC_COMPILE tc_tensor *of_union(X) { union { int i; float f; } u; u.i = 3; return tc_add_s(x, u.f); }
// CHECK-DAG: messages_objects.c:[[#@LINE-1]]:68: remark: 'of_union' not compiled: a member of a union in a variable of the function is not followed; pass a pointer to the union
TC_COMPILE tc_tensor *of_null(X) { struct part *p = NULL; return tc_mul_s(x, p->scale); }
// CHECK-DAG: messages_objects.c:[[#@LINE-1]]:81: remark: 'of_null' not compiled: a member of an object that is not followed
TC_COMPILE tc_tensor *not_there(X) { static tc_tensor *kept; if (!kept) kept = tc_exp(x); return tc_neg(x); }
// CHECK-DAG: messages_objects.c:[[#@LINE-1]]:67: remark: graph break in 'not_there': variable 'kept' has no TC_SHAPE
TC_COMPILE tc_tensor *is_null(X) { static tc_tensor *kept; if (NULL == kept) kept = tc_exp(x); return tc_neg(x); }
// CHECK-DAG: messages_objects.c:[[#@LINE-1]]:72: remark: graph break in 'is_null': variable 'kept' has no TC_SHAPE
static tc_tensor *unset(const tc_tensor *x) { double a; return tc_add_s(x, a); }
// CHECK-DAG: messages_objects.c:[[#@LINE-1]]:76: remark: 'unset_variable' not compiled: a variable that has no value yet, or none that is followed
TC_COMPILE tc_tensor *unset_variable(X) { return unset(x); }
typedef float four __attribute__((vector_size(16)));
TC_COMPILE tc_tensor *of_vector(X, four v) { return tc_add_s(x, v[0]); }
// CHECK-DAG: messages_objects.c:[[#@LINE-1]]:65: remark: 'of_vector' not compiled: an element of an object that is not followed
TC_COMPILE tc_tensor *beside(X) { double d = 1; return tc_add_s(x, (&d)[1]); }
// CHECK-DAG: messages_objects.c:[[#@LINE-1]]:68: remark: 'beside' not compiled: an object of a type that is not followed
static tc_tensor *counts(const tc_tensor *x) { static int calls; return tc_add_s(x, ++calls); }
// CHECK-DAG: messages_objects.c:[[#@LINE-1]]:59: remark: 'calls_counts' not compiled: 'calls' keeps its value between calls
TC_COMPILE tc_tensor *calls_counts(X) { return counts(x); }
TC_COMPILE tc_tensor *nowhere(X) { return tc_add_s(x, *(double *)0); }
// CHECK-DAG: messages_objects.c:[[#@LINE-1]]:55: remark: 'nowhere' not compiled: what this pointer leads to is not followed
TC_COMPILE tc_tensor *punned(X) { float f = 1; return tc_add_s(x, *(int *)&f); }
// CHECK-DAG: messages_objects.c:[[#@LINE-1]]:68: remark: 'punned' not compiled: a pointer is taken for one of another type
TC_COMPILE tc_tensor *changing(X, const struct part *p) { return tc_add_s(x, p->changes); }
// CHECK-DAG: messages_objects.c:[[#@LINE-1]]:78: remark: 'changing' not compiled: 'p->changes' is volatile or atomic
TC_COMPILE tc_tensor *all_changing(X, const volatile struct part *p) { return tc_add_s(x, p->scale); }
// CHECK-DAG: messages_objects.c:[[#@LINE-1]]:91: remark: 'all_changing' not compiled: 'p->scale' is volatile or atomic
static tc_tensor *writes_reads(const tc_tensor *x, char *p, const double *q) { *p = 3; return tc_add_s(x, *q); }
// CHECK-DAG: messages_objects.c:[[#@LINE-1]]:107: remark: 'reads_behind' not compiled: 'q[0]' is read behind a write to 'p[0]', which may be the same memory
TC_COMPILE tc_tensor *reads_behind(X, char *p, const double *q) { return writes_reads(x, p, q); }
TC_COMPILE void writes_union(X, struct part *p) { p->u.d = 2; p->w = tc_exp(x); }
// CHECK-DAG: messages_objects.c:[[#@LINE-1]]:58: remark: graph break in 'writes_union': this write to 'p->u.d' is not captured
static tc_tensor *pick(const tc_tensor *t, const tc_tensor *x, int n) { return tc_add_s(x, n > 0 && tc_size(t, 0) > 3); }
// CHECK-DAG: messages_objects.c:[[#@LINE-1]]:109: remark: 'maybe_passed' not compiled: whether 'p->w' is read is not known at build time
TC_COMPILE tc_tensor *maybe_passed(X, const struct part *p, int n) { return pick(p->w, x, n); }
TC_COMPILE tc_tensor *maybe_member(X, const struct part *p, int n) { return tc_add_s(x, n > 0 && tc_size(p->w, 0) > 3); }
// CHECK-DAG: messages_objects.c:[[#@LINE-1]]:106: remark: 'maybe_member' not compiled: whether 'p->w' is read is not known at build time
TC_COMPILE tc_tensor *index_of_tensor(X, const double *t) { return tc_add_s(x, t[tc_item_int(tc_argmax(x, TC_ALL, false))]); }
// CHECK-DAG: messages_objects.c:[[#@LINE-1]]:80: remark: 'index_of_tensor' not compiled: the index is read from a tensor
tc_tensor *scaled(const tc_tensor *x);
TC_COMPILE tc_tensor *hides(X) { int counter = 3; (void)counter; return scaled(x); }
tc_tensor *scaled(const tc_tensor *x) { return tc_add_s(x, counter); }
// CHECK-DAG: messages_objects.c:[[#@LINE-1]]:60: remark: 'hides' not compiled: 'counter' cannot be named in 'hides', which has a variable of the same name; rename one of them
tc_tensor *offset(const tc_tensor *x);
TC_COMPILE tc_tensor *in_front(X) { return offset(x); }
static double later = 2;
tc_tensor *offset(const tc_tensor *x) { return tc_add_s(x, later); }
// CHECK-DAG: messages_objects.c:[[#@LINE-1]]:60: remark: 'in_front' not compiled: 'later' cannot be named in 'in_front'; declare it in front of the function
static _Atomic int shared_count;
TC_COMPILE tc_tensor *writes_atomic(X) { shared_count++; return tc_exp(x); }
// CHECK-DAG: messages_objects.c:[[#@LINE-1]]:42: remark: graph break in 'writes_atomic': 'shared_count' is atomic
TC_COMPILE tc_tensor *skips(X) { switch (1) { static int n; case 1: x = tc_add_s(x, n); } return tc_exp(x); }
// CHECK-DAG: messages_objects.c:[[#@LINE-1]]:85: remark: graph break in 'skips': 'n' keeps its value between calls; pass it as a parameter
struct misspelt { tc_tensor *w TC_SHAPE("f33[N]"); };
TC_COMPILE tc_tensor *of_misspelt(X, const struct misspelt *p) { return tc_add(x, p->w); }
// CHECK-DAG: messages_objects.c:[[#@LINE-2]]:30: remark: 'of_misspelt' not compiled: the shape of 'p->w' is not understood

// ---- layouts
struct own { float *data TC_SHAPE("f32[R,C]"); int rows, cols; };
static inline tc_tensor *view(const struct own *m) {
  return tc_wrap_layout(tc_row_major(TC_DIMS(m->rows, m->cols), m->data, TC_F32));
}
TC_COMPILE tc_tensor *keeps_own(struct own *m) { return tc_exp(tc_keep(view(m))); }
// CHECK-DAG: messages_objects.c:[[#@LINE-1]]:64: remark: 'keeps_own' not compiled: a tensor over memory of the caller's own kind is kept
static inline tc_layout beside_tensor(const tc_tensor *t, float *p, int n) { return tc_row_major(TC_DIMS(n), p, TC_F32); }
TC_COMPILE tc_tensor *lies_by_tensor(X, float *p TC_SHAPE("f32[R]"), int n) { return tc_exp(tc_wrap_layout(beside_tensor(x, p, n))); }
// CHECK-DAG: messages_objects.c:[[#@LINE-1]]:122: remark: 'lies_by_tensor' not compiled: where a tensor lies depends on another tensor
TC_COMPILE tc_tensor *stores_to_own(float *p, int n) {
  tc_tensor *own = tc_wrap(TC_DIMS(n), NULL, p, TC_F32, NULL, NULL), *y = tc_exp(own);
  p[0] = 3;
  return tc_add(y, tc_add_s_(own, 1));
}
// CHECK-DAG: messages_objects.c:[[#@LINE-2]]:30: remark: graph break in 'stores_to_own': memory of this tensor is used behind a write to 'p[0]', which may be part of it
static float own_value(struct own *m) { return m->data[0]; }
TC_COMPILE tc_tensor *reads_own(struct own *m) { tc_add_s_(view(m), 1); return tc_mul_s(view(m), own_value(m)); }
// CHECK-DAG: messages_objects.c:[[#@LINE-2]]:48: remark: graph break in 'reads_own': 'm->data[0]' is read behind a write to a tensor whose memory it may be part of
void let_go(void *context);
TC_COMPILE tc_tensor *released(float *p, int n) { return tc_exp(tc_wrap(TC_DIMS(n), NULL, p, TC_F32, let_go, NULL)); }
// CHECK-DAG: messages_objects.c:[[#@LINE-1]]:65: remark: 'released' not compiled: a tensor that calls a function when it is freed is not made in compiled code
static tc_tensor *local(float a) { float p[2] = {a, a}; return tc_exp(tc_wrap(TC_DIMS(2), NULL, p, TC_F32, NULL, NULL)); }
TC_COMPILE tc_tensor *of_local(float a) { return local(a); }
// CHECK-DAG: messages_objects.c:[[#@LINE-2]]:97: remark: 'of_local' not compiled: the memory of this tensor is not followed; pass a pointer that the function is given, or an array from its start on that it does not write itself
TC_COMPILE tc_tensor *of_strides(float *p, const int64_t *strides) { return tc_exp(tc_wrap_const(TC_DIMS(2), strides, p, TC_F32)); }
// CHECK-DAG: messages_objects.c:[[#@LINE-1]]:110: remark: 'of_strides' not compiled: the strides of this tensor are not followed; pass NULL, or an array of the function

// ---- operations of the program's own
bool kernel(tc_tensor *out, const tc_tensor *x, const tc_tensor *y, double a);
TC_CUSTOM_OP("f32[N]", kernel) tc_tensor *same_size(const tc_tensor *x TC_SHAPE("f32[N]"), const tc_tensor *y TC_SHAPE("f32[N]"), double a);
TC_CUSTOM_OP("f32[N]", kernel) tc_tensor *small(const tc_tensor *x TC_SHAPE("f32[N<=9]"), const tc_tensor *y TC_SHAPE("f32[N]"), double a);
TC_COMPILE tc_tensor *other_size(const tc_tensor *x TC_SHAPE("f32[3]"), const tc_tensor *y TC_SHAPE("f32[4]")) { return same_size(tc_exp(x), y, 1); }
// CHECK-DAG: messages_objects.c:[[#@LINE-1]]:142: remark: 'other_size' not compiled: an operand of 'same_size' is of another size 'N'
TC_COMPILE tc_tensor *too_large(const tc_tensor *x TC_SHAPE("f32[12]")) { return small(tc_exp(x), x, 1); }
// CHECK-DAG: messages_objects.c:[[#@LINE-1]]:88: remark: 'too_large' not compiled: an operand of 'small' is outside of the range of 'N'
TC_COMPILE tc_tensor *late_argument(X) { return same_size(x, x, tc_item(tc_sum(x, TC_ALL, false))); }
// CHECK-DAG: messages_objects.c:[[#@LINE-1]]:65: remark: 'late_argument' not compiled: an argument of 'same_size' is neither a tensor nor a number that is known before the statements run

// ---- what is left behind
TC_COMPILE tc_tensor *hidden(const tc_tensor *x TC_SHAPE("f32[N*M]")) { return tc_exp(x); }
// CHECK-DAG: messages_objects.c:[[#@LINE-1]]:23: remark: 'hidden' not compiled: size 'N' stands only inside of expressions; declare a parameter with 'N' as a size of its own
TC_COMPILE tc_tensor *found_by_size(const tc_tensor *const *t TC_SHAPE("f32[N]"), X) { return tc_exp(t[tc_size(x, 0)]); }
// CHECK-DAG: messages_objects.c:[[#@LINE-1]]:88: remark: 'found_by_size' not compiled: an operand is found by the size of another
TC_COMPILE tc_tensor *too_many(X) { tc_tensor *a[1025]; for (int i = 0; i < 1025; i++) a[i] = tc_add_s(x, i); puts("."); return a[counter]; }
// CHECK-DAG: messages_objects.c:[[#@LINE-1]]:57: remark: graph break in 'too_many': more than 1024 tensors are handed on
TC_COMPILE tc_tensor *points_inside(X) { struct part local = {NULL, 2}, *p = &local; double *d = &p->scale; x = tc_exp(x); puts("."); return tc_add_s(x, *d); }
// CHECK-DAG: messages_objects.c:[[#@LINE-1]]:42: remark: graph break in 'points_inside': a value that cannot be handed on from here
struct fixed { const double rate; tc_tensor *t; };
TC_COMPILE struct fixed gives_fixed(X) { return (struct fixed){2, tc_exp(x)}; }
// CHECK-DAG: messages_objects.c:[[#@LINE-1]]:42: remark: 'gives_fixed' not compiled: a struct with a const member is returned
static tc_tensor *through_copy(tc_tensor *x) {
  tc_tensor *v = tc_reshape(tc_transpose(x, 0, 1), TC_DIMS(6 * tc_size(x, 0)));
  tc_fill_(x, 1);
  return tc_exp(v);
}
// CHECK-DAG: messages_objects.c:[[#@LINE-2]]:17: remark: 'stale_view' not compiled: whether this view shares memory with what was written is not known; take it after the write
TC_COMPILE tc_tensor *stale_view(tc_tensor *x TC_SHAPE("f32[N,6]")) { return through_copy(x); }
