"""same_text.py FULL_CLANG FULL_PLUGIN CLANG PLUGIN FLAGS... -- FILES: what a thin plugin has Clang read is, to the
byte, what the full one has.  Prints how many files that held for."""
import os
import subprocess
import sys

full, thin = sys.argv[1:3], sys.argv[3:5]
end = sys.argv.index("--")
flags, files = sys.argv[5:end], sys.argv[end + 1:]


def text(compiler, plugin, file):
    done = subprocess.run([compiler, "-fplugin=" + plugin, "-S", "-o", os.devnull, "-w", file] + flags,
                          capture_output=True, text=True, env=dict(os.environ, TC_DUMP="rewritten"))
    return done.stderr


count = 0
for file in files:
    want, got = text(*full, file), text(*thin, file)
    if want != got:
        sys.exit(f"{file}: another text\n---- full\n{want[:2000]}\n---- thin\n{got[:2000]}")
    count += "as the compiler reads it" in got
print(f"{count} of {len(files)} files have the same new text")
