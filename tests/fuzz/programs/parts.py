"""Steps with parts of programs beside plain functions of tensors: structs of tensors that helpers take, return and carry through
loops, results through addresses, lists, optimisers, functions of one example, mixed precision."""
from values import c_dtype

BODIES = ("tc_tanh(tc_mul_s(%, 0.5))", "tc_sigmoid(%)", "tc_sub(tc_sin(%), %)", "tc_mul_s(%, -0.25)")
EXAMPLES = {  # of one example x[0] and x[1], which has its shape: the result's shape as that of the example, or of a number
    "tc_mul(tc_tanh(x[0]), x[1])": True, "tc_sub(x[0], tc_max(x[1], TC_ALL, false))": True, "tc_sum(tc_mul(x[0], x[1]), TC_ALL, false)": False,
    "tc_softmax(tc_add(x[0], x[1]), -1)": True, "tc_mean(tc_square(tc_sub(x[0], x[1])), TC_AXES(-1), false)": None}
OPTIMISERS = {
    "sgd": "tc_sgd(@n, p@, g@, NULL, (tc_sgd_options){.rate = 0.125, .weight_decay = 0.25})",
    "momentum": "tc_sgd(@n, p@, g@, a@, (tc_sgd_options){.rate = 0.125, .momentum = 0.5, .nesterov = true})",
    "adam": "tc_adam(@n, p@, g@, a@, b@, 1 + n, tc_adam_defaults(0.125))",
    "adamw": "tc_adamw(@n, p@, g@, a@, b@, 3, (tc_adam_options){0.125, 0.9, 0.999, 1e-3, 0.0625})",
    "rmsprop": "tc_rmsprop(@n, p@, g@, b@, NULL, NULL, (tc_rmsprop_options){0.125, 0.9, 1e-3})",
    "adagrad": "tc_adagrad(@n, p@, g@, b@, 2, (tc_adagrad_options){0.125, 0.5, 1e-3})"}


class Parts:
    def body_of_one(self, name):
        return self.r.choice(BODIES).replace("%", name)

    def add_helper(self, text):
        name = f"{self.name}_h{len(self.helpers)}"
        self.helpers[name] = text.replace("@", name)
        return name

    # ---- structs of tensors

    def pair(self):
        """A helper that returns two tensors as a struct, or takes them as one."""
        x = self.pick(lambda v: v.real)
        if not x:
            return None
        kind, t = self.r.randrange(3), f"t{self.count}"
        first, second = self.body_of_one("x"), self.body_of_one("x")
        made = f"struct @_s {{ tc_tensor *a, *b; }};\nstatic struct @_s @(const tc_tensor *x) {{ struct @_s t = {{{first}}}; t.b = {second}; return t; }}"
        if kind == 0:
            name = self.add_helper(made)
            return self.make(f"NULL; struct {name}_s {t} = {name}(%0); @ = tc_sub({t}.a, {t}.b)", [x], x.dtype, x.shape)
        y = self.pick(lambda v: (v.dtype, v.shape) == (x.dtype, x.shape))
        by = self.r.choice(("struct @_s t", "const struct @_s *t"))
        at = "->" if "*" in by else "."
        name = self.add_helper(f"struct @_s {{ const tc_tensor *a; int count; const tc_tensor *b; }};\n"
                               f"static tc_tensor *@({by}) {{ tc_tensor *y = tc_sub(t{at}a, t{at}b); for (int i = 0; i < t{at}count; i++) y = {self.body_of_one('y')}; return y; }}")
        return self.make(f"NULL; struct {name}_s {t} = {{%0, {self.r.choice((0, 1, 3))}, %1}}; @ = {name}({'&' * ('*' in by)}{t})", [x, y], x.dtype, x.shape)

    def handed_out(self):
        """A helper whose results go through addresses."""
        x = self.pick(lambda v: v.real)
        if not x:
            return None
        name = self.add_helper(f"static int @(const tc_tensor *x, tc_tensor **y, tc_tensor **z) {{ *y = {self.body_of_one('x')}; "
                               f"if (z) *z = {self.body_of_one('*y')}; return *y != NULL; }}")
        t = f"t{self.count}"
        if self.r.random() < 0.5:
            return self.make(f"NULL; {name}(%0, &@, NULL)", [x], x.dtype, x.shape)
        return self.make(f"NULL, *{t} = NULL; if ({name}(%0, &@, &{t})) @ = tc_sub(@, {t})", [x], x.dtype, x.shape)

    def state(self):
        """Two tensors in a struct, which go from round to round."""
        x = self.pick(lambda v: v.real)
        if not x:
            return None
        name = self.add_helper("struct @_s { tc_tensor *h, *c; };\n"
                               f"static struct @_s @(struct @_s s, const tc_tensor *x) {{ s.c = tc_tanh(tc_add(s.c, x)); s.h = tc_mul({self.body_of_one('s.h')}, s.c); return s; }}")
        rounds = self.r.choice(("1", "2", "3", "n"))
        self.broken = self.broken or rounds == "n"
        t = f"t{self.count}"
        return self.make(f"NULL; struct {name}_s {t} = {{tc_neg(%0), tc_clone(%0)}}; for (int i = 0; i < {rounds}; i++) {t} = {name}({t}, %0); @ = tc_add({t}.h, {t}.c)",
                         [x], x.dtype, x.shape)

    def listed_parts(self):
        """A list of tensors, made in a loop and joined."""
        x = self.pick(lambda v: v.real and v.shape and len(v.shape) < 5)
        if not x:
            return None
        q, many = f"q{self.count}", self.r.choice((2, 3, 5))
        text = self.body_of_one("@") if self.r.random() < 0.5 else "tc_add_s(%0, i)"
        return self.make(f"(tc_tensor *)%0; const tc_tensor *{q}[{many}]; for (int i = 0; i < {many}; i++) {q}[i] = @ = {text}; @ = tc_stack({q}, {many}, 0)",
                         [x], x.dtype, (many,) + x.shape)

    # ---- optimisers

    def optimiser(self):
        """A step of an optimiser: operands are updated by gradients and states that are values like others."""
        if self.open:
            return None
        fits = [p for p in self.params if p.real and p.shape and self.may_write(p) and len(p.dtypes) == 1]
        if not fits:
            p = self.parameter(self.r.choice(("f32", "f32", "f64")))
            fits = [p] if p and p.shape and self.may_write(p) else []
        found = fits[:self.r.randint(1, 3)]
        if not found:
            return None
        t, kind = self.count, self.r.choice(tuple(OPTIMISERS))
        n = len(found)
        gradients = ", ".join(f"tc_mul_s(%{i}, {self.r.choice(('0.5', 's', '-2'))})" for i in range(n))
        wide = [("f32" if p.dtype in ("f16", "bf16") else p.dtype) for p in found]
        states = ", ".join(f"tc_cast(tc_sin(%{i}), {c_dtype(d)})" for i, d in enumerate(wide))
        squares = ", ".join(f"tc_add_s(tc_cast(tc_square(tc_tanh(%{i})), {c_dtype(d)}), 0.5)" for i, d in enumerate(wide))
        step = OPTIMISERS[kind].replace("@n", str(n)).replace("@", str(t))
        lists = f"tc_tensor *p{t}[] = {{{', '.join(f'(tc_tensor *)%{i}' for i in range(n))}}}, *g{t}[] = {{{gradients}}};"
        lists += f" tc_tensor *a{t}[] = {{{states}}};" * (f"a{t}" in step) + f" tc_tensor *b{t}[] = {{{squares}}};" * (f"b{t}" in step)
        clip = self.r.choice(("", "", f"tc_clip_value_({n}, g{t}, 0.75); ", f"tc_clip_norm_({n}, g{t}, 2.5); "))
        self.count += 1
        for p in found:
            self.note_views(p)
        self.views_written = True  # elements of the list are other operands where it is made in front of the segment
        self.effect(f"{lists} {clip}{step};", found)
        for p in found:
            self.written(p, False)
        return found[-1]

    # ---- one example and many

    def mapped_examples(self):
        """A function of one example, of all rows."""
        x = self.pick(lambda v: v.real and 2 <= len(v.shape) <= 4)
        y = x and self.pick(lambda v: (v.dtype, v.shape) == (x.dtype, x.shape))
        if not y or not isinstance(x.shape[0], int) or x.shape[0] < 1:
            return None
        text = self.r.choice(tuple(EXAMPLES))
        name = self.add_helper(f"static bool @(tc_tensor *const *x, void *none, tc_tensor **y) {{ (void)none; y[0] = {text}; return y[0] != NULL; }}")
        shape = {True: x.shape, False: x.shape[:1], None: x.shape[:-1]}[EXAMPLES[text]]
        axes = self.r.choice(("NULL", "(const int[]){0, 0}"))
        return self.make(f"NULL; tc_vmap({name}, NULL, 2, (tc_tensor *[]){{(tc_tensor *)%0, (tc_tensor *)%1}}, {axes}, 1, &@)", [x, y], x.dtype, shape)

    # ---- mixed precision

    def autocast(self):
        """A product in 16 bits of operands that have more."""
        x = self.pick(lambda v: v.dtype == "f32" and len(v.shape) >= 2)
        if not x:
            return None
        w = self.weight("f32", (self.r.choice((7, 24, 33)), x.shape[-1]))
        to = self.r.choice(("bf16", "bf16", "f16"))
        call = self.r.choice(("tc_linear(%0, %1, NULL)", "tc_matmul(%0, tc_transpose(%1, 0, 1))"))
        return w and self.make(f"NULL; TC_AUTOCAST({c_dtype(to)}) @ = {call}", [x, w], to, x.shape[:-1] + w.shape[:1])
