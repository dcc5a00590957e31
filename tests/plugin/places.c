// The rewritten text keeps lines and columns: warnings of the user's, debug lines, __LINE__, __FILE__.
// RUN: %tc -c %s -o %t.o -Wall -Wextra -Wshadow 2>&1 | %check %s
// RUN: %plain -c %s -o %t.o -Wall -Wextra -Wshadow -fno-caret-diagnostics 2> %t.plain
// RUN: %tc -c %s -o %t.o -Wall -Wextra -Wshadow -fno-caret-diagnostics 2> %t.plugin
// RUN: diff %t.plain %t.plugin
// RUN: %tc -c %s -o %t.o -Rpass=tc 2>&1 | %check --check-prefix=REMARK %s
// RUN: %tc -g -O0 %s -o %t %run && %t | %check --check-prefix=OUTPUT %s
// RUN: %tc -g -O0 -S -emit-llvm %s -o - | %check --check-prefix=DEBUG %s
#include <stdio.h>
#include <string.h>
#include <tcompile.h>

static int line;

static void note(int n) { line = n; }

TC_COMPILE tc_tensor *warns(const tc_tensor *x TC_SHAPE("f32[N]"), int unused) {
  int never; tc_tensor *y = tc_exp(x); return y;
}
// CHECK: places.c:[[#@LINE-2]]:7: warning: unused variable 'never'
// CHECK: places.c:[[#@LINE-4]]:72: warning: unused parameter 'unused'
// CHECK-NEXT: TC_COMPILE tc_tensor *warns(const tc_tensor *x TC_SHAPE("f32[N]"), int unused) {{[{]$}}

TC_COMPILE tc_tensor *one_line(const tc_tensor *x TC_SHAPE("f32[N]")) { int never; return tc_exp(x); }
// CHECK: places.c:[[#@LINE-1]]:77: warning: unused variable 'never'

TC_COMPILE tc_tensor *tabs(const tc_tensor *x TC_SHAPE("f32[N]"))
	{	int never; return tc_exp(x);	}
// CHECK: places.c:[[#@LINE-1]]:8: warning: unused variable 'never'

#line 1000 "elsewhere.y"
TC_COMPILE tc_tensor *moved(const tc_tensor *x TC_SHAPE("f32[N]")) { int never; return tc_exp(x); }
// CHECK: elsewhere.y:1000:74: warning: unused variable 'never'
// REMARK: elsewhere.y:1000:23: remark: 'moved' compiled
// REMARK: elsewhere.y:1000:88: remark: kernel
#line 200 "places.c"

// Not compiled for a reason that is only known at run time: the body runs, and knows where it is.
// DEBUG: distinct !DISubprogram(name: "body", {{.*}}line: 207
// DEBUG: !DILocation(line: 208, column: 14
#define HERE __LINE__


TC_COMPILE tc_tensor *body(const tc_tensor *x TC_SHAPE("f32[N]")) {
  tc_tensor *y = tc_exp(x); if (HERE != 208 || strcmp(__FILE__, "places.c") || strcmp(__func__, "body")) return NULL;
  return y;
}

int main(void) {
  TC_SCOPE {
    note(HERE);
    tc_tensor *x = tc_cast(tc_arange(4, 0, 1, TC_F64), TC_F64);
    printf("line %d, %d\n", line, body(x) != NULL);
    // OUTPUT: line 214, 1
  }
  return 0;
}
