"""Compiles programs of very many operations, operands, numbers and statements, prints what each takes, and
fails where that is more than a minute, or where twice the operations of a gradient take over three times as long:
large.py WORKING_FOLDER COMPILER..."""
import pathlib
import random
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


def random_dag(n):
    """Operations on two of the 64 values before, so that hundreds of arrays pass from kernel to kernel."""
    pick, values = random.Random(n), ["x", "y"]
    lines = []
    for i in range(n):
        a, b = pick.choices(values[-64:], k=2)
        lines.append(f"tc_tensor *v{i} = tc_{pick.choice(['add', 'mul', 'sub', 'maximum'])}({a}, {b});")
        values.append(f"v{i}")
    return function(x, lines + [f"y = tc_add(y, v{i});" for i in range(n - 64, n)])


def far_dag(n):
    """Operations on any two values before, with a break among them: more are alive than a segment hands on."""
    pick = random.Random(n)
    lines = [f"v[{i + 1}] = tc_add(v[{pick.randrange(i + 1)}], v[{pick.randrange(i + 1)}]);" for i in range(n)]
    lines.insert(n // 2, "g();")
    return function(x + ", void (*g)(void)", [f"tc_tensor *v[{n + 1}];", "v[0] = y;"] + lines + [f"y = v[{n}];"])


def many_results(n):
    return (head + "TC_COMPILE void f(" + x + ", tc_tensor **out) {\n"
            + "\n".join(f"out[{i}] = tc_add_s(x, {i});" for i in range(n)) + "\n}\n")


def gradient_dag(n):
    """n operations, and what their gradients take."""
    pick, values = random.Random(n), ["x", "w"]
    lines = []
    for i in range(n):
        a, b = pick.choices(values[-64:], k=2)
        op = pick.choice(["add", "mul", "sub", "maximum", "tanh"])
        lines.append(f"tc_tensor *v{i} = tc_{op}({a}{'' if op == 'tanh' else ', ' + b});")
        values.append(f"v{i}")
    ends = "\n".join(f"y = tc_add(y, v{i});" for i in range(n - 64, n))
    return (head + 'TC_COMPILE bool f(tc_tensor *x TC_SHAPE("f32[N]"), tc_tensor *w TC_SHAPE("f32[N]"), tc_tensor **g) {\n'
            + "\n".join(lines) + f"\ntc_tensor *y = v0, *p[] = {{x, w}};\n{ends}\nreturn tc_grad(tc_sum(y, TC_ALL, false), 2, p, g);\n}}\n")


def training_step(n):
    """n layers, each with a matrix and a vector, which are written."""
    return (f'{head}struct model {{ tc_tensor *w[{n}] TC_SHAPE("f32[D,D]"), *b[{n}] TC_SHAPE("f32[D]"); }};\n'
            'TC_COMPILE tc_tensor *f(const struct model *m, const tc_tensor *x TC_SHAPE("f32[B,D]")) {\n'
            f"tc_tensor *h = (tc_tensor *)x, *p[{2 * n}], *g[{2 * n}];\n"
            f"for (int i = 0; i < {n}; i++) p[i] = m->w[i], p[{n} + i] = m->b[i], h = tc_relu(tc_add(tc_matmul(h, m->w[i]), m->b[i]));\n"
            "tc_tensor *loss = tc_mean(tc_square(h), TC_ALL, false);\n"
            f"if (!tc_grad(loss, {2 * n}, p, g)) return NULL;\n"
            f"TC_NO_GRAD for (int i = 0; i < {2 * n}; i++) tc_sub_(p[i], tc_mul_s(g[i], 0.1));\nreturn loss;\n}}\n")


def measure(make, n, *flags):
    """Seconds of CPU time, or None where it failed."""
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
    return seconds if done.returncode == 0 and compiled else None


results = [measure(many_operands, 1000, "-c"), measure(many_numbers, 2000, "-c"), measure(many_breaks, 200, "-c"),
           measure(many_results, 1000, "-c"), measure(far_dag, 2200, "-c"), measure(random_dag, 10000, "-c"),
           measure(training_step, 120, "-c"), measure(long_chain, 100000, "-c")]
gradients = [measure(gradient_dag, n, "-c") for n in (2475, 4950)]
sys.exit(not all(s and s <= 60 for s in results + gradients) or gradients[1] > 3 * gradients[0])
