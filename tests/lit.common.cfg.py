# What the lit suites share.  config.name is the suite's folder; sites say where the tools are.
import os
import sys

import lit.formats

config.test_format = lit.formats.ShTest(execute_external=True)
config.suffixes = [".c", ".cpp", ".test"]
config.excludes = ["Inputs", "lit.cfg.py"]
config.test_source_root = os.path.join(os.path.dirname(__file__), config.name)
config.test_exec_root = os.path.join(config.tc_binary, "tests", config.name, "out")
config.environment["LD_LIBRARY_PATH"] = config.tc_library
config.environment["OMP_NUM_THREADS"] = "2"
for name in ("TC_DUMP", "TC_ISA", "TC_LOGS", "TC_FALLBACK", "TC_DEVICE", "TC_CUDA_DUMP"):
    config.environment.pop(name, None)
# Tests see a machine without NVRTC, but for those that ask for it.
config.environment["TC_NVRTC"] = "none"
# Kernels that suites and compilers have in common are compiled once.
config.environment["TC_BUILD_CACHE"] = os.path.join(config.tc_binary, "tests", "kernels")
if os.path.exists(config.tc_nvrtc):
    config.available_features.add("nvrtc")
else:
    lit_config.note("libnvrtc was not found: tests that compile device code do not run")

config.substitutions += [
    ("%python", sys.executable),
    ("%plugin", config.tc_plugin),
    ("%include", config.tc_include),
    ("%explain", os.path.join(config.tc_binary, "tools", "explain", "tc-explain")),
]
