// Compiled kernels are kept for other builds, and objects are the same with and without them.
// RUN: export TC_BUILD_CACHE=off
// RUN: rm -rf %t && mkdir -p %t/other && cd %t && cp %s main.c && cp %s other/main.c
// RUN: %tc -O2 -c main.c -o plain.o -Rpass=tc 2>&1 | %check --check-prefix=OFF %s
// RUN: %tc -O2 -c main.c -o cold.o -fplugin-arg-tc-cache=%t/kept -Rpass=tc 2>&1 | %check --check-prefix=COLD %s
// RUN: %tc -O2 -c main.c -o warm.o -fplugin-arg-tc-cache=%t/kept -Rpass=tc 2>&1 | %check --check-prefix=WARM %s
// RUN: cmp plain.o cold.o && cmp plain.o warm.o
//
// By the environment, from another folder, behind -O0: none of it is part of the kernels.
// RUN: (cd other && env TC_BUILD_CACHE=%t/kept %tc -O2 -c main.c -o main.o -Rpass=tc) 2>&1 | %check --check-prefix=WARM %s && cmp other/main.o plain.o
// RUN: env TC_BUILD_CACHE=%t/kept %tc -O0 -c main.c -o main.o -Rpass=tc 2>&1 | %check --check-prefix=WARM %s
//
// Another line of another file, which only the part that checks operands tells of.
// RUN: (echo; cat main.c) > moved.c
// RUN: env TC_BUILD_CACHE=%t/kept %tc -O2 -c moved.c -o moved.o -Rpass=tc 2>&1 | %check --check-prefix=MOVED %s
// RUN: %tc -O2 -c moved.c -o plain_moved.o && cmp moved.o plain_moved.o
//
// Other forms, flags and functions are other entries.
// RUN: env TC_BUILD_CACHE=%t/kept %tc -O2 -emit-llvm -c main.c -o warm.bc -Rpass=tc 2>&1 | %check --check-prefix=COLD %s
// RUN: env TC_BUILD_CACHE=%t/kept %tc -O2 -emit-llvm -c main.c -o warm.bc -Rpass=tc 2>&1 | %check --check-prefix=WARM %s
// RUN: %tc -O2 -emit-llvm -c main.c -o plain.bc -Rpass=tc && cmp plain.bc warm.bc
// RUN: env TC_BUILD_CACHE=%t/kept %tc -O2 -c main.c -o main.o -mllvm -inline-threshold=7 -Rpass=tc 2>&1 | %check --check-prefix=COLD %s
// RUN: env TC_BUILD_CACHE=%t/kept %tc -O2 -c main.c -o main.o -fplugin-arg-tc-opt=1 -Rpass=tc 2>&1 | %check --check-prefix=COLD %s
// RUN: env TC_BUILD_CACHE=%t/kept %tc -O2 -fPIC -c main.c -o main.o -mcmodel=medium -Rpass=tc 2>&1 | %check --check-prefix=COLD %s
// RUN: env TC_BUILD_CACHE=%t/kept %tc -O2 -DCHANGED -c main.c -o main.o -Rpass=tc 2>&1 | %check --check-prefix=COLD %s
// RUN: %tc -O2 -DCHANGED -c main.c -o plain_changed.o && cmp plain_changed.o main.o
//
// Damaged entries are not used.
// RUN: for f in $(find %t/kept -type f); do truncate -s -3 $f; done
// RUN: %tc -O2 -c main.c -o damaged.o -fplugin-arg-tc-cache=%t/kept -Rpass=tc 2>&1 | %check --check-prefix=COLD %s
// RUN: cmp damaged.o plain.o
// RUN: for f in $(find %t/kept -type f); do printf "other bytes" | dd of=$f conv=notrunc seek=100 bs=1 2> dd.log; done
// RUN: %tc -O2 -c main.c -o damaged.o -fplugin-arg-tc-cache=%t/kept && cmp damaged.o plain.o
//
// Entries are compressed: these would not all fit as they are.
// RUN: %tc -O2 -c main.c -o few.o -fplugin-arg-tc-cache=%t/few -fplugin-arg-tc-cache-size=256K
// RUN: %tc -O2 -c main.c -o few.o -fplugin-arg-tc-cache=%t/few -fplugin-arg-tc-cache-size=256K -Rpass=tc 2>&1 | %check --check-prefix=WARM %s
// RUN: cmp few.o plain.o
//
// Two builds at once; folders that cannot be made; no room.
// RUN: rm -rf %t/kept && (%tc -O2 -c main.c -o one.o -fplugin-arg-tc-cache=%t/kept & %tc -O2 -c main.c -o two.o -fplugin-arg-tc-cache=%t/kept && wait) && cmp one.o plain.o && cmp two.o plain.o
// RUN: %tc -O2 -c main.c -o none.o -fplugin-arg-tc-cache=/proc/tcompile/kept && cmp none.o plain.o
// RUN: env -u TC_BUILD_CACHE -u HOME -u XDG_CACHE_HOME %tc -O2 -c main.c -o none.o -Rpass=tc 2>&1 | %check --check-prefix=OFF %s && cmp none.o plain.o
// RUN: %tc -O2 -c main.c -o none.o -fplugin-arg-tc-cache=%t/small -fplugin-arg-tc-cache-size=4K && cmp none.o plain.o && test -z "$(find %t/small -type f)"
//
// RUN: %not %tc -c main.c -o none.o -fplugin-arg-tc-cache-size=much 2>&1 | %check --check-prefix=SIZE %s
// RUN: %not %tc -c main.c -o none.o -fplugin-arg-tc-jobs=0 2>&1 | %check --check-prefix=JOBS %s
// RUN: %tc -O2 -c main.c -o jobs.o -fplugin-arg-tc-jobs=1 && cmp jobs.o plain.o
#include <tcompile.h>

// OFF-NOT: compiled parts
// COLD: main.c:{{[0-9]+}}:23: remark: 0 of {{[0-9]+}} compiled parts of this file come from the cache
// WARM: main.c:{{[0-9]+}}:23: remark: [[PARTS:[0-9]+]] of [[PARTS]] compiled parts of this file come from the cache
// MOVED: moved.c:{{[0-9]+}}:23: remark: {{[1-9][0-9]*}} of {{[0-9]+}} compiled parts of this file come from the cache
#ifdef CHANGED
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N]")) { return tc_exp(tc_exp(x)); }
#else
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N]")) { return tc_exp(x); }
#endif

// SIZE: error: -fplugin-arg-tc-cache-size=much: option 'cache-size' cannot be 'much'; it can be a number of bytes such as 4096, 64K, 8M or 1G
// JOBS: error: -fplugin-arg-tc-jobs=0: option 'jobs' cannot be '0'; it can be a number from 1 to 64
