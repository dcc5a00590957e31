"""Graphs inside of nodes: branches are both computed and one is chosen; loops whose count is known are written out."""
import numpy as np

from values import Unsupported, Value
from .table import operator


def inline(c, graph, operands):
    """Follows a graph with values for its inputs; the values of its outputs."""
    for info, value in zip(graph.inputs, operands):
        c.values[info.name] = value
    c.follow(graph)
    return [c.values[v.name] for v in graph.outputs]


@operator("If")
def branch(c, n):
    condition = c.tensor(c.value(n, 0))
    sides = [inline(c, n.attributes[k], []) for k in ("then_branch", "else_branch")]
    for i, (a, b) in enumerate(zip(*sides)):
        if a.shape != b.shape:
            raise Unsupported("branches of different shapes")
        c.result(n, a.dtype, a.shape, f"tc_where({condition}, {c.tensor(a)}, {c.tensor(b)})", i)


def stacked(c, n, first, columns, batch=0):
    """Results from number `first` on: for each column its values of all rounds, behind an axis of one batch."""
    for i, column in enumerate(columns):
        parts, texts = c.identifier("rounds"), [c.tensor(v) for v in column]
        c.say(f"const tc_tensor *{parts}[] = {{{', '.join(texts)}}};")
        text = f"tc_stack({parts}, {len(column)}, 0)"
        shape = [1] * batch + [len(column), *column[0].shape]
        c.result(n, column[0].dtype, shape, f"tc_unsqueeze({text}, 0)" if batch else text, first + i)


@operator("Scan")
def scan(c, n):
    batch = int(c.version < 9)  # lengths in front, and an axis of batches
    body, count = n.attributes["body"], n.attributes["num_scan_inputs"]
    operands = [c.value(n, i) for i in range(batch, len(n.inputs))]
    if batch and operands[-1].shape[0] != 1:
        raise Unsupported("several batches")
    state, inputs = [without_batch(c, v, batch) for v in operands[:-count]], [without_batch(c, v, batch) for v in operands[-count:]]
    columns = [[] for _ in body.outputs[len(state):]]
    for t in range(inputs[0].shape[0]):
        rows = [Value(x.dtype, x.shape[1:], f"tc_select({c.tensor(x)}, 0, {t})") for x in inputs]
        outputs = inline(c, body, state + rows)
        state = outputs[:len(state)]
        for column, value in zip(columns, outputs[len(state):]):
            column.append(value)
    for i, value in enumerate(state):
        text = c.tensor(value)
        c.result(n, value.dtype, [1] * batch + list(value.shape), f"tc_unsqueeze({text}, 0)" if batch else f"tc_clone({text})", i)
    stacked(c, n, len(state), columns, batch)


def without_batch(c, x, batch):
    return Value(x.dtype, x.shape[1:], f"tc_select({c.tensor(x)}, 0, 0)") if batch else x


@operator("Loop")
def loop(c, n):
    body, count = n.attributes["body"], int(np.ravel(c.numbers(n, 0))[0])
    state, enters = [c.value(n, i) for i in range(2, len(n.inputs))], c.numbers(n, 1, np.asarray(True))
    if not enters.item():
        raise Unsupported("a loop that is not entered")
    condition = Value("bool", (), numbers=enters)
    columns = [[] for _ in body.outputs[1 + len(state):]]
    for t in range(count):
        number = Value("i64", (), numbers=np.asarray(t, np.int64))
        again, *outputs = inline(c, body, [number, condition, *state])
        if again.numbers is None or not np.ravel(again.numbers)[0]:
            raise Unsupported("a loop whose count is computed")
        state = outputs[:len(state)]
        for column, value in zip(columns, outputs[len(state):]):
            column.append(value)
    for i, value in enumerate(state):
        c.result(n, value.dtype, value.shape, f"tc_clone({c.tensor(value)})", i)
    stacked(c, n, len(state), columns)
