"""Lists the messages of the plugin and of capture that no test expects at their place, and fails where
there are any: messages.py ROOT.

A message is a string literal in a statement that reports: its first words have to stand in a line that
FileCheck reads, behind the line and the column of the caret.  What has no place is named below, and what no
input can bring about, with the reason.  Of the rules of operations (graph/infer*.c), which have the place of
the call, the longest words have to stand in a test of the graph or of the plugin."""
import pathlib
import re
import sys

REPORTS = re.compile(r"\b(fail|error|missed|warn|Report|obstacle|reject|one_of|unknown|why_not|Message|note)\b|"
                     r"messages\.push_back|\breturn\b|\bwhy\b|\bsink\(|\btext \+=|\bCoreMessage|Diag\(")
UNREACHABLE = {
    "out of memory": "of the compiler's own memory",
    "((long long)": "code, no message",
    "a result goes to an address that is not followed": "what has another form is not captured as an address",
    "internal": "a defect of the compiler, or never shown",
    "the generated code was rejected": "a defect of the compiler",
    "; please report this": "a defect of the compiler",
    "tcompile failed on this file": "a defect of the compiler",
    "the compiler crashed on": "a defect of the compiler",
    "compilation failed": "a defect of the compiler",
    "flags not understood": "a defect of the compiler",
    "has no valid length": "lists have one by then",
    "has no specification": "a string literal by then",
    "declared by the graph, not built": "no function of the API",
    "the first operand is the address of a function": "no function of the API",
    " is a plugin for clang": "of what loads the plugin: versions.test",
    "a program that is no clang": "as above",
    " compiled parts of this file come from the cache ": "of the whole file: cache.c",
    "seconds went into kernels for ": "of the whole file: cuda_slow.c",
    "errors are asked for behind a call": "the statement is the program's own then: capture/effect.c",
}
NO_PLACE = {"options.cpp": "options stand on the command line, too", "signature.cpp": "rows for tc-export",
            "profile.cpp": "a file that an option names"}
NO_MESSAGE = re.compile(r"#pragma|struct tc_")
PLACED = re.compile(r"[A-Z]+(-[A-Z]+)*: (.*:)?(\[\[#@LINE[^\]]*\]\]|\d+):\d+: ")
LITERAL = r'"(?:[^"\\\n]|\\.)*"'


def statements(text):
    """The text between semicolons and braces, without comments and preprocessor lines."""
    text = re.sub(LITERAL + r"|//[^\n]*|/\*.*?\*/", lambda m: m[0] if m[0][0] == '"' else " ", text, flags=re.S)
    text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
    return re.findall(r"(?:" + LITERAL + r"|'(?:[^'\\]|\\.)'|[^;{}\"'])+", text)


def literals(statement):
    for run in re.findall(LITERAL + r"(?:\s*" + LITERAL + r")*", statement):
        yield "".join(part[1:-1] for part in re.findall(LITERAL, run)).replace('\\"', '"')


def messages(folders):
    for folder in folders:
        for file in sorted(pathlib.Path(folder).glob("*.cpp")):
            for statement in statements(file.read_text()):
                if REPORTS.search(statement):
                    for text in literals(statement):
                        if re.search(r"[a-z]{2,} [a-z]{2,}", text) and not NO_MESSAGE.search(text):
                            yield file.name, text


def rules(folder):
    for file in sorted(folder.glob("*.c")):
        for text in re.findall(r"infer_fail\([^,\"]*, (" + LITERAL + ")", file.read_text()):
            yield file.name, max(re.split(r'%[-.*0-9]*(?:ll)?[a-z]|\\"', text[1:-1]), key=len).strip()


def main():
    root = pathlib.Path(sys.argv[1])
    lines = []
    for folder in ("plugin", "capture", "profile"):
        for file in (root / "tests" / folder).glob("*.*"):
            lines += [line for line in file.read_text().splitlines() if re.search(r"[A-Z]+(-[A-Z]+)*: ", line)]
    anywhere, placed = "\n".join(lines), "\n".join(line for line in lines if PLACED.search(line))
    missing = total = 0
    for file, text in sorted(set(messages([root / "plugin", root / "frontend", root / "frontend" / "ast_capture", root / "frontend" / "unit"]))):
        if any(text in each or each in text for each in UNREACHABLE):
            continue
        total += 1
        if text.strip()[:40].strip() not in (anywhere if file in NO_PLACE else placed):
            missing += 1
            print("no test expects, of %s: %s" % (file, text))
    tested = anywhere + "".join(file.read_text() for file in (root / "tests" / "graph").glob("*.c"))
    for file, text in sorted(set(rules(root / "graph" / "infer"))):
        total += text not in UNREACHABLE
        if text not in UNREACHABLE and text not in tested:
            missing += 1
            print("no test expects, of %s: %s" % (file, text))
    print("%d messages, %d without a test" % (total, missing))
    sys.exit(missing > 0)


main()
