# One program per construct: what is captured of it, and that it prints what the body prints.
import os
import sys

import lit.formats

config.name = "capture"
config.test_format = lit.formats.ShTest(execute_external=True)
config.suffixes = [".c", ".cpp", ".test"]
config.excludes = ["Inputs", "lit.cfg.py"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.tc_binary, "tests", "capture", "out")
config.environment["LD_LIBRARY_PATH"] = config.tc_library
config.environment["OMP_NUM_THREADS"] = "2"
for name in ("TC_DUMP", "TC_ISA", "TC_LOGS", "TC_FALLBACK", "TC_DEVICE", "TC_CUDA_DUMP"):
    config.environment.pop(name, None)
# Tests see a machine without NVRTC, but for those that ask for it.
config.environment["TC_NVRTC"] = "none"
if os.path.exists(config.tc_nvrtc):
    config.available_features.add("nvrtc")
else:
    lit_config.note("libnvrtc was not found: tests that compile device code do not run")

script = os.path.join(config.test_source_root, "Inputs", "check.py")
config.substitutions += [
    ("%capture", " ".join([sys.executable, script, config.tc_clang, config.tc_plugin, config.tc_include,
                           config.tc_library, "%s", "%t"])),
    ("%check", config.tc_filecheck + " %s"),
    ("%explain", os.path.join(config.tc_binary, "tools", "explain", "tc-explain")),
    ("%python", sys.executable),
    ("%plugin", config.tc_plugin),
    ("%include", config.tc_include),
    ("%clang", config.tc_clang),
]
