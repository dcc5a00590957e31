// What tc-explain --json tells of signatures: declarations that another file can make.
// RUN: %tc -std=c2x -I %inputs -fplugin-arg-tc-backend=openmp -c %s -o %t.o && %explain --json %t.o | %check %s
// RUN: %tcxx -I %inputs -DCPLUSPLUS -fplugin-arg-tc-backend=openmp -c %s -o %t.o && %explain --json %t.o | %check --check-prefix=CXX %s
// RUN: %explain %t.o | %not grep obstacle
#include <tcompile.h>
#include "signature.h"

#ifndef CPLUSPLUS
typedef struct {
  int k;
} here;
struct local {
  int x;
};
typedef float real;
typedef int64_t position;
typedef const tc_tensor *operand;

TC_COMPILE tc_tensor *everything(const tc_tensor *x TC_SHAPE("f32[B,784]"), tc_tensor *, const struct model *m, const settings *s,
                                 here *h, struct local *l, real r, position i, size_t z, bool b, speed v, tc_ints d,
                                 tc_tensor **out, tc_tensor *list[2], const char *text, tc_dtype t, operand o) {
  *out = tc_exp(x);
  return tc_add_s(x, r * i);
}
// CHECK: "name": "everything"
// CHECK: {"symbol": "everything", "returns": "tc_tensor *", "kind": "tensor", "needs": [], "obstacle": "",
// CHECK: {"name": "x", "declaration": "const tc_tensor *x", "kind": "tensor", "shape": "f32[B,784]", "needs": [], "obstacle": ""}
// CHECK: {"name": "p2", "declaration": "tc_tensor *p2", "kind": "tensor", "shape": "",
// CHECK: "declaration": "const struct model *m", "kind": "struct", "shape": "", "needs": ["\"signature.h\""], "obstacle": ""
// CHECK: "declaration": "const settings *s", "kind": "struct", "shape": "", "needs": ["\"signature.h\""]
// CHECK: "declaration": "here *h", "kind": "struct", "shape": "", "needs": [], "obstacle": "its type is known in this file alone; declare that in a header"
// CHECK: "declaration": "struct local *l", "kind": "struct", "shape": "", "needs": ["struct local"], "obstacle": ""
// CHECK: "declaration": "float r", "kind": "float"
// CHECK: "declaration": "long i", "kind": "int"
// CHECK: "declaration": "size_t z", "kind": "int"
// CHECK: "declaration": "bool b", "kind": "bool"
// CHECK: "declaration": "speed v", "kind": "int", "shape": "", "needs": ["\"signature.h\""]
// CHECK: "declaration": "tc_ints d", "kind": "other", "shape": "", "needs": [], "obstacle": ""
// CHECK: "declaration": "tc_tensor **out", "kind": "result"
// CHECK: "declaration": "tc_tensor **list", "kind": "other"
// CHECK: "declaration": "const char *text", "kind": "other"
// CHECK: "declaration": "tc_dtype t", "kind": "int", "shape": "", "needs": [], "obstacle": ""
// CHECK: "declaration": "const struct tc_tensor *o", "kind": "tensor", "shape": "", "needs": [], "obstacle": ""
// CHECK: "segments": [
// CHECK: "results": [
// CHECK-NEXT: {"type": "f32[B,784]"},
// CHECK-NEXT: {"type": "f32[B,784]"}],

static TC_COMPILE void hidden(tc_tensor *x TC_SHAPE("f32[N]")) { tc_copy_(x, tc_exp(x)); }
TC_COMPILE float renamed(void) __asm__("other_name");
float renamed(void) { hidden(NULL); return 0.5f; }
// CHECK: {"symbol": "", "returns": "void", "kind": "none", "needs": [], "obstacle": "it is static",
// CHECK: {"symbol": "other_name", "returns": "float", "kind": "float",
#else
TC_COMPILE tc_tensor *mangled(const tc_tensor *x TC_SHAPE("f32[N]"), int &n) { n = 1; return tc_exp(x); }
extern "C" TC_COMPILE tc_tensor *plain(const model *m, const tc_tensor *x TC_SHAPE("f32[N]"), bool on) { return on ? tc_exp(x) : tc_neg(m->w); }
// CXX: {"symbol": "", "returns": "tc_tensor *", "kind": "tensor", "needs": [], "obstacle": "it is a function of C++; declare it extern \"C\"",
// CXX: "declaration": "int &n", "kind": "other", "shape": "", "needs": [], "obstacle": "its type is none of C"
// CXX: {"symbol": "plain",
// CXX: "declaration": "const struct model *m", "kind": "struct", "shape": "", "needs": ["\"signature.h\""]
// CXX: "declaration": "bool on", "kind": "bool"
#endif
