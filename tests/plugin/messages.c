// What is not captured, and what is said about it: one function for each reason.  (messages.test counts
// the messages without a test.)
// RUN: %tc -fopenmp -w -fsyntax-only %s -Rpass-missed=tc 2>&1 | %check %s
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <tcompile.h>

#define X const tc_tensor *x TC_SHAPE("f32[N]")
#define M const tc_tensor *x TC_SHAPE("f32[N,6]")
struct part { tc_tensor *w TC_SHAPE("f32[N]"); double scale; int n; };
static volatile int changes;
static int counter;
static jmp_buf place;

// ---- calls
static double nothing(int n) { if (n < 0) return 1; }
TC_COMPILE tc_tensor *no_result(X) { return tc_add_s(x, nothing(3)); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:57: remark: 'no_result' not compiled: 'nothing' ends without a result
TC_COMPILE tc_tensor *text(X, const char *s) { return tc_einsum(s, (const tc_tensor *[]){x}, 1); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:65: remark: 'text' not compiled: 'spec' has to be a string literal
TC_COMPILE tc_tensor *list(M, int n) { tc_ints axes = {n, {0}}; return tc_sum(x, axes, false); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:82: remark: 'list' not compiled: 'axes' is not a list whose length is known at build time
TC_COMPILE tc_tensor *late_number(X, const tc_tensor *u TC_SHAPE("u8[N]")) { return tc_add_s(u, tc_item(tc_sum(x, TC_ALL, false))); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:97: remark: {{.*}}: whether this number is a value of u8 is known at run time only
TC_COMPILE tc_tensor *made_number(const tc_tensor *u TC_SHAPE("u8[N]"), int n) { return tc_add(u, tc_neg(tc_scalar(n))); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:89: remark: {{.*}}: whether a number of it is a value of u8 is known at run time only
static tc_tensor *adds(const tc_tensor *x, ...) { return tc_exp(x); }
TC_COMPILE tc_tensor *calls_variadic(X) { return adds(x, 1); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:50: remark: 'calls_variadic' not compiled: a function with a variable number of arguments is called: '{{[a-z]+}}'; write one that takes as many as here, or call it outside of the function
TC_COMPILE tc_tensor *tensors(X, const tc_tensor *const *all) { return tc_concat(all, 2, 0); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:82: remark: 'tensors' not compiled: an element of the list is not a tensor that is followed
TC_COMPILE tc_tensor *unset_element(X) { const tc_tensor *all[2] = {x}; return tc_concat(all, 2, 0); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:90: remark: 'unset_element' not compiled: an element of the list is not a tensor that is followed
TC_COMPILE tc_tensor *many(X) { const tc_tensor *all[300]; for (int i = 0; i < 300; i++) all[i] = x; return tc_einsum("a->a", all, 300); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:127: remark: 'many' not compiled: operations of more than 255 tensors are not captured
TC_COMPILE tc_tensor *negative_length(X) { const tc_tensor *all[2] = {x, x}; return tc_concat(all, -1, 0); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:95: remark: 'negative_length' not compiled: the number of tensors in the list is negative
TC_COMPILE tc_tensor *unknown_length(X, int n) { const tc_tensor *all[3] = {x, x, x}; return tc_concat(all, n, 0); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:104: remark: 'unknown_length' not compiled: the length of the list has to be known at build time
TC_COMPILE tc_tensor *null_operand(X) { const tc_tensor *y = NULL; return tc_add(x, y); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:85: remark: 'null_operand' not compiled: the operand is NULL
TC_COMPILE tc_tensor *foreign(X, void *p) { return tc_add(x, (tc_tensor *)p); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:62: remark: 'foreign' not compiled: a pointer is taken for one of another type: 'void *' for 'tc_tensor *'; declare it with the type that it leads to
TC_COMPILE tc_tensor *gradients(X) { tc_tensor *y = tc_sum(x, TC_ALL, false); tc_backward(y); return y; }
// CHECK-DAG: messages.c:[[#@LINE-1]]:79: remark: graph break in 'gradients': 'tc_backward' is called; the gradients of tc_grad are compiled
TC_COMPILE tc_tensor *long_loop_of_ops(X) { tc_tensor *y = tc_exp(x); for (int i = 0; i < 6; i++) for (int j = 0; j < 2000; j++) y = tc_sin(y); return y; }
// CHECK-DAG: messages.c:[[#@LINE-1]]:71: remark: graph break in 'long_loop_of_ops': the loop makes more than 2048 operations; its body is compiled instead
TC_COMPILE tc_tensor *longjmps(X) { longjmp(place, 1); return tc_exp(x); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:37: remark: graph break in 'longjmps': 'longjmp' is called, which control flow cannot be followed through
TC_COMPILE tc_tensor *null_list(X) { return tc_add(x, tc_concat(NULL, 2, 0)); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:65: remark: 'null_list' not compiled: a list of tensors that is not a local array
TC_COMPILE tc_tensor *of_text(X) { return tc_add(x, (tc_tensor *)"text"); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:53: remark: 'of_text' not compiled: the operand is not a tensor that is followed
static tc_tensor *of_three(const tc_tensor *x) { return tc_rank(x) == 3 ? tc_exp(x) : tc_fail_as(TC_ERROR_ARGUMENT, "of_three: %lld axes of %s, 100 %%", (long long)tc_rank(x), tc_dtype_name(TC_F32)); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:87: remark: 'refused' not compiled: this is an error: of_three: 1 axes of ..., 100 %
TC_COMPILE tc_tensor *refused(X) { return of_three(x); }
static tc_tensor *unset_axis(const tc_tensor *x) { tc_ints axes; axes.n = 1; return tc_sum(x, axes, false); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:95: remark: 'unset_list' not compiled: 'axes' is not a number that is followed
TC_COMPILE tc_tensor *unset_list(M) { return unset_axis(x); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:46: {{note|remark}}: 'unset_axis' is called here
static tc_tensor *longer(tc_tensor *y) {
  for (int i = 0; i < 2000; i++) y = tc_sin(y);
  for (int i = 0; i < 2000; i++) y = tc_sin(y);
  return y;
}
TC_COMPILE tc_tensor *many_operations(X) { return longer(longer(longer(tc_exp(x)))); }
// CHECK-DAG: messages.c:[[#@LINE-5]]:38: remark: 'many_operations' not compiled: more than 10000 operations; split the function, or work on larger tensors
#define CALLS(to, from) static tc_tensor *to(const tc_tensor *x) { return from(x); }
CALLS(c1, tc_exp) CALLS(c2, c1) CALLS(c3, c2) CALLS(c4, c3) CALLS(c5, c4) CALLS(c6, c5) CALLS(c7, c6) CALLS(c8, c7)
CALLS(d1, c8) CALLS(d2, d1) CALLS(d3, d2) CALLS(d4, d3) CALLS(d5, d4) CALLS(d6, d5) CALLS(d7, d6) CALLS(d8, d7)
CALLS(e1, d8) CALLS(e2, e1) CALLS(e3, e2) CALLS(e4, e3) CALLS(e5, e4) CALLS(e6, e5) CALLS(e7, e6) CALLS(e8, e7)
CALLS(f1, e8) CALLS(f2, f1) CALLS(f3, f2) CALLS(f4, f3) CALLS(f5, f4) CALLS(f6, f5) CALLS(f7, f6) CALLS(f8, f7)
CALLS(g1, f8) CALLS(g2, g1) CALLS(g3, g2) CALLS(g4, g3) CALLS(g5, g4) CALLS(g6, g5) CALLS(g7, g6) CALLS(g8, g7)
CALLS(h1, g8) CALLS(h2, h1) CALLS(h3, h2) CALLS(h4, h3) CALLS(h5, h4) CALLS(h6, h5) CALLS(h7, h6) CALLS(h8, h7)
CALLS(i1, h8) CALLS(i2, i1) CALLS(i3, i2) CALLS(i4, i3) CALLS(i5, i4) CALLS(i6, i5) CALLS(i7, i6) CALLS(i8, i7)
CALLS(j1, i8) CALLS(j2, j1) CALLS(j3, j2) CALLS(j4, j3) CALLS(j5, j4) CALLS(j6, j5) CALLS(j7, j6) CALLS(j8, j7)
TC_COMPILE tc_tensor *deep_calls(X) { return j8(x); }
// CHECK-DAG: messages.c:[[#@LINE-9]]:29: remark: 'deep_calls' not compiled: calls are nested more than 64 deep

// ---- expressions
TC_COMPILE tc_tensor *elvis(X, double a) { return tc_add_s(x, a ?: 2.0); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:63: remark: 'elvis' not compiled: ?: without a middle operand; write the condition and the value
TC_COMPILE tc_tensor *conversion(X, void *p) { return tc_add_s(x, (double)(long)p); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:75: remark: 'conversion' not compiled: a conversion of this kind is not captured
TC_COMPILE tc_tensor *real_part(X, double a) { _Complex double z; __real__ z = a; return tc_add_s(x, a); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:67: remark: graph break in 'real_part': an object of this form is not followed
TC_COMPILE tc_tensor *taken_for(X, double *d) { return tc_add_s(x, *(int *)d); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:69: remark: 'taken_for' not compiled: a pointer is taken for one of another type
TC_COMPILE tc_tensor *writes_volatile(X) { volatile int *p = &changes; *p = 3; return tc_exp(x); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:75: remark: graph break in 'writes_volatile': a volatile object is written
TC_COMPILE tc_tensor *long_array(X) { char a[70000] = {1}; return tc_add_s(x, a[0]); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:55: remark: 'long_array' not compiled: an array of more than 65536 elements
TC_COMPILE tc_tensor *outside(X) { double a[2] = {1, 2}; return tc_add_s(x, a[2]); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:77: remark: 'outside' not compiled: an index outside of the array
TC_COMPILE tc_tensor *of_union(X) { union { int i; float f; } u = {1}; return tc_add_s(x, u.i); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:67: remark: 'of_union' not compiled: an object of this type is not followed
TC_COMPILE tc_tensor *leaves_block(X) { double a = ({ if (1) return NULL; 2.0; }); return tc_add_s(x, a); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:52: remark: graph break in 'leaves_block': control leaves a statement expression
static void done(double *a) { printf("%g\n", *a); }
TC_COMPILE tc_tensor *cleaned(X) { __attribute__((cleanup(done))) double a = 2; return tc_add_s(x, a); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:74: remark: graph break in 'cleaned': 'a' is cleaned up by a function
TC_COMPILE tc_tensor *compares(X, const double *a, const double *b) { return a < b ? tc_exp(x) : tc_neg(x); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:80: remark: 'compares' not compiled: pointers are compared, and that they lead into one array is not known at build time; use an index
TC_COMPILE tc_tensor *asks_there(X, const double *a) { return tc_add_s(x, a != NULL); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:77: remark: 'asks_there' not compiled: whether this pointer is NULL is not known at build time
TC_COMPILE tc_tensor *chooses(X, const tc_tensor *y TC_SHAPE("f32[N]")) { return tc_exp(tc_item(tc_sum(x, TC_ALL, false)) > 0 ? x : y); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:89: remark: 'chooses' not compiled: the choice depends on a value that is not known at build time; compute both sides and use tc_where, or choose outside of the function
TC_COMPILE tc_tensor *complex_number(X) { _Complex double c = 1; return tc_add_s(x, __real__ c); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:63: remark: 'complex_number' not compiled: a conversion of this kind is not captured
TC_COMPILE tc_tensor *assigns(X, struct part *p, int n) { p += n; return tc_add_s(x, p->scale); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:61: remark: graph break in 'assigns': this assignment is not captured
TC_COMPILE tc_tensor *maybe_written(X, int n) { double a = 1; n > 2 && (a = 3); return tc_add_s(x, a); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:75: remark: graph break in 'maybe_written': whether this is written is not known at build time
TC_COMPILE tc_tensor *increments(X) { x++; return tc_exp(x); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:40: remark: graph break in 'increments': ++ and -- of this object are not captured
TC_COMPILE tc_tensor *difference(X, const double *p, const double *q) { return tc_add_s(x, p - q); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:94: remark: 'difference' not compiled: the difference of pointers is not known at build time; use an index
TC_COMPILE tc_tensor *in_front(X, const double *p, int n) { return tc_add_s(x, *(p - n)); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:84: remark: 'in_front' not compiled: this operator is not captured for these operands
TC_COMPILE tc_tensor *asks(X, const double *p, int n) { return tc_add_s(x, n ? tc_item(tc_sum(tc_mul_s(x, *p), TC_ALL, false)) : 0); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:107: remark: 'asks' not compiled: whether this number is asked for is not known at build time
static tc_tensor *one_of(tc_tensor *x, int ways) {
  for (int i = 0; i < 4; i++)
    if (ways >> i & 1) x = tc_exp(x);
  return x;
}
// CHECK-DAG: messages.c:[[#@LINE-3]]:19: remark: 'steers' not compiled: the branch depends on a value that is not known at build time; TC_SPECIALIZE("mode=...") compiles for a value of it
TC_COMPILE tc_tensor *steers(X, int mode) { return one_of(tc_neg(x), mode + 1); }
static tc_tensor *again_and_again(const tc_tensor *x, const struct part *p) {
  tc_tensor *h = tc_neg(x);
  for (int i = 0; i < p->scale; i++) h = tc_exp(h);
  return h;
}
// CHECK-DAG: messages.c:[[#@LINE-3]]:21: remark: 'repeats' not compiled: the number of rounds of the loop depends on a value that is not known at build time; mark 'again_and_again' TC_COMPILE, with TC_SHAPE at the tensors: parts are compiled then, and the call stays
TC_COMPILE tc_tensor *repeats(X, const struct part *p) { return again_and_again(x, p); }
TC_COMPILE static tc_tensor *while_large(X) {
  tc_tensor *h = tc_neg(x);
  while (tc_item(tc_max(h, TC_ALL, false)) > 1) h = tc_mul_s(h, 0.5);
  return h;
}
// CHECK-DAG: messages.c:[[#@LINE-3]]:44: remark: 'calls_marked' not compiled: the number of rounds of the loop depends on a value that is not known at build time; 'while_large' is compiled apart from this call
TC_COMPILE tc_tensor *calls_marked(X) { return while_large(x); }
TC_COMPILE tc_tensor *sides(X, int n) { if (n) x = tc_exp(x); else x = tc_neg(x); return tc_exp(x); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:45: remark: graph break in 'sides': the branch depends on a value that is not known at build time; its sides are compiled, each for itself; TC_SPECIALIZE("n=...") compiles for a value of it
TC_COMPILE tc_tensor *rounds(X, int n) { while (n--) x = tc_exp(x); return tc_exp(x); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:50: remark: graph break in 'rounds': the number of rounds of the loop depends on a value that is not known at build time; its body is compiled, and called in each round
TC_COMPILE tc_tensor *cases(X, int n) { switch (n) { case 1: x = tc_exp(x); } return tc_neg(x); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:41: remark: graph break in 'cases': the switch depends on a value that is not known at build time; its cases are compiled, each for itself
TC_COMPILE void scopes(tc_tensor *x TC_SHAPE("f32[N]")) { tc_scope s; tc_scope_begin(&s); tc_copy_(x, tc_exp(x)); tc_scope_end(&s); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:71: remark: graph break in 'scopes': 'tc_scope_begin' is called; write TC_SCOPE { ... }, which goto and return may leave
TC_COMPILE tc_tensor *negates(X, const void *p) { return tc_add_s(x, !p); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:70: remark: 'negates' not compiled: this operator is not captured for this operand
TC_COMPILE tc_tensor *barrier(X) {
#pragma omp barrier
  return tc_exp(x);
}
// CHECK-DAG: messages.c:[[#@LINE-3]]:1: remark: graph break in 'barrier': a statement of this kind is not captured

// ---- outer objects
TC_COMPILE tc_tensor *atomic(X) { return tc_add_s(x, changes); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:54: remark: 'atomic' not compiled: 'changes' is volatile
TC_COMPILE tc_tensor *local_table(X, int n) { double a[3] = {1, 2, 3}; return tc_add_s(x, a[n]); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:91: remark: 'local_table' not compiled: the index is not known at build time, and the array is written here
TC_COMPILE tc_tensor *maybe_read(X, const struct part *p, int n) { return tc_add_s(x, n ? p[n].scale : 1); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:91: remark: 'maybe_read' not compiled: whether this element is read is not known at build time

// ---- numbers, results
TC_COMPILE tc_tensor *size_of_tensor(X) { return tc_zeros(TC_DIMS(tc_item_int(tc_argmax(x, TC_ALL, false))), TC_F32); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:50: remark: 'size_of_tensor' not compiled: a size that is read from a tensor
TC_COMPILE tc_tensor *odd_number(X) { return tc_add_s(x, (int)tc_item(tc_sum(x, TC_ALL, false)) & 3); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:58: remark: 'odd_number' not compiled: a number that is computed from a tensor in a way that is not captured
TC_COMPILE tc_tensor *const_written(const tc_tensor *x TC_SHAPE("f32[N]"), const tc_tensor *y TC_SHAPE("f32[N]")) { return tc_add_((tc_tensor *)x, y); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:124: remark: 'const_written' not compiled: 'x' is const and written

// ---- memory
TC_COMPILE tc_tensor *from_behind(X, float *p, float **q) { return tc_add(x, tc_from(TC_DIMS(2), (*q = p), TC_F32)); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:78: remark: 'from_behind' not compiled: memory is read behind a write to 'q[0]', which may be part of it
static tc_tensor *middle(void) { float k[4] = {1, 2, 3, 4}; return tc_from(TC_DIMS(2), k + 1, TC_F32); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:88: remark: 'from_middle' not compiled: the data of a tensor are not followed; pass an array from its start on (in C++, a static const one)
TC_COMPILE tc_tensor *from_middle(X) { return tc_add(x, middle()); }
static tc_tensor *table(void) { static const float k[2] = {1, 2}; return tc_wrap_const(TC_DIMS(2), NULL, k, TC_F32); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:106: remark: 'own_table' not compiled: this table is declared behind the place where kernels are called; declare it outside of the function
TC_COMPILE tc_tensor *own_table(X) { return tc_add(x, table()); }

// ---- special calls
TC_COMPILE double at_list(M, int n) { return tc_at(x, (tc_ints){n, {0}}); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:46: remark: 'at_list' not compiled: 'index' is not a list whose length is known at build time
TC_COMPILE tc_tensor *split_rows(M) { tc_tensor *p[4]; tc_split(x, 4, 0, p); return tc_exp(p[0]); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:56: remark: 'split_rows' not compiled: the size is not known to divide into 4 pieces; declare a multiple in TC_SHAPE, such as N%4
TC_COMPILE tc_tensor *split_unknown(M, int n) { tc_tensor *p[4]; tc_split(x, n, 0, p); return tc_exp(p[0]); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:66: remark: 'split_unknown' not compiled: the number of pieces and the axis have to be known at build time, and the pieces go to a local array
TC_COMPILE tc_tensor *item_of_many(X) { return tc_add_s(x, tc_item(x)); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:60: remark: 'item_of_many' not compiled: tc_item of f32{{[[]}}N], which is not known to have one element
TC_COMPILE tc_tensor *keeps_unknown(X, void *p) { tc_keep((tc_tensor *)p); return tc_exp(x); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:59: remark: graph break in 'keeps_unknown': a pointer is taken for one of another type
TC_COMPILE tc_tensor *size_axis(X, int n) { return tc_add_s(x, (double)tc_size(x, n)); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:72: remark: 'size_axis' not compiled: the axis has to be known at build time
TC_COMPILE tc_tensor *unknown_dtype(X, tc_dtype d) { return tc_zeros(TC_DIMS(3), d); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:61: remark: 'unknown_dtype' not compiled: rank and dtype have to be known at build time
static tc_tensor *unset_dims(void) { tc_ints dims; dims.n = 1; return tc_zeros(dims, TC_F32); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:71: remark: 'unset_size' not compiled: rank and dtype have to be known at build time
TC_COMPILE tc_tensor *unset_size(X) { return tc_add(x, unset_dims()); }
TC_COMPILE tc_tensor *keeps_text(X) { tc_keep((tc_tensor *)"text"); return tc_exp(x); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:39: remark: graph break in 'keeps_text': a tensor that is not followed is kept
TC_COMPILE tc_tensor *frees_text(X) { tc_free((tc_tensor *)"text"); return tc_exp(x); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:39: remark: graph break in 'frees_text': what is freed is not followed
TC_COMPILE tc_tensor *doubled(X, double t) { for (int i = 0; i < 40; i++) t = t * t + 1; return tc_mul_s(x, t); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:79: remark: {{.*}}'doubled'{{.*}}: a number is computed of itself too often to be written as one expression

TC_COMPILE tc_tensor *whole_and_half(X) { tc_tensor *y = tc_clone(x); tc_add_(tc_slice(y, 0, 0, -1, 2), y); return tc_exp(y); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:71: remark: graph break in 'whole_and_half': there are no sizes for which (N/2) is N

// ---- statements
TC_COMPILE tc_tensor *switch_inside(X) { switch (3) { case 1: if (counter) { case 3: x = tc_exp(x); } } return tc_neg(x); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:78: remark: graph break in 'switch_inside': a case label inside of another statement is not captured
TC_COMPILE tc_tensor *of_this_kind(X) { void *p = &&end; if (counter) goto *p; end: return tc_neg(x); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:51: remark: graph break in 'of_this_kind': an expression of this form is not captured
__attribute__((naked)) TC_COMPILE void naked(void) { __asm__("ret"); }
// CHECK-DAG: messages.c:[[#@LINE-1]]:40: remark: 'naked' not compiled: it is a naked function
