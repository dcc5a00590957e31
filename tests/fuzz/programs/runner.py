"""Builds files of random programs with the plugin and runs them."""
import os
import re
import resource
import subprocess

from ops import ABSOLUTE, ROUNDED

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(os.path.dirname(HERE))
ISAS = (("v2", "sse4_2"), ("v3", "avx2"), ("v4", "avx512vl"), ("bf16", "avx512_bf16"), ("amx", "amx_bf16"))
SOURCES = ("fuzz/programs/driver", "fuzz/programs/operands", "fuzz/programs/agree", "fuzz/programs/rounding", "fuzz/programs/differences",
           "guarded/operand", "guarded/pages")
# What is made in a dtype that is told.
MADE = "cast zeros ones full empty arange eye rand randn rand_like randn_like".split()
WRAPPED = [f"-Wl,--wrap=tc_{op}" for op in dict.fromkeys(ROUNDED + MADE)]


def isas_here():
    """Levels of code that this machine runs."""
    with open("/proc/cpuinfo", encoding="ascii") as f:
        flags = (re.search(r"^flags\s*:(.*)$", f.read(), re.M) or ["", ""])[1].split()
    return [name for name, flag in ISAS if flag in flags]


def write_wrappers(o):
    """Programs call the functions of ROUNDED and MADE through wrappers (rounding.h)."""
    header = ""
    for name in ("tcompile.h", "tcompile/elementwise.h"):
        with open(f"{o.include}/{name}", encoding="utf-8") as f:
            header += f.read()
    with open(f"{o.out}/wrappers.h", "w", encoding="utf-8") as f:
        for op in dict.fromkeys(ROUNDED + MADE):
            parameters = re.search(rf"^tc_tensor \*tc_{op}\(([^)]*)\)", header, re.M)[1]
            names = ", ".join(re.search(r"\w+$", p)[0] for p in parameters.split(","))
            draws = op.startswith("rand")
            before, result = "", f"__real_tc_{op}({names if draws else names.replace('dtype', 'fuzz_dtype(dtype)')})"
            if draws:
                result = f"fuzz_widened({result})"
            if op == "layer_norm":
                result = f"fuzz_mean_rounded({result}, {names.replace(', bias', '')})"
            if op in ("var", "std", "var_mean"):  # of rows whose elements are equal, but for a rounding
                result = result.replace("(x,", "(fuzz_near(x, axes),")
                result = f"fuzz_deviation_rounded({result}, x, axes, {int(op != 'std')})"
            if op in ("prod", "cumprod"):
                result = f"fuzz_product_rounded({result}, x, {'axes' if op == 'prod' else 'TC_INTS(axis)'}, {int(op == 'cumprod')})"
            if op in ("gelu", "gelu_tanh"):
                result = f"fuzz_factor_rounded({result}, {names})"
            if op in ("gelu_", "gelu_tanh_"):
                before, result = f"tc_tensor *was = fuzz_before({names}); ", f"fuzz_factor_rounded({result}, was)"
            if op in ROUNDED:
                result = f"fuzz_rounded({result}, {int(op in ABSOLUTE)})"
                result = result if op.endswith("_") else f"fuzz_cotangent_rounded({result})"
            f.write(f"tc_tensor *__real_tc_{op}({parameters});\ntc_tensor *__wrap_tc_{op}({parameters});\n"
                    f"tc_tensor *__wrap_tc_{op}({parameters}) {{ {before}return {result}; }}\n")


def build_driver(o):
    write_wrappers(o)
    o.driver = [f"{o.out}/{os.path.basename(name)}.o" for name in SOURCES]
    for name, path in zip(SOURCES, o.driver):
        subprocess.run([*o.clang, "-O1", "-w", "-fopenmp", "-c", "-I", o.include, "-I", o.out, "-I", TESTS, f"{TESTS}/{name}.c", "-o", path], check=True)
    o.malloc = f"{o.out}/libguarded.so"
    subprocess.run([*o.clang, "-O1", "-w", "-fno-builtin", "-fPIC", "-shared", f"{TESTS}/guarded/malloc.c", f"{TESTS}/guarded/pages.c", "-o", o.malloc], check=True)


def is_guarded(o, name):
    """Does the function run in guarded memory?"""
    return o.guarded == "all" or (o.guarded == "half" and int(re.search(r"\d+$", name)[0]) % 2 == 1)


def write(path, functions):
    with open(path, "w", encoding="utf-8") as f:
        f.write('#include "driver.h"\n\n' + "\n".join(x.text() for x in functions))
        f.write("\nstatic const fuzz_case cases[] = {\n" + "".join(x.row() for x in functions))
        f.write("};\n\nint main(int argc, char **argv) { return fuzz_main(cases, sizeof cases / sizeof *cases, argc, argv); }\n")


def limited(command, seconds, env=None):
    """What the command did, or None where it stood still; each of its processes has so many seconds of a
    processor, however many others want it."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 10))
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=30 * seconds, check=False, env=env, preexec_fn=limit)
    except subprocess.TimeoutExpired:
        return None


def build(o, path, ways, functions):
    """The program, or None; what the compiler printed."""
    program, folder = os.path.splitext(path)[0], os.path.dirname(o.runtime)
    options = ["backend=openmp", "cache=off", f"opt={o.opt}"] + ways
    command = [*o.clang, "-O0", "-g0", "-fno-exceptions", "-fno-crash-diagnostics", "-Wno-everything", "-Wbackend-plugin", f"-fplugin={o.plugin}", *(f"-fplugin-arg-tc-{x}" for x in options), "-Rpass-missed=tc",
               "-I", o.include, "-I", HERE, "-I", TESTS, path, *o.driver, "-o", program, o.runtime, f"-Wl,-rpath,{folder}", "-fopenmp", "-lm", *WRAPPED, *o.link]
    limit = o.limit + functions
    p = limited(command, limit)
    if not p or re.search("CPU time limit exceeded|unable to execute command: Killed", p.stderr):
        return None, f"error: not compiled within {limit} s"
    broken = re.search(r"(?:warning|remark): (.*(?:please report this|internal error).*)", p.stderr)
    if broken:
        return None, f"error: {broken[1]}\n" + p.stderr
    return (program if p.returncode == 0 else None), p.stderr


def run(o, program, broken, guarded, names):
    """broken: names of the functions of which some statements stay as they are."""
    env = {**os.environ, "OMP_WAIT_POLICY": "passive"}
    for name in [n for n in env if n.startswith("TC_")]:
        del env[name]
    env["FUZZ_BROKEN"] = " ".join(["", *broken, ""])
    guard = [f"{TESTS}/guarded/run", o.malloc] if guarded else []
    p = limited([*guard, program, *names], 120, env)
    return (p.returncode, p.stdout) if p else (-1, "")


def fails(o, functions, path, ways):
    """Names of functions that fail, with the reason; what the programs and the compiler printed."""
    write(path, functions)
    program, errors = build(o, path, ways, len(functions))
    if not program:
        if len(functions) == 1:
            return {functions[0].name: "does not build: " + (re.search(r"error: .*", errors) or [errors[-200:]])[0]}, "", errors
        found, text, errors = {}, "", ""
        for part in (functions[:len(functions) // 2], functions[len(functions) // 2:]):
            f, t, e = fails(o, part, path, ways)
            found.update(f)
            text, errors = text + t, errors + e
        return found, text, errors
    found, text = {}, ""
    broken = sorted(set(re.findall(r"graph break in '(\w+)'", errors)))
    for guarded in (False, True):
        left = [f.name for f in functions if is_guarded(o, f.name) == guarded]
        while left:  # behind one that crashes
            status, printed = run(o, program, broken, guarded, left)
            text += printed
            for m in re.finditer(r"^FAIL (\w+) (.*)$", printed, re.M):
                found.setdefault(m[1], m[2])
            if status in (0, 1):
                break
            last = (re.findall(r"^run (\w+)$", printed, re.M) or left)[-1]
            found[last] = f"crashed with status {status}" + " in guarded memory" * guarded
            left = left[left.index(last) + 1:]
    os.remove(program)
    return found, text, errors
