#!/usr/bin/env python3
"""check.py BUILD SOURCE WORK CLANG [PAGE...]: what README.md and the pages of docs/ show is built and run.

BUILD is installed under WORK, and fenced blocks do with that prefix what their info strings say:

  c, cpp                built with the plugin and by gcc, without warnings, graph breaks and functions that are
                        not compiled; with main() also linked and run, both ways
      continues         behind the C of the block before
      breaks            graph breaks and functions that are not compiled are what it shows
      error=TEXT        the plugin refuses it with a message that has the text (_ for spaces); gcc takes it
      file=NAME         also a file for the commands of the page
  sh                    run, in a folder of the page; lines in front of it see its variables
      needs=PROGRAM     where that is installed
  output                what the block before prints: these lines in this order, ... for any text
  cmake, make, meson    file=NAME
  text                  nothing
  no-run                with any of them: it is only shown

An HTML comment that begins with `test:` is C in front of the next block, which readers do not need.
`statements`, behind c: the block is the inside of a function."""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

LANGUAGES = {"c", "cpp", "sh", "output", "cmake", "make", "meson", "text"}
WORDS = {"continues", "breaks", "error", "file", "needs", "no-run", "statements"}
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-Wno-unused-variable"]


class Failure(Exception):
    pass


class Block:
    def __init__(self, page, line, info, text, hidden):
        words = info.split()
        self.where, self.text, self.hidden = f"{page}:{line}", text, hidden
        self.language = words[0] if words else ""
        self.words = dict((w.split("=", 1) + [""])[:2] for w in words[1:])
        if self.language not in LANGUAGES or not self.words.keys() <= WORDS:
            raise Failure(f"{self.where}: the info string '{info}' says not what to do with the block")


def blocks_of(page, text):
    """The fenced blocks, each with the hidden C in front of it."""
    found, hidden, lines = [], "", text.split("\n")
    i = 0
    while i < len(lines):
        if lines[i].startswith("<!-- test:"):
            end = next(j for j in range(i, len(lines)) if lines[j].rstrip().endswith("-->"))
            hidden = "\n".join(lines[i:end + 1])[len("<!-- test:"):].rstrip()[:-len("-->")] + "\n"
            i = end
        elif lines[i].startswith("```"):
            end = next((j for j in range(i + 1, len(lines)) if lines[j].rstrip() == "```"), None)
            if end is None:
                raise Failure(f"{page}:{i + 1}: the block has no end")
            found.append(Block(page, i + 1, lines[i][3:], "\n".join(lines[i + 1:end]) + "\n", hidden))
            hidden, i = "", end
        i += 1
    return found


def run(command, **how):
    r = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, **how)
    return r.returncode, r.stdout


class Page:
    def __init__(self, name, text, tools, work):
        self.name, self.tools, self.folder = name, tools, work
        self.blocks = blocks_of(name, text)
        self.code, self.printed, self.count = {"c": "", "cpp": ""}, "", 0
        shutil.rmtree(work, ignore_errors=True)
        os.makedirs(f"{work}/home")
        os.makedirs(f"{work}/build")
        os.symlink(tools.build, f"{work}/build/release")
        self.environment = dict(os.environ, HOME=f"{work}/home", TC_NVRTC="none", OMP_NUM_THREADS="2")
        for name in ("TC_LOGS", "TC_FALLBACK", "TC_CHECK", "TC_ERRORS", "LD_LIBRARY_PATH"):
            self.environment.pop(name, None)
        self.before = f"PATH={tools.prefix}/bin:$PATH\nexport PKG_CONFIG_PATH={tools.lib}/pkgconfig CMAKE_PREFIX_PATH={tools.prefix}\n"

    def check(self):
        for block in self.blocks:
            name = block.words.get("file")
            if name:
                with open(f"{self.folder}/{name}", "w", encoding="utf-8") as f:
                    f.write(block.text)
            if "no-run" in block.words or block.language == "text":
                continue
            if block.language in ("c", "cpp"):
                self.compile(block)
            elif block.language == "sh":
                self.shell(block)
            elif block.language == "output":
                self.compare(block)
            elif not name:
                raise Failure(f"{block.where}: file=NAME is missing")
            self.count += 1

    def compile(self, block):
        text = block.text
        if "statements" in block.words:
            text = f"void snippet(void);\nvoid snippet(void) {{\n{text}}}\n"
        text = block.hidden + text
        if "continues" in block.words:
            text = self.code[block.language] + text
        elif "#include <tcompile.h>" not in text:
            text = "#include <tcompile.h>\n" + text
        if "error" not in block.words:
            self.code[block.language] = text
        name = block.words.get("file") or f"{block.where.replace('/', '_').replace(':', '_')}.{block.language}"
        file = f"{self.folder}/{name}"
        with open(file, "w", encoding="utf-8") as f:
            f.write(text)
        t, link, cpp = self.tools, re.search(r"\bint main\(", text), block.language == "cpp"
        clang = [t.clang] + ["--driver-mode=g++"] * cpp
        common = ["-O1", "-I", f"{t.prefix}/include"] + WARNINGS
        plugin = [f"-fplugin={t.lib}/libtcplugin.so", "-fplugin-arg-tc-isa=v3", "-Rpass-missed=tc", "-Wno-unknown-warning-option"]
        libraries = ["-L", t.lib, "-ltcrt", "-lm", f"-Wl,-rpath,{t.lib}"]
        for way, command in (("plugin", clang + plugin), ("gcc", ["g++" if cpp else "gcc"])):
            out = f"{file}.{way}"
            status, said = run(command + common + [file, "-o", out] + (libraries if link else ["-c"]), env=self.environment, cwd=self.folder)
            refused = block.words.get("error", "").replace("_", " ") if way == "plugin" else ""
            if refused:
                if not status or refused not in said:
                    raise Failure(f"{block.where}: expected the error '{refused}':\n{said}")
                continue
            missed = way == "plugin" and "[-Rpass-missed=tc]" in said
            if status or missed != (way == "plugin" and "breaks" in block.words):
                raise Failure(f"{block.where}: {way}:\n{said or 'there is no graph break'}")
            if link:
                status, said = run([out], env=self.environment, cwd=self.folder)
                if status:
                    raise Failure(f"{block.where}: {way}: exit status {status}:\n{said}")
                self.printed = said if way == "plugin" else self.printed

    def lacks(self, program):
        """Why a program that a block needs is of no use here; None: it is."""
        if not shutil.which(program):
            return "is not installed"
        if program != "gdb":
            return None
        # gdb 13 and some kernels do not agree about the registers of AMX: it stops, but cannot call.
        with open(f"{self.folder}/seven.c", "w", encoding="utf-8") as f:
            f.write("int seven(void) { return 7; }\nint main(void) { return seven() - 7; }\n")
        _, said = run(["bash", "-c", "gcc -g seven.c -o seven && gdb -q -batch -ex 'break seven' -ex run -ex 'call seven()' ./seven"],
                      env=self.environment, cwd=self.folder)
        return None if "$1 = 7" in said else "cannot call functions of a program on this machine"

    def shell(self, block):
        program = block.words.get("needs")
        why = program and self.lacks(program)
        if why:
            print(f"{block.where}: not run, {program} {why}")
            self.printed = None
            return
        script = f"set -eu\n{self.before}{block.text}"
        status, self.printed = run(["bash", "-c", script], env=self.environment, cwd=self.folder)
        if status:
            raise Failure(f"{block.where}: exit status {status}:\n{self.printed}")
        exports = [line for line in block.text.split("\n") if line.startswith("export ")]
        self.before += "".join(line + "\n" for line in exports)

    def compare(self, block):
        at = 0
        if self.printed is None:
            return
        for line in block.text.strip().split("\n"):
            pattern = ".*?".join(re.escape(part) for part in re.split(r"\.\.\.", line.strip()))
            found = re.compile(pattern, re.S).search(self.printed, at) if line.strip() != "..." else None
            if line.strip() == "...":
                continue
            if not found:
                raise Failure(f"{block.where}: '{line}' is not in the output:\n{self.printed}")
            at = found.end()


class Tools:
    def __init__(self, build, work, clang):
        self.build, self.clang, self.prefix = build, clang, f"{work}/prefix"
        status, said = run(["cmake", "--install", build, "--prefix", self.prefix])
        if status:
            raise Failure(said)
        self.lib = next(folder for folder, _, files in os.walk(self.prefix) if "libtcrt.so" in files)


def main():
    build, source, work, clang = sys.argv[1:5]
    names = sys.argv[5:] or ["README.md"] + sorted(f"docs/{f}" for f in os.listdir(f"{source}/docs") if f.endswith(".md"))
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    tools = Tools(build, work, clang)

    def check(name):
        try:
            with open(f"{source}/{name}", encoding="utf-8") as f:
                page = Page(name, f.read(), tools, f"{work}/{name.replace('/', '_')}")
            page.check()
            print(f"{name}: {page.count} blocks")
            return True
        except (Failure, subprocess.TimeoutExpired) as failure:
            print(failure)
            return False

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(check, names))
    sys.exit(0 if all(results) else 1)


main()
