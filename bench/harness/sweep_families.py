"""The families of `tools/bench sweep`: how their rows are drawn, their C text, inputs, references and least work.

A row's `size` gives a number for each letter of the family's dims; `options` choose between forms of one family.  Families of
families.py and training.py are measured as there (Known); the others say once what they compute, as `formula(n, ...)` of a
namespace n: float64 arrays here (Exact), PyTorch's and JAX's functions in sweep_peers.py.
"""
import dataclasses
import math

import numpy as np

import families
import training
from families import DIV, EXP, SIGMOID, Family


# ---- drawing --------------------------------------------------------------------------------------

@dataclasses.dataclass(frozen=True)
class Bounds:
    """Of the work of a row: elements of all operands and results, multiply-adds of products; `rows`: of one product, at most."""
    least_elements: int
    most_elements: int
    least_products: int
    most_products: int
    rows: int


CPU = Bounds(1 << 14, 1 << 24, 1 << 16, 1 << 31, 4096)  # 150 rows take 25 minutes on 2 cores
GPU = Bounds(1 << 16, 1 << 28, 1 << 20, 1 << 35, 16384)  # the references' scores of attention take 8 GB in float64


def log_uniform(rng, low, high):
    """A whole number from low to high, its logarithm uniform; half of the time a multiple of 8 or 16, as sizes in use are."""
    if high <= low:
        return low
    n = min(high, max(low, round(math.exp(rng.uniform(math.log(low), math.log(high))))))
    unit = rng.choice((1, 1, 1, 8, 16, 16))
    return max(low, n // unit * unit) if n >= unit else n


def rows_and_width(rng, bounds, arrays, widest=1 << 17):
    """Of a matrix, one of so many arrays, its elements log-uniform: few long rows, many short ones, and all between."""
    elements = rng.uniform(math.log(bounds.least_elements), math.log(bounds.most_elements // arrays))
    width = log_uniform(rng, 2, min(widest, int(math.exp(elements))))
    return {"R": max(1, int(math.exp(elements)) // width), "C": width}


def product_sizes(rng, bounds, letters, limits, products, elements):
    """Sizes, log-uniform up to the limits, redrawn until the work is in bounds."""
    while True:
        size = {letter: log_uniform(rng, low, high) for letter, (low, high) in zip(letters, limits)}
        if bounds.least_products <= products(size) <= bounds.most_products and elements(size) <= bounds.most_elements:
            return size


# ---- float64 --------------------------------------------------------------------------------------

class Exact:
    """NumPy in float64, with the names that formulas use."""
    exp, tanh, where, maximum = np.exp, np.tanh, np.where, np.maximum
    gelu = staticmethod(families.gelu)

    @staticmethod
    def sigmoid(x):
        return 1 / (1 + np.exp(-x))

    @staticmethod
    def silu(x):
        return x / (1 + np.exp(-x))

    @staticmethod
    def relu(x):
        return np.maximum(x, 0)

    @staticmethod
    def sum(x, axis):
        return x.sum(axis)

    @staticmethod
    def max(x, axis):
        return x.max(axis)

    @staticmethod
    def log_softmax(x):
        d = x - x.max(-1, keepdims=True)
        return d - np.log(np.exp(d).sum(-1, keepdims=True))

    @staticmethod
    def rms_norm(x, w):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * w

    @staticmethod
    def transposed(x):
        return x.swapaxes(-1, -2)

    @staticmethod
    def dense(x):
        """In row-major order, as results of compiled functions are."""
        return x

    @staticmethod
    def embedding(table, index):
        return table[index]

    @staticmethod
    def attention(q, k, v, causal):
        scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
        if causal:
            scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        return weights / weights.sum(-1, keepdims=True) @ v

    @staticmethod
    def conv(x, w, b, stride, padding):
        """x [N, G C, H, W], w [G O, C, R, S]: G groups."""
        x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
        x = x.reshape(len(x), -1, w.shape[1], *x.shape[2:])
        w = w.reshape(x.shape[1], -1, *w.shape[1:])
        windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[3:], (3, 4))[:, :, :, ::stride, ::stride]
        y = np.einsum("ngchwrs,gocrs->ngohw", windows, w, optimize=True)
        return y.reshape(len(x), -1, *y.shape[3:]) + b[:, None, None]


# ---- families -------------------------------------------------------------------------------------

class Swept(Family):
    """A form of a family.  dims: of each operand; i64 operands (`index`) come with the size that they stay below."""
    dims = ()
    index = {}  # operand: letter
    forms = ({},)
    weight = 1
    fixed = ""  # letters whose sizes are numbers in the annotations of symbolic functions, too
    results = 1
    leaves = 0

    def __init__(self, **options):
        self.options = options
        self.peer = self.name + ":" + ",".join(f"{k}={v}" for k, v in options.items())

    @classmethod
    def draw(cls, rng, bounds):
        """(size, options)"""
        return cls.draw_size(rng, bounds), dict(rng.choice(cls.forms))

    @classmethod
    def draw_size(cls, rng, bounds):
        return rows_and_width(rng, bounds, 2)

    def shapes(self, size):
        return [tuple(size[d] for d in dims.split(",")) for dims in self.operand_dims()]

    def operand_dims(self):
        return self.dims

    def scale(self, operand, size):
        return 1

    def inputs(self, size, rng):
        made = []
        for i, shape in enumerate(self.shapes(size)):
            made.append(rng.integers(0, size[self.index[i]], shape) if i in self.index
                        else rng.standard_normal(shape) * self.scale(i, size))
        return made

    def formula(self, n, *operands):
        raise NotImplementedError

    def reference(self, *operands):
        return self.formula(Exact, *operands)

    def code(self):
        """The C expression of operands a, b, c, d."""
        raise NotImplementedError


class Chain(Swept):
    """Elementwise; `how` is one of HOW: dims, C, formula, multiply-adds."""
    name = "chain"
    HOW = {
        "gelu_gate": (("R,C", "C", "C"), "tc_mul(tc_gelu(tc_add(tc_mul(a, b), c)), tc_sigmoid(a))",
                      lambda n, a, b, c: n.gelu(a * b + c) * n.sigmoid(a), families.ERF + SIGMOID + 6),
        "swiglu": (("R,C", "R,C"), "tc_mul(tc_silu(a), b)", lambda n, a, b: n.silu(a) * b, SIGMOID + 2),
        "waves": (("R,C", "R,C"), "tc_add(tc_mul(tc_tanh(a), tc_exp(tc_neg(tc_mul(b, b)))), a)",
                  lambda n, a, b: n.tanh(a) * n.exp(-(b * b)) + a, 2 * EXP + DIV + 4),
        "residual": (("R,C", "R,C", "C"), "tc_add(tc_relu(tc_add(a, c)), b)", lambda n, a, b, c: n.relu(a + c) + b, 3),
        "select": (("R,C", "R,C"), "tc_where(tc_gt(a, b), tc_sub(a, b), tc_mul_s(b, 0.5))",
                   lambda n, a, b: n.where(a > b, a - b, b * 0.5), 3),
        "columns": (("R,C", "R,1"), "tc_mul_s(tc_mul(a, b), 0.125)", lambda n, a, b: a * b * 0.125, 2),
    }
    forms = tuple({"how": how} for how in HOW)
    weight = 2
    cancels = True

    @classmethod
    def draw_size(cls, rng, bounds):
        return rows_and_width(rng, bounds, 3)

    def operand_dims(self):
        return self.HOW[self.options["how"]][0]

    def shapes(self, size):
        return super().shapes({**size, "1": 1})

    def code(self):
        return self.HOW[self.options["how"]][1]

    def formula(self, n, *operands):
        return self.HOW[self.options["how"]][2](n, *operands)

    def bytes(self, size, item):
        return item * (sum(math.prod(s) for s in self.shapes(size)) + size["R"] * size["C"])

    def flops(self, size):
        return 2 * self.HOW[self.options["how"]][3] * size["R"] * size["C"]


class Known(Swept):
    """Measured as in `base`, a family whose sizes are those of `letters` in this order."""
    letters = "RC"

    def __init__(self, **options):
        super().__init__(**options)
        self.peer = self.base.name
        self.streams, self.cancels, self.product = self.base.streams, self.base.cancels, self.base.product

    def of(self, size):
        return tuple(size[letter] for letter in self.letters)

    def inputs(self, size, rng):
        return self.base.inputs(self.of(size), rng)

    def reference(self, *operands):
        return self.base.reference(*operands)

    def bytes(self, size, item):
        return self.base.bytes(self.of(size), item)

    def flops(self, size):
        return self.base.flops(self.of(size))


class Softmax(Known):
    name, base, dims = "softmax", families.Softmax(), ("R,C",)

    def code(self):
        return "tc_softmax(a, -1)"


class LayerNorm(Known):
    name, base, dims = "layer_norm", families.LayerNorm(), ("R,C", "C", "C")

    def code(self):
        return "tc_layer_norm(a, 1, b, c, 1e-5)"


class CrossEntropy(Known):
    name, base, dims, index = "cross_entropy", families.CrossEntropy(), ("R,C", "R"), {1: "C"}

    def code(self):
        return "tc_cross_entropy(a, b, TC_MEAN)"


class LogSoftmax(Swept):
    name, dims, cancels = "log_softmax", ("R,C",), True

    def code(self):
        return "tc_log_softmax(a, -1)"

    def formula(self, n, a):
        return n.log_softmax(a)

    def bytes(self, size, item):
        return item * 2 * size["R"] * size["C"]

    def flops(self, size):
        return 2 * (EXP + 3) * size["R"] * size["C"]


class RMSNorm(Swept):
    name, dims = "rms_norm", ("R,C", "C")

    def code(self):
        return "tc_rms_norm(a, 1, b, 1e-5)"

    def formula(self, n, a, b):
        return n.rms_norm(a, b)

    def bytes(self, size, item):
        return item * (2 * size["R"] * size["C"] + size["C"])

    def flops(self, size):
        return 2 * 3 * size["R"] * size["C"]


class Reduced(Swept):
    """Sums, sums of squares and maxima, of a row (axis 1) or of a column (axis 0)."""
    dims, streams, cancels = ("R,C",), "read", True
    forms = ({"how": "sum"}, {"how": "squares"}, {"how": "max"})

    @classmethod
    def draw_size(cls, rng, bounds):
        return rows_and_width(rng, bounds, 1)

    def inputs(self, size, rng):
        return [x + 0.5 for x in super().inputs(size, rng)]

    def code(self):
        return {"sum": "tc_sum(a, TC_AXES(%d), false)", "squares": "tc_sum(tc_mul(a, a), TC_AXES(%d), false)",
                "max": "tc_max(a, TC_AXES(%d), false)"}[self.options["how"]] % self.axis

    def formula(self, n, a):
        if self.options["how"] == "max":
            return n.max(a, self.axis)
        return n.sum(a * a if self.options["how"] == "squares" else a, self.axis)

    def bytes(self, size, item):
        return item * (size["R"] * size["C"] + size["CR"[self.axis]])

    def flops(self, size):
        return 2 * size["R"] * size["C"]


class ReducedRows(Reduced):
    name, axis = "sum_rows", 1


class ReducedColumns(Reduced):
    name, axis = "sum_columns", 0


class Transposed(Swept):
    name = "transpose"
    forms = ({"beside": 0}, {"beside": 1})

    def operand_dims(self):
        return ("R,C", "C,R") if self.options["beside"] else ("R,C",)

    @classmethod
    def draw_size(cls, rng, bounds):
        return rows_and_width(rng, bounds, 3)

    def code(self):
        return "tc_relu(tc_add(tc_transpose(a, 0, 1), b))" if self.options["beside"] else "tc_mul_s(tc_transpose(a, 0, 1), 0.5)"

    def formula(self, n, a, b=None):
        return n.dense(n.transposed(a) * 0.5 if b is None else n.relu(n.transposed(a) + b))

    def bytes(self, size, item):
        return item * (2 + self.options["beside"]) * size["R"] * size["C"]

    def flops(self, size):
        return 2 * size["R"] * size["C"]


class Embedding(Swept):
    """Rows of a table, scaled, plus positions."""
    name, dims, index = "embedding", ("V,C", "R", "R,C"), {1: "V"}

    @classmethod
    def draw_size(cls, rng, bounds):
        size = rows_and_width(rng, bounds, 3, 1 << 13)
        return {**size, "V": log_uniform(rng, 2, min(1 << 17, bounds.most_elements // 3 // size["C"]))}

    def code(self):
        return "tc_add(tc_mul_s(tc_embedding(a, b), 8), c)"

    def formula(self, n, a, b, c):
        return n.embedding(a, b) * 8 + c

    def bytes(self, size, item):
        return item * (min(size["R"], size["V"]) + 2 * size["R"]) * size["C"] + 8 * size["R"]

    def flops(self, size):
        return 2 * size["R"] * size["C"]


class LinearGelu(Known):
    name, base, dims, letters = "linear_gelu", families.LinearGelu(), ("M,K", "N,K", "N"), "MKN"

    def __init__(self, **options):
        super().__init__(**options)
        self.streams, self.product = "read", True

    def scale(self, operand, size):
        return 1 / math.sqrt(size["K"]) if operand == 1 else 1

    @classmethod
    def draw_size(cls, rng, bounds):
        return product_sizes(rng, bounds, "MKN", ((1, bounds.rows), (1, 8192), (1, 8192)), lambda s: s["M"] * s["K"] * s["N"],
                             lambda s: s["M"] * s["K"] + s["K"] * s["N"] + s["M"] * s["N"])

    def code(self):
        return "tc_gelu(tc_linear(a, b, c))"


class Matmul(Swept):
    """a b, each as it is or stored transposed; behind `lead` axes of batches, of which b may have none."""
    name, streams, product, cancels, weight = "matmul", "read", True, True, 3
    forms = tuple({"lead": lead, "shared": shared, "ta": ta, "tb": tb} for ta in (0, 1) for tb in (0, 1)
                  for lead, shared in ((0, 0), (0, 0), (1, 0), (1, 1), (2, 0)))
    LEAD = ("", "B,", "B,H,")

    def operand_dims(self):
        o = self.options
        lead = self.LEAD[o["lead"]]
        return (lead + ("K,M" if o["ta"] else "M,K"), ("" if o["shared"] else lead) + ("N,K" if o["tb"] else "K,N"))

    @classmethod
    def draw(cls, rng, bounds):
        options = dict(rng.choice(cls.forms))
        form, letters = cls(**options), "MKN" + "BH"[:options["lead"]]
        limits = ((1, bounds.rows), (1, 8192), (1, 8192), (1, 64), (1, 16))
        size = product_sizes(rng, bounds, letters, limits, lambda s: math.prod(s.values()),
                             lambda s: sum(math.prod(x) for x in form.shapes(s)) + form.result(s))
        return size, options

    def result(self, size):
        return math.prod(size[letter] for letter in size if letter != "K")

    def code(self):
        o = self.options
        return f"tc_matmul({'tc_transpose(a, -1, -2)' if o['ta'] else 'a'}, {'tc_transpose(b, -1, -2)' if o['tb'] else 'b'})"

    def formula(self, n, a, b):
        return (n.transposed(a) if self.options["ta"] else a) @ (n.transposed(b) if self.options["tb"] else b)

    def bytes(self, size, item):
        return item * (sum(math.prod(s) for s in self.shapes(size)) + self.result(size))

    def flops(self, size):
        return 2 * math.prod(size.values())


class Attention(Swept):
    name, cancels, weight, streams = "attention", True, 2, None
    dims, fixed = ("B,H,T,D", "B,H,S,D", "B,H,S,D"), "D"
    forms = ({"causal": 0}, {"causal": 1})

    def operand_dims(self):
        return tuple(d.replace("S", "T") for d in self.dims) if self.options["causal"] else self.dims

    @classmethod
    def draw(cls, rng, bounds):
        options = dict(rng.choice(cls.forms))
        limits = ((1, 8), (1, 16), (1, bounds.rows // 2), (1, bounds.rows // 2), (16, 256))
        size = product_sizes(rng, bounds, "BHTSD", limits, lambda s: 2 * math.prod(s.values()),
                             lambda s: 2 * s["B"] * s["H"] * (s["T"] + s["S"]) * s["D"])
        if options["causal"]:
            size["S"] = size["T"] = min(size["T"], size["S"])
        return size, options

    def code(self):
        scores = "tc_mul_s(tc_matmul(a, tc_transpose(b, -1, -2)), 1 / sqrt((double)tc_size(a, 3)))"
        if self.options["causal"]:
            mask = "tc_triu(tc_full(TC_DIMS(tc_size(a, 2), tc_size(b, 2)), -INFINITY, tc_dtype_of(a)), 1)"
            scores = f"tc_add({scores}, {mask})"
        return f"tc_matmul(tc_softmax({scores}, -1), c)"

    def formula(self, n, a, b, c):
        return n.attention(a, b, c, bool(self.options["causal"]))

    def bytes(self, size, item):
        return item * 2 * size["B"] * size["H"] * (size["T"] + size["S"]) * size["D"]

    def flops(self, size):
        b, h, t, s, d = (size[letter] for letter in "BHTSD")
        pairs = t * (t + 1) // 2 if self.options["causal"] else t * s
        return 2 * b * h * pairs * (2 * d + EXP + 4)


class Convolution(Swept):
    """relu(conv(x) + b), windows of P x P."""
    name, cancels, fixed, streams = "convolution", True, "P", None
    dims = ("N,C,H,W", "O,C,P,P", "O")
    forms = tuple({"stride": s, "same": p} for s in (1, 1, 2) for p in (0, 1))

    @classmethod
    def draw(cls, rng, bounds):
        options, window = dict(rng.choice(cls.forms)), rng.choice((1, 3, 3, 5, 7))
        form = cls(**options)
        limits = ((1, 8), (1, 256), (1, 256), (window, 128), (window, 128))
        size = product_sizes(rng, bounds, "NCOHW", limits, lambda s: form.flops({**s, "P": window}) // 2,
                             lambda s: s["N"] * (s["C"] + s["O"]) * s["H"] * s["W"])
        return {**size, "P": window}, options

    def padding(self, window):
        return window // 2 if self.options["same"] else 0

    def scale(self, operand, size):
        return 1 / math.sqrt(size["C"] * size["P"] ** 2) if operand == 1 else 1

    def code(self):
        padding = "tc_size(b, 2) / 2" if self.options["same"] else "0"
        return f"tc_relu(tc_conv(a, b, c, TC_INTS({self.options['stride']}), TC_INTS({padding}), TC_INTS(1), 1))"

    def formula(self, n, a, b, c):
        return n.relu(n.conv(a, b, c, self.options["stride"], self.padding(b.shape[2])))

    def side(self, n, window):
        return (n + 2 * self.padding(window) - window) // self.options["stride"] + 1

    def results_of(self, size):
        return size["N"] * size["O"] * self.side(size["H"], size["P"]) * self.side(size["W"], size["P"])

    def bytes(self, size, item):
        return item * (sum(math.prod(s) for s in self.shapes(size)) + self.results_of(size))

    def flops(self, size):
        return 2 * self.results_of(size) * size["C"] * size["P"] ** 2


class GroupedConvolution(Convolution):
    """The same of groups: of one channel and one filter each (depthwise), or of C channels and O filters, G of them."""
    name, fixed, weight = "grouped_convolution", "GCOPIJ", 2
    forms = tuple({**form, "depthwise": d} for form in Convolution.forms for d in (0, 1))

    @classmethod
    def draw(cls, rng, bounds):
        options, window = dict(rng.choice(cls.forms)), rng.choice((3, 3, 5, 7))
        each = 1 if options["depthwise"] else 64
        form = cls(**options)
        limits = ((1, 8), (2, 512 // each), (min(each, 2), each), (min(each, 2), each), (window, 128), (window, 128))
        drawn = {}

        def whole(s):
            drawn.update(form.whole({**s, "P": window}))
            return drawn

        product_sizes(rng, bounds, "NGCOHW", limits, lambda s: form.flops(whole(s)) // 2,
                      lambda s: s["N"] * s["G"] * (s["C"] + s["O"]) * s["H"] * s["W"])
        return drawn, options

    @staticmethod
    def whole(size):
        """I channels and J filters of all groups."""
        return {**size, "I": size["G"] * size["C"], "J": size["G"] * size["O"]}

    def operand_dims(self):
        return ("N,I,H,W", "I,1,P,P", "I") if self.options["depthwise"] else ("N,I,H,W", "J,C,P,P", "J")

    def shapes(self, size):
        return super().shapes({**size, "1": 1})

    def code(self):
        return super().code().replace("TC_INTS(1), 1)", "TC_INTS(1), tc_size(a, 1) / tc_size(b, 1))")

    def results_of(self, size):
        return super().results_of({**size, "O": size["J"]})


class Gradient(Known):
    """The value and gradients of the leading `leaves` operands; the last operand is the cotangent, if there is one."""

    @classmethod
    def draw_size(cls, rng, bounds):
        return rows_and_width(rng, bounds, 4)

    def __init__(self, **options):
        super().__init__(**options)
        self.results = 1 + self.leaves

    def body(self):
        """Statements; gradients go to g."""
        wrt, last = ", ".join("abcd"[:self.leaves]), "abcd"[len(self.dims) - 1]
        take = (f"tc_grad(y, {self.leaves}, wrt, g)" if self.index else f"tc_vjp(y, {last}, {self.leaves}, wrt, g)")
        return (f"  tc_tensor *g[{self.leaves}];\n  const tc_tensor *wrt[] = {{{wrt}}}, *y = {self.code()};\n"
                f"  if (!{take}) return false;\n  out[0] = tc_detach(y);\n"
                f"  for (int i = 0; i < {self.leaves}; i++) out[1 + i] = g[i];\n  return true;\n")


class SoftmaxGrad(Gradient):
    name, base, dims, leaves = "softmax_grad", training.SoftmaxGrad(), ("R,C", "R,C"), 1
    code = Softmax.code


class LayerNormGrad(Gradient):
    name, base, dims, leaves = "layer_norm_grad", training.LayerNormGrad(), ("R,C", "C", "C", "R,C"), 3
    code = LayerNorm.code


class RMSNormGrad(Gradient):
    name, base, dims, leaves = "rms_norm_grad", training.RMSNormGrad(), ("R,C", "C", "R,C"), 2
    code = RMSNorm.code


class CrossEntropyGrad(Gradient):
    name, base, dims, index, leaves = "cross_entropy_grad", training.CrossEntropyGrad(), ("R,C", "R"), {1: "C"}, 1
    code = CrossEntropy.code


SWEPT = {f.name: f for f in (
    Chain, Softmax, LogSoftmax, LayerNorm, RMSNorm, CrossEntropy, ReducedRows, ReducedColumns, Transposed, Embedding, LinearGelu,
    Matmul, Attention, Convolution, GroupedConvolution, SoftmaxGrad, LayerNormGrad, RMSNormGrad, CrossEntropyGrad)}


def form_of(peer):
    """The form that `peer` names: "matmul:lead=0,ta=1"."""
    name, _, options = peer.partition(":")
    pairs = (o.split("=") for o in options.split(",") if o)
    return SWEPT[name](**{k: int(v) if v.isdigit() else v for k, v in pairs})
