# Tests of shape profiles: programs are built so that they count, run, and built by what they counted.
#
#   %tc          Clang with the plugin           %run        what programs link with
#   %newest      a GCC, %loader its plugin       %tcompile   the tool
import os
import shutil

config.name = "profile"
lit_config.load_config(config, os.path.join(os.path.dirname(__file__), "..", "lit.common.cfg.py"))
config.environment.pop("TC_PROFILE", None)

quick = " ".join("-fplugin-arg-tc-" + option for option in ("backend=openmp", "isa=v2", "opt=0"))
headers = "-I " + config.tc_include
config.substitutions += [
    ("%tcompile", config.tc_tool),
    ("%tc", "%s -fplugin=%s %s %s" % (config.tc_clang, config.tc_plugin, headers, quick)),
    ("%headers", headers),
    ("%run", "-L %s -ltcrt-profile -ltcrt -lm -pthread -Wl,-rpath,%s" % (config.tc_library, config.tc_library)),
    ("%loader", os.path.join(config.tc_binary, "plugin", "gcc", "libtcgcc.so")),
    ("%newest", "gcc-" + config.tc_gcc_majors[-1] if config.tc_gcc_majors else "gcc"),
    ("%check", config.tc_filecheck),
    ("%not", config.tc_not),
]
if config.tc_gcc_majors:
    config.available_features.add("gcc-plugin")
if shutil.which("ccache"):
    config.available_features.add("ccache")
