"""Writes C files that are deep, long or wide."""
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
head = '#define TC_NO_LOCATIONS\n#include <tcompile.h>\n#define X const tc_tensor *x TC_SHAPE("f32[N]")\n'
n = 800


def write(name, text):
    (folder / name).write_text(head + text)


write("calls.c", "TC_COMPILE tc_tensor *calls(X) { return " + "tc_neg(" * n + "x" + ")" * n + "; }\n")
write("sums.c", "TC_COMPILE tc_tensor *sums(X, int n) { return tc_add_s(x, " + "n + " * 10000 + "1); }\n")
write("blocks.c", "TC_COMPILE tc_tensor *blocks(X) { " + "{" * n + "return tc_neg(x);" + "}" * n + "}\n")
write("wide.c", "TC_COMPILE tc_tensor *wide(X) { tc_tensor *y = tc_exp(x);\n"
                "for (int i = 0; i < 500; i++) y = tc_add(tc_mul(y, x), tc_abs(y));\nreturn y; }\n")
write("huge.c", "TC_COMPILE tc_tensor *huge(X) { tc_tensor *y = tc_exp(x);\n"
                "for (int i = 0; i < 15000; i++) y = tc_add(tc_mul(y, x), tc_sin(y));\nreturn y; }\n")
write("functions.c", "".join(f"TC_COMPILE tc_tensor *f{i}(X) {{ return tc_add_s(x, {i}); }}\n"
                             for i in range(40)))
