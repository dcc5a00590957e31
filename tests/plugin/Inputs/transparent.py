"""Compiles files of which nothing is compiled, and no body makes what a scope would free, with and without the
plugin and compares the bytes."""
import pathlib
import subprocess
import sys

clang, plugin, include, folder = sys.argv[1:]
folder = pathlib.Path(folder)
folder.mkdir(parents=True, exist_ok=True)
sources = {
    "empty.c": "",
    "plain.c": "#include <stdio.h>\nint main(void) { puts(\"x\"); return 0; }\n",
    "api.c": "#include <tcompile.h>\ntc_tensor *f(const tc_tensor *x) { return tc_exp(tc_relu(x)); }\n",
    "shape_only.c": "#include <tcompile.h>\n"
                    "tc_tensor *f(const tc_tensor *x TC_SHAPE(\"f32[N]\")) { return tc_exp(x); }\n",
    "word.c": "/* TC_COMPILE */ const char *tc_compile = \"tc_compile\";\nint f(int a) { return a * 3; }\n",
    "declared.c": "#include <tcompile.h>\nTC_COMPILE tc_tensor *f(const tc_tensor *x);\n"
                  "tc_tensor *g(const tc_tensor *x) { return f(x); }\n",
    "rejected.c": "#include <stdio.h>\n#include <tcompile.h>\n"
                  "TC_COMPILE const tc_tensor *f(const tc_tensor *x) { puts(\"x\"); return x; }\n",
    "line.c": "#line 40 \"other.c\"\nint f(void) { return __LINE__; }\nconst char *n = __FILE__;\n",
    "static.c": "static int n; int f(void) { static int m; return n++ + m--; }\n",
    "cxx.cpp": "#include <vector>\nint f(std::vector<int> &v) { v.push_back(1); return v.size(); }\n",
    "api.cpp": "#include <tcompile.h>\nTC_COMPILE int64_t f(const tc_tensor *x) { return tc_numel(x); }\n",
    "asm.S": "\t.text\n\t.globl f\nf:\tret\n",
}
flags = ["-O0 -g -c", "-O2 -c", "-O2 -g -flto=thin -c", "-O1 -S", "-O2 -S -emit-llvm", "-E",
         "-O1 -c -fsanitize=address", "-O0 --coverage -c", "-O2 -fPIC -ffunction-sections -c"]

compared = 0
for name, text in sources.items():
    (folder / name).write_text(text)
    for flag in flags:
        if name.endswith(".S") and flag not in ("-O0 -g -c", "-O2 -c", "-E"):
            continue
        outputs = []
        # What stays as it is, though it is annotated, is described in the object.
        explain = ["-fplugin-arg-tc-explain=false"] if name in ("rejected.c", "api.cpp") else []
        for extra in ([], ["-fplugin=" + plugin, *explain]):
            # Preprocessed text differs on purpose: with the plugin the macros expand to attributes.
            if "-E" in flag and "tcompile.h" in text:
                continue
            out = folder / "out"
            out.unlink(missing_ok=True)
            subprocess.run([clang, "-I", include, *flag.split(), name, "-o", "out", *extra],
                           cwd=folder, check=True)
            outputs.append(out.read_bytes())
        if outputs and outputs[0] != outputs[1]:
            sys.exit(f"{name} {flag}: the object differs")
        compared += len(outputs) // 2
print(compared, "objects compared")
