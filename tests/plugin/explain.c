// What tc-explain reads out of objects, executables and archives: all of it, whatever the way there.
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %tc -O1 -c %s -o main.o && %explain main.o | %check %s
// RUN: %tc -O0 -c %inputs/explained.c -o second.o
// RUN: %tc main.o second.o -o linked %run && %explain linked > linked.txt && %check --check-prefix=BOTH %s < linked.txt
// RUN: strip -s linked -o stripped && %explain stripped | diff linked.txt -
// RUN: %tc main.o second.o -Wl,--gc-sections -o collected %run && %explain collected | diff linked.txt -
// RUN: %plain -r main.o second.o -o joined.o && %explain joined.o | diff linked.txt -
// RUN: ar rcs both.a main.o second.o && %explain both.a | diff linked.txt -
// RUN: %tc -O2 -flto -fuse-ld=lld %s %inputs/explained.c -o lto %run && %explain lto | %check --check-prefix=BOTH %s
// RUN: %tc -O2 -flto=thin -fuse-ld=lld %s %inputs/explained.c -o thin %run && %explain thin | %check --check-prefix=BOTH %s
// RUN: %tc -O2 -S %s -o main.s && %plain -c main.s -o again.o && %explain again.o | %check %s
// RUN: %explain --json main.o | %python -c "import json, sys; print(json.dumps(json.load(sys.stdin)))" | %check --check-prefix=JSON %s
// RUN: %explain --size N=100 --size M=10 main.o | %check --check-prefix=SIZED %s
//
// What has no such section says so.
// RUN: echo 'int unmarked;' > unmarked.c && %plain -c unmarked.c && %not %explain unmarked.o 2>&1 | %check --check-prefix=NONE %s
// RUN: %tc -c unmarked.c && %not %explain unmarked.o 2>&1 | %check --check-prefix=NONE %s
// RUN: %tc -flto -c %s -o bitcode.o && %not %explain bitcode.o 2>&1 | %check --check-prefix=BITCODE %s
// RUN: %not %explain %s 2>&1 | %check --check-prefix=TEXT %s
// RUN: %not %explain nowhere 2>&1 | %check --check-prefix=MISSING %s
// RUN: cd %t && %not %explain 2>&1 | %check --check-prefix=USAGE %s
#include <stdio.h>
#include <tcompile.h>

TC_COMPILE tc_tensor *two(const tc_tensor *x TC_SHAPE("f32[N,M%2]")) {
  tc_tensor *h = tc_exp(tc_neg(x));
  puts("between");
  return tc_mul(h, x);
}

TC_COMPILE TC_SPECIALIZE("K=7") tc_tensor *special(const tc_tensor *x TC_SHAPE("f32[K]")) { return tc_exp(x); }

TC_COMPILE tc_tensor *none(const tc_tensor *x) { return tc_exp(x); }

int main(void) { return 0; }

// CHECK: explain.c
// CHECK-NEXT: two ({{.*}}explain.c:26): 2 segments, 1 graph break
// CHECK-NEXT: graph break at 28:3: 'puts' is called, whose body is not visible in this file
// CHECK-NEXT: remedy: define it here, or call it outside of the function
// CHECK-NEXT: segment at line 27: 2 operations, 2*{{M\*N|N\*M}} flops
// CHECK-NEXT: guard: x is f32[N,M]
// CHECK-NEXT: guard: M % 2 == 0
// CHECK-NEXT: for cpu: 1 kernel, workspace 0 bytes
// CHECK-NEXT: exp_neg_1, line 27: 2*{{M\*N|N\*M}} flops, 8*{{M\*N|N\*M}} bytes [{{.*}}]
// CHECK-NEXT: ops: neg, exp
// CHECK: segment at line 29: 1 operations
// CHECK: special ({{.*}}:32): 2 segments, 0 graph breaks
// CHECK-NEXT: segment at line 32 for K=7: 1 operations, 7 flops
// CHECK: segment at line 32: 1 operations, K flops
// CHECK: none ({{.*}}:34): not compiled
// CHECK-NEXT: 34:{{.*}}: parameter 'x' has no TC_SHAPE, so its rank is not known
// CHECK-NEXT: remedy: write it behind the parameter
// CHECK: 3 functions, 4 segments, 2 graph breaks, 4 kernels (4 distinct)

// BOTH: two (
// BOTH: other (
// BOTH: 4 functions, 5 segments, 2 graph breaks, 5 kernels (4 distinct)

// SIZED: segment at line 27: 2 operations, 2000 flops
// SIZED: 2000 flops, 8000 bytes

// JSON: {"units": [{"version": 6, "file": "{{.*}}explain.c", "functions": [{"name": "two"
// JSON-SAME: "breaks": [{"line": 28, "column": 3, "reason": "'puts' is called
// JSON-SAME: "kernels": [{"name": "exp_neg_1"
// JSON-SAME: "lines": [27], "ops": ["neg", "exp"]

// NONE: tc-explain: unmarked.o: has no section .tcompile.explain: no marked function
// BITCODE: LLVM bitcode
// TEXT: neither an ELF file nor an archive
// MISSING: tc-explain: nowhere: cannot be read
// SIZE: tc-explain: 'N' is no size: --size NAME=VALUE takes a name and a number, such as B=32
// UNKNOWN: tc-explain: --size n=5: nothing here has a size of that name; there are N, M, K
// USAGE: usage: tc-explain [--json] [--size NAME=VALUE]... FILE...

// What is asked wrongly.
// RUN: cd %t && for size in N N= =5 N=x N=5x 5=N N=-1; do %not %explain --size $size main.o 2>&1 || exit 1; done > sizes.txt
// RUN: %check --check-prefix=SIZE %s < sizes.txt && test $(grep -c "is no size" sizes.txt) = 7
// RUN: %not %explain --size n=5 main.o 2>&1 >/dev/null | %check --check-prefix=UNKNOWN %s
// RUN: %not %explain --jason main.o 2>&1 | %check --check-prefix=USAGE %s
// RUN: test -z "$(%explain --help 2>&1 >/dev/null)" && %explain --help | %check --check-prefix=USAGE %s
