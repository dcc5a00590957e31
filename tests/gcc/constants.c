// Tokens are the same and numbers are not, where pragmas and flags that one compiler alone knows decide about sizes,
// places, signs, literals: what depends on it stays eager, with a message that names both.  Flags of both are passed on.
// RUN: %tcgcc -O1 %s -o %t %libs 2> %t.err && %t | %check %s && %check --check-prefix=WHY --implicit-check-not=warning: %s < %t.err
// RUN: %gcc -O1 %s -o %t %libs && %t | %check --check-prefix=EAGER %s
// CHECK: 16 16 8, 0 hits; 16 4 256 -1 0.100000001 3 65, 7 hits
// EAGER: 16 16 8, 0 hits; 16 4 256 -1 0.100000001 3 65, 0 hits
// RUN: %tcgcc -O1 -mlong-double-64 -funsigned-char -mms-bitfields %s -o %t %libs && %t | %check --check-prefix=KNOWN %s
// KNOWN: 16 16 8, 0 hits; 8 4 255 -1 0.100000001 3 65, 7 hits

// Flags that GCC alone has.
// RUN: %tcgcc -O1 -fsingle-precision-constant -funsigned-bitfields %s -o %t %libs 2> %t.err && %t | %check --check-prefix=GCC %s && %check --check-prefix=GCC-WHY %s < %t.err
// GCC: 16 16 8, 0 hits; 16 4 256 7 0.100000001 3 65, 5 hits
// RUN: %tcgcc -O1 -fexec-charset=ISO-8859-1 %s -o %t %libs 2> %t.err && %t | %check --check-prefix=LATIN %s && %check --check-prefix=LATIN-WHY %s < %t.err
// LATIN: 16 16 8, 0 hits; 16 4 256 -1 0.100000001 2 65, 6 hits
// RUN: %not %tcgcc -DSTRICT -c %s -o %t.o 2>&1 | %check --check-prefix=STRICT %s
#include <stdio.h>
#include <tcompile.h>

#if __has_builtin(__builtin_elementwise_max) // Clang has it
#pragma pack(4)
#endif
struct packed { char c; double d; };
#pragma pack()
enum { size = sizeof(struct packed) };
enum small { one };
typedef struct { int n : 3; } bits;

#define F TC_COMPILE static tc_tensor *
#define X const tc_tensor *x TC_SHAPE("f32[N]")
F by_size(X) { return tc_mul_s(x, sizeof(struct packed)); }
// WHY-DAG: constants.c:[[#@LINE-9]]:8: warning: 'by_size' not compiled: it depends on the size of 'struct packed', 12, where the compiler has 16
F by_enumerator(X) { return tc_mul_s(x, size); }
// WHY-DAG: constants.c:[[#@LINE-9]]:1: warning: 'by_enumerator' not compiled: it depends on the value of 'size', 12, where the compiler has 16
F by_place(X) { return tc_mul_s(x, __builtin_offsetof(struct packed, d)); }
// WHY-DAG: 'by_place' not compiled: it depends on the size of 'struct packed'

F long_double(X) { return tc_mul_s(x, sizeof(long double)); }
F enumeration(X) { return tc_mul_s(x, sizeof(enum small)); }
F sign(X) { return tc_mul_s(x, (unsigned char)(char)-1 + ((char)-1 < 0)); }
F bit_field(X) {
  bits b = {7};
  return tc_mul_s(x, b.n);
}
// GCC-WHY-DAG: warning: 'bit_field' not compiled: it depends on the sign of 'n' in 'struct bits', signed, where the compiler has unsigned
F literal(X) { return tc_mul_s(x, 0.1); }
// GCC-WHY-DAG: constants.c:[[#@LINE-1]]:35: warning: 'literal' not compiled: it depends on the type of constants, double, where the compiler has float
F text(X) { return tc_mul_s(x, sizeof("ä")); }
// LATIN-WHY: constants.c:[[#@LINE-1]]:39: warning: 'text' not compiled: it depends on the code of 'U+E4', c3a4, where the compiler has e4
F ascii(X) { return tc_mul_s(x, 'A' + sizeof("A") - 2); }
#ifdef STRICT
TC_COMPILE_WITH("fullgraph") tc_tensor *strict(X) { return tc_mul_s(x, size); }
// STRICT: error: 'strict' not compiled: it depends on the value of 'size'
#endif

static double of(tc_tensor *y) { return tc_item(tc_mean(y, TC_ALL, false)); }
static int hits(const char *name) { return (int)tc_stats_of(name).hits; }
int main(void) {
  TC_SCOPE {
    const tc_tensor *x = tc_ones(TC_DIMS(4), TC_F32);
    printf("%.9g %.9g %.9g, ", of(by_size(x)), of(by_enumerator(x)), of(by_place(x)));
    printf("%d hits; ", hits("by_size") + hits("by_enumerator") + hits("by_place"));
    printf("%g %g %g %g ", of(long_double(x)), of(enumeration(x)), of(sign(x)), of(bit_field(x)));
    printf("%.9g %g %g, ", of(literal(x)), of(text(x)), of(ascii(x)));
    printf("%d hits\n", hits("long_double") + hits("enumeration") + hits("sign") + hits("bit_field") + hits("literal") +
                            hits("text") + hits("ascii"));
  }
}
