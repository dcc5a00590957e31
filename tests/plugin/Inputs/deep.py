"""Writes C files that are deep, long or wide.  Depths are 10,000, but for what takes Clang quadratic time."""
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
head = '#define TC_NO_LOCATIONS\n#include <tcompile.h>\n#define X const tc_tensor *x TC_SHAPE("f32[N]")\n'
n = 10000


def write(name, text):
    (folder / name).write_text(head + text)


write("calls.c", "TC_COMPILE tc_tensor *calls(X) { return " + "tc_neg(" * n + "x" + ")" * n + "; }\n")
write("minus.c", "TC_COMPILE tc_tensor *minus(X, double a) { return tc_add_s(x, " + "- " * n + "a); }\n")
write("parens.c", "TC_COMPILE tc_tensor *parens(X, int n) { return tc_add_s(x, " + "(1 + " * 1000 + "n" + ")" * 1000 + "); }\n")
write("sums.c", "TC_COMPILE tc_tensor *sums(X, int n) { return tc_add_s(x, " + "n + " * n + "1); }\n")
write("choices.c", "TC_COMPILE tc_tensor *choices(X, int n) { return tc_add_s(x, "
                   + "".join(f"n > {i} ? {i} : " for i in range(n)) + "0); }\n")
write("blocks.c", "TC_COMPILE tc_tensor *blocks(X) { " + "{" * n + "return tc_neg(x);" + "}" * n + "}\n")
write("branches.c", "TC_COMPILE tc_tensor *branches(X, int n) { " + "if (n > 1) {" * 1000 + "return tc_neg(x);"
                    + "}" * 1000 + " return tc_exp(x); }\n")
write("inlined.c", "".join(f"static tc_tensor *g{i}(const tc_tensor *x) {{ return {f'g{i - 1}' if i else 'tc_neg'}(x); }}\n"
                           for i in range(n)) + f"TC_COMPILE tc_tensor *inlined(X) {{ return g{n - 1}(x); }}\n")
write("wide.c", "TC_COMPILE tc_tensor *wide(X) { tc_tensor *y = tc_exp(x);\n"
                "for (int i = 0; i < 500; i++) y = tc_add(tc_mul(y, x), tc_abs(y));\nreturn y; }\n")
write("huge.c", "TC_COMPILE tc_tensor *huge(X) { tc_tensor *y = tc_exp(x);\n"
                "for (int i = 0; i < 15000; i++) y = tc_add(tc_mul(y, x), tc_sin(y));\nreturn y; }\n")
write("functions.c", "".join(f"TC_COMPILE tc_tensor *f{i}(X) {{ return tc_add_s(x, {i}); }}\n"
                             for i in range(40)))
