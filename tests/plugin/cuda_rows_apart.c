// Operands whose rows lie apart are read as they are on GPUs, too; loads of halves begin anywhere where stores are aligned.
// RUN: env TC_DUMP=loops,schedule %cuda_texts -c %s -o %t.o > %t.txt 2>&1
// RUN: %if nvrtc %{ %machine_code -c %s -o %t.o %}
// RUN: sed -n '/^; loops of .* for cuda/,/^; schedule/p' %t.txt | %check %s
// RUN: sed -n '/^; schedule of .* for cuda/,/^; loops/p' %t.txt | %check --check-prefix=SCHEDULE %s
#include <tcompile.h>
#include <tcompile/conv.h>

// CHECK-LABEL: program halves
// CHECK: pitch0 = pitch 0 1
// CHECK: load x[(pitch0)*i + j]
// SCHEDULE-LABEL: schedule of halves
// SCHEDULE: when aligned,
// SCHEDULE: when aligned-stores, index32
// SCHEDULE: row-tile
TC_COMPILE tc_tensor *halves(const tc_tensor *x TC_SHAPE("bf16[R,C]")) { return tc_softmax(x, 1); }

// Rows of a length that is known: one function each.
// SCHEDULE-LABEL: schedule of known
// SCHEDULE: when aligned,
// SCHEDULE: when aligned-stores, index32
// SCHEDULE-NOT: when
// SCHEDULE: registers
TC_COMPILE tc_tensor *known(const tc_tensor *x TC_SHAPE("bf16[R,64]")) { return tc_softmax(x, 1); }

// Single elements of four bytes are wide enough.
// CHECK-LABEL: program singles
// CHECK: pitch0 = pitch 0 1
// SCHEDULE-LABEL: schedule of singles
// SCHEDULE-NOT: aligned-stores
TC_COMPILE tc_tensor *singles(const tc_tensor *x TC_SHAPE("f32[R,64]")) { return tc_softmax(x, 1); }

// Sums of rows of an odd length are peeled.
// SCHEDULE-LABEL: schedule of odd
// SCHEDULE: width 8
// SCHEDULE: unaligned
TC_COMPILE tc_tensor *odd(const tc_tensor *x TC_SHAPE("bf16[R,3531]")) { return tc_sum(x, TC_AXES(1), false); }

// A product takes the pitch as the distance of its rows.
// CHECK-LABEL: program product
// CHECK: matmul f32 m < M n < N k < K
// CHECK: load x[(pitch0)*m + k]
TC_COMPILE tc_tensor *product(const tc_tensor *x TC_SHAPE("f32[M,K]"), const tc_tensor *w TC_SHAPE("f32[K,N]")) { return tc_matmul(x, w); }

#ifndef MACHINE_CODE // functions of products of several kinds
// Channels of a number that is not known: those of zeros come with the copy that puts them last.
// CHECK-LABEL: program channels
// CHECK: arena pad bf16[N,H+2,W+2,8*((C+7)/8)]
// CHECK: matmul bf16 {{.*}} k < 72*((C+7)/8)
TC_COMPILE tc_tensor *channels(const tc_tensor *x TC_SHAPE("bf16[N,C,H,W]"), const tc_tensor *w TC_SHAPE("bf16[O,C,3,3]")) {
  return tc_conv(x, w, NULL, TC_INTS(1), TC_INTS(1), TC_INTS(1), 1);
}
#endif

// Elements are counted through all rows; what lies between them is skipped by the number of the row, which lanes share.
// CHECK-LABEL: program counted
// CHECK: nest | i < R*C
// CHECK: load x[i + (-C+pitch0)*%{{[0-9]+}}]
// SCHEDULE-LABEL: schedule of counted
// SCHEDULE: form flat
// SCHEDULE-NEXT: width 4
// SCHEDULE: when index32
TC_COMPILE tc_tensor *counted(const tc_tensor *x TC_SHAPE("f32[R,C]"), const tc_tensor *y TC_SHAPE("f32[R,C]")) { return tc_mul(tc_silu(x), y); }
