"""Recurrent layers of one direction.  ONNX: x[T,N,I] (layout 0) or [N,T,I]; weights of all gates below each other, one direction in
front; biases of the input, then of the state.  Gates of an LSTM are i o f c, of a GRU z r h."""
from values import Unsupported
from .table import operator


def operands(c, n, gates):
    """C of x[T,N,I] and of w_ih, w_hh, b_ih, b_hh without the direction; and T, N, H."""
    x, r = c.value(n, 0), c.value(n, 2)
    if n.attributes.get("direction", "forward") != "forward" or (c.value(n, 4) is not None and set(c.numbers(n, 4)) != {x.shape[0]}):
        raise Unsupported("two directions, sequences of several lengths")
    batchwise, hidden = n.attributes.get("layout", 0), r.shape[2]
    t = c.tensor(x)
    t = f"tc_transpose({t}, 0, 1)" if batchwise else t
    steps, batch = x.shape[:2][::-1] if batchwise else x.shape[:2]
    c.fixed.add(steps)
    weights = [f"tc_select({c.tensor(c.value(n, i))}, 0, 0)" for i in (1, 2)]
    bias = c.value(n, 3)
    halves = ["NULL", "NULL"]
    if bias is not None:
        b, rows = f"tc_select({c.tensor(bias)}, 0, 0)", gates * hidden
        halves = [f"tc_slice({b}, 0, 0, {rows}, 1)", f"tc_slice({b}, 0, {rows}, {2 * rows}, 1)"]
    return t, weights + halves, steps, batch, hidden


def state(c, n, i, batch, hidden):
    """C of the state [N,H] that operand i tells; else zeros."""
    value = c.value(n, i)
    return f"tc_select({c.tensor(value)}, 0, 0)" if value is not None else f"tc_zeros(TC_DIMS({batch}, {hidden}), TC_F32)"


def hand_out(c, n, sequence, last, steps, batch, hidden):
    """Y, of sequence [T,N,H], and Y_h, of its last element [N,H]."""
    if n.attributes.get("layout", 0):
        c.result(n, "f32", [batch, steps, 1, hidden], f"tc_unsqueeze(tc_transpose({sequence}, 0, 1), 2)")
        c.result(n, "f32", [batch, 1, hidden], f"tc_unsqueeze({last}, 1)", 1)
    else:
        c.result(n, "f32", [steps, 1, batch, hidden], f"tc_unsqueeze({sequence}, 1)")
        c.result(n, "f32", [1, batch, hidden], f"tc_unsqueeze({last}, 0)", 1)


def called(c, n, text):
    """C of the sequence that a function of tcompile/nn.h returns; where nobody wants it, the call is for its last element."""
    if c.is_wanted(n, 0):
        return c.temporary("states", text)
    c.say(f"{text};")
    return None


def weights_text(c, rows):
    names = "w_ih", "w_hh", "b_ih", "b_hh"
    fields = [f".{name} = {c.temporary(name, row)}" for name, row in zip(names, rows) if row != "NULL"]
    found = c.identifier("weights")
    c.say(f"const tc_recurrent_weights {found} = {{{', '.join(fields)}}};")
    return found


@operator("RNN")
def rnn(c, n):
    x, rows, steps, batch, hidden = operands(c, n, 1)
    weights, last = weights_text(c, rows), c.declare("last")
    sequence = f"tc_rnn({x}, {state(c, n, 5, batch, hidden)}, {weights}, false, false, &{last})"
    hand_out(c, n, called(c, n, sequence), last, steps, batch, hidden)


def reordered(c, text, order, hidden):
    """Gates in another order, as C."""
    if text == "NULL":
        return text
    whole, parts = c.temporary("gates", text), c.identifier("parts")
    slices = ", ".join(f"tc_slice({whole}, 0, {g * hidden}, {(g + 1) * hidden}, 1)" for g in order)
    c.say(f"const tc_tensor *{parts}[] = {{{slices}}};")
    return f"tc_concat({parts}, {len(order)}, 0)"


@operator("LSTM")
def lstm(c, n):
    x, rows, steps, batch, hidden = operands(c, n, 4)
    h, cell = state(c, n, 5, batch, hidden), state(c, n, 6, batch, hidden)
    if c.value(n, 7) is not None:
        return peepholes(c, n, x, rows, (steps, batch, hidden), h, cell)
    weights, last, cells = weights_text(c, [reordered(c, r, (0, 2, 3, 1), hidden) for r in rows]), c.declare("last"), c.declare("cell")
    sequence = f"tc_lstm({x}, {h}, {cell}, {weights}, false, &{last}, &{cells})"
    return hand_out(c, n, called(c, n, sequence), last, steps, batch, hidden)


def loop(c, n, x, rows, sizes, state, body):
    """Steps, written out: `body` are statements that make h of in and h.  C of the sequence, where it is wanted, and of its
    last element."""
    steps, wanted = sizes[0], c.is_wanted(n, 0)
    w_ih, w_hh, b_ih, b_hh = (c.temporary(k, r) if r != "NULL" else r for k, r in zip(("w_ih", "w_hh", "b_ih", "b_hh"), rows))
    every, h, states = c.temporary("every", f"tc_linear({x}, {w_ih}, {b_ih})"), c.temporary("h", state), c.identifier("states")
    if wanted:
        c.say(f"const tc_tensor *{states}[{steps}];")
    c.say(f"for (int t = 0; t < {steps}; t++) {{")
    c.say(f"  const tc_tensor *in = tc_select({every}, 0, t);")
    for line in body(h, w_hh, b_hh):
        c.say(f"  {line}")
    if wanted:
        c.say(f"  {states}[t] = {h};")
    c.say("}")
    return f"tc_stack({states}, {steps}, 0)" if wanted else None, h


def gate(text, i, hidden):
    return f"tc_slice({text}, 1, {i * hidden}, {(i + 1) * hidden}, 1)"


def peepholes(c, n, x, rows, sizes, h, cell):
    """Gates also see the cell: P has rows for i, o and f."""
    hidden = sizes[2]
    p = c.temporary("p", f"tc_reshape({c.tensor(c.value(n, 7))}, TC_DIMS(3, {hidden}))")
    cells = c.temporary("cell", cell)

    def body(h, w_hh, b_hh):
        see = [f"tc_mul(tc_select({p}, 0, {i}), {cells})" for i in range(3)]
        return [f"const tc_tensor *all = tc_add(in, tc_linear({h}, {w_hh}, {b_hh}));",
                f"const tc_tensor *i = tc_sigmoid(tc_add({gate('all', 0, hidden)}, {see[0]}));",
                f"const tc_tensor *f = tc_sigmoid(tc_add({gate('all', 2, hidden)}, {see[2]}));",
                f"{cells} = tc_add(tc_mul(f, {cells}), tc_mul(i, tc_tanh({gate('all', 3, hidden)})));",
                f"const tc_tensor *o = tc_sigmoid(tc_add({gate('all', 1, hidden)}, {see[1]}));",
                f"{h} = tc_mul(o, tc_tanh({cells}));"]
    sequence, last = loop(c, n, x, rows, sizes, h, body)
    hand_out(c, n, sequence, last, *sizes)


@operator("GRU")
def gru(c, n):
    """With linear_before_reset = 0 the reset gate is applied to the state in front of its product, where PyTorch's is behind it."""
    x, rows, steps, batch, hidden = operands(c, n, 3)
    if n.attributes.get("linear_before_reset"):
        raise Unsupported("linear_before_reset")

    def body(h, w_hh, b_hh):
        two, bias = f"tc_slice({w_hh}, 0, 0, {2 * hidden}, 1)", [b_hh, b_hh]
        if b_hh != "NULL":
            bias = [f"tc_slice({b_hh}, 0, 0, {2 * hidden}, 1)", f"tc_slice({b_hh}, 0, {2 * hidden}, {3 * hidden}, 1)"]
        third = f"tc_slice({w_hh}, 0, {2 * hidden}, {3 * hidden}, 1)"
        return [f"const tc_tensor *gates = tc_sigmoid(tc_add(tc_slice(in, 1, 0, {2 * hidden}, 1), tc_linear({h}, {two}, {bias[0]})));",
                f"const tc_tensor *z = {gate('gates', 0, hidden)}, *r = {gate('gates', 1, hidden)};",
                f"const tc_tensor *fresh = tc_tanh(tc_add({gate('in', 2, hidden)}, tc_linear(tc_mul(r, {h}), {third}, {bias[1]})));",
                f"{h} = tc_add(tc_mul(tc_rsub_s(z, 1), fresh), tc_mul(z, {h}));"]
    sequence, last = loop(c, n, x, rows, (steps, batch, hidden), state(c, n, 5, batch, hidden), body)
    hand_out(c, n, sequence, last, steps, batch, hidden)
