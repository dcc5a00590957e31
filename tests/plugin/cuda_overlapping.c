// Columns of halves of any number: the last item begins earlier, so that it ends with them.
// RUN: env TC_DUMP=schedule,cuda %cuda_texts -c %s -o %t.o > %t.txt 2>&1
// RUN: %if nvrtc %{ %machine_code -c %s -o %t.o %}
// RUN: sed -n '/^; schedule of .* for cuda/,/^; schedule of .* for openmp/p' %t.txt | %check %s
#include <tcompile.h>

// CHECK-LABEL: schedule of columns
// CHECK: form columns
// CHECK: when aligned, index32
// CHECK: when overlapping, index32
// CHECK-NEXT: lanes 8
// CHECK: at < end ? TC_MIN(at, end - TC_L) : 0
// CHECK: tc_stored_from<TC_L, TC_ANYWHERE>
// CHECK: || (f->columns > ((s_C)) && ((s_C)) % f->lanes != 0)) ++f;
TC_COMPILE tc_tensor *columns(const tc_tensor *x TC_SHAPE("bf16[R,C]")) { return tc_max(x, TC_AXES(0), false); }

// Nobody may compute twice what is written in place.
// CHECK-LABEL: schedule of in_place
// CHECK: form columns
// CHECK-NOT: overlapping
TC_COMPILE tc_tensor *in_place(tc_tensor *x TC_SHAPE("bf16[R,C]")) { return tc_copy_(x, tc_softmax(x, 0)); }
