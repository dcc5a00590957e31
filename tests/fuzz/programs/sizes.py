"""Sizes of the values of a random program: integers, or polynomials over the names of its sizes.

A polynomial is a sorted tuple of (factors, coefficient); factors are a sorted tuple of names.  A name
is one of TC_SHAPE ("M"), or stands for a size that is no polynomial ("max(M-1,0)"): `VALUES` gives
each its value in the three runs of the driver (usual sizes, other sizes, sizes 0 and 1).
"""
USUAL = {"M": (5, 3, 1), "N": (19, 34, 0), "K": (8, 16, 1)}


class Size:
    VALUES = dict(USUAL)

    def __init__(self, terms):
        self.terms = terms

    def __eq__(self, other):
        return isinstance(other, Size) and self.terms == other.terms

    def __hash__(self):
        return hash(self.terms)

    def __str__(self):
        """As in TC_SHAPE, and as a comment."""
        parts = ["*".join(([str(c)] if c != 1 or not names else []) + list(names)) for names, c in self.terms]
        return "+".join(parts)


def size(x):
    """From a name, an integer or a dict of terms; constants are integers."""
    if isinstance(x, str):
        return Size((((x,), 1),))
    if isinstance(x, dict):
        terms = tuple(sorted((names, c) for names, c in x.items() if c))
        if not terms:
            return 0
        return terms[0][1] if len(terms) == 1 and not terms[0][0] else Size(terms)
    return x


def terms_of(x):
    return {(): x} if isinstance(x, int) else dict(x.terms)


def plus(a, b):
    out = terms_of(a)
    for names, c in terms_of(b).items():
        out[names] = out.get(names, 0) + c
    return size(out)


def times(a, b):
    out = {}
    for p, c in terms_of(a).items():
        for q, d in terms_of(b).items():
            names = tuple(sorted(p + q))
            out[names] = out.get(names, 0) + c * d
    return size(out)


def value(x, run):
    total = 0
    for names, c in terms_of(x).items():
        for name in names:
            c *= Size.VALUES[name][run]
        total += c
    return total


def less_one(x):
    """max(x - 1, 0)"""
    if isinstance(x, int):
        return max(x - 1, 0)
    name = f"max({x}-1,0)"
    Size.VALUES[name] = tuple(max(value(x, run) - 1, 0) for run in range(3))
    return size(name)


def half(x):
    """How many elements a step of 2 takes."""
    if isinstance(x, int):
        return (x + 1) // 2
    name = f"(({x}+1)/2)"
    Size.VALUES[name] = tuple((value(x, run) + 1) // 2 for run in range(3))
    return size(name)


def named(name, values):
    """A size that is no polynomial, by its values in the three runs."""
    Size.VALUES[name] = tuple(values)
    return size(name)


def windows(x, extent, step):
    """How many windows of so many elements there are, `step` apart; 0 where none fits."""
    counts = [max((value(x, run) - extent) // step + 1, 0) for run in range(3)]
    if isinstance(x, int):
        return counts[0]
    if step == 1 and min(value(x, run) for run in range(3)) >= extent:
        return plus(x, 1 - extent)
    return named(f"(({x}-{extent})/{step}+1)", counts)


def names_of(x):
    return {name for names, _ in (() if isinstance(x, int) else x.terms) for name in names}


def is_name(x):
    """A size that TC_SHAPE names."""
    return str(x) in USUAL


def takes_any(x):
    """Every number is a value of it: a name, or a name and a constant."""
    return isinstance(x, Size) and sum(bool(names) for names, _ in x.terms) == 1 and \
        all(not names or (c == 1 and len(names) == 1) for names, c in x.terms)


def elements(shape, run):
    n = 1
    for d in shape:
        n *= value(d, run)
    return n
