"""A case as a C function, written with the functions of tcompile.h and tcompile/nn.h as a programmer would.

`Function` follows the nodes of a graph; what an operator becomes is told by the tables of operators/.  Values are tensors of
the C function, or numbers that are known here: constants, sizes of tensors, and operands that say what is done rather
than to what (axes, shapes, pads), which a C programmer writes as numbers.
"""
import re

import numpy as np

from operators.table import OPERATORS
from values import ARRAYS, Unsupported, Value, ints, literal, name_of

KEYWORDS = set("""auto break case char const continue default do double else enum extern float for goto if inline int long register
restrict return short signed sizeof static struct switch typedef union unsigned void volatile while""".split())


class Function:
    """graph: a model.Graph; operands: its tensors (model.Tensor) by name; versions: of operators, by domain."""

    def __init__(self, name, graph, operands, versions):
        self.name, self.version = name, versions.get("", 1)
        self.statements, self.names, self.used, self.values = [], set(), [], {}
        self.fixed, self.multiples = set(), {}  # sizes that are numbers also where others are names; what names are multiples of: "%3"
        for info in graph.inputs:
            self.add_operand(info.name, operands[info.name])
        self.follow(graph)
        self.results = [self.values[v.name] for v in graph.outputs]
        self.finish()

    # ---- names and values

    def identifier(self, name):
        """A C identifier for the value of a graph, used by no other."""
        base = re.sub(r"\W", "_", name.rsplit("_function_", 1)[-1]) or "t"
        base = f"t{base}" if base[0].isdigit() else f"{base}_" if base in KEYWORDS else base
        found, n = base, 2
        while found in self.names:
            found, n = f"{base}_{n}", n + 1
        self.names.add(found)
        return found

    def add_operand(self, name, tensor):
        numbers = None if tensor.dtype == "bf16" else tensor.array
        self.values[name] = Value(tensor.dtype, tensor.shape, self.identifier(name), numbers, parameter=name)

    def value(self, node, i):
        """Operand i of a node, or None where it is left out."""
        return self.values[node.inputs[i]] if i < len(node.inputs) and node.inputs[i] else None

    def tensor(self, value):
        """C for a value as a tensor."""
        if value is None:
            return "NULL"
        if value.parameter and value.parameter not in self.used:
            self.used.append(value.parameter)
        if value.text is None:
            value.text = self.constant(value)
        return value.text

    def tensors(self, node):
        return [self.tensor(self.value(node, i)) for i in range(len(node.inputs))]

    def numbers(self, node, i, default=None):
        """Operand i as an array of numbers, which the C function has as such."""
        value = self.value(node, i)
        if value is None:
            return default
        if value.numbers is None:
            raise Unsupported(f"{node.op} by operands that are computed")
        return value.numbers

    def sizes(self, node, i):
        """Operand i as a list of numbers, and one of C expressions for them."""
        numbers, value = self.numbers(node, i), self.value(node, i)
        texts = value.texts if value.texts is not None else numbers
        return [int(x) for x in np.ravel(numbers)], [str(x) for x in np.ravel(texts)]

    def constant(self, value):
        dims, dtype = ints(value.shape), f"TC_{value.dtype.upper()}"
        flat = np.ravel(value.texts if value.texts is not None else value.numbers)
        if len(flat) and len(set(map(str, flat))) == 1:
            return f"tc_full({dims}, {flat[0] if value.texts is not None else literal(flat[0])}, {dtype})"
        if value.dtype == "f16":
            return f"tc_cast({self.constant(Value('f32', value.shape, numbers=value.numbers.astype(np.float32)))}, TC_F16)"
        name = self.identifier("table")
        kind = "const" if value.texts is not None else "static const"
        elements = ", ".join(map(str, flat)) if value.texts is not None else ", ".join(map(literal, flat))
        if not len(flat):
            return f"tc_zeros({dims}, {dtype})"
        self.say(f"{kind} {ARRAYS[value.dtype]} {name}[] = {{{elements}}};", name)
        return f"tc_from({dims}, {name}, {dtype})"

    # ---- nodes

    def follow(self, graph):
        for name, tensor in graph.initial.items():  # those that are inputs, too, are operands
            self.values.setdefault(name, Value(tensor.dtype, tensor.shape, numbers=tensor.array))
        for node in graph.nodes:
            if node.op not in OPERATORS:
                raise Unsupported(f"operator {node.op}")
            OPERATORS[node.op](self, node)

    def say(self, statement, defines=None):
        """Adds a statement; one that only defines a variable is left out where nothing uses it."""
        self.statements.append((statement, defines))

    def temporary(self, name, text):
        """A tensor for a value that no node names; its C name."""
        found = self.identifier(name)
        self.say(f"const tc_tensor *{found} = {text};", found)
        return found

    def declare(self, name):
        """A variable for a further result of a function of tcompile.h."""
        found = self.identifier(name)
        self.say(f"tc_tensor *{found};")
        return found

    def result(self, node, dtype, shape, text, i=0, numbers=None):
        """Result i of a node is the C expression `text`; numbers, where they can be told."""
        if i >= len(node.outputs) or not node.outputs[i]:
            return None
        name = self.identifier(node.outputs[i])
        self.say(f"tc_tensor *{name} = {text};", name)
        self.values[node.outputs[i]] = value = Value(dtype, shape, name, numbers)
        return value

    def is_wanted(self, node, i):
        return i < len(node.outputs) and bool(node.outputs[i])

    def known(self, node, numbers, texts=None):
        """The result of a node is known here."""
        numbers = np.asarray(numbers)
        self.values[node.outputs[0]] = Value(name_of(numbers.dtype), numbers.shape, numbers=numbers, texts=texts)

    # ---- the C function

    def finish(self):
        for value in self.results:
            if value.is_constant or value.is_view:  # values of ONNX share no memory
                text = self.tensor(value)
                value.text = self.identifier("result")
                self.say(f"tc_tensor *{value.text} = {f'tc_clone({text})' if value.is_view else text};", value.text)
        self.prune()

    def prune(self):
        """Leaves out what nothing uses: results that no node takes, and what was computed to know its value here."""
        needed, kept = {v.text for v in self.results}, []
        for statement, defines in reversed(self.statements):
            if defines and not any(defines in re.findall(r"\w+", later) for later in kept) and defines not in needed:
                continue
            kept.append(statement)
        self.statements = kept[::-1]
        used = {word for statement in kept for word in re.findall(r"\w+", statement)}
        self.used = [name for name in self.used if self.values[name].text in used]

    def shape_texts(self, symbols):
        """What TC_SHAPE says of the parameters: sizes as numbers, or equal ones above 1 as equal names with what is known of them."""
        operands = [self.values[name] for name in self.used]
        sizes = sorted({d for v in operands for d in v.shape if d > 1} - self.fixed)
        names = {d: f"{chr(ord('A') + i)}{self.multiples.get(d, '')}" for i, d in enumerate(sizes)} if symbols else {}
        return [(v, f"{v.dtype}[{','.join(str(names.get(d, d)) for d in v.shape)}]") for v in operands]

    def definition(self, head, symbols=False, annotated=True):
        """The function behind its attributes and name."""
        shapes = [f' TC_SHAPE("{shape}")' if annotated else "" for _, shape in self.shape_texts(symbols)]
        parameters = [f"const tc_tensor *{self.values[name].text}{shape}" for name, shape in zip(self.used, shapes)]
        parameters += [f"tc_tensor **{v.text}_out" for v in self.results[1:]]
        separator = ",\n" + " " * (len(head) + 1)
        body = self.statements + [f"*{v.text}_out = {v.text};" for v in self.results[1:]] + [f"return {self.results[0].text};"]
        return f"{head}({separator.join(parameters) or 'void'})\n{{\n" + "".join(f"  {s}\n" for s in body) + "}\n"

    def text(self, symbols=False):
        """The annotated function, and one of arrays that calls it."""
        return self.definition(f'TC_COMPILE_WITH("fullgraph") static tc_tensor *{self.symbol}', symbols) + self.caller("call", self.symbol)

    # ---- a batch of examples

    def axes(self):
        """For each operand the axis that counts examples; None: the operand is the same for all."""
        return [(0, self.values[name].rank, None)[i % 3] for i, name in enumerate(self.used)]

    def batched_text(self):
        """The function without an attribute, and an annotated one of two examples, by tc_vmap."""
        n, m, example = len(self.used), len(self.results), f"example_{self.name}"
        arguments = [f"x[{i}]" for i in range(n)] + [f"&y[{i}]" for i in range(1, m)]
        shapes = []
        for (value, _), axis in zip(self.shape_texts(False), self.axes()):
            dims = list(value.shape) if axis is None else [*value.shape[:axis], 2, *value.shape[axis:]]
            shapes.append(f"{value.dtype}[{','.join(map(str, dims))}]")
        parameters = [f'const tc_tensor *x{i} TC_SHAPE("{shape}")' for i, shape in enumerate(shapes)]
        parameters += [f"tc_tensor **y{i}" for i in range(1, m)]
        axes = ", ".join("TC_UNMAPPED" if a is None else str(a) for a in self.axes())
        hand_out = "".join(f" *y{i} = y[{i}];" for i in range(1, m))
        return (self.definition(f"static tc_tensor *value_{self.name}", annotated=False) + self.caller("call", f"value_{self.name}") +
                f"static bool {example}(tc_tensor *const *x, void *context, tc_tensor **y)\n{{\n  (void)context;\n"
                f"  y[0] = value_{self.name}({', '.join(arguments)});\n  return y[0] != NULL;\n}}\n"
                f'TC_COMPILE_WITH("fullgraph") static tc_tensor *{self.symbol}({", ".join(parameters)})\n{{\n'
                f"  const tc_tensor *x[] = {{{', '.join(f'x{i}' for i in range(n))}}};\n  const int axes[] = {{{axes}}};\n"
                f"  tc_tensor *y[{m}];\n  if (!tc_vmap({example}, NULL, {n}, x, axes, {m}, y)) return NULL;\n "
                f"{hand_out}\n  return y[0];\n}}\n" + self.caller("batched", self.symbol))

    # ---- gradients

    def leaves(self):
        """Numbers of the operands that have gradients."""
        return [i for i, name in enumerate(self.used) if self.values[name].dtype in ("f32", "f64", "f16", "bf16")]

    def has_gradients(self):
        return bool(self.leaves()) and self.results[0].dtype in ("f32", "f64")

    def gradient_text(self, symbols=False):
        """The function without an attribute, and an annotated one of the first result and its gradients by a cotangent."""
        n, m, dtype = len(self.used), len(self.results), self.results[0].dtype.upper()
        leaves, shapes = self.leaves(), self.shape_texts(symbols)
        parameters = [f'{"" if i in leaves else "const "}tc_tensor *x{i} TC_SHAPE("{shape}")' for i, (_, shape) in enumerate(shapes)]
        parameters += [f"tc_tensor **g{k}" for k in range(len(leaves))]
        arguments = [f"x{i}" for i in range(n)] + [f"&rest[{i}]" for i in range(1, m)]
        lines = [f"tc_tensor *rest[{m}];"] * (m > 1) + [
            f"tc_tensor *y = value_{self.name}({', '.join(arguments)});",
            f"tc_tensor *x[] = {{{', '.join(f'x{i}' for i in leaves)}}}, *g[{len(leaves)}];",
            f"const tc_tensor *by = tc_reshape(tc_cos(tc_arange(tc_numel(y), 1, 1, TC_{dtype})), tc_shape(y));",
            f"if (!tc_grad_with(y, by, {len(leaves)}, x, TC_ALLOW_UNUSED, g)) return NULL;"]
        lines += [f"*g{k} = g[{k}];" for k in range(len(leaves))] + ["return y;"]
        calls = ", ".join([f"x[{i}]" for i in range(n)] + [f"&y[{k + 1}]" for k in range(len(leaves))])
        return (self.definition(f"static tc_tensor *value_{self.name}", annotated=False) +
                f'TC_COMPILE_WITH("fullgraph") static tc_tensor *{self.symbol}({", ".join(parameters)})\n{{\n' +
                "".join(f"  {line}\n" for line in lines) + "}\n" +
                f"static void call_{self.name}(tc_tensor *const *x, tc_tensor **y) {{ y[0] = {self.symbol}({calls}); }}\n")

    @property
    def symbol(self):
        return f"case_{self.name}"

    def caller(self, name, function):
        """A function of arrays that calls `function`."""
        arguments = [f"x[{i}]" for i in range(len(self.used))] + [f"&y[{i}]" for i in range(1, len(self.results))]
        return f"static void {name}_{self.name}(tc_tensor *const *x, tc_tensor **y) {{ (void)x; y[0] = {function}({', '.join(arguments)}); }}\n"
