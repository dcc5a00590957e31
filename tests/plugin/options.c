// Options for a whole file and for one function.
// RUN: %not %tc -c %s -o %t.o -fplugin-arg-tc-nothing=1 2>&1 | %check --check-prefix=UNKNOWN %s
// RUN: %not %tc -c %s -o %t.o -fplugin-arg-tc-max_kernel=1 2>&1 | %check --check-prefix=NEAR %s
// RUN: %not %tc -c %s -o %t.o -fplugin-arg-tc-mode=fast -fplugin-arg-tc-max_workspace=12Q -fplugin-arg-tc-max_kernels=x -fplugin-arg-tc-autocast=f32 -fplugin-arg-tc-profile-variants=x 2>&1 | %check --check-prefix=VALUES %s
// RUN: %not %tc -c %s -o %t.o -fplugin-arg-tc-fullgraph 2>&1 | %check --check-prefix=FULL %s
// RUN: %not %tc -c %s -o %t.o -fplugin-arg-tc-isa=v3,v5 2>&1 | %check --check-prefix=ISA %s
// RUN: %not %tc -c %s -o %t.o -fplugin-arg-tc-opt=4 2>&1 | %check --check-prefix=OPT %s
// RUN: %not %tc -c %s -o %t.o -fplugin-arg-tc-thresholds=TC_PARALLEL_WORK=0,TC_L=1 2>&1 | %check --check-prefix=THRESHOLDS %s
// RUN: %not %tc -c %s -o %t.o -fplugin-arg-tc-schedule= 2>&1 | %check --check-prefix=SCHEDULE %s
// RUN: %tc -S %s -o - -fplugin-arg-tc-backend=openmp -fplugin-arg-tc-isa=v2 | %check --check-prefix=USUAL %s
// RUN: %tc -S %s -o - -fplugin-arg-tc-backend=openmp -fplugin-arg-tc-isa=v2 -fplugin-arg-tc-thresholds=TC_PARALLEL_WORK=0,TC_NONTEMPORAL_BYTES=1048576 | %check --check-prefix=OTHERS %s
// RUN: %tc -c %s -o %t.o -fplugin-arg-tc-isa=v3 -fplugin-arg-tc-opt=1 && %nm %t.o | %check --check-prefix=LEVELS %s
// RUN: %tc -c %s -o %t.o -Rpass=tc -Rpass-missed=tc -fplugin-arg-tc-disable 2>&1 | %check --allow-empty --check-prefix=NONE %s
// RUN: %tc -c %s -o %t.o -Rpass=tc 2>&1 | %check --check-prefix=PASS %s
// RUN: %options | %check --check-prefix=LIST %s
// RUN: %options --json | %python -c "import json, sys; rows = json.load(sys.stdin); print(len(rows), [r['key'] for r in rows if not r['at_function']])" | %check --check-prefix=JSON %s
// RUN: %not %options --nothing 2>&1 | %check --check-prefix=USAGE %s
#include <tcompile.h>

// UNKNOWN: error: -fplugin-arg-tc-nothing=1: unknown option 'nothing' (options: fullgraph, disable, backend, dynamic, max_kernels, max_workspace, grad, max_saved, autocast, profile-variants, profile, profile-file, profile-key, explain, save-graphs, isa, opt, cache, cache-size, jobs, thresholds, schedule, mode, tune, tune-time, cuda-arch, nvrtc, matmul_precision)
// NEAR: error: -fplugin-arg-tc-max_kernel=1: unknown option 'max_kernel'; did you mean 'max_kernels'?
// VALUES: error: -fplugin-arg-tc-mode=fast: option 'mode' cannot be 'fast'; it can be default, reduce-overhead, max-autotune or max-autotune-no-cudagraphs
// VALUES: error: -fplugin-arg-tc-max_workspace=12Q: option 'max_workspace' cannot be '12Q'; it can be a number of bytes such as 4096, 64K, 8M or 1G
// VALUES: error: -fplugin-arg-tc-max_kernels=x: option 'max_kernels' cannot be 'x'; it can be a number such as 3
// VALUES: error: -fplugin-arg-tc-autocast=f32: option 'autocast' cannot be 'f32'; it can be a list of bf16 and f16
// VALUES: error: -fplugin-arg-tc-profile-variants=x: option 'profile-variants' cannot be 'x'; it can be a number from 0 to 64
// ISA: option 'isa' cannot be 'v3,v5'; it can be a list of v2, v3, v4, bf16 and amx
// OPT: option 'opt' cannot be '4'; it can be 0, 1, 2 or 3
// THRESHOLDS: option 'thresholds' cannot be 'TC_PARALLEL_WORK=0,TC_L=1'; it can be a list such as TC_PARALLEL_WORK=0,TC_NONTEMPORAL_BYTES=1
// SCHEDULE: error: -fplugin-arg-tc-schedule=: option 'schedule' cannot be ''; it can be the name of a file
// USUAL: $2097152
// OTHERS-NOT: $2097152
// OTHERS: $262144
// OTHERS-NOT: $2097152
// LEVELS-NOT: _v2
// LEVELS: tck_exp_{{.*}}_v3
// LEVELS-NOT: _v4
// FULL: options.c:[[#@LINE+4]]:3: error: 'shows' not compiled: 'tc_print' works on finished tensors; call it outside of the function
// NONE-NOT: 'shows'

TC_COMPILE tc_tensor *shows(const tc_tensor *x TC_SHAPE("f32[N]")) {
  tc_print(x);
  return tc_exp(x);
}
// PASS: options.c:[[#@LINE-4]]:23: remark: 'shows' compiled
TC_COMPILE_WITH("disable") tc_tensor *disabled(const tc_tensor *x TC_SHAPE("f32[N]")) { return tc_exp(x); }
// PASS-NOT: 'disabled'
TC_COMPILE_WITH("disable=false", "mode=max-autotune") tc_tensor *enabled(const tc_tensor *x TC_SHAPE("f32[N]")) { return tc_exp(x); }
// PASS: options.c:[[#@LINE-1]]:66: remark: 'enabled' compiled

// LIST: max_kernels=N
// LIST-NEXT: default: none; at a function or for a file
// LIST: nvrtc=PATH
// LIST-NEXT: default: found; for a file
// JSON: 28 ['profile', 'profile-file', 'profile-key', 'explain', 'save-graphs', 'isa', 'opt', 'cache', 'cache-size', 'jobs', 'thresholds', 'schedule', 'tune', 'cuda-arch', 'nvrtc']
// USAGE: usage: tc-options [--json]
