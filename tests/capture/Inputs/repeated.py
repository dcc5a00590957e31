"""Compiles one program for 4 and 12 layers: distinct kernels, seconds, bytes of the object."""
import json
import os
import subprocess
import sys
import time

compiler, plugin, include, explain, source, out = sys.argv[1:7]
here = os.path.dirname(os.path.abspath(__file__))
prefix = "-fplugin-arg-libtcgcc-" if "gcc" in os.path.basename(compiler) else "-fplugin-arg-tc-"
size = {}
for layers in (4, 12):
    object = "%s.%d.o" % (out, layers)
    start = time.time()
    subprocess.run([compiler, "-fplugin=" + plugin, prefix + "backend=openmp", "-O1", "-I", include, "-I", here, "-c",
                    "-DKNOWN_ONLY", "-DLAYERS=%d" % layers, source, "-o", object], check=True)
    seconds = time.time() - start
    file = json.loads(subprocess.run([explain, "--json", object], capture_output=True, check=True).stdout)
    kernels = [k["symbol"] for f in file["units"][0]["functions"] for s in f["segments"]
               for v in s["variants"] for k in v["kernels"]]
    size[layers] = len(open(object, "rb").read())
    print("%d layers: %d distinct kernels of %d, %.2f s, %d bytes"
          % (layers, len(set(kernels)), len(kernels), seconds, size[layers]))
# Entries and the description grow with the layers, code of kernels does not.
assert size[12] < 2 * size[4], size
