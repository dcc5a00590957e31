"""Random functions that end with gradients: of a number made of what was computed, with respect to operands, which are
leaves then; of gradients, too; with an update of the operands behind them."""
import re

from program import ALIKE, FORMS, Program
from values import COARSE, FLOATS, Effect, Value, c_dtype

# What reads the type of a tensor, and none of its elements.
TYPES_ONLY = re.compile(r"tc_(?:zeros_like|ones_like|full_like|rand_like|randn_like|shape|size|numel|rank)\(%\d")
# Terms of what is differentiated: the sum of a softmax or of a norm would be constant.
TERMS = ("tc_sum(tc_square(%0), TC_ALL, false)", "tc_mean(tc_sin(%0), TC_ALL, false)", "tc_sum(tc_mul(%0, tc_tanh(%0)), TC_ALL, false)",
         "tc_sum(tc_mul(%0, tc_randn(tc_shape(%0), 5, TC_F32)), TC_ALL, false)", "tc_logsumexp(%0, TC_ALL, false)")
DETACHED = "tc_detach(%0)"  # shares the memory of its operand
# A factor that is read, of what moves with the operands: the gradient is less than the differential of the product.  Steps read numbers
# too (item, element), but seldom, and of what gradients hardly depend on.
NUMBER = "tc_item(tc_mean(tc_cos(%0), TC_ALL, false))"
CONSTANTS = (DETACHED, "NULL; TC_NO_GRAD @ = tc_tanh(%0)", "NULL; TC_NO_GRAD { @ = tc_mul_s(%0, 0.5); @ = tc_add(@, %0); }")
PARTS = ("return tc_tanh(tc_mul(tc_sin(x[0]), x[0]));", "tc_tensor *h = x[0]; for (int i = 0; i < 3; i++) h = tc_sigmoid(tc_sub(h, tc_square(h))); return h;",
         "tc_tensor *h = tc_mul_s(x[0], 2); tc_add_(h, tc_cos(x[0])); return tc_mul(h, tc_exp(tc_neg(tc_abs(x[0]))));")
# Differences see rounding, and what is a constant for derivatives.
ROUGH = re.compile(r"tc_(?:cast|empty)\([^;]*TC_(?:F16|BF16|F32|[IU][0-9]+)\)|tc_item\(|tc_at\(|1e30|NULL; TC_NO_GRAD|= tc_detach\((?:.*\n)*?.*= tc_detach\(")
# A tensor of this dtype, whatever that of the operands is; and what is written in place.
MADE, WRITES = re.compile(r"TC_(?:F16|BF16|F32)\)$"), re.compile(r"tc_[a-z0-9_]+_\(")
# In 16 bits operands may be right there.
KINKS = re.compile(r"tc_(?:clamp|maximum|minimum|max|min|relu|abs|leaky|elu|hard)")
# What may not move with its operands.
CONSTANT = re.compile(r"tc_item\(|tc_at\(|tc_fill_\(|tc_zero_\(|tc_copy_\(|^tc_detach|TC_NO_GRAD|tc_cast\(%0, TC_(?:[IU]|BOOL)|tc_histc\(|tc_grid_sample\(%0, %1, TC_NEAREST")


class Gradients(Program):
    """self.wrt: operands that gradients are taken with respect to."""

    def __init__(self, number, seed):
        self.wrt, self.wide = [], False
        super().__init__(number, seed)

    # ---- what programs have

    def begin(self):
        self.wide = self.r.random() < 0.3
        self.cleanup = False
        self.form = self.r.choice(("plain",) * 6 + tuple(form for form in FORMS if form != "own"))

    def plain(self):
        return self.r.random() < 0.9

    def weights(self, plain):
        """Functions of the program's own have no derivative; early ends would hand on what is tracked."""
        rows = [row for row in super().weights(plain) if row[0] not in (self.custom, self.leave, self.count_check)]
        return rows + [(self.constant, 0.7), (self.again, 1)]

    def parameter(self, dtype=None, shape=None, values="normal", bound=0):
        if dtype is None and self.r.random() < 0.8:
            dtype = "f64" if self.wide else self.r.choice(("f32",) * 4 + FLOATS)
        return super().parameter(dtype, shape, values, bound)

    @classmethod
    def may_write(cls, v):
        """Leaves are not written, and what operands are written with is not tracked."""
        return super().may_write(v) and not any(hasattr(u, "written") or u.text == DETACHED for u in v.family)

    def constant(self):
        """What derivatives take as one."""
        x, text = self.pick(lambda v: v.real), self.r.choice(CONSTANTS)
        return x and (self.view_of(x, text, x.shape) if text == DETACHED else self.make(text, [x], x.dtype, x.shape))

    def make(self, text, uses, dtype, shape, exact=False):
        """The derivatives of x mod x cancel but for rounding."""
        if re.match(r"tc_(?:fmod|remainder)\(", text) and len(uses) > 1 and uses[0] is uses[1] and uses[0].real:
            text, uses = "tc_sin(%0)", uses[:1]
        return super().make(text, uses, dtype, shape, exact)

    def again(self):
        """A function that gradients compute again."""
        x = self.pick(lambda v: v.real)
        if not x:
            return None
        name, body = f"{self.name}_h{len(self.helpers)}", self.r.choice(PARTS)
        self.helpers[name] = f"static tc_tensor *{name}(tc_tensor *const *x, void *) {{ {body} }}".replace("void *)", "void *none)").replace("{ ", "{ (void)none; ", 1)
        return self.make(f"tc_checkpoint({name}, NULL, 1, (tc_tensor *[]){{(tc_tensor *)%0}})", [x], x.dtype, x.shape)

    # ---- what moves

    def moving(self, p):
        """Values that surely move with p: integers do not, and what is written may not."""
        found = {p}
        for v in self.everything():
            text = TYPES_ONLY.sub("", getattr(v, "text", ""))
            uses = [u for i, u in enumerate(getattr(v, "uses", ())) if f"%{i}" in text]
            if isinstance(v, Value) and v.real and not v.changed and not CONSTANT.search(text) and any(u in found and not u.changed for u in uses):
                found.add(v)
        return found

    # ---- the end

    def finish(self):
        params = [p for p in self.params if p.real and not p.written]
        if not params:
            p = self.parameter(self.r.choice(FLOATS))
            params = [p] if p else []
        if not params:
            return super().finish()
        # Elements that nobody reads are another one, which would be a leaf of which no gradient is wanted.
        chosen = params if self.form in ALIKE else self.r.sample(params, self.r.randint(1, len(params)))
        self.wrt = [p for p in params if p in chosen]
        for p in self.wrt:
            p.wrt = True
        values = [v for v in self.visible() if v.real]
        y = self.r.choice(values[-2:])
        if self.r.random() < 0.15:
            self.of_product(y)
        else:
            loss = self.loss([y] + [v for v in values[-5:] if v is not y and self.r.random() < 0.15][:2])
            (self.second if self.r.random() < 0.2 else self.first)(loss)
        return None

    def loss(self, values):
        """One number, to which every operand of wrt leads through floating values."""
        terms = [self.r.choice(TERMS).replace("%0", f"%{i}") for i in range(len(values))]
        uses = list(values)
        for p in self.wrt:
            if self.r.random() < 0.2 or not any(v in self.moving(p) for v in values):
                terms.append(f"tc_mul_s(tc_sum(tc_square(%{len(uses)}), TC_ALL, false), 0.125)")
                uses.append(p)
        text, dtype = terms[0], max((v.dtype for v in uses), key=COARSE.index)
        for term in terms[1:]:
            text = f"tc_add({text}, {term})"
        if self.r.random() < 0.1:
            text = f"tc_mul_s({text}, {NUMBER.replace('%0', f'%{len(uses)}')})"
            uses.append(self.r.choice([v for v in values if any(v in self.moving(p) for p in self.wrt)] + self.wrt))
        return self.make(text, uses, dtype, ())

    def asked(self, function, y, more, flags, names):
        """The call, with lists of its own; names: of the lists."""
        w, g = names
        uses = [y, *self.wrt]
        leaves = ", ".join(f"(tc_tensor *)%{i + 1}" for i in range(len(self.wrt)))
        return uses, (f"tc_tensor *{w}[] = {{{leaves}}}, *{g}[{len(self.wrt)}]; "
                      f"if (!{function}(%0, {more}{len(self.wrt)}, {w}, {flags}{g})) return NULL;")

    def handed(self, g):
        """Gradients that leave, and what is done with them."""
        text = "".join(f" out[{i}] = {g}[{i}];" for i in range(len(self.wrt)))
        if self.r.random() < 0.3 and self.form not in ("nested",):
            self.writes = True
            updates = []
            for i, p in enumerate(self.wrt):
                if self.r.random() < 0.6 and len(p.dtypes) == 1:
                    p.written = p.changed = True
                    self.may_fall = self.may_fall or self.form != "plain"  # out[] may be members: another segment, behind the stores
                    updates.append(f"tc_sub_((tc_tensor *)%{i + 1}, tc_mul_s({g}[{i}], {self.r.choice(('0.125', 's'))}));")
            text += f" TC_NO_GRAD {{ {' '.join(updates)} }}" * bool(updates)
        return text

    def forward(self, loss):
        """The derivative along the operands themselves, where there is room for it."""
        if len(self.wrt) > 3 or self.form != "plain" or self.r.random() > 0.3:
            return
        w, leaves = f"w{self.count}_1", ", ".join(f"(tc_tensor *)%{i + 1}" for i in range(len(self.wrt)))
        self.effect(f"tc_tensor *{w}[] = {{{leaves}}}; out[3] = tc_jvp(%0, {len(self.wrt)}, {w}, {w});", [loss, *self.wrt])

    def first(self, loss):
        self.forward(loss)
        names = f"w{self.count}", f"g{self.count}"
        if self.r.random() < 0.6:
            uses, text = self.asked("tc_grad", loss, "", "", names)
        else:
            flags = self.r.choice(("0", "TC_ALLOW_UNUSED", "TC_RETAIN_GRAPH"))
            uses, text = self.asked("tc_grad_with", loss, "NULL, ", f"{flags}, ", names)
        self.effect(text + self.handed(names[1]), uses)
        self.result = self.make("tc_detach(%0)", [loss], loss.dtype, ())

    def second(self, loss):
        """Gradients of a number that gradients are part of."""
        names, more = (f"w{self.count}", f"g{self.count}"), (f"w{self.count}_2", f"g{self.count}_2")
        uses, text = self.asked("tc_grad_with", loss, "NULL, ", "TC_CREATE_GRAPH, ", names)
        self.effect(text, uses)
        gradient = self.r.randrange(len(self.wrt))
        penalty = self.r.choice(("tc_sum(tc_square(@), TC_ALL, false)", "tc_sum(tc_sin(@), TC_ALL, false)")).replace("@", f"{names[1]}[{gradient}]")
        total = self.make(f"tc_add(%0, {penalty})", [loss], loss.dtype, ())
        uses, text = self.asked("tc_grad_with", total, "NULL, ", "TC_ALLOW_UNUSED, ", more)
        self.effect(text + self.handed(more[1]), uses)
        self.result = self.make("tc_detach(%0)", [total], loss.dtype, ())

    def of_product(self, y):
        """With a cotangent."""
        lost = [p for p in self.wrt if y not in self.moving(p)]
        if lost:
            y = self.make(self.loss_like(lost), [y, *lost], y.dtype, y.shape)
        cotangent = self.make(f"tc_randn(tc_shape(%0), 7, {c_dtype(y.dtype)})", [y], y.dtype, y.shape)
        loss = self.make("tc_sum(tc_mul(%0, %1), TC_ALL, false)", [y, cotangent], y.dtype, ())
        names = f"w{self.count}", f"g{self.count}"
        uses, text = self.asked("tc_vjp", y, f"%{len(self.wrt) + 1}, ", "", names)
        self.effect(text + self.handed(names[1]), uses + [cotangent])
        self.result = self.make("tc_detach(%0)", [loss], loss.dtype, ())

    @staticmethod
    def loss_like(lost):
        """%0, and sums of the others in its dtype."""
        text = "%0"
        for i in range(len(lost)):
            text = f"tc_add({text}, tc_cast(tc_sum(tc_square(%{i + 1}), TC_ALL, false), tc_dtype_of(%0)))"
        return text

    # ---- the row

    def falls(self, alone):
        """Where the number and its gradients are not of one segment, others record what they compute."""
        return super().falls(alone) or (bool(self.wrt) and (self.broken or self.unfollowed or not alone))

    def narrow(self, v):
        """Is it no f64 where the operands are?"""
        if v in self.params:
            return False
        if hasattr(v, "block"):
            return self.narrow(v.block.start)
        uses = [u for u in v.uses if u.real]
        if MADE.search(v.text) or not uses:
            return "TC_F64" not in v.text
        return self.narrow(uses[0]) if WRITES.search(v.text) else all(self.narrow(u) for u in uses)

    def rounds(self):
        """Is something that is f64 written to what is not?"""
        for s in self.everything():
            uses = [u for u in getattr(s, "uses", ()) if u.real]
            if uses and WRITES.search(s.text) and self.narrow(uses[0]) and not all(self.narrow(u) for u in uses):
                return True
        return False

    def smooth(self):
        """Are differences of the result in f64 what gradients say?"""
        text = self.text()
        short = any(p.dtype in ("f16", "bf16") for p in self.wrt)
        return bool(self.wrt) and not ROUGH.search(text) and not self.rounds() and not (short and KINKS.search(text))
