"""Compiles programs of very many operations, operands, numbers and statements, prints what each takes, and
fails where that is more than a minute: large.py WORKING_FOLDER COMPILER..."""
import pathlib
import resource
import subprocess
import sys

folder, command = pathlib.Path(sys.argv[1]), sys.argv[2:]
head = '#define TC_NO_LOCATIONS\n#include <tcompile.h>\nstruct table { tc_tensor *w[1000] TC_SHAPE("f32[N]"); };\n'
x = 'const tc_tensor *x TC_SHAPE("f32[N]")'
steps = ["y = tc_add(y, x);", "y = tc_mul(y, x);", "y = tc_sin(y);", "y = tc_sub(x, y);"]


def function(parameters, statements):
    return (head + "TC_COMPILE tc_tensor *f(" + parameters + ") {\ntc_tensor *y = tc_exp(x);\n"
            + "\n".join(statements) + "\nreturn y;\n}\n")


def long_chain(n):
    return function(x, (steps[i % 4] for i in range(n)))


def many_operands(n):
    return function(x + ", const struct table *t", (f"y = tc_add(y, t->w[{i}]);" for i in range(n)))


def many_numbers(n):
    return function(x + ", const double *a", (f"y = tc_add_s(y, a[{i}]);" for i in range(n)))


def many_breaks(n):
    return function(x + ", void (*g)(void)", (f"y = tc_add_s(y, {i}); g();" for i in range(n)))


def measure(make, n, *flags):
    source = folder / (make.__name__ + ".c")
    source.write_text(make(n))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command + ["-w", "-Rpass=tc", "-fno-caret-diagnostics", "-o", str(folder / "o.o"), str(source), *flags],
                          capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    compiled = [line.split("remark: ")[1] for line in done.stderr.splitlines() if "'f' compiled" in line]
    print("%s of %d: %.1f s of CPU time, at most %d MB; %s" % (make.__name__, n, seconds, after.ru_maxrss // 1024,
                                                              compiled[0] if compiled else "not compiled"))
    return done.returncode == 0 and compiled and seconds <= 60


results = [measure(many_operands, 1000, "-c"), measure(many_numbers, 2000, "-c"), measure(many_breaks, 200, "-c"),
           measure(long_chain, 100000, "-c")]
sys.exit(not all(results))
