"""The operations that write a tensor in place: which of them fit its numbers."""
from ops import AWAY, BITS, DIVISIONS, EXACT, JUMPS, OUTSIDE, POLES, SMOOTH
from values import INTS

BOUNDED = "tanh sin cos sigmoid erf".split()  # however often
STEADY = ("add_", "sub_", "mul_", "copy_", "copy_", "div_", "maximum_", "minimum_")  # whatever the dtype of the source
FACTORS = ("s", "2", "0.5", "-1.25", "s > 0.5 ? s : 2", "(float)s + n")


class InPlace:
    def form_of(self, x, y):
        """(text, operands, is the result exact): x becomes something of itself and y, which broadcasts to it."""
        r, kind = self.r, self.r.random()
        if x.dtype == "bool":
            return self.copied(x, y)
        if kind < 0.4:
            return self.combined(x, y)
        if kind < 0.5:
            return r.choice((("tc_fill_(%0, 2)", [x], True), ("tc_zero_(%0)", [x], True), (f"tc_fill_(%0, {r.choice(('s', 'n'))})", [x], True)))
        return (self.mapped if kind < 0.7 else self.scaled if kind < 0.85 else self.mixed)(x, y)

    @staticmethod
    def copied(x, y):
        return ("tc_copy_(%0, %1)", [x, y], y.exact) if x is not y else None

    def combined(self, x, y):
        """With another tensor, also of another dtype."""
        op = self.r.choice(STEADY)
        if op == "copy_":
            return self.copied(x, y)
        if op == "div_" and (not x.real or y not in self.params):
            return None
        exact = not x.real or (op in ("maximum_", "minimum_") and x.exact and y.exact)
        return f"tc_{op}(%0, %1)", [x, y], exact

    def mapped(self, x, _):
        """Of itself alone."""
        plain = [op for op in EXACT if op != "contiguous"]
        if not x.real:
            return f"tc_{self.r.choice(plain + JUMPS + ['square', 'bit_not'])}_(%0)", [x], True
        op = self.r.choice(plain + (JUMPS if x.exact else []) + (BOUNDED if self.looping() else SMOOTH))
        if op in POLES and (x not in self.params or x.changed):
            return f"tc_{op}_({AWAY.replace('tc_add_s', 'tc_add_s_').replace('tc_abs', 'tc_abs_').replace('%', '%0')})", [x], False
        return f"tc_{op}_(%0)", [x], op not in SMOOTH and x.exact

    def scaled(self, x, _):
        """With numbers."""
        r = self.r
        if r.random() < (0.2 if x.real else 0.3):
            low, high = r.choice(OUTSIDE), r.choice(OUTSIDE)
            return r.choice(((f"tc_maximum_s_(%0, {low})", [x], x.exact), (f"tc_minimum_s_(%0, {high})", [x], x.exact),
                             (f"tc_clamp_(%0, {low}, {high})", [x], x.exact)))
        if not x.real:
            op = r.choice("add_s sub_s rsub_s mul_s remainder_s maximum_s minimum_s pow_s".split())
            return f"tc_{op}_(%0, {r.choice(('2', '3', '1') + ('n', '(n & 1) + 1') * (op not in ('pow_s', 'remainder_s')))})", [x], True
        op = r.choice("add_s sub_s rsub_s mul_s div_s rdiv_s pow_s maximum_s minimum_s leaky_relu elu remainder_s".split())
        if op == "remainder_s":
            return ("tc_remainder_s_(%0, 2)", [x], True) if x.exact else None
        if op in ("leaky_relu", "elu"):
            return f"tc_{op}_(%0, 0.25)", [x], False
        if op == "pow_s":
            return None if self.looping() else (f"tc_pow_s_(%0, {r.choice((2, 3, 1))})", [x], False)
        if op == "rdiv_s":
            return f"tc_rdiv_s_(tc_add_s_(tc_abs_(%0), 1), {r.choice(FACTORS)})", [x], False
        return f"tc_{op}_(%0, {r.choice(FACTORS)})", [x], op in ("maximum_s", "minimum_s") and x.exact

    def mixed(self, x, y):
        """With tensors of its own dtype, or a mask."""
        r, exact = self.r, x.exact and y.exact
        m = r.random() < 0.3 and self.pick(lambda v: v.dtype == "bool" and v.shape == x.shape)
        if m:
            return "tc_masked_fill_(%0, %1, 0.5)" if x.real else "tc_masked_fill_(%0, %1, 5)", [x, m], x.exact
        if y.dtype != x.dtype:
            return self.copied(x, y)
        if x.dtype in INTS:
            return f"tc_{r.choice(BITS + DIVISIONS)}_(%0, %1)", [x, y], True
        op = r.choice(["pow_", "fma_", "lerp_", "hypot_", "logaddexp_", "atan2_", "copysign_"] + [f"{d}_" for d in DIVISIONS] * exact)
        if op in ("pow_", "atan2_"):
            base, other = ("0.25", "tc_tanh(%1)") if op == "pow_" else ("1", "%1")
            return f"tc_{op}(tc_add_s_(tc_abs_(%0), {base}), {other})", [x, y], False
        if op == "copysign_":
            return ("tc_copysign_(%0, %1)", [x, y], False) if y in self.params and not y.changed else None
        if op == "fma_":
            return "tc_fma_(%0, %1, %1)", [x, y], False
        return f"tc_{op}(%0, {'%1, 0.25' if op == 'lerp_' else '%1'})", [x, y], op[:-1] in DIVISIONS
