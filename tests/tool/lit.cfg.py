# Tests of the tool: C in, C out, messages as Clang prints them.
#
#   %tcompile    the tool                        %headers    where those of the runtime are
#   %gcc, %gxx   a GCC                           %clang, %clangxx  Clang without the plugin
#   %run         what programs link with         %tcc        tcc, where there is one (feature tcc)
#   %quick       options by which little is compiled
import os
import shutil

config.name = "tool"
lit_config.load_config(config, os.path.join(os.path.dirname(__file__), "..", "lit.common.cfg.py"))

config.substitutions += [
    ("%tcompile", config.tc_tool),
    ("%headers", "-I " + config.tc_include),
    ("%clangxx", config.tc_clang + "++"),
    ("%gxx", shutil.which("g++") or "g++"),
    ("%clang", config.tc_clang),
    ("%gcc", shutil.which("gcc") or "gcc"),
    ("%run", "-L %s -ltcrt -lm -Wl,-rpath,%s" % (config.tc_library, config.tc_library)),
    ("%check", config.tc_filecheck),
    ("%not", config.tc_not),
    ("%tcc", "tcc"),
    ("%quick", "-fplugin-arg-tc-backend=openmp -fplugin-arg-tc-isa=v2"),
]
for program in ("tcc", "ccache"):
    if shutil.which(program):
        config.available_features.add(program)

# Plugins that ask the tool: %thin; those of them that %loader finds for GCC: %of_loader; the last of these GCCs: %newest.
folder = os.path.join(config.tc_binary, "plugin")
of_loader = ["%s/gcc/libtcgcc-%s.so" % (folder, major) for major in config.tc_gcc_majors]
thin = of_loader + ["%s/clang/libtcclang-%s.so" % (folder, major) for major in config.tc_clang_majors]
config.substitutions += [
    ("%thin", " ".join(thin)),
    ("%of_loader", " ".join(of_loader)),
    ("%loader", folder + "/gcc/libtcgcc.so"),
    ("%newest", "gcc-" + config.tc_gcc_majors[-1] if of_loader else "gcc"),
]
if thin:
    config.available_features.add("thin")
if of_loader:
    config.available_features.add("gcc-plugin")
