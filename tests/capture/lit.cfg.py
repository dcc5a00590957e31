# One program per construct: what is captured of it, and that it prints what the body prints.
import os
import sys

# Sites of other compilers than Clang have a name of their own.
compiler = getattr(config, "tc_compiler", config.tc_clang)
config.name = getattr(config, "tc_suite", "capture")
lit_config.load_config(config, os.path.join(os.path.dirname(__file__), "..", "lit.common.cfg.py"))
config.test_source_root = os.path.dirname(__file__)

script = os.path.join(config.test_source_root, "Inputs", "check.py")
config.substitutions += [
    ("%capture", " ".join([sys.executable, script, compiler, config.tc_plugin, config.tc_include,
                           config.tc_library, config.tc_guarded, "%s", "%t"])),
    ("%check", config.tc_filecheck + " %s"),
    ("%compiler", compiler),
]
