"""One random function of C: its statements, and the text and the table row that the driver needs."""
import random
import re
from math import prod

from blocks import Blocks
from control import Control
from indexed import Indexed
from layers import Layers
from ops import Ops
from parts import Parts
from products import Products
from sizes import USUAL, names_of, takes_any, value
from values import COARSE, FLOATS, Effect, Value, c_dtype
from windows import Windows
from writes import Writes

OPERANDS, OUTPUTS, LARGEST = 4, 2, 20000  # operands and outputs of a function; elements of a tensor
ALIKE = ("layers", "array", "members")  # forms whose operands share dtype and shape: elements of an array
NO_CXX = re.compile(r"goto|tc_from|\*p\d+\[\] = |_s t\d+ = \{|\*\[\]\)|\*q\d+\[")  # jumps past initialisations, arrays as values, addresses of temporaries
KEEP = re.compile(r"struct f\d+_h\d+_s|, &v\d+[,)]|fuzz_opaque\(|fuzz_double\(|__asm__|fuzz_log\([^\n]*\); return")  # the last one: in a helper
LIMITS = {"M": "M<=40", "N": "N<=34", "K": "K%8"}  # what TC_SHAPE says of a size, now and then
FORMS = ("plain", "struct", "nested", "layers", "global", "array", "members", "own")
CHOICES = (("f32", "f64"), ("f16", "f32", "bf16"), ("f32", "bf16"), ("i32", "i64"), ("u8", "i32", "i8"), ("i64", "i16"))  # of dtypes
MODES = tuple(f"mode={mode}" for mode in ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"))


class Program(Ops, Products, Windows, Layers, Indexed, Blocks, Parts, Control, Writes):
    def __init__(self, number, seed):
        self.name, self.r = f"f{number}", random.Random(f"{seed}.{number}")
        self.params, self.body, self.helpers, self.open = [], [], {}, []
        self.count, self.writes, self.broken, self.folded, self.dropped = 0, False, False, False, set()
        self.views_written = self.unfollowed = False
        self.may_fall = False  # operands that fit are refused, now and then
        self.kinds = set()  # of steps
        self.members = ""  # what the struct says that there are of something, as its caller fills it in
        self.weak = False  # a number as a tensor: segments behind a break take it for a tensor like others, and refuse it
        self.cleanup = self.r.random() < 0.1
        self.form = self.r.choice(("plain",) * 5 + ("struct",) + FORMS)
        self.limited = {name for name in LIMITS if self.r.random() < 0.25}
        self.begin()
        plain = self.plain()  # one segment, as a rule
        self.steps = self.weights(plain)
        wanted = self.r.randint(1, 3)
        while len(self.params) < wanted and (self.form not in ALIKE or not self.params):
            self.parameter()
        if self.form in ALIKE:
            self.elements()
        self.mode = self.r.choice(MODES) if self.r.random() < 0.1 else ""
        self.special = self.r.choice(("M=5", "M=3", "N=34", "M=5,N=19", "K=8", "n=3", "n=1")) if self.r.random() < 0.15 else ""
        for _ in range(self.r.randint(2, 10)):
            self.step()
        self.finish()

    def begin(self):
        """What else a kind of programs decides first."""

    def plain(self):
        return self.r.random() < 0.5

    def weights(self, plain):
        rows = [(self.unary, 5), (self.binary, 6), (self.scalar, 4), (self.ternary, 2), (self.jump, 1), (self.compare, 2),
                (self.integer, 1), (self.reduce, 4), (self.several, 0.7), (self.effect_between, 0.7), (self.cumulate, 1), (self.view, 5), (self.join, 2), (self.split, 1), (self.move, 2), (self.neighbours, 1.5),
                (self.index, 2), (self.product, 3), (self.stacked, 0.5), (self.fused, 0.3), (self.shared_weight, 0.3), (self.grouped, 0.3), (self.convolved, 0.4), (self.network, 3), (self.create, 2), (self.cast, 1), (self.promotion, 1),
                (self.in_place, 1.5), (self.loop, 1), (self.helper, 1), (self.deciding_helper, 0.5), (self.custom, 0.5), (self.write, 1), (self.updates, 1.5), (self.write_view, 1), (self.put, 1),
                (self.read_part, 0.7), (self.item, 0.5), (self.element, 0.4),
                (self.convolution, 0.8), (self.transposed_convolution, 0.3), (self.pool, 0.6), (self.adaptive_pool, 0.2), (self.columns, 0.2),
                (self.resampled, 0.3), (self.bordered, 0.4), (self.sampled, 0.2), (self.shuffled, 0.2),
                (self.activation, 0.6), (self.random_numbers, 0.3), (self.attention, 0.8), (self.rotary, 0.3), (self.cache, 0.2), (self.recurrent, 0.3), (self.quantised, 0.4),
                (self.channel_norm, 0.6), (self.loss_function, 0.6), (self.bag, 0.2), (self.statistic, 0.4),
                (self.elements_at, 0.5), (self.taken, 0.2), (self.rows_at, 0.4), (self.triangle, 0.2), (self.difference, 0.3),
                (self.residual, 0.3), (self.transformer, 0.3), (self.ordered, 0.4),
                (self.pair, 0.4), (self.handed_out, 0.3), (self.state, 0.3), (self.listed_parts, 0.3), (self.optimiser, 0.3), (self.mapped_examples, 0.3), (self.autocast, 0.3),
                (self.count_check, 0.4), (self.scope, 0.5), (self.constant_branch, 0.3), (self.known_choice, 0.5), (self.array_loop, 0.5)]
        if not plain:
            rows += [(self.note, 2), (self.opaque, 1), (self.change, 0.5), (self.run_time_loop, 2),
                     (self.position_loop, 1), (self.unrolled, 0.4), (self.strided_part, 0.2), (self.branch, 2), (self.switch, 0.7),
                     (self.leave, 1), (self.run_time_choice, 1)]
        return rows

    def step(self):
        for _ in range(8):
            kind = self.r.choices([k for k, _ in self.steps], [w for _, w in self.steps])[0]
            if kind():
                self.kinds.add(kind.__name__)
                return

    # ---- values

    def parameter(self, dtype=None, shape=None, values="normal", bound=0):
        if len(self.params) == OPERANDS or self.open or (self.form in ALIKE and self.params):
            return None
        dtype = dtype or self.r.choice(("f32",) * 5 + ("f64", "f16", "bf16", "i32", "i64", "u8", "i8", "i16", "bool"))
        if values == "normal" and dtype in FLOATS and self.r.random() < 0.4:
            values = "positive"
        given = shape is not None
        v = Value(self.parameter_name(), dtype, shape if given else self.parameter_shape(), True, values=values, bound=bound)
        if self.params and not given and self.r.random() < 0.6:
            v.shape = self.r.choice(self.params).shape
        if v.largest() > LARGEST or any(name not in USUAL for d in v.shape for name in names_of(d)):
            return None
        v.written = v.wrt = False
        if self.r.random() < 0.08:
            v.dtypes = self.dtypes_of(v)
        self.params.append(v)
        return v

    def dtypes_of(self, v):
        """Of an operand whose TC_SHAPE leaves a choice.  The compiler makes code for eight combinations."""
        chosen = [("i32", "i64")] if v.values == "index" else [c for c in CHOICES if v.dtype in c]
        many = any(len(p.dtypes) > 1 for p in self.params)
        if not chosen or many or self.form in ALIKE + ("global",):
            return [v.dtype]
        found = list(self.r.choice(chosen))
        self.r.shuffle(found)
        return found

    def chooses(self, indices=False):
        """Values may have another dtype than is said of them, another precision, too; with indices, those made of indices."""
        return any(len(p.dtypes) > 1 for p in self.params if indices or p.values != "index")

    def parameter_name(self):
        letter = "abcd"[len(self.params)]
        forms = {"struct": "p->" + letter, "nested": "p->" + ("in." if letter in "bd" else "") + letter, "layers": f"p[{len(self.params)}].w",
                 "array": f"p[{len(self.params)}]", "members": f"p->t[{len(self.params)}]", "global": f"{self.name}_g.{letter}"}
        return forms.get(self.form, letter)

    def elements(self):
        """More operands like the first."""
        first = self.params[0]
        for _ in range(self.r.randint(1, 3)):
            v = Value(self.parameter_name(), first.dtype, first.shape, True, values=first.values)
            v.written = v.wrt = False
            self.params.append(v)

    def body_of(self, blocks):
        return blocks[-1].inside if blocks else self.body

    def add(self, s):
        s.owner = self.open[-1] if self.open else None
        self.body_of(self.open).append(s)

    def make(self, text, uses, dtype, shape, exact=False):
        """A statement; text is C with %0 %1 ... for the operands."""
        v = Value(f"v{self.count}", dtype, shape, exact or dtype not in FLOATS, uses, text)
        if len(v.shape) > 5 or sum(not isinstance(d, int) for d in v.shape) > 4 or v.largest() > LARGEST:
            return None
        self.count += 1
        self.add(v)
        return v

    def view_of(self, x, text, shape):
        v = self.make(text, [x], x.dtype, shape, x.exact)
        if v:
            v.overlaps, v.viewed = x.overlaps, x
            v.join(x)
        return v

    def layer(self, *statement):
        """What a function makes that is written with others, and may take operands in another shape."""
        v = self.make(*statement)
        for u in v.uses if v else ():
            u.copied = True
        return v

    def shared_layer(self, *statement):
        """One that may be a view of its operand, by its sizes and strides."""
        v = self.layer(*statement)
        if v:
            v.join(v.uses[0])
            v.values = "view"  # not written
        return v

    def visible(self):
        found = list(self.params)
        for statements in [self.body] + [b.inside for b in self.open]:
            found += [s for s in statements if isinstance(s, Value)]
        return found

    def pick(self, test=lambda v: True):
        found = [v for v in self.visible() if test(v)]
        if not found:
            return None
        return self.r.choice(found[-4:] if self.r.random() < 0.7 else found)

    def finish(self):
        """The last statement computes something."""
        x = self.visible()[-1]
        self.result = self.make("tc_neg(%0)" if x.dtype != "bool" else "tc_logical_not(%0)", [x], x.dtype, x.shape)
        if not self.result:
            self.result = self.make("tc_sum(%0, TC_ALL, false)", [x], x.dtype if x.real else "i64", ())
        if self.r.random() < 0.1:  # a view of what is there
            self.result = self.view_of(self.result, "tc_unsqueeze(%0, 0)", (1,) + self.result.shape) or self.result
        if random.Random(self.name + str(self.count)).random() < 0.05:
            self.result = self.handed_view() or self.result
        for i in range(OUTPUTS):
            self.output(i)

    def output(self, i):
        """A tensor that nobody has read goes out through a parameter, what was written first."""
        live = self.live()
        unread = [v for v in self.body if isinstance(v, Value) and v not in live]
        unread = [v for v in unread if v.changed] or unread
        if unread and self.r.random() < 0.5:
            self.effect(f"out[{i}] = (tc_tensor *)%0;", [self.r.choice(unread)])

    # ---- what matters

    def everything(self):
        found = []
        for s in self.body:
            found += s.all()
        return found

    def live(self):
        keep = set()
        todo = [self.result] + [s for s in self.everything() if isinstance(s, Effect) and s not in self.dropped]
        while todo:
            s = todo.pop()
            if s in keep:
                continue
            keep.add(s)
            todo += s.needs() + ([s.owner] if s.owner else [])
        return keep

    def operands(self):
        """The parameters that matter: others are no graph inputs, and nothing is asked of them."""
        live = self.live()
        return [p for p in self.params if p in live]

    def one_segment(self):
        return not (self.broken or self.folded or self.unfollowed or self.may_fall)

    def names_stand_alone(self, operands):
        """Sizes that are found in expressions only are not known; tensors that have them are in no segment."""
        alone = {(self.object_of(p), str(d)) for p in operands for d in p.shape}
        return all((self.object_of(p), name) in alone for p in operands for d in p.shape for name in names_of(d))

    # ---- text

    def shape_text(self, p, said):
        parts = []
        for d in p.shape:
            text = str(d)
            if text in self.limited and (self.object_of(p), text) not in said:
                said.add((self.object_of(p), text))
                text = LIMITS[text]
            parts.append(text)
        return f'TC_SHAPE("{"|".join(p.dtypes)}[{",".join(parts)}]")'

    def declarations(self, operands):
        """What stands in front of the function, its parameters, how the function begins, and what a call of it
        needs: statements in front, arguments."""
        said = set()
        shapes = {p: self.shape_text(p, said) for p in operands}
        if self.form == "plain" or not (operands or self.members):
            params = [f'{"" if p.written else "const "}tc_tensor *{p.name} {shapes[p]}' for p in operands]
            return [], params, [], "", [f"x[{i}]" for i in range(len(operands))]
        if self.form == "own":
            boxes = "".join(f"fuzz_box b{i} = fuzz_box_of(x[{i}]); " for i in range(len(operands)))
            return ([], [f"const fuzz_box *o{p.name} {shapes[p]}" for p in operands],
                    [f"tc_tensor *{p.name} = fuzz_view(o{p.name});" for p in operands], boxes, [f"&b{i}" for i in range(len(operands))])
        if self.form in ALIKE:
            return self.declared_array(operands, shapes[operands[0]])
        return self.declared_struct(operands, shapes)

    def declared_array(self, operands, shape):
        """Elements that nobody reads are the first operand."""
        index = [int(re.search(r"\[(\d)\]", p.name)[1]) for p in operands]
        items = [f"x[{index.index(i) if i in index else 0}]" for i in range(index[-1] + 1)]
        kind, count = f"struct {self.name}_in", len(items)
        if self.form == "array":
            return [], [f"tc_tensor *const p[{count}] {shape}"], [], f"tc_tensor *t[] = {{{', '.join(items)}}}; ", ["t"]
        if self.form == "members":
            fill = " ".join(f"in.t[{i}] = {x};" for i, x in enumerate(items))
            return [f"{kind} {{ tc_tensor *t[{count}] {shape}; }};"], [f"const {kind} *p"], [], f"{kind} in; {fill} ", ["&in"]
        rows = ", ".join(f"{{{x}}}" for x in items)
        return [f"{kind} {{ tc_tensor *w {shape}; }};"], [f"const {kind} *p"], [], f"const {kind} in[] = {{{rows}}}; ", ["in"]

    def declared_struct(self, operands, shapes):
        kind = f"struct {self.name}_in"
        fields = {p: f"tc_tensor *{p.name[-1]} {shapes[p]};" for p in operands}
        inner = [p for p in operands if ".in." in p.name.replace("->", ".")]
        body = " ".join(fields[p] for p in operands if p not in inner) + " int count;" * bool(self.members)
        if inner:
            body += f" struct {self.name}_inner {{ {' '.join(fields[p] for p in inner)} }} in;"
        if self.form == "global":
            fill = "".join(f"{p.name} = x[{i}]; " for i, p in enumerate(operands))
            fill += f"{self.name}_g.count = {self.members}; " * bool(self.members)
            return [f"static {kind} {{ {body} }} {self.name}_g;"], [], [], fill, []
        fill = "".join(f"{p.name.replace('p->', 'in.')} = x[{i}]; " for i, p in enumerate(operands))
        fill += f"in.count = {self.members}; " * bool(self.members)
        return [f"{kind} {{ {body} }};"], [f"const {kind} *p"], [], f"{kind} in; {fill}", ["&in"]

    def attributes(self, operands):
        """TC_SPECIALIZE only names what the function has; where there is nothing to name, sizes need not be open, and
        a variant for one number would be the only one."""
        alone = {str(d) for p in operands for d in p.shape} | {"n"}
        fits = self.special and self.form not in ("nested", "layers") and all(x[0] in alone for x in self.special.split(","))
        fixed = all(isinstance(d, int) for p in operands for d in p.shape)
        options = [f'"{self.mode}"'] * bool(self.mode) + ['"dynamic=false"'] * bool(self.mode and fixed)
        compile_it = f'TC_COMPILE_WITH({", ".join(options)})' if options else "TC_COMPILE"
        return f'{compile_it} TC_SPECIALIZE("{self.special}")' if fits and len(options) < 2 else compile_it

    def text(self):
        live, operands = self.live(), self.operands()
        lines, parameters, body, before, arguments = self.declarations(operands)
        lines = list(lines)
        for s in self.body:
            if s in live:
                body += s.lines(live)
        used = "\n".join(body)
        outputs = ["tc_tensor **out"] * ("out[" in used)
        lines += [text for name, text in self.helpers.items() if re.search(rf"\b{name}\b", used)]
        lines.append(f"{self.attributes(operands)} static tc_tensor *{self.name}({', '.join(parameters + outputs + ['double s', 'int n'])}) {{")
        lines.append("  (void)s, (void)n;")
        cleanup = self.cleanup and "goto out" in used
        lines += ["  tc_tensor *result = NULL;"] * cleanup + ["  " + line for line in body]
        lines.append(f"  result = {self.result.name};\nout:\n  fuzz_note(9);\n  return result;\n}}" if cleanup else f"  return {self.result.name};\n}}")
        lines.append(f"static tc_tensor *r_{self.name}(tc_tensor *const *x, tc_tensor **out, double s, int n) {{ (void)x, (void)out; {before}"
                     f"return {self.name}({', '.join(arguments + ['out'] * len(outputs) + ['s', 'n'])}); }}\n")
        return "\n".join(lines)

    def is_cxx(self):
        return not NO_CXX.search(self.text())

    # ---- the row of the driver's table

    def smooth(self):
        """Has it gradients, which differences of its result check?"""
        return False

    def object_of(self, p):
        """Names of sizes belong to the object that the parameter is a member of."""
        return p.name[:p.name.rfind(".")] if self.form in ("nested", "layers") and "." in p.name else ""

    def refused_axes(self, p, operands):
        """Bit a: kernels must not run when size a of p is one more."""
        bits = 0
        for a, d in enumerate(p.shape):
            others = [q.shape[b] for q in operands if self.object_of(q) == self.object_of(p) for b in range(len(q.shape)) if (q, b) != (p, a)]
            tied = not takes_any(d) or any(names_of(d) & names_of(o) for o in others)
            over = str(d) in self.limited and str(d) in ("K",)
            bits |= (tied or over) << a
        return bits

    def keeps(self):
        """Calls that nobody sees into get or make tensors, or the body has no scope of its own (docs/memory.md)."""
        return bool(KEEP.search(self.text()))

    def falls(self, alone):
        """May kernels be refused operands that fit?"""
        return self.may_fall or ((self.views_written or self.weak) and (self.broken or self.unfollowed or not alone))

    def row(self):
        operands, live = self.operands(), self.live()
        dtypes = [v.dtype for v in live if isinstance(v, Value) and v.real] or ["f32"]
        coarsest = min(dtypes, key=COARSE.index)
        alone = self.names_stand_alone(operands)
        strict = self.one_segment() and alone
        rows = []
        for p in operands:
            dims = ", ".join("{" + (", ".join(str(value(d, run)) for d in p.shape) or "0") + "}" for run in range(3))
            rows.append(f"{{{c_dtype(p.dtype)}, FUZZ_{p.values.upper()}, {p.bound}, {str(p.written).lower()}, {str(p.reshaped()).lower()}, {str(p.wrt).lower()}, {self.refused_axes(p, operands) if strict else 0}, "
                        f"{' | '.join(f'1u << {c_dtype(d)}' for d in p.dtypes if d != p.dtype) or 0}, "
                        f"{len(p.shape)}, {{{dims}}}}}")
        combinations = prod(len(p.dtypes) for p in operands)
        flags = ", ".join(str(b).lower() for b in (self.writes, strict, self.falls(alone), self.keeps(), self.smooth()))
        return f'  {{"{self.name}", r_{self.name}, {c_dtype(coarsest)}, {flags}, {combinations}, {len(operands)},\n   {{{", ".join(rows)}}}}},\n'
