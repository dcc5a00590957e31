# Tests of the plugin as a user meets it: diagnostics with their places, flags, rewritten programs.
#
#   %clang    clang of the plugin's version       %tc       the same with the plugin and the headers, kernels for one level
#   %tc_levels  %tc with kernels for all levels, as users have it: for what the levels are the point of, at five times the cost
#   %run      what programs link with             %check    FileCheck --match-full-lines is not set
#   %cuda_texts  %tc for CUDA, for what is said and dumped of kernels: a stub in place of NVRTC, the others are not optimised
#   %machine_code   the same with NVRTC, and MACHINE_CODE defined, which leaves out what others stand for
import os
import shutil
import sys

# The full plugin, or a site of its own for each thin one.
config.name = getattr(config, "tc_suite", "plugin")
lit_config.load_config(config, os.path.join(os.path.dirname(__file__), "..", "lit.common.cfg.py"))
config.test_source_root = os.path.dirname(__file__)

headers = "-I " + config.tc_include
with_plugin = "%s -fplugin=%s" % (config.tc_clang, config.tc_plugin)
if "gcc" in os.path.basename(config.tc_clang):
    with_plugin = "%s %s %s %s" % (sys.executable, os.path.join(config.test_source_root, "Inputs", "by_gcc"),
                                   config.tc_clang, config.tc_plugin)
nvrtc_stub = os.path.join(config.tc_binary, "tests", "cuda_stub", "libnvrtc_stub.so")
plain_kernels = " ".join("-fplugin-arg-tc-" + o for o in ("backend=cuda", "cuda-arch=90", "isa=v2", "opt=0"))
one_level = "-fplugin-arg-tc-isa=v2"
config.substitutions += [
    ("%cuda_texts", "%s %s -fplugin-arg-tc-nvrtc=%s %s" % (with_plugin, headers, nvrtc_stub, plain_kernels + " -fplugin-arg-tc-cache=off")),
    ("%machine_code", "%s %s -fplugin-arg-tc-nvrtc=%s %s -DMACHINE_CODE" % (with_plugin, headers, config.tc_nvrtc, plain_kernels)),
    ("%tc_cuda", "%s -fplugin-arg-tc-nvrtc=%s %s" % (with_plugin, config.tc_nvrtc, headers)),
    ("%tc_levels", "%s %s" % (with_plugin, headers)),
    ("%tcxx", "%s -x c++ %s %s" % (with_plugin, headers, one_level)),
    ("%tc", "%s %s %s" % (with_plugin, headers, one_level)),
    ("%plain", "%s %s" % (config.tc_clang, headers)),
    ("%clang_bare", config.tc_clang),
    ("%run", "-L %s -ltcrt -lm -ldl -Wl,-rpath,%s" % (config.tc_library, config.tc_library)),
    ("%check", config.tc_filecheck),
    ("%options", os.path.join(config.tc_binary, "tools", "options", "tc-options")),
    ("%graph_tool", os.path.join(config.tc_binary, "tools", "opt", "tc-opt")),
    ("%backends", os.path.join(config.tc_binary, "tools", "backends", "tc-backends")),
    ("%inputs", os.path.join(config.test_source_root, "Inputs")),
    ("%nvrtc_stub", nvrtc_stub),
    ("%nm", config.tc_nm),
    ("%objdump", config.tc_nm.replace("nm", "objdump")),
    ("%dwarfdump", config.tc_nm.replace("llvm-nm", "llvm-dwarfdump")),
    ("%not", config.tc_not),
]

# Compilers that the plugin is not for.
names = ["gcc", "g++"] + ["clang-%d" % version for version in range(13, 30)]
paths = [shutil.which(name) for name in names]
others = [p for p in paths if p and os.path.realpath(p) != os.path.realpath(shutil.which(config.tc_clang) or config.tc_clang)]
config.substitutions.append(("%others", " ".join(others)))
