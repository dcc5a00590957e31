// A program that declares functions of the API itself, and not as they are: breaks, and no crash.
// RUN: %tc -std=gnu89 -w -fsyntax-only %s -Rpass-missed=tc 2>&1 | %check %s
typedef struct tc_tensor tc_tensor;
tc_tensor *tc_exp(), *tc_add(), *tc_add_s(), *tc_slice(), *tc_zeros_like(), *tc_fill_(), *tc_copy_(), *tc_concat(), *tc_softmax();
double tc_item();
long tc_size();
#define COMPILE __attribute__((tc_compile))
#define X const tc_tensor *x __attribute__((tc_shape("f32[N]")))

COMPILE tc_tensor *none(X) { return tc_exp(); }
// CHECK-DAG: own_declarations.c:[[#@LINE-1]]:37: remark: 'none' not compiled: fewer arguments than the function has
COMPILE tc_tensor *one(X) { return tc_add(x); }
// CHECK-DAG: own_declarations.c:[[#@LINE-1]]:36: remark: 'one' not compiled: fewer arguments than the function has
COMPILE tc_tensor *no_axis(X) { return tc_softmax(x); }
// CHECK-DAG: own_declarations.c:[[#@LINE-1]]:40: remark: 'no_axis' not compiled: fewer arguments than the function has
COMPILE tc_tensor *no_length(X) { const tc_tensor *all[1] = {x}; return tc_concat(all); }
// CHECK-DAG: own_declarations.c:[[#@LINE-1]]:73: remark: 'no_length' not compiled: fewer arguments than the function has
COMPILE tc_tensor *no_number(X) { return tc_add_s(x); }
// CHECK-DAG: own_declarations.c:[[#@LINE-1]]:42: remark: 'no_number' not compiled: fewer arguments than the function has
COMPILE tc_tensor *no_like(X) { return tc_zeros_like(); }
// CHECK-DAG: own_declarations.c:[[#@LINE-1]]:40: remark: 'no_like' not compiled: fewer arguments than the function has
COMPILE tc_tensor *no_item(X) { return tc_add_s(x, tc_item()); }
// CHECK-DAG: own_declarations.c:[[#@LINE-1]]:52: remark: 'no_item' not compiled: fewer arguments than the function has
COMPILE tc_tensor *no_size(X) { return tc_add_s(x, (double)tc_size(x)); }
// CHECK-DAG: own_declarations.c:[[#@LINE-1]]:60: remark: 'no_size' not compiled: fewer arguments than the function has
COMPILE tc_tensor *no_value(tc_tensor *x __attribute__((tc_shape("f32[N]")))) { return tc_fill_(x); }
// CHECK-DAG: own_declarations.c:[[#@LINE-1]]:88: remark: 'no_value' not compiled: fewer arguments than the function has
COMPILE tc_tensor *no_source(tc_tensor *x __attribute__((tc_shape("f32[N]")))) { return tc_copy_(x); }
// CHECK-DAG: own_declarations.c:[[#@LINE-1]]:89: remark: 'no_source' not compiled: fewer arguments than the function has
COMPILE tc_tensor *tensor_as_number(X) { return tc_add_s(x, x); }
// CHECK-DAG: own_declarations.c:[[#@LINE-1]]:61: remark: 'tensor_as_number' not compiled: a number that is not followed
COMPILE tc_tensor *half_a_size(X, double from) { return tc_slice(x, 0, from, 4, 1); }
// CHECK-DAG: own_declarations.c:[[#@LINE-1]]:72: remark: 'half_a_size' not compiled: a size has to be an integer
static tc_tensor *narrow(x, by) const tc_tensor *x; float by; { return tc_add_s(x, by); }
COMPILE tc_tensor *calls_old(X) { return narrow(x, 0.1); }
// CHECK-DAG: own_declarations.c:[[#@LINE-1]]:42: remark: 'calls_old' not compiled: the call of 'narrow' is not captured
long tc_shape();
COMPILE tc_tensor *other_list(X) { return tc_add_s(x, (double)tc_shape(x)); }
// CHECK-DAG: own_declarations.c:[[#@LINE-1]]:63: remark: 'other_list' not compiled: 'tc_ints' is not what tcompile.h declares
__attribute__((tc_op("f32[N]", "kernel"))) tc_tensor *operation();
COMPILE tc_tensor *calls_operation(X) { return operation(x, 1, 2); }
// CHECK-DAG: own_declarations.c:[[#@LINE-1]]:48: remark: 'calls_operation' not compiled: the call of 'operation' is not captured
