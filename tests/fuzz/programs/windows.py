"""Steps with the functions of tcompile/nn.h that read windows and places: convolutions, pooling, columns, resampling,
and channels that become places."""
from sizes import named, plus, size, times, value, windows
from values import FLOATS, ints

RUNS = range(3)


def listed(values):
    """One number for all axes where they are equal."""
    return f"TC_INTS({values[0] if len(set(values)) == 1 else ', '.join(map(str, values))})"


def product(shape):
    n = 1
    for d in shape:
        n = times(n, d)
    return n


class Windows:
    def image(self, axes=None, channels=None):
        """[N,C,D1..Dk] with elements along each Di, but where the rarest sizes have none."""
        r = self.r
        axes = axes or r.choice((1, 2, 2, 2, 3))
        x = self.pick(lambda v: v.real and len(v.shape) == axes + 2 and (not channels or channels(v.shape[1])))
        if x and r.random() < 0.6:
            return x
        sides = {1: (9, 16, 33), 2: (4, 6, 7, 8, 13), 3: (2, 4, 5)}[axes]
        numbers = [c for c in (1, 2, 3, 4, 6, 8) if not channels or channels(c)]
        shape = (r.choice((1, 2, 3)), r.choice(numbers)) + tuple(r.choice(sides) for _ in range(axes))
        if r.random() < 0.5:
            named_sides = [size("N"), size("M"), size("K"), times(2, size("M"))]
            dims = [r.choice(named_sides) if r.random() < 0.4 else d for d in shape[2:]]
            batch = size("M") if r.random() < 0.3 else shape[0]
            given = self.parameter(r.choice(("f32",) * 3 + FLOATS), (batch, shape[1], *dims))
            if given:
                return given
        return self.made(shape, r.choice(("f32",) * 3 + FLOATS))

    def fitting(self, x, extents, padded):
        """Do windows fit into the padded sizes?  Where sizes are 0 and 1, they need not, now and then."""
        runs = RUNS if self.r.random() < 0.8 else RUNS[:2]
        return all(value(plus(d, 2 * p), run) >= e for d, e, p in zip(x.shape[2:], extents, padded) for run in runs)

    def each(self, axes, choices):
        """A number for each axis, as a rule the same."""
        one = self.r.choice(choices)
        return [one if self.r.random() < 0.7 else self.r.choice(choices) for _ in range(axes)]

    # ---- convolutions

    def convolution(self):
        x = self.image()
        if not x:
            return None
        r, axes, c = self.r, len(x.shape) - 2, x.shape[1]
        groups = r.choice([g for g in (1, 1, 2, 3, c) if c % g == 0]) if isinstance(c, int) and c else 1
        k, step = self.each(axes, (1, 2, 3, 3, 5)), self.each(axes, (1, 1, 2, 3))
        edge, apart = self.each(axes, (0, 1, 1, 2)), self.each(axes, (1, 1, 1, 2))
        extents = [(n - 1) * d + 1 for n, d in zip(k, apart)]
        if not self.fitting(x, extents, edge):
            return None
        out = groups * r.choice((1, 2, 4)) if groups > 1 or r.random() < 0.8 else r.choice((size("N"), 17))
        weight = self.weight(x.dtype, (out, c // groups if groups > 1 else c, *k))
        bias = weight and r.random() < 0.5 and self.weight(x.dtype, (out,))
        if not weight:
            return None
        if hasattr(self, "wrt"):  # kernels multiply weights by zeros around what the gradient is of
            self.finite(weight)
        shape = [windows(plus(d, 2 * p), e, s) for d, e, s, p in zip(x.shape[2:], extents, step, edge)]
        text = f"tc_conv(%0, %1, {'%2' if bias else 'NULL'}, {listed(step)}, {listed(edge)}, {listed(apart)}, {groups})"
        return self.layer(text, [x, weight] + [bias] * bool(bias), x.dtype, (x.shape[0], out, *shape))

    def transposed_convolution(self):
        x = self.image(self.r.choice((1, 2, 2)))
        if not x or min(value(d, run) for d in x.shape for run in RUNS) < 1:
            return None
        r, axes, c = self.r, len(x.shape) - 2, x.shape[1]
        groups = r.choice([g for g in (1, 1, 2) if c % g == 0]) if isinstance(c, int) else 1
        k, step, edge = self.each(axes, (1, 2, 3, 4)), self.each(axes, (1, 2, 2, 3)), self.each(axes, (0, 1))
        apart = self.each(axes, (1, 1, 2))
        more = [r.choice((0, 0, 1)) if max(s, d) > 1 else 0 for s, d in zip(step, apart)]
        results = r.choice((1, 2, 3))
        shape = [plus(times(s, d), a * (n - 1) + 1 + m - s - 2 * p) for d, n, s, p, a, m in zip(x.shape[2:], k, step, edge, apart, more)]
        if min(value(d, run) for d in shape for run in RUNS) < 1:
            return None
        weight = self.weight(x.dtype, (c, results, *k))
        bias = weight and r.random() < 0.4 and self.weight(x.dtype, (groups * results,))
        if not weight:
            return None
        text = (f"tc_conv_transpose(%0, %1, {'%2' if bias else 'NULL'}, {listed(step)}, {listed(edge)}, {listed(more)}, "
                f"{listed(apart)}, {groups})")
        v = self.layer(text, [x, weight] + [bias] * bool(bias), x.dtype, (x.shape[0], groups * results, *shape))
        if v:
            v.values = "view"  # of what is not followed: not written
        return v

    # ---- pooling, and windows as columns

    def pooled(self, d, extent, step, edge, ceil_mode):
        """How many windows an axis has."""
        if not ceil_mode:
            return windows(plus(d, 2 * edge), extent, step)
        def count(n):
            found = -(-(n + 2 * edge - extent) // step) + 1
            return max(found - ((found - 1) * step >= n + edge), 0)
        return count(d) if isinstance(d, int) else named(f"ceil({d},{extent},{step},{edge})", [count(value(d, run)) for run in RUNS])

    def pool(self):
        x = self.image()
        if not x:
            return None
        r, axes = self.r, len(x.shape) - 2
        op = r.choice(("max_pool", "max_pool", "max_pool_with_index", "avg_pool", "avg_pool", "lp_pool"))
        if op == "max_pool_with_index" and not x.exact:
            op = "max_pool"
        k, step = self.each(axes, (1, 2, 2, 3)), self.each(axes, (1, 2, 2, 3))
        apart = self.each(axes, (1, 1, 2)) if op.startswith("max") else [1] * axes
        extents = [(n - 1) * d + 1 for n, d in zip(k, apart)]
        edge = [r.randint(0, e // 2) if op != "lp_pool" else 0 for e in extents]
        up = r.choice((False, False, True))
        if not self.fitting(x, extents, edge):
            return None
        shape = [self.pooled(*of, up) for of in zip(x.shape[2:], extents, step, edge)]
        said, lists = str(up).lower(), f"{listed(k)}, {'TC_EMPTY_LIST' if step == k and r.random() < 0.5 else listed(step)}"
        shape = (*x.shape[:2], *shape)
        if op == "lp_pool":
            return self.layer(f"tc_lp_pool(tc_add_s(tc_abs(%0), 0.5), 2, {lists}, {said})", [x], x.dtype, shape)
        if op == "avg_pool":
            return self.layer(f"tc_avg_pool(%0, {lists}, {listed(edge)}, {said}, {r.choice(('true', 'false'))})", [x], x.dtype, shape)
        lists += f", {listed(edge)}, {listed(apart)}, {said}"
        if op == "max_pool":
            return self.layer(f"tc_max_pool(%0, {lists})", [x], x.dtype, shape, x.exact)
        name = f"q{self.count}"
        first = self.layer(f"NULL, *{name}; @ = tc_max_pool_with_index(%0, {lists}, &{name})", [x], x.dtype, shape, True)
        return first and self.layer(f"tc_mul_s({name}, 1)", [first], "i64", shape, True)

    def adaptive_pool(self):
        x = self.image()
        if not x or min(value(d, run) for d in x.shape[2:] for run in RUNS) < 1:
            return None
        sizes = self.each(len(x.shape) - 2, (1, 1, 2, 3))
        op = self.r.choice(("avg", "max"))
        return self.layer(f"tc_adaptive_{op}_pool(%0, {listed(sizes)})", [x], x.dtype, (*x.shape[:2], *sizes), op == "max" and x.exact)

    def columns(self):
        """Windows as columns, and added up again."""
        x = self.image(self.r.choice((1, 2, 2)))
        if not x:
            return None
        r, axes = self.r, len(x.shape) - 2
        k, step, edge, apart = self.each(axes, (1, 2, 3)), self.each(axes, (1, 2)), self.each(axes, (0, 1)), self.each(axes, (1, 1, 2))
        extents = [(n - 1) * d + 1 for n, d in zip(k, apart)]
        if not self.fitting(x, extents, edge) or min(value(d, run) for d in x.shape for run in RUNS) < 1:
            return None
        places = product([windows(plus(d, 2 * p), e, s) for d, e, s, p in zip(x.shape[2:], extents, step, edge)])
        lists = f"{listed(k)}, {listed(step)}, {listed(edge)}, {listed(apart)}"
        v = self.shared_layer(f"tc_im2col(%0, {lists})", [x], x.dtype, (x.shape[0], times(product(x.shape[1:2]), product(k)), places), x.exact)
        if not v or r.random() < 0.4:
            return v
        image = ", ".join(f"tc_size(%1, {2 + i})" for i in range(axes))
        return self.shared_layer(f"tc_col2im(%0, TC_INTS({image}), {lists})", [v, x], x.dtype, x.shape)

    # ---- other sizes

    def resampled(self):
        x = self.image(self.r.choice((1, 2, 2)))
        if not x or min(value(d, run) for d in x.shape[2:] for run in RUNS) < 1:
            return None
        r, axes = self.r, len(x.shape) - 2
        corners = r.choice(("true", "false"))
        if r.random() < 0.5:
            factors = self.each(axes, (1, 2, 2, 3))
            mode = r.choice(("TC_NEAREST", "TC_NEAREST", "TC_LINEAR"))
            shape = [times(f, d) for f, d in zip(factors, x.shape[2:])]
            return self.shared_layer(f"tc_upsample(%0, {listed(factors)}, {mode}, {corners})", [x], x.dtype, (*x.shape[:2], *shape),
                             x.exact and mode == "TC_NEAREST")
        sizes, mode = self.each(axes, (1, 3, 5, 8)), r.choice(("TC_NEAREST", "TC_LINEAR", "TC_LINEAR", "TC_CUBIC", "TC_AREA"))
        return self.shared_layer(f"tc_interpolate(%0, {listed(sizes)}, {mode}, {corners})", [x], x.dtype, (*x.shape[:2], *sizes),
                         x.exact and mode == "TC_NEAREST")

    def bordered(self):
        """Elements beside an array that are its own."""
        x = self.pick(lambda v: v.shape and v.dtype != "bool" and min(value(d, run) for d in v.shape for run in RUNS) > 0)
        if not x:
            return None
        op = self.r.choice(("reflect", "replicate", "circular"))
        least = [min(value(d, run) for run in RUNS) - (op == "reflect") for d in x.shape]
        before, after = ([self.r.randint(0, min(2, n)) if self.r.random() < 0.6 else 0 for n in least] for _ in range(2))
        shape = [plus(d, b + a) for d, b, a in zip(x.shape, before, after)]
        return self.layer(f"tc_pad_{op}(%0, {ints(before, 'TC_INTS')}, {ints(after, 'TC_INTS')})", [x], x.dtype, shape, x.exact)

    def sampled(self):
        """An image read at places that an operand says, or that a matrix moves."""
        x = self.image(2)
        if not x or x.dtype not in ("f32", "f64") or min(value(d, run) for d in x.shape for run in RUNS) < 1:
            return None
        r = self.r
        h, w = r.choice((2, 5)), r.choice((3, 4))
        corners = r.choice(("true", "false"))
        if r.random() < 0.5:
            theta = self.weight(x.dtype, (x.shape[0], 2, 3))
            grid = theta and self.layer(f"tc_affine_grid(%0, {h}, {w}, {corners})", [theta], x.dtype, (x.shape[0], h, w, 2))
        else:
            grid = self.weight(x.dtype, (x.shape[0], h, w, 2))
        mode = r.choice(("TC_LINEAR", "TC_LINEAR", "TC_CUBIC", "TC_NEAREST") if grid in self.params else ("TC_LINEAR", "TC_CUBIC"))
        outside = "TC_OUTSIDE_BORDER" if mode == "TC_CUBIC" or grid not in self.params else r.choice(("TC_OUTSIDE_ZERO", "TC_OUTSIDE_BORDER", "TC_OUTSIDE_REFLECT"))
        return grid and self.layer(f"tc_grid_sample(%0, %1, {mode}, {outside}, {corners})", [x, grid], x.dtype, (*x.shape[:2], h, w))

    def shuffled(self):
        """Channels that become places, and back, and change places."""
        op = self.r.choice(("pixel", "pixel", "unpixel", "channel"))
        by = {"pixel": lambda c: isinstance(c, int) and c % 4 == 0 and c > 0, "channel": lambda c: isinstance(c, int) and c % 2 == 0 and c > 0}
        x = self.image(2, by.get(op))
        if not x:
            return None
        n, c, h, w = x.shape
        if op == "pixel":
            return self.shared_layer("tc_pixel_shuffle(%0, 2)", [x], x.dtype, (n, c // 4, times(2, h), times(2, w)), x.exact)
        if op == "channel":
            return self.shared_layer("tc_channel_shuffle(%0, 2)", [x], x.dtype, x.shape, x.exact)
        if not all(isinstance(d, int) and d % 2 == 0 and d > 0 for d in (h, w)):
            return None
        return self.shared_layer("tc_pixel_unshuffle(%0, 2)", [x], x.dtype, (n, times(4, c), h // 2, w // 2), x.exact)
