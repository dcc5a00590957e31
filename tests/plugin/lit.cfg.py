# Tests of the plugin as a user meets it: diagnostics with their places, flags, rewritten programs.
#
#   %clang    clang of the plugin's version       %tc       the same with the plugin and the headers
#   %run      what programs link with             %check    FileCheck --match-full-lines is not set
import os
import shutil
import sys

import lit.formats

config.name = "plugin"
config.test_format = lit.formats.ShTest(execute_external=True)
config.suffixes = [".c", ".cpp", ".test"]
config.excludes = ["Inputs", "lit.cfg.py"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.tc_binary, "tests", "plugin", "out")
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

headers = "-I " + config.tc_include
config.substitutions += [
    ("%tc_cuda", "%s -fplugin=%s -fplugin-arg-tc-nvrtc=%s %s"
     % (config.tc_clang, config.tc_plugin, config.tc_nvrtc, headers)),
    ("%tcxx", "%s -x c++ -fplugin=%s %s" % (config.tc_clang, config.tc_plugin, headers)),
    ("%tc", "%s -fplugin=%s %s" % (config.tc_clang, config.tc_plugin, headers)),
    ("%plain", "%s %s" % (config.tc_clang, headers)),
    ("%clang_bare", config.tc_clang),
    ("%python", sys.executable),
    ("%plugin", config.tc_plugin),
    ("%include", config.tc_include),
    ("%run", "-L %s -ltcrt -fopenmp -lm -Wl,-rpath,%s" % (config.tc_library, config.tc_library)),
    ("%check", config.tc_filecheck),
    ("%explain", os.path.join(config.tc_binary, "tools", "explain", "tc-explain")),
    ("%options", os.path.join(config.tc_binary, "tools", "options", "tc-options")),
    ("%inputs", os.path.join(config.test_source_root, "Inputs")),
    ("%nm", config.tc_nm),
    ("%not", config.tc_not),
]

for version in range(13, 30):
    if shutil.which("clang-%d" % version):
        config.available_features.add("clang-%d" % version)
