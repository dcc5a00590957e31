"""Steps that are whole blocks of networks: what stands between products is fused with them, and what goes around them is added."""
from sizes import size
from values import FLOATS

ACTS = ("tc_relu(%0)", "tc_silu(%0)", "tc_gelu(%0)", "tc_hardswish(%0)", "tc_leaky_relu(%0, 0.125)")


class Blocks:
    def residual(self):
        """A convolution, a norm, an activation, and the image beside them."""
        x = self.image(self.r.choice((1, 2, 2)), lambda c: isinstance(c, int) and c > 0)
        if not x:
            return None
        r, c, axes = self.r, x.shape[1], len(x.shape) - 2
        groups = r.choice((1, 1, c))
        w = self.weight(x.dtype, (c, c // groups) + (3,) * axes)
        if w and hasattr(self, "wrt"):
            self.finite(w)
        y = w and self.layer(f"tc_conv(%0, %1, NULL, TC_INTS(1), TC_INTS(1), TC_INTS(1), {groups})", [x, w], x.dtype, x.shape)
        m = y and self.weight(x.dtype, (c,))
        if not m:
            return None
        norm = r.choice(("%0", "tc_batch_norm(%0, %1, tc_add_s(tc_abs(%1), 0.5), %1, %1, 1e-3)", "tc_group_norm(%0, 1, %1, NULL, 1e-3)",
                         "tc_batch_norm_train(%0, NULL, NULL, %1, NULL, 0.1, 1e-3)"))
        if norm != "%0":
            y = self.layer(norm, [y, m], x.dtype, x.shape)
        y = y and self.make(r.choice(ACTS), [y], x.dtype, x.shape)
        y = y and self.make(r.choice(("tc_add(%0, %1)", "tc_add(%1, %0)", "tc_sub(%0, %1)")), [y, x], x.dtype, x.shape)
        return y and r.random() < 0.3 and self.layer("tc_mean(%0, TC_AXES(-1), false)", [y], x.dtype, x.shape[:-1]) or y

    def transformer(self):
        """Queries, keys and values of one product, attention of a few heads, a product behind it, and what it is of beside it."""
        r = self.r
        x = self.pick(lambda v: v.real and len(v.shape) == 3 and v.shape[2] in (4, 8, 16, 24))
        x = x or self.weight(r.choice(("f32", "f32", "bf16", "f64") if r.random() < 0.9 else FLOATS), (r.choice((2, size("M"))), r.choice((size("N"), 7, 20)), r.choice((8, 16))))
        w = x and self.weight(x.dtype, (3 * x.shape[2], x.shape[2]))
        if not w:
            return None
        (b, t, c), heads = x.shape, r.choice((1, 2, 4))
        norm = r.choice(("tc_layer_norm({}, 1, NULL, NULL, 1e-3)", "tc_rms_norm({}, 1, NULL, 1e-3)", "{}"))
        h = self.make(f"tc_linear({norm.format('%0')}, %1, NULL)", [x, w], x.dtype, (b, t, 3 * c)) if x in self.params or norm == "{}" else \
            self.make("tc_linear(tc_tanh(%0), %1, NULL)", [x, w], x.dtype, (b, t, 3 * c))
        split = "tc_permute(tc_reshape(tc_slice(%0, -1, {0}, {1}, 1), TC_DIMS(tc_size(%0, 0), tc_size(%0, 1), {2}, {3})), TC_AXES(0, 2, 1, 3))"
        parts = [h and self.view_of(h, split.format(i * c, (i + 1) * c, heads, c // heads), (b, heads, t, c // heads)) for i in range(3)]
        if not all(parts):
            return None
        for v in parts:
            v.copied = True
        hides = self.finite(x, w)
        options = r.choice(("(tc_attention_options){0}", "(tc_attention_options){.softcap = 5, .empty_is_zero = true}") +
                           ("(tc_attention_options){.causal = true}", "(tc_attention_options){.causal = true, .window = 4}") * hides)
        y = self.layer(f"tc_attention(%0, %1, %2, {options})", parts, x.dtype, (b, heads, t, c // heads))
        y = y and self.layer("tc_reshape(tc_permute(%0, TC_AXES(0, 2, 1, 3)), tc_shape(%1))", [y, x], x.dtype, x.shape)
        out = y and self.weight(x.dtype, (c, c))
        y = out and self.make("tc_linear(%0, %1, NULL)", [y, out], x.dtype, x.shape)
        return y and self.make("tc_add(%0, %1)", [x, y], x.dtype, x.shape)

    def ordered(self):
        """The largest elements, or all in order; of positions what an index takes them for."""
        x = self.pick(lambda v: v.exact and v.shape and v.dtype != "bool" and any(isinstance(d, int) and d > 1 for d in v.shape))
        return x and self.order(x, self.r.choice(("sort", "topk", "topk", "argsort")))
