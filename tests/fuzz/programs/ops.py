"""Steps of a random program that compute tensors: one method for each class of ops of graph/ops/api.def."""
from sizes import half, less_one, plus, size, times, value
from values import FLOATS, INTS, c_dtype, ints

SMOOTH = ("square sqrt rsqrt reciprocal exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh "
          "asinh acosh atanh erf erfc sinc sigmoid silu gelu gelu_tanh softplus mish hardswish hardsigmoid").split()
POLES = "sqrt rsqrt reciprocal log log2 log10 log1p acosh atanh".split()
EXACT = "neg abs relu relu6 contiguous".split()      # of exact operands exact
JUMPS = "sign floor ceil round trunc".split()        # on exact operands only: rounding would tip them
TESTS = "isnan isinf isfinite logical_not".split()
ARITHMETIC = "add sub mul div atan2 hypot logaddexp copysign".split()
COMPARE = "eq ne lt le gt ge logical_and logical_or logical_xor".split()
DIVISIONS = "floor_div remainder fmod".split()
BITS = "bit_and bit_or bit_xor shl shr".split()
# Beside integers: bounds and comparisons mean something of numbers that their dtype does not hold.
OUTSIDE = ("300", "-1", "-129.5", "0.5", "3e9", "-1e30", "__builtin_inf()", "-__builtin_inf()")
AWAY = "tc_add_s(tc_abs(%), 1)"  # from zero, whose neighbourhood magnifies what is allowed without bound, or is NaN
SCALARS = "add_s sub_s rsub_s mul_s div_s rdiv_s pow_s leaky_relu elu lerp fma".split()
REDUCTIONS = "sum prod mean var std var_mean logsumexp norm cumsum cumprod scatter_add matmul linear outer einsum".split()
NETWORKS = "softmax log_softmax layer_norm rms_norm batch_norm cross_entropy nll mse bce_with_logits".split()
# What correct implementations may round differently; the others are exact, of exact operands at least.
ELEMENTWISE = SMOOTH + "add sub mul div atan2 hypot logaddexp pow".split() + SCALARS
ROUNDED = ELEMENTWISE + ["randn"] + REDUCTIONS + NETWORKS + [f"{op}_" for op in ELEMENTWISE]
# Off by a rounding of 1, however small they are: the logarithm of a sum near 1 by one of the sum, and sinc, the sine
# of pi x over pi x, by one of pi x over it: near integers it is 0 but for that, of either sign.
ABSOLUTE = "log_softmax logsumexp logaddexp cross_entropy bce_with_logits".split() + ["sinc", "sinc_"]
C_TYPES = {"f32": "float", "f64": "double"}
VIEWS = "transpose permute slice slice select flip unfold unsqueeze flatten expand reshape repeat squeeze contiguous".split()


def real_of(v):
    return v.dtype if v.real else "f32"


def whole(shape):
    return all(isinstance(d, int) for d in shape)


class Ops:
    """self.r: random numbers; make(template, uses, dtype, shape, exact) appends a statement; pick(test) finds
    a value; parameter(...) makes one, or None; view_of(x, ...) is make for what may share x's memory."""

    def unary(self):
        x = self.pick(lambda v: v.dtype != "bool")
        if not x:
            return None
        if self.r.random() < 0.3:
            op = self.r.choice(EXACT)
            if op == "contiguous":
                return self.view_of(x, "tc_contiguous(%0)", x.shape)
            return self.make(f"tc_{op}(%0)", [x], x.dtype, x.shape, x.exact)
        op = self.r.choice(SMOOTH)
        if op == "tan" and x not in self.params:  # no rounding of the operand crosses a pole
            return self.make("tc_tan(tc_mul_s(tc_tanh(%0), 1.5))", [x], real_of(x), x.shape)
        if op in POLES and x not in self.params:
            return self.make(f"tc_{op}({AWAY.replace('%', '%0')})", [x], real_of(x), x.shape)
        return self.make(f"tc_{op}(%0)", [x], x.dtype if op == "square" else real_of(x), x.shape)

    def partner(self, x, test=lambda v: True):
        """A value that broadcasts with x to x's shape, of one dtype with it: promotion has cases of its own."""
        def fits(v):
            if not 0 < len(v.shape) <= len(x.shape) or v.dtype != x.dtype or not test(v):
                return False
            return all(a in (b, 1) for a, b in zip(v.shape, x.shape[len(x.shape) - len(v.shape):]))
        return self.pick(fits) if x.shape else None

    def binary(self):
        x = self.pick(lambda v: v.dtype != "bool")
        y = x and self.partner(x)
        if not y:
            return None
        op = self.r.choice(ARITHMETIC + ["maximum", "minimum", "maximum", "pow"])
        if op in ("maximum", "minimum"):
            return self.make(f"tc_{op}(%0, %1)", [x, y], x.dtype, x.shape, x.exact and y.exact)
        if op == "pow":
            call = "tc_pow(tc_add_s(tc_abs(%0), 0.25), tc_tanh(%1))" if x.real else "tc_pow(%0, tc_abs(%1))"
            return self.make(call, [x, y], x.dtype, x.shape)
        if op == "copysign" and (y not in self.params or y.changed):  # signs of zeros and of NaN that are computed are anyone's
            return None
        if op == "atan2":
            return self.make(f"tc_atan2({AWAY.replace('%', '%0')}, %1)", [x, y], real_of(x), x.shape)
        if op == "div" and y not in self.params:
            return self.make(f"tc_div(%0, {AWAY.replace('%', '%1')})", [x, y], real_of(x), x.shape)
        dtype = x.dtype if op in ("add", "sub", "mul") else real_of(x)
        return self.make(f"tc_{op}(%0, %1)", [x, y], dtype, x.shape)

    def scalar(self):
        x = self.pick(lambda v: v.dtype != "bool")
        if not x:
            return None
        if self.r.random() < (0.1 if x.real else 0.3):
            bounds = [self.r.choice(OUTSIDE) for _ in range(2)]
            op = self.r.choice(("minimum_s", "maximum_s", "clamp_min", "clamp_max", "clamp"))
            return self.make(f"tc_{op}(%0, {', '.join(bounds[:1 + (op == 'clamp')])})", [x], x.dtype, x.shape, x.exact)
        if self.r.random() < 0.12:
            return self.scalar_tensor(x)
        s = self.r.choice(("s", "2", "0.5", "-1.25", "3", "s * 2", "s + (double)tc_rank(%0)", "sqrt(s)", "s > 0.5 ? s : 2",
                           "(float)s + n", "(double)tc_numel(%0) / 64") if x.real else ("2", "3", "1", "n", "(n & 1) + 1"))
        op = self.r.choice("add_s sub_s rsub_s mul_s maximum_s minimum_s div_s rdiv_s leaky_relu elu clamp pow_s".split())
        if op == "clamp":
            return self.make("tc_clamp(%0, -1, 2)" if x.dtype != "u8" else "tc_clamp(%0, 1, 2)", [x], x.dtype, x.shape, x.exact)
        if op in ("leaky_relu", "elu"):
            return x.real and self.make(f"tc_{op}(%0, 0.25)", [x], x.dtype, x.shape) or None
        if op == "pow_s":
            return self.make(f"tc_pow_s(%0, {self.r.choice((2, 3, 1))})", [x], x.dtype, x.shape)
        if op == "rdiv_s" and x not in self.params:
            return self.make(f"tc_rdiv_s({AWAY.replace('%', '%0')}, {s})", [x], real_of(x), x.shape)
        dtype = real_of(x) if op in ("div_s", "rdiv_s") else x.dtype
        return self.make(f"tc_{op}(%0, {s})", [x], dtype, x.shape, x.exact and op in ("maximum_s", "minimum_s"))

    def scalar_tensor(self, x):
        """With a number as a tensor, of the type of its argument."""
        number = self.r.choice(("tc_scalar_int(3)", "tc_scalar(2)", "tc_scalar_int(n)", "tc_scalar_int(n + 1)") +
                               ("tc_scalar(0.5)", "tc_scalar(s)", "tc_scalar_int(-7)", "tc_scalar(1.5f)") * x.real)
        op = self.r.choice(("add", "sub", "mul", "maximum", "minimum"))
        pair = self.r.choice(("%0, " + number, number + ", %0"))
        return self.make(f"tc_{op}({pair})", [x], x.dtype, x.shape, x.exact and op in ("maximum", "minimum"))

    def ternary(self):
        x = self.pick(lambda v: v.real)
        y = x and self.partner(x)
        if not y:
            return None
        op = self.r.choice(("where", "fma", "lerp", "masked_fill", "where"))
        if op == "lerp":
            return self.make("tc_lerp(%0, %1, 0.25)", [x, y], x.dtype, x.shape)
        if op == "fma":
            return self.make("tc_fma(%0, %1, %2)", [x, y, self.partner(x) or y], x.dtype, x.shape)
        m = self.pick(lambda v: v.dtype == "bool" and v.shape == x.shape)
        m = m or self.pick(lambda v: v.dtype == "bool" and v.shape and v.shape == x.shape[len(x.shape) - len(v.shape):])
        if not m:
            return None
        if op == "where":
            return self.make("tc_where(%0, %1, %2)", [m, x, y], x.dtype, x.shape, x.exact and y.exact)
        return self.make("tc_masked_fill(%0, %1, 0.5)", [x, m], x.dtype, x.shape, x.exact)

    def promotion(self):
        """Operands of two dtypes, whose result is what tc_promote says: f32 with wider or narrower ones."""
        x = self.pick(lambda v: v.dtype == "f32" and v.shape)
        y = x and self.pick(lambda v: v.shape == x.shape and v.dtype in ("f64", "f16", "bf16", "i32", "u8", "i64"))
        if not y:
            return None
        dtype = "f64" if y.dtype == "f64" else "f32"
        return self.make(f"tc_{self.r.choice(('add', 'mul', 'sub', 'maximum'))}(%0, %1)", [x, y], dtype, x.shape)

    def jump(self):
        x = self.pick(lambda v: v.exact and v.dtype != "bool")
        if not x:
            return None
        if self.r.random() < 0.4:
            y = self.partner(x, lambda v: v.exact)
            if y:
                return self.make(f"tc_{self.r.choice(DIVISIONS)}(%0, %1)", [x, y], x.dtype, x.shape, True)
            return self.make("tc_remainder_s(%0, 2)", [x], x.dtype, x.shape, True)
        return self.make(f"tc_{self.r.choice(JUMPS)}(%0)", [x], x.dtype, x.shape, True)

    def compare(self):
        x = self.pick(lambda v: v.exact)
        if not x:
            return None
        if self.r.random() < 0.25:
            return self.make(f"tc_{self.r.choice(TESTS)}(%0)", [x], "bool", x.shape)
        if self.r.random() < 0.4 and x.dtype != "bool":
            op = self.r.choice(("eq_s", "ne_s", "lt_s", "le_s", "gt_s", "ge_s"))
            s = "1" if x.real or self.r.random() < 0.5 else self.r.choice(OUTSIDE + ("n + 0.5",) * (op not in ("eq_s", "ne_s")))
            return self.make(f"tc_{op}(%0, {s})", [x], "bool", x.shape)
        y = self.partner(x, lambda v: v.exact)
        return y and self.make(f"tc_{self.r.choice(COMPARE)}(%0, %1)", [x, y], "bool", x.shape)

    def integer(self):
        x = self.pick(lambda v: v.dtype in INTS)
        y = x and self.partner(x)
        if not y:
            return None
        if self.r.random() < 0.2:
            return self.make("tc_bit_not(%0)", [x], x.dtype, x.shape)
        if self.r.random() < 0.2:
            return self.make(f"tc_{self.r.choice(('add', 'bit_or', 'floor_div'))}(%0, tc_scalar_int(7))", [x], x.dtype, x.shape)
        return self.make(f"tc_{self.r.choice(BITS)}(%0, %1)", [x, y], x.dtype, x.shape)

    # ---- reductions

    def axes(self, x):
        rank = len(x.shape)
        if rank == 0 or self.r.random() < 0.2:
            return []
        chosen = self.r.sample(range(rank), self.r.choice((1, 1, min(2, rank))))
        return [a if self.r.random() < 0.5 else a - rank for a in chosen]

    @staticmethod
    def reduced(x, axes, keep):
        rank = len(x.shape)
        gone = set(a % rank for a in axes) if axes else set(range(rank))
        return tuple(1 if i in gone else d for i, d in enumerate(x.shape) if keep or i not in gone)

    def reduce(self):
        x = self.pick()
        axes, keep = self.axes(x), self.r.choice(("true", "false"))
        shape = self.reduced(x, axes, keep == "true")
        op = self.r.choice("sum sum mean prod max min any all var std logsumexp norm argmax argmin".split())
        text = ints(axes)
        if op in ("any", "all"):
            return x.exact and self.make(f"tc_{op}(%0, {text}, {keep})", [x], "bool", shape) or None
        if op in ("max", "min"):
            return x.dtype != "bool" and self.make(f"tc_{op}(%0, {text}, {keep})", [x], x.dtype, shape, x.exact) or None
        if op in ("argmax", "argmin"):
            if not x.exact or x.dtype == "bool" or len(axes) > 1:
                return None
            return self.make(f"tc_{op}(%0, {text}, {keep})", [x], "i64", shape)
        if op in ("sum", "prod"):
            return self.make(f"tc_{op}(%0, {text}, {keep})", [x], x.dtype if x.real else "i64", shape)
        if not x.real:
            return None
        if op in ("var", "std"):
            return self.make(f"tc_{op}(%0, {text}, {self.r.choice((0, 1))}, {keep})", [x], x.dtype, shape)
        if op == "norm":
            return self.make(f"tc_norm(%0, {self.r.choice(('2', '1', '3'))}, {text}, {keep})", [x], x.dtype, shape)
        return self.make(f"tc_{op}(%0, {text}, {keep})", [x], x.dtype, shape)

    def several(self):
        """A function with several results: the first, the second, or both."""
        x = self.pick(lambda v: v.dtype != "bool")
        axes, keep = x and self.axes(x), self.r.choice(("true", "false"))
        op = x and self.r.choice(("frexp", "var_mean", "max_with_index", "min_with_index", "cummax", "cummin", "sort", "topk", "argsort"))
        if x and op in ("sort", "topk", "argsort"):
            return self.order(x, op)
        if x and op.startswith("cum"):
            return self.running(x, op)
        if not x or (op != "var_mean" and not x.exact) or (op == "var_mean" and not x.real) or (op.endswith("index") and len(axes) > 1):
            return None
        shape = self.reduced(x, axes, keep == "true") if op != "frexp" else x.shape
        text = {"frexp": "", "var_mean": f"{ints(axes)}, {self.r.choice((0, 1))}, {keep}, "}.get(op, f"{ints(axes)}, {keep}, ")
        dtype, beside = x.dtype if op.endswith("index") else real_of(x), {"frexp": "i32", "var_mean": x.dtype}.get(op, "i64")
        if self.r.random() < 0.25:
            return self.make(f"tc_{op}(%0, {text}NULL)", [x], dtype, shape, x.exact and op != "var_mean")
        name = f"q{self.count}"
        first = self.make(f"NULL, *{name} = NULL; @ = tc_{op}(%0, {text}&{name})", [x], dtype, shape, x.exact and op != "var_mean")
        if not first or self.r.random() < 0.25:
            return first
        # The second's rounding is that of a product with 1.
        return self.make(f"tc_mul_s({name}, 1)", [first], beside, shape, op != "var_mean")

    def running(self, x, op):
        if not x.exact or not x.shape:
            return None
        axis, name = self.r.randrange(len(x.shape)), f"q{self.count}"
        if self.r.random() < 0.5:
            return self.make(f"tc_{op}(%0, {axis}, NULL)", [x], x.dtype, x.shape, True)
        first = self.make(f"NULL, *{name} = NULL; @ = tc_{op}(%0, {axis}, &{name})", [x], x.dtype, x.shape, True)
        return first and self.make(f"tc_mul_s({name}, 1)", [first], "i64", x.shape, True)

    def order(self, x, op):
        if not x.exact or not x.shape:
            return None
        axis, name, flag = self.r.randrange(len(x.shape)), f"q{self.count}", self.r.choice(("true", "false"))
        if op == "argsort":
            return self.make(f"tc_argsort(%0, {axis}, {flag})", [x], "i64", x.shape, True)
        shape, first = list(x.shape), ""
        if op == "topk":
            if not isinstance(shape[axis], int) or shape[axis] < 1:
                return None
            shape[axis] = 1 + self.r.randrange(shape[axis])
            first = f"{shape[axis]}, "
        shape = type(x.shape)(shape)
        if self.r.random() < 0.5:
            return self.make(f"tc_{op}(%0, {first}{axis}, {flag}, NULL)", [x], x.dtype, shape, True)
        values = self.make(f"NULL, *{name} = NULL; @ = tc_{op}(%0, {first}{axis}, {flag}, &{name})", [x], x.dtype, shape, True)
        return values and self.make(f"tc_mul_s({name}, 1)", [values], "i64", shape, True)

    def cumulate(self):
        x = self.pick(lambda v: v.shape and v.dtype != "bool")
        if not x:
            return None
        op = self.r.choice(("cumsum", "cumprod"))
        return self.make(f"tc_{op}(%0, {self.r.randrange(len(x.shape))})", [x], x.dtype if x.real else "i64", x.shape)

    # ---- views

    def view(self):
        x = self.pick(lambda v: v.shape)
        return x and self.some_view(x)

    def some_view(self, x, kinds=VIEWS):
        r, rank, s = self.r, len(x.shape), x.shape
        a = r.randrange(rank)
        op = r.choice(kinds)
        if op == "slice":
            return self.sliced(x, a)
        if op == "transpose":
            b, t = r.randrange(rank), list(s)
            t[a], t[b] = t[b], t[a]
            return self.view_of(x, f"tc_transpose(%0, {a}, {b - rank})", t)
        if op == "permute":
            order = r.sample(range(rank), rank)
            return self.view_of(x, f"tc_permute(%0, {ints(order)})", [s[i] for i in order])
        if op == "select":
            if not isinstance(s[a], int):
                return None
            return self.view_of(x, f"tc_select(%0, {a}, {r.choice((0, -1))})", s[:a] + s[a + 1:])
        if op == "flip":
            return self.view_of(x, f"tc_flip(%0, {r.choice((ints([a]), 'TC_ALL'))})", s)
        if op == "unfold":
            return self.windows(x, a)
        if op == "contiguous":
            return self.view_of(x, "tc_contiguous(%0)", s)
        if op == "unsqueeze":
            return self.view_of(x, f"tc_unsqueeze(%0, {a})", s[:a] + (1,) + s[a:])
        if op == "squeeze":
            return s[a] == 1 and self.view_of(x, f"tc_squeeze(%0, {a})", s[:a] + s[a + 1:]) or None
        if op == "expand":
            return self.expanded(x, a)
        if op == "repeat":
            return self.repeated(x, a)
        return self.reshaped(x, op)

    def sliced(self, x, a):
        r, d = self.r, x.shape[a]
        if isinstance(d, int) and d >= 2:
            start, stop, step = r.choice(((1, d, 1), (0, d, 2), (d - 1, 0, -1), (-3, 1000, 1)))
            n = len(range(d)[start:stop:step])
        else:
            rows = [(("0", "INT64_MAX", 1), d), (("-1", "INT64_MIN", -1), d), (("0", "INT64_MAX", 2), half(d))]
            if not isinstance(d, int):  # of a 1, no element would be left
                rows += [(("1", "INT64_MAX", 1), less_one(d)), (("0", "-1", 1), less_one(d))]
            (start, stop, step), n = r.choice(rows)
        return self.view_of(x, f"tc_slice(%0, {a}, {start}, {stop}, {step})", x.shape[:a] + (n,) + x.shape[a + 1:])

    def windows(self, x, a):
        """All windows of an axis, or every second or third; of a symbol, those of which there are as many as elements, or one
        less."""
        r, s = self.r, x.shape
        least = min(value(s[a], run) for run in range(3))
        size, step = r.randint(1, 3), r.randint(1, 3) if isinstance(s[a], int) else 1
        if least < size or len(s) > 4 or (size == 3 and not isinstance(s[a], int)):
            return None
        n = (s[a] - size) // step + 1 if isinstance(s[a], int) else s[a] if size == 1 else less_one(s[a])
        v = self.view_of(x, f"tc_unfold(%0, {a}, {size}, {step})", s[:a] + (n,) + s[a + 1:] + (size,))
        if v:
            v.overlaps = True
        return v

    def expanded(self, x, a):
        s = x.shape
        if s[a] != 1:
            v = self.view_of(x, f"tc_expand(%0, TC_DIMS(3{', -1' * len(s)}))", (3,) + s)
        else:
            dims = ["-1"] * len(s)
            dims[a] = "3"
            v = self.view_of(x, f"tc_expand(%0, TC_DIMS({', '.join(dims)}))", s[:a] + (3,) + s[a + 1:])
        if v:
            v.overlaps = True
        return v

    def repeated(self, x, a):
        """Each element along an axis twice, or the axis twice: repeat_kv."""
        s, n, r = x.shape, [f"tc_size(%0, {i})" for i in range(len(x.shape))], self.r
        if len(s) > 4:
            return None
        at = a + r.randrange(2)
        expanded = ", ".join(n[:at] + ["2"] + n[at:])
        merged = ", ".join(n[:a] + [f"2 * {n[a]}"] + n[a + 1:])
        text = f"tc_reshape(tc_expand(tc_unsqueeze(%0, {at}), TC_DIMS({expanded})), TC_DIMS({merged}))"
        v = self.view_of(x, text, s[:a] + (times(2, s[a]),) + s[a + 1:])
        if v:
            v.overlaps = True
        return v

    def reshaped(self, x, op):
        s, n = x.shape, 1
        for d in s:
            n = times(n, d)
        if op == "flatten":
            a = self.r.randrange(len(s))
            inner = 1
            for d in s[a:]:
                inner = times(inner, d)
            return self.view_of(x, f"tc_flatten(%0, {a}, -1)", s[:a] + (inner,))
        if len(s) >= 2 and self.r.random() < 0.5:
            first = times(s[0], s[1])
            rest = "".join(f", tc_size(%0, {i})" for i in range(2, len(s)))
            return self.view_of(x, f"tc_reshape(%0, TC_DIMS(tc_size(%0, 0) * tc_size(%0, 1){rest}))", (first,) + s[2:])
        return self.view_of(x, "tc_reshape(%0, TC_DIMS(1, -1))", (1, n)) if whole(s) else None

    def handed_view(self):
        """An operand, reshaped by a number that is known at run time only: whether memory is shared is seen when it
        is handed on."""
        x = self.r.choice([p for p in self.params if len(p.shape)] or [None])
        if not x:
            return None
        n = 1
        for d in x.shape:
            n = times(n, d)
        self.may_fall = True  # where others take the size to be another one
        return self.view_of(x, "tc_reshape(%0, TC_DIMS(-1, 1 + (n > 100)))", (n, 1))

    # ---- joining and moving

    def join(self):
        x = self.pick(lambda v: v.shape)
        if not x:
            return None
        a, s = self.r.randrange(len(x.shape)), x.shape
        fits = (lambda v: v.shape == s) if self.r.random() < 0.4 else \
            (lambda v: len(v.shape) == len(s) and v.shape[:a] + v.shape[a + 1:] == s[:a] + s[a + 1:])
        y = self.pick(lambda v: v.dtype == x.dtype and fits(v))
        exact = x.exact and y.exact
        if y.shape == s and self.r.random() < 0.5:
            return self.make(f"tc_stack((const tc_tensor *[]){{%0, %1}}, 2, {a})", [x, y], x.dtype, s[:a] + (2,) + s[a:], exact)
        return self.make(f"tc_concat((const tc_tensor *[]){{%0, %1}}, 2, {a})", [x, y], x.dtype,
                         s[:a] + (plus(s[a], y.shape[a]),) + s[a + 1:], exact)

    def split(self):
        """The second of equal pieces."""
        x = self.pick(lambda v: any(isinstance(d, int) and d % 2 == 0 and d > 0 for d in v.shape))
        if not x:
            return None
        a = next(i for i, d in enumerate(x.shape) if isinstance(d, int) and d % 2 == 0 and d > 0)
        name = f"q{self.count}"
        return self.view_of(x, f"NULL, *{name}[2] = {{0}}; tc_split(%0, 2, {a}, {name}); @ = {name}[1]", x.shape[:a] + (x.shape[a] // 2,) + x.shape[a + 1:])

    def move(self):
        x = self.pick(lambda v: v.shape)
        if not x:
            return None
        r, s = self.r, x.shape
        a, rank = r.randrange(len(s)), len(s)
        op = r.choice(("roll", "tril", "triu", "pad", "repeat"))
        if op in ("tril", "triu"):
            return rank >= 2 and self.make(f"tc_{op}(%0, {r.choice((-1, 0, 2))})", [x], x.dtype, s, x.exact) or None
        if op == "roll":
            return self.make(f"tc_roll(%0, {r.choice((1, -2, 5))}, {a})", [x], x.dtype, s, x.exact)
        one = [0] * rank
        one[a] = 1
        if op == "pad":
            return self.make(f"tc_pad(%0, {ints(one, 'TC_INTS')}, {ints([2 * i for i in one], 'TC_INTS')}, 1)", [x], x.dtype,
                             s[:a] + (plus(s[a], 3),) + s[a + 1:], x.exact)
        return self.make(f"tc_repeat(%0, {ints([i + 1 for i in one], 'TC_INTS')})", [x], x.dtype, s[:a] + (times(2, s[a]),) + s[a + 1:], x.exact)

    def neighbours(self):
        """A stencil: values that are moved along axes, some of them twice, and put together."""
        r, x = self.r, self.pick(lambda v: v.shape and v.dtype != "bool")
        if not x:
            return None
        s, total, last = x.shape, x, x
        for _ in range(r.randint(1, 4)):
            a, of = r.randrange(len(s)), r.choice((x, x, last))
            if isinstance(s[a], int) and s[a] > 1 and r.random() < 0.3:
                h, cut = s[a] // 2, "tc_slice(%0, {0}, {1}, {2}, 1)"
                first, second = cut.format(a, h, s[a]), cut.format(a, 0, h)
                last = self.make(f"tc_concat((const tc_tensor *[]){{{first}, {second}}}, 2, {a})", [of], x.dtype, s, of.exact)
            else:
                last = self.make(f"tc_roll(%0, {r.choice((1, -1, 1, -1, 2, -3))}, {a})", [of], x.dtype, s, of.exact)
            total = last and self.make(f"tc_{r.choice(('add', 'maximum', 'minimum'))}(%0, %1)", [total, last], x.dtype, s)
            if not total:
                return None
        return total

    def index(self):
        """Elements along an axis, by operands that say which."""
        x = self.pick(lambda v: any(isinstance(d, int) and d > 0 for d in v.shape))
        if not x:
            return None
        s = x.shape
        a = self.r.choice([i for i, d in enumerate(s) if isinstance(d, int) and d > 0])
        op, m = self.r.choice(("index_select", "embedding", "gather", "one_hot", "scatter", "scatter_add")), size("M")
        whole = op in ("gather", "scatter", "scatter_add")
        shape = (s[:a] + (m,) + s[a + 1:] if self.r.random() < 0.3 else s) if whole else (m,)
        i = self.pick(lambda v: v.values == "index" and v.bound <= s[a] and v.shape == shape)
        i = i or self.parameter(self.r.choice(("i64", "i32")), shape, "index", s[a])
        if not i:
            return None
        at = self.r.choice((a, a - len(s)))
        if op == "one_hot":
            classes = max(9, i.bound)
            return self.make(f"tc_one_hot(%0, {classes})", [i], "i64", i.shape + (classes,))
        if op == "embedding":
            return len(s) == 2 and a == 0 and self.make("tc_embedding(%0, %1)", [x, i], x.dtype, (m,) + s[1:], x.exact) or None
        if op == "index_select":
            return self.make(f"tc_index_select(%0, {at}, %1)", [x, i], x.dtype, s[:a] + (m,) + s[a + 1:], x.exact)
        if op == "gather":
            return self.make(f"tc_gather(%0, {at}, %1)", [x, i], x.dtype, shape, x.exact)
        like = self.pick(lambda v: v.dtype == x.dtype and v.shape == shape)
        y = x if self.chooses(indices=True) and shape == s else like
        if not y or (self.chooses(indices=True) and y is not x):
            return None
        return self.make(f"tc_{op}(%0, {at}, %1, %2)", [x, i, y], x.dtype, s, x.exact and y.exact and op == "scatter")

    # ---- products and networks

    def product(self):
        x = self.pick(lambda v: v.shape and v.dtype != "bool")
        if not x:
            return None
        k = x.shape[-1]
        op = self.r.choice(("matmul", "matmul", "linear", "outer", "einsum", "batched"))
        if op == "outer":
            y = self.pick(lambda v: v.dtype == x.dtype and len(v.shape) == 1)
            return len(x.shape) == 1 and y and self.make("tc_outer(%0, %1)", [x, y], x.dtype, x.shape + y.shape) or None
        if op == "batched" and len(x.shape) >= 3:
            y = self.pick(lambda v: v.dtype == x.dtype and v.shape == x.shape)
            n = len(x.shape)
            return self.make(f"tc_matmul(%0, tc_transpose(%1, {n - 2}, {n - 1}))", [x, y], x.dtype, x.shape[:-1] + x.shape[-2:-1])
        if op == "matmul" and len(x.shape) >= 2:
            y = self.pick(lambda v: v.dtype == x.dtype and len(v.shape) == 2 and v.shape[0] == k)
            y = y or self.parameter(x.dtype, (k, self.r.choice((size("N"), size("K"), 7, 1))))
            return y and self.make("tc_matmul(%0, %1)", [x, y], x.dtype, x.shape[:-1] + y.shape[1:])
        y = self.pick(lambda v: v.dtype == x.dtype and len(v.shape) == 2 and v.shape[1] == k)
        y = y or self.parameter(x.dtype, (self.r.choice((size("N"), size("K"), 7)), k))
        if not y:
            return None
        if op == "einsum":
            return self.einsum(x, y)
        bias = self.pick(lambda v: v.dtype == x.dtype and v.shape == y.shape[:1])
        return self.make(f"tc_linear(%0, %1, {'%2' if bias else 'NULL'})", [x, y] + [bias] * bool(bias), x.dtype, x.shape[:-1] + y.shape[:1])

    def einsum(self, x, y):
        """x[..,j] and y[k,j] summed over j, with axes in any order.  What one operand has alone stays: kernels sum it up before
        the product and the library behind it, which is not the same beside infinities."""
        letters, j = "abcd"[:len(x.shape) - 1], "j"
        if len(x.shape) > 4:
            return None
        of = dict(zip(letters, x.shape)) | {"k": y.shape[0]}
        left = list(letters) + ["k"]
        self.r.shuffle(left)
        return self.make(f'tc_einsum("{letters}{j},k{j}->{"".join(left)}", (const tc_tensor *[]){{%0, %1}}, 2)', [x, y], x.dtype, [of[c] for c in left])

    def network(self):
        x = self.pick(lambda v: v.real and v.shape)
        if not x:
            return None
        r, s = self.r, x.shape
        op = r.choice(NETWORKS)
        if op in ("softmax", "log_softmax"):
            return self.make(f"tc_{op}(%0, {r.choice((-1, 0))})", [x], x.dtype, s)
        if op in ("layer_norm", "rms_norm"):
            w = self.pick(lambda v: v.dtype == x.dtype and v.shape == s[-1:])
            nothing = "NULL, NULL" if op == "layer_norm" else "NULL"
            weights = ("%1, %1" if op == "layer_norm" else "%1") if w else nothing
            # squares of what was computed may leave the range of f32, and their root is 0 in the result then; f16 has
            # no 1e15, and clamps to its infinities then, which kernels that keep it in f32 go past
            most = "6e4" if x.dtype == "f16" else "1e15"
            of = f"tc_clamp(%0, -{most}, {most})" if x.uses else "%0"
            return self.make(f"tc_{op}({of}, 1, {weights}, 1e-3)", [x] + ([w] if w else []), x.dtype, s)
        if op == "batch_norm":
            m = len(s) >= 2 and (self.pick(lambda v: v.dtype == x.dtype and v.shape == s[1:2] and v.values == "positive")
                                 or self.parameter(x.dtype, s[1:2], "positive"))
            return m and self.make("tc_batch_norm(%0, %1, %1, NULL, %1, 1e-3)", [x, m], x.dtype, s)
        how = r.choice(("TC_NONE", "TC_MEAN", "TC_SUM"))
        if op in ("mse", "bce_with_logits"):
            y = self.pick(lambda v: v.dtype == x.dtype and v.shape == s)
            return self.make(f"tc_{op}(%0, %1, {how})", [x, y], x.dtype, s if how == "TC_NONE" else ())
        if len(s) != 2 or not isinstance(s[1], int) or s[1] < 1:
            return None
        i = self.pick(lambda v: v.values == "index" and v.dtype == "i64" and v.bound <= s[1] and v.shape == s[:1])
        i = i or self.parameter("i64", s[:1], "index", s[1])
        return i and self.make(f"tc_{op}(%0, %1, {how})", [x, i], x.dtype, s[:1] if how == "TC_NONE" else ())

    # ---- creation and conversion

    def create(self):
        x = self.pick(lambda v: v.real)
        if not x:
            return None
        r, d = self.r, c_dtype(x.dtype)
        shape = tuple(r.choice((1, 3, 7)) for _ in range(r.randint(1, 3)))
        dims = ints(shape, "TC_DIMS")
        rows = [(f"tc_zeros({dims}, {d})", shape, True), (f"tc_ones({dims}, {d})", shape, True), (f"tc_full({dims}, 1.5, {d})", shape, True),
                (f"tc_arange(7, -2, 0.5, {d})", (7,), True), (f"tc_eye(3, 7, {d})", (3, 7), True), (f"tc_rand({dims}, 5, {d})", shape, False),
                (f"tc_randn({dims}, 6, {d})", shape, False), ("tc_zeros_like(%0)", x.shape, True),
                (f"tc_zeros(tc_shape(%0), {d})", x.shape, True), (f"tc_full(tc_shape(%0), 1.5, {d})", x.shape, True), ("tc_ones_like(%0)", x.shape, True),
                (f"tc_rand(tc_shape(%0), 3, {d})", x.shape, False), (f"tc_rand_like(%0, 7, {d})", x.shape, False), (f"tc_randn_like(%0, 8, {d})", x.shape, False), (f"tc_ones(tc_shape(%0), {d})", x.shape, True),
                (f"tc_copy_(tc_empty(tc_shape(%0), {d}), %0)", x.shape, x.exact), (f"tc_fill_(tc_empty({dims}, {d}), s)", shape, True),
                (f"tc_full(TC_SCALAR_SHAPE, s, {d})", (), True),
                ("tc_full_like(%0, 2.5)", x.shape, True), ("tc_clone(%0)", x.shape, x.exact),
                (f"tc_cast(tc_scalar(s), {d})", (), True)]
        if x.dtype in C_TYPES:
            rows.append((f"tc_from(TC_DIMS(2, 2), (const {C_TYPES[x.dtype]}[]){{({C_TYPES[x.dtype]})s, 2.5, n, -3}}, {d})", (2, 2), True))
        if x.shape:
            rows += [(f"tc_zeros(TC_DIMS(2, tc_size(%0, 0)), {d})", (2, x.shape[0]), True),
                     (f"tc_arange(tc_size(%0, 0), 0.5, 1, {d})", (x.shape[0],), True)]
        call, shape, exact = r.choice(rows)
        self.weak = self.weak or "tc_scalar" in call
        return self.make(call, [x] if "%0" in call else [], x.dtype, shape, exact)

    def cast(self):
        x = self.pick(lambda v: v.exact)
        to = self.r.choice(FLOATS + INTS + ("bool",))
        if not x:
            return None
        if x.dtype in ("f32", "f64") and to in INTS and not self.chooses() and self.r.random() < 0.5:  # past the end of the integers
            return self.make(f"tc_cast(tc_mul_s(%0, {self.r.choice(('100', '3e9', '-1e19'))}), {c_dtype(to)})", [x], to, x.shape, True)
        return self.make(f"tc_cast(%0, {c_dtype(to)})", [x], to, x.shape, True)

    def parameter_shape(self, rank=None):
        r = self.r
        m, n, k = size("M"), size("N"), size("K")
        rank = r.choice((0, 1, 2, 2, 2, 3, 3, 4)) if rank is None else rank
        relations = [plus(m, 1), times(2, m), plus(times(2, n), 1), times(2, k), plus(times(3, k), 2)]
        alone = {d for p in self.params for d in p.shape}
        relations += [plus(m, n), times(m, n), plus(times(2, m), plus(n, 1))] * (m in alone and n in alone)
        return tuple(r.choice(relations) if r.random() < 0.12 else r.choice((m, n, k, m, n, 1, 4, 7)) for _ in range(rank))

