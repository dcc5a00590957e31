"""Lists the messages of the plugin and of capture that no test expects, and fails where there are more of
them than allowed: messages.py ROOT ALLOWED.

A message is a string literal in a statement that reports: its longest words have to stand in a line of
a test that FileCheck reads.  What no test can bring about is named below, with the reason."""
import pathlib
import re
import sys

REPORTS = re.compile(r"\b(fail|error|missed|warn|Report|obstacle|reject|one_of|unknown|why_not|Message|note)\b|"
                     r"messages\.push_back|\breturn\b|\bwhy\b|\bsink\(|\btext \+=|\bCoreMessage|Diag\(")
UNREACHABLE = {
    "out of memory": "of the compiler's own memory",
    "internal failure of the compiler core": "a defect of the compiler",
    "internal: an input appeared late": "collected once more, and never shown",
    "the generated code was rejected": "a defect of the compiler",
    "; please report this": "a defect of the compiler",
    "tcompile failed on this file": "a defect of the compiler",
    "the compiler crashed on": "a defect of the compiler",
    "compilation failed": "a defect of the compiler",
    "flags not understood": "a defect of the compiler",
}
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
                        if re.search(r"[a-z]{2,} [a-z]{2,}", text):
                            yield file.name, text


def main():
    root = pathlib.Path(sys.argv[1])
    expected = []
    for folder in ("plugin", "capture"):
        for file in (root / "tests" / folder).glob("*.*"):
            expected += [line for line in file.read_text().splitlines() if re.search(r"[A-Z]+(-[A-Z]+)*: ", line)]
    expected = "\n".join(expected)
    missing = total = 0
    for file, text in sorted(set(messages([root / "plugin", root / "frontend" / "ast_capture"]))):
        if any(text in each or each in text for each in UNREACHABLE):
            continue
        total += 1
        if text.strip()[:40].strip() not in expected:
            missing += 1
            print("no test expects, of %s: %s" % (file, text))
    print("%d messages, %d without a test" % (total, missing))
    sys.exit(missing > int(sys.argv[2]))


main()
