// A kernel has code for the levels that run where the wanted ones do, and for no others, whatever levels the file's other kernels need.
// RUN: %tc -c %s -o %t.o -fplugin-arg-tc-backend=openmp -fplugin-arg-tc-isa=bf16 && %nm %t.o > %t.txt && %check %s < %t.txt
// RUN: %check --check-prefix=NONE %s < %t.txt
// RUN: %tc -c %s -o %t.o -fplugin-arg-tc-backend=openmp -fplugin-arg-tc-isa=v3,bf16 && %nm %t.o | %check --check-prefix=BOTH %s
#include <tcompile.h>

TC_COMPILE tc_tensor *narrow(const tc_tensor *x TC_SHAPE("bf16[N]")) { return tc_exp(x); }
TC_COMPILE tc_tensor *wide(const tc_tensor *x TC_SHAPE("f32[N]")) { return tc_log(x); }

// CHECK-DAG: tck_exp_{{[0-9a-f]*}}_bf16
// CHECK-DAG: tck_log_{{[0-9a-f]*}}_v4
// NONE-NOT: tck_exp_{{.*}}v4
// NONE-NOT: tck_log_{{.*}}bf16
// BOTH-DAG: tck_exp_{{[0-9a-f]*}}_v3
// BOTH-DAG: tck_exp_{{[0-9a-f]*}}_bf16
// BOTH-DAG: tck_log_{{[0-9a-f]*}}_v3
// BOTH-DAG: tck_log_{{[0-9a-f]*}}_v4
