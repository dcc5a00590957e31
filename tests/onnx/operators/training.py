"""Steps of optimisers (domain ai.onnx.preview.training): operands R (rate), T (count of steps), then all of one kind after the other."""
from .table import operator


def groups(c, n, kinds):
    """For each parameter its operands, of so many kinds, as C; and its value."""
    count = (len(n.inputs) - 2) // kinds
    return [([c.tensor(c.value(n, 2 + k * count + i)) for k in range(kinds)], c.value(n, 2 + i)) for i in range(count)]


def regularised(c, n, x, gradient):
    return c.temporary("g", f"tc_add(tc_mul_s({x}, {n.attributes.get('norm_coefficient', 0)}), {gradient})")


def hand_out(c, n, steps):
    """All new parameters, then all states of the first kind, ..."""
    for i, (value, texts) in enumerate(steps):
        for k, text in enumerate(texts):
            c.result(n, value.dtype, value.shape, text, k * len(steps) + i)


@operator("Adagrad")
def adagrad(c, n):
    """Duchi, Hazan and Singer, Adaptive subgradient methods, 2011."""
    a, steps = n.attributes, []
    count = f"tc_cast({c.tensor(c.value(n, 1))}, TC_F32)"
    rate = c.temporary("rate", f"tc_div({c.tensor(c.value(n, 0))}, tc_add_s(tc_mul_s({count}, {a.get('decay_factor', 0)}), 1))")
    for (x, gradient, squares), value in groups(c, n, 3):
        g = regularised(c, n, x, gradient)
        total = c.temporary("squares", f"tc_add({squares}, tc_square({g}))")
        steps.append((value, (f"tc_sub({x}, tc_div(tc_mul({rate}, {g}), tc_add_s(tc_sqrt({total}), {a.get('epsilon', 0)})))",
                              f"tc_contiguous({total})")))
    hand_out(c, n, steps)


@operator("Adam")
def adam(c, n):
    """Kingma and Ba, Adam, 2015."""
    a, steps = n.attributes, []
    alpha, beta = a.get("alpha", 0.9), a.get("beta", 0.999)
    r, t = c.tensor(c.value(n, 0)), c.tensor(c.value(n, 1))
    count = c.temporary("count", f"tc_cast({t}, TC_F32)")
    power = [f"tc_pow(tc_full(TC_SCALAR_SHAPE, {b}, TC_F32), {count})" for b in (alpha, beta)]
    corrected = f"tc_div(tc_mul({r}, tc_sqrt(tc_rsub_s({power[1]}, 1))), tc_rsub_s({power[0]}, 1))"
    rate = c.temporary("rate", f"tc_where(tc_gt_s({t}, 0), {corrected}, {r})")
    for (x, gradient, mean, square), value in groups(c, n, 4):
        g = regularised(c, n, x, gradient)
        v = c.temporary("mean", f"tc_lerp({g}, {mean}, {alpha})")
        h = c.temporary("square", f"tc_lerp(tc_square({g}), {square}, {beta})")
        new = f"tc_sub({x}, tc_div(tc_mul({rate}, {v}), tc_add_s(tc_sqrt({h}), {a.get('epsilon', 1e-6)})))"
        if a.get("norm_coefficient_post"):
            new = f"tc_mul_s({new}, {1 - a['norm_coefficient_post']})"
        steps.append((value, (new, f"tc_contiguous({v})", f"tc_contiguous({h})")))
    hand_out(c, n, steps)


@operator("Momentum")
def momentum(c, n):
    """Polyak, 1964; Nesterov, 1983, in the form of Sutskever et al., 2013."""
    a, steps = n.attributes, []
    rate, t = c.tensor(c.value(n, 0)), c.tensor(c.value(n, 1))
    beta = c.temporary("beta", f"tc_where(tc_gt_s({t}, 0), tc_full(TC_SCALAR_SHAPE, {a['beta']}, TC_F32), tc_ones(TC_SCALAR_SHAPE, TC_F32))")
    for (x, gradient, velocity), value in groups(c, n, 3):
        g = regularised(c, n, x, gradient)
        v = c.temporary("v", f"tc_add(tc_mul_s({velocity}, {a['alpha']}), tc_mul({beta}, {g}))")
        by = v if a["mode"] == "standard" else f"tc_add({g}, tc_mul_s({v}, {a['alpha']}))"
        steps.append((value, (f"tc_sub({x}, tc_mul({rate}, {by}))", f"tc_contiguous({v})")))
    hand_out(c, n, steps)
