"""Values and statements of a random program, in single-assignment form, so that a failure can be
shrunk by dropping some."""
import re

from sizes import elements

FLOATS, INTS = ("f32", "f64", "f16", "bf16"), ("i8", "u8", "i16", "i32", "i64")
COARSE = ("bf16", "f16", "f32", "f64")


def c_dtype(dtype):
    return "TC_" + dtype.upper()


def ints(values, macro="TC_AXES"):
    none = "TC_ALL" if macro == "TC_AXES" else "TC_SCALAR_SHAPE"
    return f"{macro}({', '.join(map(str, values))})" if values else none


def filled(template, uses):
    """%0 %1 ... are the names of the uses."""
    return re.sub(r"%(\d)", lambda m: uses[int(m[1])].name, template)


class Value:
    """A tensor: a parameter, or what a statement makes.  exact: equal in every correct implementation.
    family: what may share its memory."""
    owner = None  # the block that it stands in

    def __init__(self, name, dtype, shape, exact, uses=(), text="", values="normal", bound=0):
        self.name, self.dtype, self.shape, self.exact = name, dtype, tuple(shape), exact
        self.uses, self.text, self.values, self.bound = list(uses), text, values, bound
        self.family = {self}
        self.declared = ""     # TC_SHAPE behind the variable
        self.dtypes = [dtype]  # of an operand: those that its TC_SHAPE leaves to choose from, in this order
        self.viewed = None     # what it is a view of
        self.changed = False   # written in place
        self.overlaps = False  # two of its elements may be one
        self.copied = False    # a function of several ops reads it, which may reshape it

    @property
    def real(self):
        return self.dtype in FLOATS

    def join(self, other):
        """Both may share memory from now on."""
        if self.family is not other.family:
            self.family |= other.family
            for v in self.family:
                v.family = self.family

    def reshaped(self):
        """It, or a view of it, goes through what copies where strides ask for it."""
        return any(v.copied or any(op in v.text for op in ("tc_contiguous(", "tc_reshape(", "tc_flatten(")) for v in self.family)

    def lines(self, _):
        return [f"tc_tensor *{self.name}{self.declared} = {filled(self.text, self.uses).replace('@', self.name)}; // {self.dtype}[{','.join(map(str, self.shape))}]"]

    def largest(self):
        return max(elements(self.shape, run) for run in range(3))

    def needs(self):
        """Values that have to exist before it."""
        return self.uses

    def all(self):
        return [self]


class Effect:
    """A statement that makes no tensor."""
    owner = None

    def __init__(self, text, uses):
        self.text, self.uses = text, list(uses)

    def lines(self, _):
        return [filled(self.text, self.uses)]

    def needs(self):
        return self.uses

    def all(self):
        return [self]


class Block:
    """A statement with statements inside, which may carry one tensor: `carried` begins as `start` and is
    `last` behind each run of the inside."""
    owner = None

    def __init__(self, opening, closing="}", condition=()):
        self.opening, self.closing, self.condition = opening, closing, list(condition)
        self.carried = self.start = self.last = None
        self.copies = True  # `start` is cloned
        self.keeps_last = False  # a scope: the carried tensor leaves it
        self.inside, self.other = [], None  # other: the arm of else
        self.counter = self.rounds = None  # of a loop: a number that counts, and its values in each run

    def lines(self, live):
        out = []
        if self.carried:
            start = f"tc_clone({self.start.name})" if self.copies else f"(tc_tensor *){self.start.name}"
            shape = ",".join(map(str, self.carried.shape))
            out.append(f"tc_tensor *{self.carried.name} = {start}; // {self.carried.dtype}[{shape}]")
        out.append(filled(self.opening, self.condition))
        out += self.indented(self.inside, live)
        if self.carried and self.last is not self.carried:
            last = f"tc_keep({self.last.name})" if self.keeps_last else self.last.name
            out.append(f"  {self.carried.name} = {last};")
        if self.other is not None:
            out.append("} else {")
            out += self.indented(self.other, live)
        return out + [self.closing]

    @staticmethod
    def indented(statements, live):
        return ["  " + line for s in statements if s in live for line in s.lines(live)]

    def needs(self):
        carried = [self.start, self.last] if self.carried else []
        return self.condition + carried

    def statements(self):
        return self.inside + (self.other or [])

    def all(self):
        found = [self]
        for s in self.statements():
            found += s.all()
        return found


class Carried(Value):
    """The tensor that a block carries; the block declares it."""

    def __init__(self, block, *rest):
        super().__init__(*rest)
        self.block = block

    def needs(self):
        return [self.block]

    def lines(self, _):
        return []
