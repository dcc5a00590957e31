"""check.py ROOT: what includes what in the compiler: no file leads back to itself, and no layer includes one above it.
check.py --wrong WORK: trees in which that is not so are noticed.

Circles are looked for in graph/, autodiff/, batching/, frontend/, driver/ and plugin/; layers are the folders of ABOVE.  A test of text alone: it
sees every branch of #if."""
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
WITHOUT_CIRCLES = ("graph", "autodiff", "batching", "frontend", "driver", "plugin")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


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


def upwards(graph):
    for file, list_ in graph.items():
        for included in list_:
            for folder in ABOVE[file.split("/")[0]]:
                if included.startswith(folder + "/"):
                    yield f"{file} includes {included}, which is above it"


def circles(graph):
    """Each circle once, from its first file."""
    done = set()
    for start in sorted(graph):
        if start.split("/")[0] not in WITHOUT_CIRCLES or start in done:
            continue
        stack, on = [(start, iter(graph[start]))], [start]
        while stack:
            file, rest = stack[-1]
            step = next(rest, None)
            if step is None:
                stack.pop()
                done.add(on.pop())
            elif step in on:
                yield "a circle: " + " -> ".join(on[on.index(step):] + [step])
            elif step in graph and step not in done:
                stack.append((step, iter(graph[step])))
                on.append(step)


def problems(root):
    graph = includes(root)
    return [*upwards(graph), *circles(graph)], len(graph)


def expect_wrong(work, files, expected):
    for name, text in files.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(text)
    found, _ = problems(work)
    if found != [expected]:
        sys.exit(f"expected '{expected}', and not {found}")


def main():
    if sys.argv[1] == "--wrong":
        work = pathlib.Path(sys.argv[2])
        expect_wrong(work / "up", {"graph/a.c": '#include "lower/b.h"\n', "lower/b.h": ""},
                     "graph/a.c includes lower/b.h, which is above it")
        expect_wrong(work / "round", {"plugin/a.h": '#include "b.h"\n', "plugin/b.h": ' # include "plugin/a.h"\n',
                                      "plugin/a.cpp": '#include "a.h"\n'},
                     "a circle: plugin/a.h -> plugin/b.h -> plugin/a.h")
        return
    found, count = problems(pathlib.Path(sys.argv[1]))
    print("\n".join(found + [f"{count} files, {len(found)} problems"]))
    sys.exit(bool(found) or not count)


main()
