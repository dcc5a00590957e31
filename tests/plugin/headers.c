// Annotated functions of headers, of headers included twice, of precompiled headers; what these say of shapes.
// RUN: %tc -O1 %s -I %inputs -o %t %run -Rpass=tc -Rpass-missed=tc 2>&1 | %check %s
// RUN: %t
// RUN: %tc -O1 %s -I %inputs -o %t %run -include prefix.h -DPREFIX -Rpass=tc 2>&1 | %check --check-prefix=PREFIX %s
// RUN: %tc -fopenmp -x c-header %inputs/prefix.h -o %t.pch -Rpass-missed=tc 2>&1 | %check --check-prefix=MAKES %s
// RUN: %tc -c %s -I %inputs -o %t.o -include-pch %t.pch -DPREFIX -fopenmp -Rpass=tc -Rpass-missed=tc 2>&1 | %check --check-prefix=PCH %s
// A unity build: CMake's file includes the sources by absolute paths, and says nothing else.
// RUN: echo '#include "%s"' > %t.unity.c
// RUN: %tc -c %t.unity.c -I %inputs -o %t.o -Rpass=tc -Rpass-missed=tc 2>&1 | %check %s
#include "shared.h"

// CHECK-DAG: shared.h:5:37: remark: 'standardised' compiled
// PREFIX-DAG: prefix.h:2:23: remark: 'in_prefix' compiled
// PCH-DAG: remark: 'standardised' compiled
// PCH-DAG: remark: 'scaled' compiled: 3 ops
// MAKES: prefix.h:2:23: remark: 'in_prefix' not compiled: it is in a precompiled header or module; define it in a source file

#define NAME negative
#define OP tc_neg
#include "twice.h"
#undef NAME
#undef OP
#define NAME absolute
#define OP tc_abs
#include "twice.h"
// CHECK-DAG: twice.h:1:37: remark: 'negative' not compiled: the header that defines it is included more than once without a guard
// CHECK-DAG: remark: 'absolute' not compiled: the header

#ifdef PREFIX
tc_tensor *use_prefix(const tc_tensor *x) { return in_prefix(x); }
TC_COMPILE tc_tensor *scaled(const tc_tensor *x, const struct scale *s) { return tc_mul(tc_sin(in_prefix(x)), s->by); }
#endif

int main(void) {
  tc_tensor *x = tc_ones(TC_DIMS(3, 4), TC_F32);
  tc_tensor *y = standardised(negative(absolute(x)));
  return y == NULL;
}
