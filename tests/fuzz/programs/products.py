"""Products as models have them: weights of all layers in one tensor, of which each product takes a slice; some products
with one weight; heads that share keys and values."""
from sizes import half, plus, size, times, value
from values import FLOATS, c_dtype, ints

LAYERS = (2, 3)


class Products:
    def made(self, shape, dtype):
        """A tensor of numbers, from nothing."""
        dims = ", ".join(map(str, shape))
        return self.make(f"tc_randn(TC_DIMS({dims}), {self.r.randint(1, 99)}, {c_dtype(dtype)})", [], dtype, shape)

    def weight(self, dtype, shape):
        """One that is there, an operand, or where the sizes are numbers a tensor of the function's own."""
        w = self.pick(lambda v: (v.dtype, v.shape) == (dtype, shape)) or self.parameter(dtype, shape)
        return w or (self.made(shape, dtype) if all(isinstance(d, int) for d in shape) else None)

    def rows(self):
        """What is multiplied: of few rows and columns, or of so many that tiles are full and weights are packed."""
        if self.r.random() < 0.4:
            return self.made((self.r.choice((9, 33, 40)), self.r.choice((33, 64))), self.r.choice(("f32",) * 3 + FLOATS))
        return self.pick(lambda v: v.real and len(v.shape) >= 2)

    def times_slice(self, x, w, at, turned):
        """x times layer `at` of w; turned: its rows are columns of the product."""
        layer = self.view_of(w, f"tc_select(%0, 0, {at})", w.shape[1:])
        if not layer:
            return None
        call, out = ("tc_linear(%0, %1, NULL)", w.shape[1]) if turned else ("tc_matmul(%0, %1)", w.shape[2])
        return self.make(call, [x, layer], x.dtype, x.shape[:-1] + (out,))

    def stacked(self):
        """Products with layers of one weight, side by side or each of what the one before gave."""
        x = self.rows()
        if not x:
            return None
        r, k = self.r, x.shape[-1]
        deep = r.random() < 0.4  # a layer's result is the next one's operand
        n, layers, turned = k if deep else r.choice((size("N"), 7, 24, 33)), r.choice(LAYERS), r.random() < 0.7
        w = self.weight(x.dtype, (layers,) + ((n, k) if turned else (k, n)))
        if not w:
            return None
        if deep and r.random() < 0.5:
            layer = "tc_select(%1, 0, i)"
            call = f"tc_linear(@, {layer}, NULL)" if turned else f"tc_matmul(@, {layer})"
            return self.make(f"(tc_tensor *)%0; for (int i = 0; i < {layers}; i++) @ = tc_tanh({call})", [x, w], x.dtype, x.shape)
        number = ["n & 1"] * (not self.open)
        places = r.sample(list(range(layers)) + ["-1"] + number, 2)
        first = self.times_slice(x, w, places[0], turned)
        if first and deep:
            first = x = self.make("tc_tanh(%0)", [first], first.dtype, first.shape)
        second = first and self.times_slice(x, w, places[1], turned)
        return second and self.make("tc_sub(%0, %1)", [first, second], x.dtype, first.shape)

    def fused(self):
        """Parts of one product's weight: queries, keys and values."""
        x = self.rows()
        n = self.r.choice((7, 8, 24))
        w = x and self.weight(x.dtype, (3 * n, x.shape[-1]))
        if not w:
            return None
        found = []
        for i in self.r.sample(range(3), 2):
            part = self.view_of(w, f"tc_slice(%0, 0, {i * n}, {(i + 1) * n}, 1)", (n, x.shape[-1]))
            found.append(part and self.make("tc_linear(%0, %1, NULL)", [x, part], x.dtype, x.shape[:-1] + (n,)))
        return all(found) and self.make("tc_mul(%0, %1)", found, x.dtype, x.shape[:-1] + (n,)) or None

    def shared_weight(self):
        """Two operands times one weight."""
        x = self.rows()
        y = x and (self.pick(lambda v: v is not x and (v.dtype, v.shape) == (x.dtype, x.shape)) or
                   self.make("tc_sin(%0)", [x], x.dtype, x.shape))
        n = self.r.choice((size("N"), 7, 33))
        w = y and self.weight(x.dtype, (n, x.shape[-1]))
        if not w:
            return None
        found = [self.make("tc_linear(%0, %1, NULL)", [v, w], x.dtype, x.shape[:-1] + (n,)) for v in (x, y)]
        return all(found) and self.make("tc_sub(%0, %1)", found, x.dtype, found[0].shape) or None

    def convolved(self):
        """Windows of three rows and three columns as rows or columns of a product: what a convolution is."""
        r = self.r
        x = self.made((r.choice((2, 5)), r.choice((7, 20)), r.choice((9, 33))), r.choice(("f32",) * 2 + FLOATS)) if r.random() < 0.4 else \
            self.pick(lambda v: v.real and len(v.shape) in (2, 3))
        if not x or min(value(d, run) for d in x.shape for run in range(3)) < 1:
            return None
        rank, step, (h, w) = len(x.shape), r.randint(1, 2), x.shape[-2:]
        edge = "TC_DIMS(" + "0, " * (rank - 2) + "1, 1)"
        padded = self.make(f"tc_pad(%0, {edge}, {edge}, {r.choice((0, 0, 0.5))})", [x], x.dtype, x.shape[:-2] + (plus(h, 2), plus(w, 2)))
        if not padded:
            return None
        columns = w if step == 1 else half(w)
        deep, points = times(9, x.shape[0]) if rank == 3 else 9, times(h, columns)
        inner = range(rank, rank + 2)
        left, sum_of = r.random() < 0.5, "9 * tc_size(%0, 0)" if rank == 3 else "9"
        if left:
            order, shape, dims = [rank - 2, rank - 1, *range(rank - 2), *inner], (points, deep), f"-1, {sum_of}"
        else:
            order, shape, dims = [*range(rank - 2), *inner, rank - 2, rank - 1], (deep, points), f"{sum_of}, -1"
        windows = f"tc_unfold(tc_unfold(%0, {rank - 2}, 3, 1), {rank - 1}, 3, {step})"
        v = self.make(f"tc_reshape(tc_permute({windows}, {ints(order)}), TC_DIMS({dims}))", [padded], x.dtype, shape)
        wide = r.choice((size("N"), 7, 24))
        if v:
            v.overlaps = True  # of few elements it is a view
        weight = v and self.weight(x.dtype, (deep, wide) if left else (wide, deep))
        if not weight:
            return None
        return self.make("tc_matmul(%0, %1)" if left else "tc_matmul(%1, %0)", [v, weight], x.dtype,
                         (points, wide) if left else (wide, points))

    def seen(self, scores):
        """Scores as they are, or scaled, or of keys up to the query's own place."""
        t, s = (f"tc_size(%0, {len(scores.shape) - 2 + i})" for i in range(2))
        before = f"tc_le(tc_arange({s}, 0, 1, TC_I64), tc_reshape(tc_arange({t}, 0, 1, TC_I64), TC_DIMS({t}, 1)))"
        call = self.r.choice((None, None, "tc_mul_s(%0, 0.3)", "tc_add(%0, tc_triu(tc_full_like(%0, -INFINITY), 1))",
                              f"tc_where({before}, %0, tc_full_like(%0, -INFINITY))"))
        return self.make(call, [scores], scores.dtype, scores.shape) if call else scores

    def grouped(self):
        """Attention whose heads share keys and values in pairs."""
        k = self.pick(lambda v: v.real and len(v.shape) in (3, 4)) or self.parameter(None, self.parameter_shape(3))
        if not k or not k.real or len(k.shape) > 4:
            return None
        heads = len(k.shape) - 3
        v = self.pick(lambda v: (v.dtype, v.shape) == (k.dtype, k.shape))
        keys, values = self.repeated(k, heads), self.repeated(v, heads)
        if not keys or not values:
            return None
        q = self.pick(lambda v: (v.dtype, v.shape) == (k.dtype, keys.shape) and v not in (keys, values))
        q = q or self.make("tc_sin(%0)", [keys], k.dtype, keys.shape)
        scores = q and self.make("tc_matmul(%0, tc_transpose(%1, -2, -1))", [q, keys], k.dtype, q.shape[:-1] + q.shape[-2:-1])
        scores = scores and self.seen(scores)
        shares = scores and self.make("tc_softmax(%0, -1)", [scores], k.dtype, scores.shape)
        return shares and self.make("tc_matmul(%0, %1)", [shares, values], k.dtype, values.shape)
