"""check.py ROOT: what includes and calls what in the compiler: no file leads back to itself, and no layer includes one above it.
check.py --wrong WORK: trees in which that is not so are noticed.

Layers are the folders of ABOVE.  Circles of includes are looked for in all of them, circles of calls among the C files of each
folder of CALLS.  A test of text alone: it sees every branch of #if, and no call by a pointer."""
import pathlib
import re
import sys

ABOVE = {  # folder: what its files must not include
    "graph": ("autodiff", "batching", "lower", "backends", "frontend", "driver", "plugin", "runtime/libtcrt/src", "tools"),
    "autodiff": ("batching", "lower", "backends", "frontend", "driver", "plugin", "runtime/libtcrt/src", "tools"),
    "batching": ("autodiff", "lower", "backends", "frontend", "driver", "plugin", "runtime/libtcrt/src", "tools"),
    "lower": ("backends", "frontend", "driver", "plugin", "tools"),
    "backends": ("frontend", "driver", "plugin", "tools"),
    "frontend": ("driver", "plugin", "tools"),
    "driver": ("plugin", "tools"),
    "plugin": ("tools",),
}
CALLS = ("graph", "autodiff", "batching", "lower", "backends")  # not what is text of kernels: prelude/
RECURSIVE = {  # files that call each other because what they make is made of each other: they count as one
    # a value is loaded from an address, whose terms are values; a value may be a reduction, whose operand is one
    "lower/nest": ("value.c", "element.c", "reduce.c", "piece.c"),
    # a size has its normal form by what is known of it, and known is what holds of normal forms and quotients; a symbol
    # that is named again has the bounds that are assumed of it
    "graph/dim": ("dim.c", "div.c", "know.c", "assume.c"),
}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
IGNORED = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'""", re.S)
DEFINITION = re.compile(r"^(?!static\b|typedef\b|extern\b)[A-Za-z_][\w \n*]*?\b(\w+)\([^;{]*\)\s*\{", re.M)
CALL = re.compile(r"\b(\w+)\s*\(")


def includes(root):
    """{file: the files of the tree that it includes}, all by their path from the root."""
    files = {str(p.relative_to(root)): p for folder in ABOVE for p in (root / folder).rglob("*")
             if p.suffix in (".c", ".h", ".cpp", ".def")}
    out = {}
    for name, path in files.items():
        out[name] = []
        for text in INCLUDE.findall(path.read_text()):
            beside = str((path.parent / text).resolve().relative_to(root.resolve()))
            found = beside if beside in files else text
            out[name].append(found)
    return out


def calls(root, folder):
    """{C file of the folder: those whose functions it calls}, by their path from the root."""
    name = str(folder.relative_to(root))
    one = RECURSIVE.get(name, ())
    text = {p.name: IGNORED.sub(" ", p.read_text()) for p in sorted(folder.glob("*.c"))}
    owner = {function: file for file in text for function in DEFINITION.findall(text[file])}
    path = {file: f"{name}/{one[0] if file in one else file}" for file in text}
    out = {path[file]: [] for file in text}
    for file in text:
        called = {path[owner[f]] for f in CALL.findall(text[file]) if f in owner}
        out[path[file]] += sorted(called - {path[file]})
    return out


def upwards(graph):
    for file, list_ in graph.items():
        for included in list_:
            for folder in ABOVE[file.split("/")[0]]:
                if included.startswith(folder + "/"):
                    yield f"{file} includes {included}, which is above it"


def circles(graph, what):
    """Each circle once, from its first file."""
    done = set()
    for start in sorted(graph):
        if start in done:
            continue
        stack, on = [(start, iter(graph[start]))], [start]
        while stack:
            file, rest = stack[-1]
            step = next(rest, None)
            if step is None:
                stack.pop()
                done.add(on.pop())
            elif step in on:
                yield f"a circle of {what}: " + " -> ".join(on[on.index(step):] + [step])
            elif step in graph and step not in done:
                stack.append((step, iter(graph[step])))
                on.append(step)


def problems(root):
    graph = includes(root)
    found = [*upwards(graph), *circles(graph, "includes")]
    folders = {p.parent for top in CALLS for p in (root / top).rglob("*.c") if "prelude" not in p.parts}
    for folder in sorted(folders):
        found += circles(calls(root, folder), "calls")
    return found, len(graph)


def expect_wrong(work, files, expected):
    for name, text in files.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(text)
    found, _ = problems(work)
    if found != [expected]:
        sys.exit(f"expected '{expected}', and not {found}")


def expect_all_wrong(work):
    expect_wrong(work / "up", {"graph/a.c": '#include "lower/b.h"\n', "lower/b.h": ""},
                 "graph/a.c includes lower/b.h, which is above it")
    expect_wrong(work / "round", {"plugin/a.h": '#include "b.h"\n', "plugin/b.h": ' # include "plugin/a.h"\n',
                                  "plugin/a.cpp": '#include "a.h"\n'},
                 "a circle of includes: plugin/a.h -> plugin/b.h -> plugin/a.h")
    expect_wrong(work / "calls", {"lower/a.c": "int *a(int x,\n       int y) {\n  return b(x); /* c() */\n}\n",
                                  "lower/b.c": "int b(int x) {\n  return put(\"c()\"), a(x, '\"');\n}\n",
                                  "lower/c.c": "static int b(void);\nint c(void) {\n  return a(1, 2);\n}\n"},
                 "a circle of calls: lower/a.c -> lower/b.c -> lower/a.c")
    expect_wrong(work / "recursive", {"lower/nest/value.c": "int v(void) {\n  return e();\n}\n",
                                      "lower/nest/element.c": "int e(void) {\n  return v() + o();\n}\n",
                                      "lower/nest/other.c": "int o(void) {\n  return v();\n}\n"},
                 "a circle of calls: lower/nest/other.c -> lower/nest/value.c -> lower/nest/other.c")


def main():
    if sys.argv[1] == "--wrong":
        expect_all_wrong(pathlib.Path(sys.argv[2]))
        return
    found, count = problems(pathlib.Path(sys.argv[1]))
    print("\n".join(found + [f"{count} files, {len(found)} problems"]))
    sys.exit(bool(found) or not count)


main()
