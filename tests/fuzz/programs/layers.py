"""Steps with the functions of tcompile/nn.h and statistics.h that are layers of networks: attention, recurrent layers,
products of quantised weights, norms, losses, sums of rows of a table, order statistics."""
from sizes import size, times, value
from values import c_dtype, ints

RUNS = range(3)
ACTIVATIONS = ("tc_threshold(%0, 0.1, 20)", "tc_hardtanh(%0, -1, 1)", "tc_hardshrink(%0, 0.5)", "tc_softshrink(%0, 0.5)", "tc_tanhshrink(%0)",
               "tc_softsign(%0)", "tc_logsigmoid(%0)", "tc_celu(%0, 1.5)", "tc_selu(%0)")
CUT = ("threshold", "hardshrink")  # exact operands only: they jump
GATES = ("glu", "reglu", "geglu", "swiglu")
PAIRWISE = ("tc_l1(%0, %1, @)", "tc_huber(%0, %1, 1, @)", "tc_smooth_l1(%0, %1, 0.5, @)", "tc_bce(tc_sigmoid(%0), tc_sigmoid(%1), NULL, @)",
            "tc_bce_with_logits_weighted(%0, tc_sigmoid(%1), NULL, tc_full(TC_DIMS(1), 2.5, tc_dtype_of(%0)), @)",
            "tc_sigmoid_focal(%0, tc_sigmoid(%1), 0.25, 2, @)", "tc_kl_div(tc_logsigmoid(%0), tc_sigmoid(%1), false, @)",
            "tc_kl_div(tc_logsigmoid(%0), tc_logsigmoid(%1), true, @)", "tc_poisson_nll(tc_tanh(%0), tc_abs(%1), true, false, 1e-8, @)",
            "tc_gaussian_nll(%0, %1, tc_add_s(tc_sigmoid(%0), 0.5), true, 1e-6, @)", "tc_soft_margin(%0, tc_tanh(%1), @)")
REDUCTIONS_OF_LOSSES = ("TC_NONE", "TC_MEAN", "TC_SUM")
CELLS = {"rnn": 1, "gru": 3, "lstm": 4}


def positive(shape):
    """Has it elements in each run?"""
    return all(value(d, run) > 0 for d in shape for run in RUNS)


def whole_class(d):
    return isinstance(d, int) and d > 0


class Layers:
    # ---- element by element

    def activation(self):
        x = self.pick(lambda v: v.real)
        if not x:
            return None
        if x.shape and isinstance(x.shape[-1], int) and x.shape[-1] % 2 == 0 and x.shape[-1] and self.r.random() < 0.5:
            return self.layer(f"tc_{self.r.choice(GATES)}(%0, -1)", [x], x.dtype, x.shape[:-1] + (x.shape[-1] // 2,))
        if len(x.shape) >= 2 and self.r.random() < 0.15:
            w = self.weight(x.dtype, self.r.choice(((1,), x.shape[1:2])))
            return w and self.layer("tc_prelu(%0, %1)", [x, w], x.dtype, x.shape)
        text = self.r.choice(ACTIVATIONS)
        cut = any(op in text for op in CUT)
        return None if cut and not x.exact else self.layer(text, [x], x.dtype, x.shape)

    def random_numbers(self):
        """Drawn from a generator of the function's own."""
        x = self.pick(lambda v: v.real and v.shape)
        if not x:
            return None
        g, d = f"g{self.count}", c_dtype(x.dtype)
        text, dtype, exact = self.r.choice((
            (f"tc_dropout(%0, 0.25, true, &{g})", x.dtype, False), (f"tc_dropout(%0, 0.25, n > 7, &{g})", x.dtype, False),
            (f"tc_uniform(tc_shape(%0), -1, 2, {d}, &{g})", x.dtype, False), (f"tc_normal(tc_shape(%0), 0, 0.5, {d}, &{g})", x.dtype, False),
            (f"tc_randint(tc_shape(%0), 2, 9, TC_I32, &{g})", "i32", True), (f"tc_bernoulli(tc_full_like(%0, 0.375), &{g})", x.dtype, True)))
        self.broken = self.broken or "n > 7" in text
        return self.layer(f"NULL; tc_generator {g} = tc_generator_of({self.r.randint(1, 99)}); @ = {text}", [x], dtype, x.shape, exact)

    # ---- attention

    def attention(self):
        """Of queries that are operands, or what was computed, with some of the options."""
        r = self.r
        k = r.random() < 0.6 and self.pick(lambda v: v.real and len(v.shape) in (3, 4) and positive(v.shape[-1:]))
        if not k:
            heads = r.choice((1, 2, 4))
            shape = (r.choice((2, size("M"))), heads, r.choice((size("N"), size("K"), 7, 20, 33)), r.choice((4, 7, 8, 16)))[r.randint(0, 1):]
            k = self.weight(r.choice(("f32", "f32", "f64", "bf16", "f16")), shape)
        if not k:
            return None
        wide = r.choice((k.shape[-1], k.shape[-1], 3, 8))
        v = self.weight(k.dtype, k.shape[:-1] + (wide,))
        heads = k.shape[-3]
        groups = r.choice((1, 1, 2)) if isinstance(heads, int) else 1
        q = self.weight(k.dtype, k.shape[:-3] + (times(groups, heads), r.choice((k.shape[-2], 1, 5, size("M"))), k.shape[-1]))
        if not q or not v:
            return None
        text, uses, before = self.attention_options(q, k, self.finite(k, v))
        return self.layer(f"NULL; {before}@ = tc_attention(%0, %1, %2, {text})", [q, k, v] + uses, k.dtype, q.shape[:-1] + (wide,))

    def finite(self, *values):
        """Operands of finite numbers, from now on: what of them is hidden, or times 0, may be left out.  Where they are
        computed, nobody knows."""
        if not all(v in self.params or v.text.startswith("tc_randn(") for v in values):
            return False
        for v in values:
            v.values = "finite" if v.values in ("normal", "positive") else v.values
        return True

    def attention_options(self, q, k, hides):
        """The options, in their order, operands that they need, and what has to stand in front; hides: keys, some of them."""
        r, uses, fields, before = self.r, [], [], ""
        queries, keys = q.shape[-2], k.shape[-2]

        def operand(dtype, shape, values="normal", bound=0):
            v = self.pick(lambda u: (u.dtype, u.shape, u.values) == (dtype, shape, values) and u.bound <= bound) or \
                self.parameter(dtype, shape, values, bound)
            if v:
                uses.append(v)
            return f"%{2 + len(uses)}" if v else None

        if r.random() < 0.25:
            fields.append(f".scale = {r.choice(('0.25', 's'))}")
        if hides and r.random() < 0.4:
            fields.append(".causal = true")
        if fields and fields[-1].startswith(".causal") and r.random() < 0.5:
            fields.append(f".offset = {r.choice(('2', 'n', 'tc_size(%1, -2) - tc_size(%0, -2)'))}")
        if hides and r.random() < 0.2:
            fields.append(f".window = {r.choice(('1', '3', '5', 'n + 1'))}")
            self.broken = self.broken or "n + 1" in fields[-1]  # there is a window, or none
        if hides and len(q.shape) == 4 and r.random() < 0.2 and whole_class(keys):
            found = operand("i64", q.shape[:1], "index", keys)
            fields += [f".lengths = {found}"] * bool(found)
        if hides and r.random() < 0.2:
            found = operand("bool", r.choice(((queries, keys), q.shape[-3:-1] + (keys,), (1, keys))))
            fields += [f".mask = {found}"] * bool(found)
        if r.random() < 0.2:
            found = operand(q.dtype, r.choice(((queries, keys), (1, keys), (q.shape[-3], 1, keys))))
            fields += [f".bias = {found}"] * bool(found)
        if len(q.shape) >= 3 and r.random() < 0.15 and isinstance(q.shape[-3], int):
            fields.append(f".slopes = tc_alibi_slopes({q.shape[-3]})")
        if r.random() < 0.15:
            fields.append(".softcap = 5")
        if r.random() < 0.1:
            g = f"g{self.count}"
            before = f"tc_generator {g} = tc_generator_of(3); "
            fields.append(f".dropout = 0.25, .generator = &{g}")
        if r.random() < 0.3:
            fields.append(".empty_is_zero = true")
        return f"(tc_attention_options){{{', '.join(fields)}}}", uses, before

    def rotary(self):
        x = self.pick(lambda v: v.real and len(v.shape) >= 2 and whole_class(v.shape[-1]) and v.shape[-1] % 2 == 0)
        if not x:
            return None
        sines = f"q{self.count}"
        first = self.r.choice(("0", "n", "3"))
        return self.layer(f"NULL, *{sines}, *c{sines} = tc_rope_tables(tc_size(%0, -2), {first}, {x.shape[-1]}, 10000, &{sines}); "
                         f"@ = tc_rope(%0, c{sines}, {sines}, {self.r.choice(('true', 'false'))})", [x], x.dtype, x.shape)

    def cache(self):
        """Keys are put into what earlier calls left, at a place of the run, and all of it is read."""
        r = self.r
        heads, d = r.choice((1, 2)), r.choice((4, 8))
        if self.open or self.form != "plain":
            return None
        store = self.parameter("f32", (heads, r.choice((20, 33)), d))
        q = store and self.weight("f32", (heads, r.choice((1, 1, 3)), d))
        if not q or q is store or not self.may_write(store) or not self.finite(q):
            return None
        t = q.shape[-2]
        self.broken = self.views_written = True
        self.note_views(store)
        self.effect(f"tc_copy_(tc_slice(%0, 1, n, n + {t}, 1), %1);", [store, q])
        self.written(store, False)
        self.finite(store)
        return self.layer("tc_attention(%0, %1, %1, (tc_attention_options){.causal = true, .offset = n})", [q, store], "f32", q.shape)

    # ---- recurrent layers

    def recurrent_weights(self, kind, dtype, i, h):
        """Of the weights and biases, as text over the uses behind the first `have`."""
        rows = times(CELLS[kind], h) if not isinstance(h, int) else CELLS[kind] * h
        found = [self.weight(dtype, (rows, i)), self.weight(dtype, (rows, h))]
        if self.r.random() < 0.5:
            both = self.weight(dtype, (rows,))
            found += [both, both]
        return found if all(found) else None

    def recurrent(self):
        """A layer over a few steps, or a cell."""
        r = self.r
        kind, over = r.choice(tuple(CELLS)), r.random() < 0.5
        x = self.pick(lambda v: v.real and len(v.shape) == 2 + over and positive(v.shape[-1:]) and (not over or (whole_class(v.shape[0]) and v.shape[0] < 5)))
        x = x or self.weight(r.choice(("f32", "f32", "f64", "bf16")), (r.choice((1, 2, 3)),) * over + (r.choice((size("M"), 3)), r.choice((5, 8))))
        h = r.choice((4, 7, 8))
        w = x and self.recurrent_weights(kind, x.dtype, x.shape[-1], h)
        state = w and self.weight(x.dtype, (x.shape[-2], h))
        if not state:
            return None
        weights = f"(tc_recurrent_weights){{{', '.join(f'%{2 + i}' for i in range(len(w)))}}}"
        name, shape = f"q{self.count}", x.shape[:-1] + (h,)
        back = r.choice(("true", "false"))
        if over:
            text = {"rnn": f"tc_rnn(%0, %1, {weights}, {r.choice(('true', 'false'))}, {back}, NULL)", "gru": f"tc_gru(%0, %1, {weights}, {back}, NULL)",
                    "lstm": f"tc_lstm(%0, %1, %1, {weights}, {back}, NULL, NULL)"}[kind]
            return self.layer(text, [x, state] + w, x.dtype, shape)
        if kind == "lstm":
            return self.layer(f"NULL, *{name}; @ = tc_lstm_cell(%0, %1, %1, {weights}, &{name}); @ = tc_sub(@, {name})", [x, state] + w, x.dtype, shape)
        text = f"tc_rnn_cell(%0, %1, {weights}, {back})" if kind == "rnn" else f"tc_gru_cell(%0, %1, {weights})"
        return self.layer(text, [x, state] + w, x.dtype, shape)

    def unrolled(self):
        """A cell in a loop of the run, whose state goes from round to round."""
        if len(self.open) >= 2:
            return None
        r = self.r
        x = self.pick(lambda v: v.dtype == "f32" and len(v.shape) == 2 and positive(v.shape[-1:])) or self.weight("f32", (3, 5))
        w = x and self.recurrent_weights("gru", "f32", x.shape[-1], 4)
        state = w and self.weight("f32", (x.shape[0], 4))
        if not state:
            return None
        self.broken = True
        weights = f"(tc_recurrent_weights){{{', '.join(f'%{2 + i}' for i in range(len(w)))}}}"
        return self.layer(f"tc_clone(%1); for (int i = 0; i < {r.choice(('n', 'n + 1', '3'))}; i++) @ = tc_gru_cell(%0, @, {weights})",
                         [x, state] + w, "f32", state.shape)

    # ---- weights of 8 and 4 bits

    def quantised(self):
        r = self.r
        x = self.pick(lambda v: v.real and v.shape and whole_class(v.shape[-1])) or self.weight("f32", (3, r.choice((8, 24, 33))))
        if not x:
            return None
        k, n = x.shape[-1], r.choice((5, 8, 17))
        kind = r.choice(("int8", "int8", "rows", "int4", "written out", "integers"))
        shape = x.shape[:-1] + (n,)
        if kind == "int4":
            group = next((g for g in (32, 16, 8, 4, 2) if k % g == 0), 0)
            q = group and self.parameter("u8", (n, k // group, group // 2))
            scale = q and self.weight("f32", (n, k // group))
            return scale and self.layer("tc_linear_int4(%0, %1, %2, NULL, NULL)", [x, q, scale], x.dtype, shape)
        q = self.pick(lambda v: (v.dtype, v.shape) == ("i8", (n, k))) or self.parameter("i8", (n, k))
        if not q:
            return None
        if kind == "integers":
            y = self.pick(lambda v: v.dtype in ("i8", "u8") and v.shape and v.shape[-1] == k)
            return y and self.layer("tc_linear_int32(%0, %1)", [y, q], "i32", y.shape[:-1] + (n,), True)
        if kind == "rows":
            y = self.pick(lambda v: v.dtype == "i8" and v.shape and v.shape[-1] == k)
            scale = y and self.weight("f32", (n,))
            each = scale and self.weight("f32", y.shape[:-1] + (1,))
            return each and self.layer("tc_linear_int8_rows(%0, %1, %2, %3, NULL)", [y, each, q, scale], "f32", y.shape[:-1] + (n,))
        scale = self.weight("f32", (n,))
        if not scale:
            return None
        if kind == "written out" and self.finite(scale):
            return x.dtype == "f32" and self.layer("tc_linear(%0, tc_mul(tc_cast(%1, TC_F32), tc_unsqueeze(%2, -1)), NULL)", [x, q, scale], "f32", shape) or None
        bias = r.random() < 0.4 and self.pick(lambda v: (v.dtype, v.shape) == (x.dtype, (n,)))
        return self.layer(f"tc_linear_int8(%0, %1, %2, {'%3' if bias else 'NULL'})", [x, q, scale] + [bias] * bool(bias), x.dtype, shape)

    # ---- norms

    def channel_norm(self):
        x = self.pick(lambda v: v.real and len(v.shape) >= 2)
        if not x:
            return None
        r, c = self.r, x.shape[1]
        op = r.choice(("group", "instance", "batch", "local", "weight", "normalize"))
        most = "6e4" if x.dtype == "f16" else "1e15"
        of = f"tc_clamp(%0, -{most}, {most})" if x.uses else "%0"
        if op == "normalize":
            return self.layer(f"tc_normalize(tc_add_s(tc_abs({of}), 1), 2, {r.choice((0, 1, -1))}, 1e-12)", [x], x.dtype, x.shape)
        if op == "weight":
            g = self.weight(x.dtype, x.shape[:1] + (1,) * (len(x.shape) - 1))
            return g and self.layer(f"tc_weight_norm(tc_add_s(tc_abs({of}), 1), %1, 0)", [x, g], x.dtype, x.shape)
        if op == "local":
            return len(x.shape) >= 3 and self.layer(f"tc_local_response_norm({of}, {r.choice((1, 3, 4))}, 1e-2, 0.75, 1)", [x], x.dtype, x.shape) or None
        w = r.random() < 0.5 and self.weight(x.dtype, (c,))
        uses, weights = ([x, w], "%1, %1") if w else ([x], "NULL, NULL")
        if op == "instance":
            return len(x.shape) >= 3 and self.layer(f"tc_instance_norm({of}, {weights}, 1e-3)", uses, x.dtype, x.shape) or None
        if op == "group":
            groups = r.choice([g for g in (1, 2, 4) if c % g == 0]) if isinstance(c, int) else 1
            return self.layer(f"tc_group_norm({of}, {groups}, {weights}, 1e-3)", uses, x.dtype, x.shape)
        return self.layer(f"tc_batch_norm_train({of}, NULL, NULL, {weights}, 0.1, 1e-3)", uses, x.dtype, x.shape)

    # ---- losses, tables, orders

    def loss_function(self):
        x = self.pick(lambda v: v.real and v.shape)
        if not x:
            return None
        r = self.r
        how = r.choice(REDUCTIONS_OF_LOSSES)
        y = self.pick(lambda v: (v.dtype, v.shape) == (x.dtype, x.shape))
        kind = r.random()
        if kind < 0.5:
            return self.layer(r.choice(PAIRWISE).replace("@", how), [x, y], x.dtype, x.shape if how == "TC_NONE" else ())
        if kind < 0.65:
            axis = r.randrange(len(x.shape))
            return self.layer(f"tc_cosine_similarity(tc_add_s(tc_abs(%0), 1), %1, {axis}, 1e-4)", [x, y], x.dtype, x.shape[:axis] + x.shape[axis + 1:])
        if kind < 0.75 and len(x.shape) == 2:
            return self.layer("tc_cdist(%0, tc_add_s(tc_neg(tc_abs(%0)), -3), 2)", [x], x.dtype, x.shape[:1] * 2) if x in self.params else None
        return self.loss_of_classes(x, how)

    def loss_of_classes(self, x, how):
        if len(x.shape) not in (2, 3) or not whole_class(x.shape[1]):
            return None
        r = self.r
        shape = x.shape[:1] + x.shape[2:]
        i = self.pick(lambda v: v.values == "index" and v.bound <= x.shape[1] and v.shape == shape) or self.parameter("i64", shape, "index", x.shape[1])
        if not i:
            return None
        w = r.random() < 0.3 and self.pick(lambda v: v.dtype == x.dtype and v.shape == x.shape[1:2] and v.values == "positive")
        fields = [".weight = %2"] * bool(w) + [".label_smoothing = 0.125"] * (r.random() < 0.4) + [".ignores = true, .ignore_index = 1"] * (r.random() < 0.3)
        op = r.choice(("cross_entropy_with", "cross_entropy_with", "nll_with"))
        of = "tc_log_softmax(%0, 1)" if op == "nll_with" else "%0"
        # the mean of nothing is NaN where all are ignored, and the share of none where sizes are 0
        return self.layer(f"tc_{op}({of}, %1, (tc_class_options){{{', '.join(fields)}}}, {how})", [x, i] + [w] * bool(w), x.dtype,
                         shape if how == "TC_NONE" else ())

    def bag(self):
        x = self.pick(lambda v: v.real and len(v.shape) == 2 and whole_class(v.shape[0]))
        if not x:
            return None
        shape = (size("M"), self.r.choice((1, 3)))
        i = self.pick(lambda v: v.values == "index" and v.bound <= x.shape[0] and v.shape == shape) or \
            self.parameter(self.r.choice(("i64", "i32")), shape, "index", x.shape[0])
        mode = self.r.choice(("TC_BAG_SUM", "TC_BAG_MEAN", "TC_BAG_MAX"))
        return i and self.layer(f"tc_embedding_bag(%0, %1, {mode}, NULL, {self.r.choice((-1, 0))})", [x, i], x.dtype, shape[:1] + x.shape[1:])

    def statistic(self):
        """Medians, quantiles, places in rows, counts."""
        x = self.pick(lambda v: v.exact and v.shape and v.dtype != "bool" and positive(v.shape))
        if not x:
            return None
        r, a = self.r, self.r.randrange(len(x.shape))
        keep = r.choice(("true", "false"))
        shape = x.shape[:a] + ((1,) if keep == "true" else ()) + x.shape[a + 1:]
        op = r.choice(("median", "quantile", "kthvalue", "searchsorted", "bincount", "histc"))
        if op == "quantile":
            return x.real and self.layer(f"tc_quantile(%0, {r.choice(('0.25', '0.5', '1'))}, {a}, {keep})", [x], x.dtype, shape) or None
        if op == "median":
            return self.layer(f"tc_median(%0, {a}, {keep}, NULL)", [x], x.dtype, shape, True)
        if op == "kthvalue":
            return whole_class(x.shape[a]) and self.layer(f"tc_kthvalue(%0, {r.randint(1, x.shape[a])}, {a}, {keep}, NULL)", [x], x.dtype, shape, True) or None
        if op == "searchsorted":
            y = self.pick(lambda v: v.exact and v.dtype == x.dtype and len(v.shape) == 1)
            return y and self.layer(f"tc_searchsorted(%0, %1, {keep})", [y, x], "i64", x.shape, True) or None
        if op == "histc":
            return x.dtype == "f32" and self.layer("tc_histc(%0, 8, -2, 2)", [x], "f32", (8,)) or None
        i = self.pick(lambda v: v.values == "index")
        return i and self.layer(f"tc_bincount(%0, NULL, {i.bound})", [i], "i64", (i.bound,), True)
