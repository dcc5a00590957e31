# The plugin for GCC as a user meets it.  One site for each major version (config.tc_suite).
#
#   %gcc      a GCC with the headers of the runtime
#   %tcgcc    the same with the plugin                 %libs     what programs link with
import os

config.name = config.tc_suite
lit_config.load_config(config, os.path.join(os.path.dirname(__file__), "..", "lit.common.cfg.py"))
config.test_source_root = os.path.dirname(__file__)

gcc = "%s -I %s" % (config.tc_compiler, config.tc_include)
libraries = "-L %s -ltcrt -lm -Wl,-rpath,%s" % (config.tc_library, config.tc_library)
config.substitutions += [
    ("%tcgcc", "%s -fplugin=%s -fplugin-arg-libtcgcc-isa=v2 -fplugin-arg-libtcgcc-backend=openmp"
     % (gcc, config.tc_plugin)),
    ("%gcc", gcc),
    ("%folder", os.path.dirname(config.tc_plugin)),
    ("%libs", libraries),
    ("%inputs", os.path.join(config.test_source_root, "Inputs")),
    ("%check", config.tc_filecheck),
    ("%not", config.tc_not),
]
