"""smoke.py BUILD ROOT OUT: tools/bench sweep without peers: a row of every family, checked against float64, and its files."""
import json
import os
import subprocess
import sys
import xml.etree.ElementTree

from sweep_families import SWEPT

build, root, out = sys.argv[1:]
seed, count = 3, sum(family.weight for family in SWEPT.values())
clang = os.environ.get("CLANG", "clang-19")
subprocess.run([sys.executable, os.path.join(root, "bench/harness/sweep.py"), "--build", build, "--root", root, "--out", out,
                "--clang", clang, "--seed", str(seed), "--count", str(count), "--peers", "", "--rounds", "1", "--most-bytes", "1e6"], check=True)
with open(os.path.join(out, "sweep.json"), encoding="utf-8") as f:
    result = json.load(f)
assert {r["family"] for r in result["rows"]} == set(SWEPT), "a family is missing"
assert all(r["hits"] and not r["fallbacks"] for r in result["rows"]), "a row ran without its kernels"
xml.etree.ElementTree.parse(os.path.join(out, "sweep.svg"))
with open(os.path.join(out, "sweep.md"), encoding="utf-8") as f:
    assert "geometric mean" in f.read() and os.path.getsize(os.path.join(out, "sweep.md")) > 2000
