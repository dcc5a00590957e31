"""Compiles a file while its header is replaced: replaced.py FOLDER COMPILER FLAGS..."""
import os
import subprocess
import sys
import threading

TIMES = 8
SOURCE = """#include <tcompile.h>
#include "h.h"
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N]")) { return tc_exp(x); }
int last(void) { return NUMBER; }
"""


def header(comments):
    lines = [f"/* what is said of number {i} is read as a comment */\nstatic inline int g{i}(void) {{ return {i}; }}" for i in range(900)]
    return "\n".join(lines) + "\n/* and a little more */" * comments + "\n#define NUMBER 7\n"


def replace(folder, done):
    texts = header(0), header(3)
    for i in range(1 << 30):
        if done.is_set():
            return
        with open(f"{folder}/new.h", "w") as f:
            f.write(texts[i % 2])
        os.replace(f"{folder}/new.h", f"{folder}/h.h")


def main():
    folder, command = sys.argv[1], sys.argv[2:]
    with open(f"{folder}/f.c", "w") as f:
        f.write(SOURCE)
    with open(f"{folder}/h.h", "w") as f:
        f.write(header(0))
    done = threading.Event()
    writer = threading.Thread(target=replace, args=(folder, done))
    writer.start()
    try:
        for _ in range(TIMES):
            run = subprocess.run([*command, "-c", f"{folder}/f.c", "-o", f"{folder}/f.o"], capture_output=True, text=True)
            if run.returncode:
                sys.exit(run.stderr[:2000])
    finally:
        done.set()
        writer.join()


main()
