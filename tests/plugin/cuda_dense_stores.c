// Halves and bytes whose rows have odd widths: what is stored follows one another, whatever ends between.
// RUN: env TC_DUMP=loops,schedule,cuda %cuda_texts -c %s -o %t.o > %t.txt 2>&1
// RUN: %if nvrtc %{ %machine_code -c %s -o %t.o %}
// RUN: sed -n '/^; loops of .* for cuda/,/^; schedule/p' %t.txt | %check %s
// RUN: sed -n '/^; schedule of .* for cuda/,/^; loops/p' %t.txt | %check --check-prefix=SCHEDULE %s
#include <tcompile.h>

// A width that is not known: rows of less than an item are for single elements.
// SCHEDULE-LABEL: schedule of bias
// SCHEDULE: when aligned, index32
// SCHEDULE: when dense, index32
// SCHEDULE-NEXT: lanes 8
// SCHEDULE: when index32
// SCHEDULE: int dense = small && (uintptr_t)buf[2] % 16 == 0 && s_C >= 8;
TC_COMPILE tc_tensor *bias(const tc_tensor *x TC_SHAPE("bf16[R,C]"), const tc_tensor *b TC_SHAPE("bf16[C]")) { return tc_relu(tc_add(x, b)); }

// Channels of 7x7 pixels: one scale for each of the two rows of an item, the pixels as they lie.
// SCHEDULE-LABEL: schedule of scale
// SCHEDULE-NOT: when aligned
// SCHEDULE: when dense, index32
// SCHEDULE: (s_pitch0) == (49) ? tc_loaded_from<TC_L, TC_ANYWHERE>(b0 + ((s_C * s_pitch0) * i0 + (s_pitch0) * i1 + i2))
// SCHEDULE-NEXT: tc_two(tc_splat_bf16(b1 + (i1)), tc_splat_bf16(b1 + (next1)))
TC_COMPILE tc_tensor *scale(const tc_tensor *x TC_SHAPE("bf16[B,C,49]"), const tc_tensor *s TC_SHAPE("bf16[C,1]")) { return tc_mul(x, s); }

// Rows shorter than an item end several times in it.  Lanes run along what is stored, however short its rows are.
// CHECK-LABEL: program colours
// CHECK: j < 3 lanes j
// SCHEDULE-LABEL: schedule of colours
// SCHEDULE: when dense, index32
// SCHEDULE: tc_stepped<tc_int>(i1, (tc_int)(3), &on)
TC_COMPILE tc_tensor *colours(const tc_tensor *x TC_SHAPE("bf16[R,3]"), const tc_tensor *s TC_SHAPE("bf16[3]")) { return tc_mul(x, s); }

// Single elements of four bytes are wide enough.
// SCHEDULE-LABEL: schedule of singles
// SCHEDULE-NOT: dense
TC_COMPILE tc_tensor *singles(const tc_tensor *x TC_SHAPE("f32[R,C]"), const tc_tensor *b TC_SHAPE("f32[C]")) { return tc_add(x, b); }
