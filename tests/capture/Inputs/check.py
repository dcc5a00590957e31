"""Builds one program with the plugin (of Clang or GCC) and without it, and compares what they print: with kernels, with
the original statements only, and eagerly, and again in guarded memory (tests/guarded) unless the last flag is
--unguarded.  Prints the remarks and the counters of the first run."""
import os
import re
import subprocess
import sys

compiler, plugin, include, library, guarded, source, out = sys.argv[1:8]
flags = [f for f in sys.argv[8:] if f != "--unguarded"]
here = os.path.dirname(os.path.abspath(__file__))
common = [source, "-O1", "-I", include, "-I", here, "-L", library, "-ltcrt", "-lm", "-Wl,-rpath," + library] + flags
warnings = ["-Wall", "-Wextra", "-Werror"]
options = ["backend=openmp", "isa=v2", "opt=0"]
of_gcc = "gcc" in os.path.basename(compiler)
if of_gcc:
    options = ["-fplugin-arg-libtcgcc-" + option for option in options + ["remarks"]]
else:
    options = ["-fplugin-arg-tc-" + option for option in options] + ["-Rpass=tc", "-Rpass-missed=tc"]


def run(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, **more))
    if done.returncode:
        sys.exit("%s\nfailed (%d)\n%s%s" % (" ".join(command), done.returncode, done.stdout, done.stderr))
    return done


def same(a, b):
    """Equal words; numbers within what rounding may do to sums of a few values.  NaN is nothing but NaN."""
    a, b = a.split(), b.split()
    for x, y in zip(a, b):
        try:
            near = abs(float(x) - float(y)) <= 2e-3 + 1e-5 * abs(float(y))
        except ValueError:
            near = False
        if x.replace("-nan", "nan") != y.replace("-nan", "nan") and not near:
            return False
    return len(a) == len(b)


os.makedirs(os.path.dirname(out), exist_ok=True)
built = run([compiler, "-fplugin=" + plugin, "-o", out] + options + warnings + common)
run([compiler, "-o", out + ".eager"] + warnings + common)
compiled, fallback, eager = run([out]), run([out], TC_FALLBACK="mandatory"), run([out + ".eager"])
guard = [os.path.join(here, "..", "..", "guarded", "run"), guarded]
runs = [("compiled", compiled, eager), ("fallback", fallback, eager)]
if "--unguarded" not in sys.argv:
    runs.append(("compiled in guarded memory", run(guard + [out]), run(guard + [out + ".eager"])))
for what, other, want in runs:
    if not same(other.stdout, want.stdout):
        sys.exit("%s prints\n%s\nand eager\n%s" % (what, other.stdout, want.stdout))
messages = built.stderr
if of_gcc:  # which has no remarks
    messages = re.sub(": note: (.*)", r": remark: \1 [-Rpass=tc]", messages)
print(messages + compiled.stderr)
