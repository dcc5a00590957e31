# The plugin for GCC as a user meets it.  One site for each major version (config.tc_suite).
#
#   %gcc      a GCC with the headers of the runtime
#   %tcgcc    the same with the plugin                 %libs     what programs link with
#   %tcclang  Clang with its plugin and the same options
import os

config.name = config.tc_suite
lit_config.load_config(config, os.path.join(os.path.dirname(__file__), "..", "lit.common.cfg.py"))
config.test_source_root = os.path.dirname(__file__)

gcc = "%s -I %s" % (config.tc_compiler, config.tc_include)
libraries = "-L %s -ltcrt -lm -Wl,-rpath,%s" % (config.tc_library, config.tc_library)
plugin = "-fplugin=%s -fplugin-arg-libtcgcc-isa=v2 -fplugin-arg-libtcgcc-backend=openmp" % config.tc_plugin
clang = "%s -I %s -fplugin=%s -fplugin-arg-tc-isa=v2 -fplugin-arg-tc-backend=openmp" % (
    config.tc_clang, config.tc_include, os.path.join(config.tc_binary, "plugin", "libtcplugin.so"))
# Flags that make warnings.
warnings = ["all", "extra", "pedantic", "shadow", "declaration-after-statement", "implicit-fallthrough=5", "conversion",
            "sign-conversion", "unused-macros", "undef", "duplicated-branches", "duplicated-cond", "logical-op", "cast-qual",
            "cast-align", "switch-enum", "switch-default", "c++-compat", "nested-externs", "redundant-decls",
            "strict-prototypes", "missing-prototypes", "missing-declarations", "old-style-definition", "vla", "format=2",
            "traditional", "float-equal", "double-promotion", "bad-function-cast", "long-long", "unsuffixed-float-constants",
            "padded", "write-strings", "init-self", "unused-const-variable=2", "strict-aliasing=1"]
config.substitutions += [
    ("%tcgcc", "%s %s" % (gcc, plugin)),
    ("%tcclang", clang),
    ("%with_plugin", plugin),
    ("%warnings", " ".join("-W" + name for name in warnings)),
    ("%captures", os.path.join(config.test_source_root, "..", "capture")),
    ("%gcc", gcc),
    ("%folder", os.path.dirname(config.tc_plugin)),
    ("%libs", libraries),
    ("%inputs", os.path.join(config.test_source_root, "Inputs")),
    ("%check", config.tc_filecheck),
    ("%not", config.tc_not),
]
