# Tests of the tool: C in, C out, messages as Clang prints them.
#
#   %tcompile    the tool                        %headers    where those of the runtime are
#   %gcc         a GCC                           %clang      Clang without the plugin
#   %run         what programs link with         %tcc        tcc, where there is one (feature tcc)
#   %quick       options by which little is compiled
import os
import shutil

config.name = "tool"
lit_config.load_config(config, os.path.join(os.path.dirname(__file__), "..", "lit.common.cfg.py"))

config.substitutions += [
    ("%tcompile", config.tc_tool),
    ("%headers", "-I " + config.tc_include),
    ("%clang", config.tc_clang),
    ("%gcc", shutil.which("gcc") or "gcc"),
    ("%run", "-L %s -ltcrt %s -lm -Wl,-rpath,%s" % (config.tc_library, config.tc_openmp, config.tc_library)),
    ("%check", config.tc_filecheck),
    ("%not", config.tc_not),
    ("%tcc", "tcc"),
    ("%quick", "-fplugin-arg-tc-backend=openmp -fplugin-arg-tc-isa=v2"),
]
if shutil.which("tcc"):
    config.available_features.add("tcc")
