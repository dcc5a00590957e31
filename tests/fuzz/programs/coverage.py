"""What the functions that were written have in them, and what none has."""
import re

from program import FORMS, MODES, Program
from sizes import value
from values import FLOATS, INTS, Value

FOUND = {  # in the text
    "early return": r"if \([^!].*\) return tc_neg", "NULL check": r"if \(!", "goto": r"goto out", "TC_SCOPE": r"TC_SCOPE", "TC_SPECIALIZE": r"TC_SPECIALIZE",
    "TC_DISABLE": r"TC_DISABLE", "recursion": r"_n\(tc_tanh", "inline assembly": r"__asm__", "volatile": r"volatile int", "else": r"\} else \{",
    "tc_item": r"tc_item\(", "output parameter": r"out\[\d\] =", "range or multiple": r'TC_SHAPE\("[^"]*[<%]', "sizes in relation": r'TC_SHAPE\("[^"]*[+*]',
    "choice of dtypes": r'TC_SHAPE\("\w+\|', "count that is checked": r"if \((?:\S*count|n) [!=]= \d", "assert": r"assert\(",
    "second result": r"tc_mul_s\(q\d+, 1\)", "effect": r"fuzz_(?:mark|seen)\(",
    "tc_scalar_int": r"tc_scalar_int\(", "one-sided clamp": r"tc_clamp_(?:min|max)\(", "tc_shape": r"tc_shape\(",
    "negative step": r"tc_slice\([^;]*, -1\)", "dynamic=false": r"dynamic=false", "write in a loop": r"(?:for|while|do) .*\{\n(?:    .*\n)*?    tc_\w+_\(",
    "write at a position of the run": r"(v\d+) = tc_(?:slice|select)\([^;]*\b(?:n|s|i\d+)\b[^;]*\);(?:.*\n)*?.*tc_\w+_\(\1\b",
}


def step_names():
    return {kind.__name__ for inside in (False, True) for kind, _ in Program(0, 0).weights(inside)}


def everything():
    return set(FOUND) | {f"{x} values" for x in FLOATS + INTS + ("bool",)} | {f"operand of rank {n}" for n in range(5)} | \
        {f"form {x}" for x in FORMS} | set(MODES) | {f"step {x}" for x in step_names()} | {"sizes without elements", "C++"}


def features(f, cxx):
    live, operands, text = f.live(), f.operands(), f.text()
    found = {name for name, pattern in FOUND.items() if re.search(pattern, text)}
    found |= {f"{v.dtype} values" for v in live if isinstance(v, Value)} | {f"operand of rank {len(p.shape)}" for p in operands}
    found |= {mode for mode in MODES if f'"{mode}"' in text} | {f"step {x}" for x in f.kinds} | {f"form {f.form}"}
    if cxx:
        found.add("C++")
    if any(value(d, 2) == 0 for p in operands for d in p.shape):
        found.add("sizes without elements")
    return found
