// How kernels run, printed and stated.
// RUN: env TC_DUMP=schedule %tc -c %s -o %t.o 2> %t.schedule && %check --check-prefix=PLANNED %s < %t.schedule
// RUN: env TC_DUMP=schedule %tc -c %s -o %t.o -fplugin-arg-tc-schedule=%t.schedule 2> %t.again && cmp %t.schedule %t.again
// RUN: sed -e 's/stage 0 unroll 4/stage 0 unroll 2/' -e 's/block 4096/block 512/' %t.schedule > %t.stated
// RUN: env TC_DUMP=schedule,kernels %tc -c %s -o %t.o -fplugin-arg-tc-schedule=%t.stated 2>&1 | %check --check-prefix=STATED %s
// RUN: sed -e 's/stage 0 unroll 4/stage 0 unroll 6/' %t.schedule > %t.wrong
// RUN: %not %tc -c %s -o %t.o -fplugin-arg-tc-schedule=%t.wrong 2>&1 | %check --check-prefix=WRONG %s
// RUN: sed -e 's/group 256/group 192/' %t.schedule > %t.gpu
// RUN: env TC_DUMP=cuda %tc -c %s -o %t.o -fplugin-arg-tc-schedule=%t.gpu 2>&1 | %check --check-prefix=GPU %s
// RUN: sed -e 's/group 256/group 200/' %t.schedule > %t.gpu_wrong
// RUN: %not %tc -c %s -o %t.o -fplugin-arg-tc-schedule=%t.gpu_wrong 2>&1 | %check --check-prefix=GPU_WRONG %s
// RUN: %not %tc -c %s -o %t.o -fplugin-arg-tc-schedule=%t.missing 2>&1 | %check --check-prefix=MISSING %s
#include <tcompile.h>

// PLANNED: ; schedule of sums for openmp
// PLANNED-NEXT: program [[PROGRAM:.*]] for openmp
// PLANNED-NEXT: kernel sum_1
// PLANNED-NEXT:   threads 80000
// PLANNED-NEXT:   nest 0
// PLANNED-NEXT:     when j < 16, i >= 1 vectors
// PLANNED-NEXT:     vector i
// PLANNED-NEXT:     tile 256
// PLANNED-NEXT:     nontemporal
// PLANNED-NEXT:     stage 0 block 256
// PLANNED-NEXT:     stage 0 transpose %1
// PLANNED-NEXT:     when j < 128, i >= 1 vectors
// PLANNED-NEXT:     vector j
// PLANNED-NEXT:     collect
// PLANNED-NEXT:     else
// PLANNED-NEXT:     vector j
// PLANNED-NEXT:     stage 0 unroll 4
// PLANNED-NEXT:     stage 0 block 4096
// PLANNED-NEXT: ; schedule of sums for cuda
// PLANNED-NEXT: program [[PROGRAM]] for cuda
// PLANNED-NEXT: kernel sum_1
// PLANNED-NEXT:   nest 0
// PLANNED-NEXT:     form rows
// PLANNED-NEXT:     width 4
// PLANNED-NEXT:     late-shared 3
// PLANNED-NEXT:     f64-totals 0
// PLANNED-NEXT:     when aligned, index32, least 8, longest 16
// PLANNED:          when aligned, index32, least 2048
// PLANNED-NEXT:     lanes 4
// PLANNED-NEXT:     unroll 8
// PLANNED-NEXT:     group 256
// PLANNED:          unaligned
// PLANNED:          else
// PLANNED-NEXT:     unroll 4
// PLANNED-NOT: {{.}}

// STATED: stage 0 unroll 2
// STATED: tc_vf32 acc0[2]; /* sum */
// STATED: block += 512

// GPU: _nest0_again<4, 8, int, 192>
// GPU: .group = 192,

// WRONG: schedule.c:[[#@LINE+4]]:23: error: schedule {{.*}}.wrong: line 17: stage 0 unroll 6: accumulators are combined in pairs: it is no power of two
// GPU_WRONG: schedule.c:[[#@LINE+3]]:23: error: schedule {{.*}}.gpu_wrong: line {{.*}}: group 200: it is neither a power of two up to 32 nor a number of whole warps
// MISSING: schedule.c:[[#@LINE+2]]:23: error: schedule {{.*}}.missing: it cannot be read

TC_COMPILE tc_tensor *sums(const tc_tensor *x TC_SHAPE("f32[R,C]")) { return tc_sum(x, TC_AXES(1), false); }
