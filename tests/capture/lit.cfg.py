# One program per construct: what is captured of it, and that it prints what the body prints.
import os
import sys

config.name = "capture"
lit_config.load_config(config, os.path.join(os.path.dirname(__file__), "..", "lit.common.cfg.py"))

script = os.path.join(config.test_source_root, "Inputs", "check.py")
config.substitutions += [
    ("%capture", " ".join([sys.executable, script, config.tc_clang, config.tc_plugin, config.tc_include,
                           config.tc_library, config.tc_guarded, "%s", "%t"])),
    ("%check", config.tc_filecheck + " %s"),
    ("%clang", config.tc_clang),
]
