// What is said where a function of one example is not captured, or not computed for all of them at once.
// RUN: %not %tc -w -fsyntax-only %s -Rpass-missed=tc 2>&1 | %check %s
#include <stdio.h>
#include <tcompile.h>

#define X const tc_tensor *x TC_SHAPE("f32[B,N]")
#define MAP(f, context) tc_tensor *y = NULL; return tc_vmap(f, context, 1, &x, NULL, 1, &y) ? y : NULL

static bool doubled(tc_tensor *const *x, void *context, tc_tensor **y) { (void)context; return (y[0] = tc_mul_s(x[0], 2)) != NULL; }
TC_COMPILE tc_tensor *counted(X, int n) { tc_tensor *y; return tc_vmap(doubled, NULL, n, &x, NULL, 1, &y) ? y : NULL; }
// CHECK-DAG: vmap.c:[[#@LINE-1]]:87: remark: 'counted' not compiled: how many operands there are has to be known at build time; TC_SPECIALIZE("n=...") compiles for a value of it
TC_COMPILE tc_tensor *along(X, int axis) { tc_tensor *y; return tc_vmap(doubled, NULL, 1, &x, &axis, 1, &y) ? y : NULL; }
// CHECK-DAG: vmap.c:[[#@LINE-1]]:95: remark: 'along' not compiled: the axes have to be known at build time
TC_COMPILE tc_tensor *nowhere(X) { return tc_vmap(doubled, NULL, 1, &x, NULL, 1, NULL) ? tc_exp(x) : NULL; }
// CHECK-DAG: vmap.c:[[#@LINE-1]]:43: remark: 'nowhere' not compiled: results go to a list that is not followed
TC_COMPILE tc_tensor *outside(X) { tc_tensor *y; return tc_vmap(doubled, NULL, 1, &x, (int[]){2}, 1, &y) ? y : NULL; }
// CHECK-DAG: vmap.c:[[#@LINE-1]]:57: error: vmap: axis 2 is out of range for f32[B,N]
TC_COMPILE tc_tensor *unmapped(X) { tc_tensor *y; return tc_vmap(doubled, NULL, 1, &x, (int[]){TC_UNMAPPED}, 1, &y) ? y : NULL; }
// CHECK-DAG: vmap.c:[[#@LINE-1]]:58: error: vmap: no operand is mapped
TC_COMPILE tc_tensor *apart(const tc_tensor *a TC_SHAPE("f32[3]"), const tc_tensor *b TC_SHAPE("f32[4]")) {
  const tc_tensor *both[] = {a, b};
  tc_tensor *y;
  return tc_vmap(doubled, NULL, 2, both, NULL, 1, &y) ? y : NULL;
// CHECK-DAG: vmap.c:[[#@LINE-1]]:10: error: vmap: f32[4] has 4 examples along axis 0, others have 3
}
TC_COMPILE tc_tensor *none(const tc_tensor *x TC_SHAPE("f32[0,3]")) { MAP(doubled, NULL); }
// CHECK-DAG: vmap.c:[[#@LINE-1]]:71: remark: 'none' not compiled: a batch of 0 examples, whose results have no known shape

bool far(tc_tensor *const *x, void *context, tc_tensor **y);
TC_COMPILE tc_tensor *unseen(X) { MAP(far, NULL); }
// CHECK-DAG: vmap.c:[[#@LINE-1]]:39: remark: 'unseen' not compiled: a function whose body is not visible in this file is handed over
static bool forgets(tc_tensor *const *x, void *context, tc_tensor **y) { (void)x, (void)context, (void)y; return true; }
TC_COMPILE tc_tensor *forgotten(X) { MAP(forgets, NULL); }
// CHECK-DAG: vmap.c:[[#@LINE-1]]:38: remark: 'forgotten' not compiled: the function that tc_vmap is given sets no result 1
static bool given_up(tc_tensor *const *x, void *context, tc_tensor **y) { (void)context; y[0] = x[0]; return false; }
TC_COMPILE tc_tensor *failing(X) { MAP(given_up, NULL); }
// CHECK-DAG: vmap.c:[[#@LINE-1]]:36: remark: 'failing' not compiled: whether the function that tc_vmap is given fails is not known at build time

// What would be done once for each example.
static bool adds(tc_tensor *const *x, void *context, tc_tensor **y) { return (y[0] = tc_add_(context, x[0])) != NULL; }
TC_COMPILE tc_tensor *accumulated(X, tc_tensor *sum TC_SHAPE("f32[N]")) { MAP(adds, sum); }
// CHECK-DAG: vmap.c:[[#@LINE-1]]:75: remark: 'accumulated' not compiled: a function that tc_vmap applies to each example writes or frees a tensor that is not its own
static bool writes(tc_tensor *const *x, void *context, tc_tensor **y) { (void)context; return (y[0] = tc_exp_(x[0])) != NULL; }
TC_COMPILE tc_tensor *in_place(X) { MAP(writes, NULL); }
// CHECK-DAG: vmap.c:[[#@LINE-1]]:37: remark: 'in_place' not compiled: a function that tc_vmap applies to each example writes or frees a tensor that is not its own
static bool frees(tc_tensor *const *x, void *context, tc_tensor **y) { y[0] = tc_exp(x[0]); tc_free(context); return true; }
TC_COMPILE tc_tensor *freed(X, tc_tensor *other TC_SHAPE("f32[N]")) { MAP(frees, other); }
// CHECK-DAG: vmap.c:[[#@LINE-1]]:71: remark: 'freed' not compiled: a function that tc_vmap applies to each example writes or frees a tensor that is not its own
static bool counts(tc_tensor *const *x, void *context, tc_tensor **y) { y[0] = tc_exp(x[0]); ++*(int *)context; return true; }
TC_COMPILE tc_tensor *counting(X) { int calls = 0; MAP(counts, &calls); }
// CHECK-DAG: vmap.c:[[#@LINE-2]]:94: remark: 'counting' not compiled: a function that tc_vmap applies to each example writes what is not its own
static int calls;
static bool counts_all(tc_tensor *const *x, void *context, tc_tensor **y) { (void)context; y[0] = tc_exp(x[0]); calls++; return true; }
TC_COMPILE tc_tensor *counting_all(X) { MAP(counts_all, NULL); }
// CHECK-DAG: vmap.c:[[#@LINE-2]]:118: remark: 'counting_all' not compiled: a function that tc_vmap applies to each example writes what is not its own
static bool prints(tc_tensor *const *x, void *context, tc_tensor **y) { (void)context; puts("one"); return (y[0] = tc_exp(x[0])) != NULL; }
TC_COMPILE tc_tensor *printing(X) { MAP(prints, NULL); }
// CHECK-DAG: vmap.c:[[#@LINE-2]]:88: remark: 'printing' not compiled: 'puts' is called, whose body is not visible in this file; define it here, or call it outside of the function
TC_EFFECT void log_mean(const tc_tensor *x);
static bool logs(tc_tensor *const *x, void *context, tc_tensor **y) { (void)context; log_mean(x[0]); return (y[0] = tc_exp(x[0])) != NULL; }
TC_COMPILE tc_tensor *logging(X) { MAP(logs, NULL); }
// CHECK-DAG: vmap.c:[[#@LINE-1]]:36: remark: 'logging' not compiled: a function that tc_vmap applies to each example has effects
static bool reads(tc_tensor *const *x, void *context, tc_tensor **y) { (void)context; return (y[0] = tc_mul_s(x[0], tc_item(tc_sum(x[0], TC_ALL, false)))) != NULL; }
TC_COMPILE tc_tensor *reading(X) { MAP(reads, NULL); }
// CHECK-DAG: vmap.c:[[#@LINE-2]]:117: remark: 'reading' not compiled: a number is read that differs from example to example of tc_vmap
static bool draws(tc_tensor *const *x, void *context, tc_tensor **y) { return (y[0] = tc_dropout(x[0], 0.5, true, context)) != NULL; }
TC_COMPILE tc_tensor *drawing(X, tc_generator *g) { MAP(draws, g); }
// CHECK-DAG: vmap.c:[[#@LINE-2]]:87: remark: 'drawing' not compiled: a function that tc_vmap applies to each example writes what is not its own

// Its own part of a tape, which the next example would find freed.
static bool behind(tc_tensor *const *x, void *context, tc_tensor **y) {
  tc_tensor *const *of = context;
  return tc_grad(tc_sum(tc_mul(of[0], x[0]), TC_ALL, false), 1, of + 1, y);
}
TC_COMPILE tc_tensor *shared_tape(X, tc_tensor *w TC_SHAPE("f32[N]")) {
  tc_tensor *of[] = {tc_exp(w), w};
  MAP(behind, of);
// CHECK-DAG: vmap.c:[[#@LINE-1]]:3: remark: graph break in 'shared_tape': a function that tc_vmap applies to each example frees the tape behind a value that is not its own
}

// A way that leads through the operand of one example, too.
static bool of_all(tc_tensor *const *x, void *context, tc_tensor **y) {
  tc_tensor *all = context;
  return tc_grad(tc_sum(tc_mul(x[0], tc_sum(all, TC_AXES(0), false)), TC_ALL, false), 1, &all, y);
}
TC_COMPILE tc_tensor *within(tc_tensor *x TC_SHAPE("f32[B,N]")) { MAP(of_all, x); }
// CHECK-DAG: vmap.c:[[#@LINE-3]]:10: remark: 'within' not compiled: a function that tc_vmap applies to each example takes gradients with respect to what the examples are computed from
static bool along_all(tc_tensor *const *x, void *context, tc_tensor **y) {
  tc_tensor *all = context;
  return (y[0] = tc_jvp(x[0], 1, &all, &all)) != NULL;
}
TC_COMPILE tc_tensor *forward(tc_tensor *x TC_SHAPE("f32[B,N]")) { MAP(along_all, x); }
// CHECK-DAG: vmap.c:[[#@LINE-3]]:18: remark: 'forward' not compiled: a function that tc_vmap applies to each example takes gradients with respect to what the examples are computed from

// No rule.
bool twice_kernel(tc_tensor *out, const tc_tensor *x);
TC_CUSTOM_OP("f32[N]", twice_kernel) tc_tensor *twice(const tc_tensor *x TC_SHAPE("f32[N]"));
static bool custom(tc_tensor *const *x, void *context, tc_tensor **y) { (void)context; return (y[0] = twice(tc_exp(x[0]))) != NULL; }
TC_COMPILE tc_tensor *of_its_own(X) { MAP(custom, NULL); }
// CHECK-DAG: vmap.c:[[#@LINE-1]]:39: remark: 'of_its_own' not compiled: call is not computed for all examples at once: a function of the program's own computes one example
static bool deep(tc_tensor *const *x, void *context, tc_tensor **y) { (void)context; return (y[0] = tc_reshape(x[0], TC_DIMS(1, 1, 1, 1, 1, 1, 1, -1))) != NULL; }
TC_COMPILE tc_tensor *too_deep(X) { MAP(deep, NULL); }
// CHECK-DAG: vmap.c:[[#@LINE-1]]:37: remark: 'too_deep' not compiled: reshape: dims has more than 8 entries
