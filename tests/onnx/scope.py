"""Which cases are in scope: all that have a function (function.py), but for those that are listed here with a reason.

A case that has neither is an error, and so is one that is listed and has a function, unless it is its results that are wrong:
the list says what there is.
"""
import fnmatch
import glob

from function import Function
from model import Case
from values import DTYPES, Unsupported

FOLDER = "/usr/share/libonnx-testdata/data"  # Debian's libonnx-testdata
# The node cases, and models of a few operators: layers and operators that PyTorch exported, and others.
KINDS = ("node", "pytorch-converted", "pytorch-operator", "simple")
# Patterns of names of cases, with the reason why they are out of scope.
OUT = {
    "strings": "*STRING* strnormalizer_* strnorm_*",
    "sequences of tensors, tensors that may be missing": "identity_opt identity_sequence if_opt if_seq loop13_seq loop16_seq_none optional_* sequence_*",
    "gradients of parts of a model": "gradient_of_*",
    "unsigned integers of 16, 32 and 64 bits": "*_uint16 *_uint32 *_uint64",
    "shapes that depend on data": "compress_* nonmaxsuppression_* nonzero_* unique_*",
    "random numbers of another generator": "bernoulli* training_dropout training_dropout_default training_dropout_default_mask training_dropout_mask",
    "results that are not the model's: of another epsilon": "adam_multiple",
}
# Results that are looser than the tolerance of their dtype: what an error may be besides, with the reason.
LOOSER = {
    "*window*": (1e-4, "3.1415 is pi there"),
    "roialign_* gridsample_bicubic": (1e-4, "results have four decimals"),
}
SUMS = "dft* stft*"  # their errors are relative to the largest result
# What else is left out of a form of the cases, with the reason.
OUT_OF_FORM = {
    "batched": {"values of more than 8 axes with that of the batch": "averagepool_3d_default AvgPool3d*"},
    "gradients": {"through integers alone": "hardmax_* gridsample_nearest",
                  "at places where rounding chooses between two": "roialign_*"},
}


def matches(name, patterns):
    return any(fnmatch.fnmatchcase(name, p) for p in patterns.split())


def tolerance_of(name):
    """What an error may be besides, and whether errors are relative to the largest result."""
    return next((error for patterns, (error, _) in LOOSER.items() if matches(name, patterns)), 0), matches(name, SUMS)


def is_in_form(case, function, form):
    """Is there such a function of the case?  form: batched, of two examples; gradients."""
    possible = function.has_gradients() if form == "gradients" else bool(function.used)
    return possible and not any(matches(case.name, patterns) for patterns in OUT_OF_FORM[form].values())


def reason_of(name):
    return next((reason for reason, patterns in OUT.items() if matches(name, patterns)), None)


def function_of(case):
    """The C function of a case, or why there is none."""
    if not case.sets:
        return None, "operands and results that are no tensors"
    tensors = [t for data in case.sets for group in data for t in group.values()]
    strange = {t.dtype for t in tensors} - DTYPES
    if strange:
        return None, f"dtype {', '.join(sorted(strange))}"
    try:
        return Function(case.name, case.graph, case.sets[0][0], case.version), None
    except Unsupported as e:
        return None, str(e)


def survey():
    """Pairs of a case in scope and its function; names out of scope by reason; complaints about the list."""
    inside, outside, wrong = [], {}, []
    for path in [path for kind in KINDS for path in sorted(glob.glob(f"{FOLDER}/{kind}/test_*"))]:
        case = Case(path)
        reason = reason_of(case.name)
        function, why = function_of(case)
        if reason:
            outside.setdefault(reason, []).append(case.name)
        if function and reason and not reason.startswith("results"):
            wrong.append(f"{case.name} is listed as out of scope ({reason}) and has a function")
        if not function and not reason:
            wrong.append(f"{case.name} has no function and is not listed: {why}")
        if function and not reason:
            inside.append((case, function))
    return inside, outside, wrong
