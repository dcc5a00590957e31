# Tests of tc-export and tc-opt --run, as a user meets them.
#
#   %export      the tool                        %opt        tc-opt
#   %gcc         a GCC without a plugin          %tc         Clang with the plugin
#   %run         what programs link with         %data       makes operands, weights and what is expected
#   %numpy       a Python with NumPy
import os
import shutil

config.name = "export"
config.environment["PYTHONDONTWRITEBYTECODE"] = "1"
lit_config.load_config(config, os.path.join(os.path.dirname(__file__), "..", "lit.common.cfg.py"))
config.excludes.add("test_run.c")  # a unit test
inputs = os.path.join(os.path.dirname(__file__), "Inputs")
headers = "-I " + config.tc_include

config.substitutions += [
    ("%export", os.path.join(config.tc_binary, "tools", "export", "tc-export")),
    ("%opt", os.path.join(config.tc_binary, "tools", "opt", "tc-opt")),
    ("%numpy", config.tc_numpy),
    ("%data", "%s %s" % (config.tc_numpy, os.path.join(inputs, "data.py"))),
    ("%gcc", "%s %s -Wall -Wextra -Werror" % (shutil.which("gcc") or "gcc", headers)),
    ("%tc", "%s -fplugin=%s %s" % (config.tc_clang, config.tc_plugin, headers)),
    ("%run", "-L %s -ltcrt -lm -Wl,-rpath,%s" % (config.tc_library, config.tc_library)),
    ("%library", config.tc_library),
    ("%inputs", inputs),
    ("%check", config.tc_filecheck),
    ("%not", config.tc_not),
]
