// Messages at their places, with fix-its, and as severe as they are.
// RUN: %tcgcc -fplugin-arg-libtcgcc-remarks -c %s -o %t.o 2>&1 | %check %s
// RUN: %not %tcgcc -Werror -c %s -o %t.o 2>&1 | %check --check-prefix=STRICT %s
// RUN: %tcgcc -w -c %s -o %t.o 2>&1 | %check --allow-empty --check-prefix=SILENT %s
// RUN: %not %tcgcc -DWRONG -c %s -o %t.o 2>&1 | %check --check-prefix=WRONG %s
// RUN: %not %tcgcc -DBROKEN -c %s -o %t.o 2>&1 | %check --check-prefix=BROKEN %s
// RUN: %not %tcgcc -DUNREAD -c %s -o %t.o 2>&1 | %check --check-prefix=UNREAD %s
// SILENT-NOT: warning
#include <stdio.h>
#include <tcompile.h>

TC_COMPILE_WITH("fullgrpah") tc_tensor *spelled(const tc_tensor *x TC_SHAPE("f32[4,8]")) {
  return tc_exp(x);
}
// CHECK-DAG: messages.c:[[#@LINE-3]]:17: warning: unknown option 'fullgrpah'; did you mean 'fullgraph'?
// CHECK-DAG: {{^ *}}[[#@LINE-4]] | TC_COMPILE_WITH("fullgrpah") tc_tensor
// CHECK-DAG: messages.c:[[#@LINE-5]]:41: note: 'spelled' compiled: 1 ops in 1 kernel
// STRICT: messages.c:[[#@LINE-6]]:17: error: unknown option 'fullgrpah'
// STRICT: all warnings being treated as errors

TC_COMPILE tc_tensor *breaks(const tc_tensor *x TC_SHAPE("f32[4,8]")) {
  x = tc_exp(x);
  puts("between");
  return tc_neg(x);
}
// CHECK-DAG: messages.c:[[#@LINE-3]]:3: note: graph break in 'breaks': 'puts' is called

#ifdef WRONG
TC_COMPILE_WITH("fullgraph") tc_tensor *wrong(const tc_tensor *x TC_SHAPE("f32[4,8]")) {
  puts("wrong");
  return tc_neg(x);
}
// WRONG: messages.c:[[#@LINE-3]]:3: error: 'wrong' not compiled: 'puts' is called
#endif

// What is wrong for GCC too is GCC's to say, alone.
#ifdef BROKEN
int broken = "no";;
int broken(void);
#endif
// BROKEN-NOT: eagerly
// BROKEN: messages.c:[[#@LINE-3]]:5: error: 'broken' redeclared
// BROKEN-NOT: eagerly
#ifdef UNREAD
#include <there_is_no_such_file.h>
#endif
// UNREAD: messages.c:[[#@LINE-2]]:10: fatal error: there_is_no_such_file.h: No such file
