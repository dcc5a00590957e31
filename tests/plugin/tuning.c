// mode=max-autotune: measured once, by candidates that may crash, hang or be wrong; times are planted.
// RUN: rm -rf %t.db %t.bad && rm -rf %t.cache
// RUN: echo '%tc -c %s -o %t.o -Rpass=tc -fplugin-arg-tc-backend=openmp -fplugin-arg-tc-isa=v3 -fplugin-arg-tc-cache=%t.cache -fplugin-arg-tc-opt=1 -fplugin-arg-tc-tune=%t.db "$@" 2>&1' > %t.build
// RUN: env "TC_TUNE_TEST=fast:unroll 8,crash:jam-rows,hang:unroll 2,wrong:collect" sh %t.build | %check --check-prefix=FIRST %s
// RUN: env "TC_TUNE_TEST=fast:unroll 2" sh %t.build | %check --check-prefix=SECOND %s
// RUN: env TC_DUMP=schedule sh %t.build | %check --check-prefix=SCHEDULE %s
// RUN: sed 's/stage 0 unroll 8$/stage 0 unroll 6/' %t.db > %t.bad && cp %t.bad %t.db
// RUN: %not sh %t.build | %check --check-prefix=REFUSED %s
// RUN: sed 's/  version/  edition/' %t.bad > %t.db
// RUN: %not sh %t.build | %check --check-prefix=CORRUPT %s
// RUN: rm %t.db && sh %t.build -fplugin-arg-tc-tune-time=0 | %check --check-prefix=NO_TIME %s
// RUN: rm -f %t.db && env "TC_TUNE_TEST=fast:nothing,crash:vector" sh %t.build | %check --check-prefix=BROKEN %s
// RUN: %not sh %t.build -fplugin-arg-tc-tune-time=long | %check --check-prefix=VALUE %s
#include <tcompile.h>

// FIRST: remark: 'sums': sum_1: measured, stage 0 unroll 8: 50.0 us, planned 100.0 us
// FIRST: remark: 'any': kernels of sizes that are not known at build time are not measured
// FIRST: remark: 'rows' for R=4: max_1: measured, stage 0 unroll 8: 50.0 us, planned 100.0 us
// FIRST-NOT: measured,
// SECOND-NOT: measured,
// SECOND: remark: 'sums': sum_1: known, stage 0 unroll 8: 50.0 us, planned 100.0 us
// SECOND: remark: 'rows' for R=4: max_1: known, stage 0 unroll 8: 50.0 us, planned 100.0 us
// SCHEDULE: ; schedule of sums for openmp
// SCHEDULE: stage 0 unroll 8
// REFUSED: error: {{.*}}.db: line 10: stage 0 unroll 6: accumulators are combined in pairs: it is no power of two
// CORRUPT: error: {{.*}}.db: line 4: expected machine, version, planned, taken, or 'end'
// NO_TIME: remark: 'sums': sum_1: not measured: tune-time=0
// BROKEN: remark: 'sums': sum_1: not measured: tc-tune: the kernel does not run
// VALUE: option 'tune-time' cannot be 'long'; it can be seconds such as 20

TC_COMPILE_WITH("mode=max-autotune")
tc_tensor *sums(const tc_tensor *x TC_SHAPE("f32[200,512]")) { return tc_sum(x, TC_AXES(1), false); }

TC_COMPILE_WITH("mode=max-autotune-no-cudagraphs")
tc_tensor *any(const tc_tensor *x TC_SHAPE("f32[R,C]")) { return tc_sum(x, TC_AXES(1), false); }

TC_COMPILE_WITH("mode=max-autotune") TC_SPECIALIZE("R=4")
tc_tensor *rows(const tc_tensor *x TC_SHAPE("f32[R,512]")) { return tc_max(x, TC_AXES(1), false); }

TC_COMPILE tc_tensor *plain(const tc_tensor *x TC_SHAPE("f32[200,512]")) { return tc_sum(x, TC_AXES(1), false); }
