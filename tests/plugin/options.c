// Options for a whole file.
// RUN: %tc -c %s -o %t.o -fplugin-arg-tc-nothing=1 2>&1 | %check --check-prefix=UNKNOWN %s
// RUN: %not %tc -c %s -o %t.o -fplugin-arg-tc-fullgraph 2>&1 | %check --check-prefix=FULL %s
// RUN: %tc -c %s -o %t.o -fplugin-arg-tc-isa=v3,v5 2>&1 | %check --check-prefix=ISA %s
// RUN: %tc -c %s -o %t.o -fplugin-arg-tc-opt=4 2>&1 | %check --check-prefix=OPT %s
// RUN: %tc -c %s -o %t.o -fplugin-arg-tc-isa=v3 -fplugin-arg-tc-opt=1 && %nm %t.o | %check --check-prefix=LEVELS %s
#include <tcompile.h>

// ISA: option 'isa' cannot be 'v3,v5'; it can be a list of v2, v3, v4, bf16 and amx
// OPT: option 'opt' cannot be '4'; it can be 0, 1, 2 or 3
// LEVELS-NOT: _v2
// LEVELS: tck_exp_{{.*}}_v3
// LEVELS-NOT: _v4

// UNKNOWN: warning: -fplugin-arg-tc-nothing=1: unknown option 'nothing' (options: fullgraph, backend=openmp|cuda|all, dynamic=true|false, mode=default|reduce-overhead, cuda-arch=80,90,ptx80, nvrtc=PATH, explain=true|false, isa=v2,v3,v4,bf16,amx, opt=0|1|2|3) [-Wbackend-plugin]
// FULL: options.c:[[#@LINE+4]]:3: error: 'shows' not compiled: 'tc_print' works on finished tensors; call it outside of the function
// NONE-NOT: {{.}}

TC_COMPILE tc_tensor *shows(const tc_tensor *x TC_SHAPE("f32[N]")) {
  tc_print(x);
  return tc_exp(x);
}
