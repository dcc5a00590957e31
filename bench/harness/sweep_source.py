"""The C functions of drawn rows, compiled by the plugin."""
import concurrent.futures
import os
import re
import subprocess

PER_FILE = 6
HARNESS = ("bench_main", "ceilings")  # of bench/cpu
HEAD = "#include <math.h>\n#include <tcompile.h>\n#include <tcompile/conv.h>\n\n#include \"bench/cpu/cases.h\"\n"
# Levels of code, and the flag of /proc/cpuinfo that a CPU needs for them.
LEVELS = (("v2", "sse4_2"), ("v3", "avx2"), ("v4", "avx512vl"), ("bf16", "avx512_bf16"), ("amx", "amx_bf16"))


def level_here():
    with open("/proc/cpuinfo", encoding="ascii") as f:
        flags = set(re.search(r"^flags\s*:(.*)$", f.read(), re.M)[1].split())
    return [name for name, flag in LEVELS if flag in flags][-1]


def annotated(row, form):
    """The dims of each operand as its annotation has them: letters, or the numbers that the code is for."""
    letters = row.size if row.constant else {d: row.size[d] for d in form.fixed}
    return [",".join(str(letters.get(d, d)) for d in dims.split(",")) for dims in form.operand_dims()]


def code_key(row):
    """Rows with equal keys are measured with one function."""
    form = row.form()
    return row.family, row.dtype, tuple(row.options.items()), tuple(annotated(row, form))


def named(rows):
    """{key: name of the function}"""
    names = {}
    for row in rows:
        names.setdefault(code_key(row), f"{row.family}_{len(names)}")
    return names


def function_text(row, name):
    """The function, and how the harness calls it."""
    form, operands = row.form(), "abcd"
    dims = annotated(row, form)
    parameters = [f'const tc_tensor *{operands[i]} TC_SHAPE("{"i64" if i in form.index else row.dtype}[{d}]")' for i, d in enumerate(dims)]
    given = ", ".join(f"in[{i}]" for i in range(len(dims)))
    if form.leaves:
        text = f"TC_COMPILE static bool {name}({', '.join(parameters)}, tc_tensor **out) {{\n{form.body()}}}\n"
        call = f"{name}({given}, out)"
    else:
        text = f"TC_COMPILE static tc_tensor *{name}({', '.join(parameters)}) {{\n  return {form.code()};\n}}\n"
        call = f"(out[0] = {name}({given})) != NULL"
    return f"/* {row.label()} */\n{text}static bool run_{name}(tc_tensor *const *in, tc_tensor **out) {{ return {call}; }}\n"


def case_text(row, name):
    form = row.form()
    return f'    {{"{name}", "{row.dtype}", {len(form.operand_dims())}, run_{name}, .leaves = {form.leaves}, .results = {form.results}}},\n'


def sources(rows):
    """{file: text}: functions, PER_FILE to a file, and the table of tables."""
    names = named(rows)
    first = {}
    for row in rows:
        first.setdefault(code_key(row), row)
    functions = [(first[key], name) for key, name in names.items()]
    files, tables = {}, []
    for at in range(0, len(functions), PER_FILE):
        part, table = functions[at:at + PER_FILE], f"swept_{at // PER_FILE}"
        body = "\n".join(function_text(row, name) for row, name in part)
        cases = "".join(case_text(row, name) for row, name in part)
        files[table + ".c"] = f"{HEAD}\n{body}\nconst bench_case {table}[] = {{\n{cases}}};\n"
        tables.append((table, len(part)))
    declared = "".join(f"extern const bench_case {table}[];\n" for table, _ in tables)
    entries = "".join(f"    {{{table}, {count}}},\n" for table, count in tables)
    files["tables.c"] = f"{HEAD}\n{declared}\nconst bench_table bench_tables[] = {{\n{entries}    {{NULL, 0}},\n}};\n"
    return files


def compiled(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout}")
    return done.stdout


def objects(rows, harness, plugin, options, includes, out, clang="clang-19", jobs=None, flags=()):
    """Objects of the rows' functions and of `harness`'s C files, and what the compiler said of functions that it did not compile whole."""
    os.makedirs(out, exist_ok=True)
    plugin = [f"-fplugin={plugin}", *(f"-fplugin-arg-tc-{o}" for o in options)]
    files = list(harness)
    for name, text in sources(rows).items():
        files.append(os.path.join(out, name))
        with open(files[-1], "w", encoding="utf-8") as f:
            f.write(text)
    made = [os.path.join(out, os.path.basename(source)[:-2] + ".o") for source in files]
    commands = [[clang, "-O2", "-c", "-fopenmp", "-Rpass-missed=tc", *flags, *plugin, *(f"-I{i}" for i in includes), source, "-o", o]
                for source, o in zip(files, made)]
    with concurrent.futures.ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        return made, "".join(pool.map(compiled, commands))


def build(rows, build_folder, root, out, plugin=None, clang="clang-19", jobs=None, options=()):
    """The program that measures the rows, made by `plugin` (else that of the build), and what the compiler said."""
    made, said = objects(rows, [f"{root}/bench/cpu/{name}.c" for name in HARNESS], plugin or f"{build_folder}/plugin/libtcplugin.so",
                         ("backend=openmp", f"isa={level_here()}", *options), (f"{build_folder}/include", root), out, clang, jobs)
    program, runtime = os.path.join(out, "swept"), f"{build_folder}/runtime/libtcrt"
    compiled([clang, *made, "-o", program, f"{runtime}/libtcrt.so",
              f"-Wl,-rpath,{os.path.abspath(runtime)}", "-fopenmp", "-lm"])
    return program, said
