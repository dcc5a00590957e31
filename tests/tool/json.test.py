"""json.test: the documents of a good file, of one with an error, and of one that is missing."""
import json
import sys


def file_of(path):
    with open(path, encoding="utf-8") as f:
        document = json.load(f)
    assert document["version"], document
    (one,) = document["files"]
    return one


good, bad, none = map(file_of, sys.argv[1:])

assert good["status"] == "translated" and good["outputs"] == ["f.tc.c", "f.tc.o"], good
(function,) = good["functions"]
assert (function["name"], function["line"], function["status"]) == ("f", 3, "partly"), function
assert good["kernels"] == function["kernels"] == 2 and len(function["reasons"]) == 1, function
remark = good["diagnostics"][0]
assert remark["severity"] == "remark" and remark["option"] == "-Rpass-missed", remark
assert (remark["file"], remark["line"], remark["column"]) == ("f.c", 5, 3), remark

assert bad["status"] == "failed" and not bad["outputs"] and not bad["functions"], bad
(error,) = bad["diagnostics"]
assert (error["severity"], error["line"], error["column"]) == ("error", 1, 24), error
assert error["fixits"] == [{"line": 1, "column": 24, "endLine": 1, "endColumn": 24, "text": ";"}], error

assert none["status"] == "failed" and "none.c" in none["diagnostics"][0]["message"], none
