"""graph/ops/api.def, for tests in Python."""
import re


def read(path):
    with open(path, encoding="utf-8") as f:
        return re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)


def functions(path):
    """Names of all public functions that the table has a row for, or a form that works in place."""
    text = read(path)
    return set(re.findall(r"\b(tc_\w+)", text)) | {f"{f}_" for f in re.findall(r"TC_(?:UNARY|BINARY)(?:_INT)?\((tc_\w+)", text)}


def rows(path):
    """(function, op) of the rows, without those that work in place."""
    return re.findall(r"TC_(?:API[12]?|(?:UNARY|BINARY)\w*)\((tc_\w+), (\w+)", read(path))
