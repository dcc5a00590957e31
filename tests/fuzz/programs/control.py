"""Steps of a random program that are no ops: graph breaks, branches, loops, scopes, early ends.  Whatever
steers a program at run time is exact, so that both ways of running it go the same way."""
from sizes import is_name, times
from values import INTS, Block, Carried, Effect, Value

LOOP_BODIES = ("tc_tanh(tc_mul_s(%0, 0.5))", "tc_add_s(tc_mul_s(%0, 0.5), 1)", "tc_sub(tc_mul_s(%0, 0.25), %0)")
HELPER_BODIES = ("tc_silu(tc_add_s(x, 1))", "tc_mul(x, tc_sigmoid(x))", "tc_sub(tc_exp(tc_neg(x)), x)",
                 "tc_rank(x) > 1 ? tc_transpose(tc_neg(tc_transpose(x, 0, 1)), 0, 1) : tc_sin(x)")
PARITY = "tc_item_int(tc_sum(tc_gt_s(%0, 0), TC_ALL, false)) % 2"


class Control:
    """self.open: the blocks that are being written, innermost last; self.broken: statements that no
    segment can hold were written."""

    # ---- breaks

    def effect(self, text, uses=()):
        e = Effect(text, uses)
        self.add(e)
        return e

    def note(self):
        self.broken = True
        x = self.pick(lambda v: v.exact) if self.r.random() < 0.6 else None
        if x:
            return self.effect(f"fuzz_note({PARITY});", [x])
        return self.effect(self.r.choice(("fuzz_note(7);", "fuzz_note(n);", 'fuzz_log("%d %g\\n", n, s);',
                                          '__asm__ volatile("" ::: "memory");', "{ volatile int k = n; fuzz_note(k); }")))

    def effect_between(self):
        """A call that does not break the graph, and has its place in the trace."""
        x = self.pick(lambda v: v.dtype in INTS or v.dtype == "bool") if self.r.random() < 0.5 else None
        if x and x not in self.params:
            return self.effect(f"fuzz_seen(%0, {self.r.randint(10, 90)});", [x])
        return self.effect(f"fuzz_mark({self.r.choice(('n', '11', '12', '(int)s'))});", [])

    def opaque(self):
        self.broken = True
        x = self.pick(lambda v: v.dtype != "bool")
        v = x and self.make("fuzz_opaque(%0)", [x], x.dtype, x.shape, x.exact)
        if v and all(isinstance(d, int) or is_name(d) for d in v.shape) and self.r.random() < 0.7:
            v.declared = f' TC_SHAPE("{v.dtype}[{",".join(map(str, v.shape))}]")'
        return v

    def change(self):
        """A call that nobody sees into writes a tensor."""
        x = self.target(lambda v: v.dtype != "bool")
        if not x or self.open:
            return None
        self.broken = True
        self.written(x, x.exact)
        return self.effect("fuzz_double(%0);", [x])

    def item(self):
        x = self.pick(lambda v: v.real and v.shape)
        y = x and self.pick(lambda v: v.dtype == x.dtype)
        scale = "tc_item(tc_tanh(tc_sum(tc_cast(%1, TC_F64), TC_ALL, false)))"
        return y and self.make(f"tc_mul_s(%0, {scale})", [x, y], x.dtype, x.shape)

    # ---- calls

    def helper(self):
        x = self.pick(lambda v: v.real)
        if not x:
            return None
        name = f"{self.name}_h{len(self.helpers)}"
        self.helpers[name] = f"static tc_tensor *{name}(const tc_tensor *x) {{ return {self.r.choice(HELPER_BODIES)}; }}"
        if self.r.random() < 0.15:  # recursion that constants unwind
            self.helpers[name] = (f"static tc_tensor *{name}_n(const tc_tensor *x, int k) {{ return k ? {name}_n(tc_tanh(x), k - 1) : tc_neg(x); }}\n"
                                  f"static tc_tensor *{name}(const tc_tensor *x) {{ return {name}_n(x, 3); }}")
        if self.r.random() < 0.2:
            self.helpers[name] = "TC_DISABLE " + self.helpers[name].replace("\nstatic", "\nTC_DISABLE static")
            self.broken = True
        return self.make(f"{name}(%0)", [x], x.dtype, x.shape)

    def deciding_helper(self):
        """A call that goes ways of its own by a number of the run or by sizes: more than eight in all are a break."""
        x = self.pick(lambda v: v.real)
        if not x:
            return None
        self.broken = True
        name = f"{self.name}_h{len(self.helpers)}"
        a, b, c = (self.r.choice(HELPER_BODIES) for _ in range(3))
        body = self.r.choice((f"if (k > 1) return {a}; return {b};", f"return k % 2 ? {a} : {b};",
                              f"if (k > 0) {{ x = tc_neg(x); if (k == 3) x = {a}; }} return {b};",
                              f"switch (k) {{ case 1: return {a}; case 2: case 3: x = tc_neg(x); break; default: return {b}; }} return {c};",
                              f'if (k == 2) fuzz_log("%d %g\\n", k, 0.0); return {a};'))
        if x.shape and self.r.random() < 0.5:
            body = self.r.choice((f"if (tc_size(x, 0) > k) return {a}; return {b};", f"return tc_size(x, -1) == tc_size(x, 0) ? {a} : {b};",
                                  f"switch (tc_size(x, -1)) {{ case 1: case 4: return {a}; case 3: x = tc_neg(x); }} return {b};",
                                  f"if (tc_size(x, 0) % 2 && k < 3) x = tc_neg(x); return {c};",
                                  f"if (tc_size(x, -1) > 1000000) abort(); return {a};"))
        self.helpers[name] = f"static tc_tensor *{name}(const tc_tensor *x, int k) {{ {body} }}"
        return self.make(f"{name}(%0, {self.r.choice(('n', 'n', 'n - 1', 'n % 2'))})", [x], x.dtype, x.shape)

    def element(self):
        """A number that is one element of a tensor."""
        x = self.pick(lambda v: v.real and v.shape)
        y = x and self.pick(lambda v: v.dtype == x.dtype and v.shape and all(isinstance(d, int) and d > 0 for d in v.shape))
        if not y:
            return None
        index = ", ".join(str(self.r.randrange(d)) for d in y.shape)
        return self.make(f"tc_add_s(%0, tc_at(tc_tanh(%1), TC_DIMS({index})))", [x, y], x.dtype, x.shape)

    def custom(self):
        """An operation of the program's own, with a kernel."""
        x = not self.chooses() and self.pick(lambda v: v.dtype == "f32" and len(v.shape) == 2)
        return x and self.make("fuzz_mirrored(%0, 0.5)", [x], "f32", (times(2, x.shape[0]), x.shape[1])) or None

    # ---- blocks

    def nested(self, block, carried=True, first=lambda: None):
        """Fills the block, with the step `first` in front; what it carries is a value behind it."""
        x = self.pick(lambda v: v.dtype != "bool" and not v.overlaps) if carried else None
        if carried and not x:
            return None
        if x:
            block.start, block.copies = x, self.r.random() < 0.6
            c = block.carried = block.last = Carried(block, f"v{self.count}", x.dtype, x.shape, False)
            self.count += 1
            if not block.copies:
                c.join(x)
                c.values = "view"  # not written: that would write `start` in some rounds
                self.folded = True  # `start` may not be read
        self.add(block)
        self.open.append(block)
        if x:
            block.inside.append(c)
            c.owner = block
        first()
        for _ in range(self.r.randint(1, 3)):
            self.step()
        if x:
            self.carry(block)
        self.open.pop()
        if not x:
            return block
        block.inside.remove(c)
        c.owner = None
        self.body_of(self.open).append(c)
        return c

    def carry(self, block):
        """The last value that fits goes into the next round, kept small."""
        c = block.carried
        found = [v for v in block.inside if isinstance(v, Value) and v is not c and (v.dtype, v.shape) == (c.dtype, c.shape)]
        v = found[-1] if found else c
        block.last = self.make("tc_tanh(%0)" if c.real else "tc_neg(%0)", [v], c.dtype, c.shape)

    def loop(self):
        x = self.pick(lambda v: v.real)
        if self.r.random() < 0.5:
            i, rounds = f"i{self.count}", self.r.randint(1, 4)
            self.count += 1
            block = Block(f"for (int {i} = 0; {i} < {rounds}; {i}++) {{")
            block.counter, block.rounds = i, (range(rounds),) * 3
            return len(self.open) < 2 and self.nested(block) or None
        v = x and self.make(f"tc_clone(%0); for (int i = 0; i < {self.r.randint(1, 4)}; i++) @ = {self.r.choice(LOOP_BODIES).replace('%0', '@')}",
                            [x], x.dtype, x.shape)
        return v

    def run_time_loop(self):
        if len(self.open) >= 2:
            return None
        self.broken = True
        return self.nested(self.counted())

    def branch(self):
        if len(self.open) >= 2:
            return None
        self.broken = True
        x = self.pick(lambda v: v.exact)
        condition, uses = self.r.choice((("s > 0.5", []), ("n > 1", []), ("n & 1", []), ("s > 0.5 && n < 2", []),
                                         (PARITY, [x] if x else None), (f"{PARITY} == 0", [x] if x else None)))
        if uses is None:
            return None
        block = Block(f"if ({condition}) {{", "}", uses)
        found = self.nested(block)
        if found and self.r.random() < 0.4:
            block.other = []
            self.other_arm(block)
        return found

    def other_arm(self, block):
        """The arm of else notes that it ran; it carries nothing."""
        e = Effect("fuzz_note(3);", [])
        e.owner = block
        block.other.append(e)

    def switch(self):
        if len(self.open) >= 2:
            return None
        self.broken = True
        return self.nested(Block(*self.r.choice((("switch (n) { case 1: fuzz_note(1); break; case 3: default: {", "} }"),
                                                 ("switch (n & 1) { case 0: fuzz_note(2); default: {", "break; } case 7: fuzz_note(7); }"),
                                                 ("switch (n) { case 0: case 3: {", "} break; default: fuzz_note(4); }")))))

    def constant_branch(self):
        self.folded = True
        return len(self.open) < 2 and self.nested(Block(*self.r.choice((("if (sizeof(int) == 4) {", "}"), ("if (tc_is_compiling() || 1) {", "}"),
                                                                      ("switch (sizeof(int)) { default: fuzz_note(1); break; case 4: {", "} }"))))) or None

    def choice(self, conditions):
        x = self.pick(lambda v: v.dtype != "bool")
        y = x and self.partner(x)
        return y and self.make(f"{self.r.choice(conditions)} ? tc_maximum(%0, %1) : tc_sub(%0, %1)", [x, y], x.dtype, x.shape)

    def known_choice(self):
        return self.choice(("sizeof(int) == 4", "tc_rank(%0) > 1", "tc_rank(%0) == tc_rank(%1) && 1"))

    def run_time_choice(self):
        v = self.choice(("n > 1", "s > 1", "n == 3 && s < 1", "(n & 1) == 0"))
        self.broken = self.broken or bool(v)
        return v

    def array_loop(self):
        """An array of tensors that is the function's own."""
        x = self.pick(lambda v: v.dtype != "bool")
        y = x and self.pick(lambda v: (v.dtype, v.shape) == (x.dtype, x.shape))
        q = f"q{self.count}"
        return x and self.make(f"NULL, *{q}[2] = {{(tc_tensor *)%0, (tc_tensor *)%1}}; @ = tc_neg({q}[0]); "
                               f"for (int i = 0; i < 2; i++) @ = tc_sub(@, {q}[i])", [x, y], x.dtype, x.shape) or None

    def scope(self):
        """TC_SCOPE, which the carried tensor leaves by tc_keep."""
        if len(self.open) >= 2 or any(b.keeps_last for b in self.open):
            return None
        block = Block("TC_SCOPE {")
        block.keeps_last = True
        found = self.nested(block)
        return found

    # ---- checks

    def count_check(self):
        """A number that is known behind a check of it, and counts rounds."""
        x = self.pick(lambda v: v.real)
        if self.open or self.members or not x or "count_check" in self.kinds:
            return None
        leave = "goto out;" if self.cleanup else "return NULL;"
        self.broken = self.broken or self.cleanup
        if self.form in ("struct", "nested", "global") and self.r.random() < 0.7:
            count = f"{self.name}_g.count" if self.form == "global" else "p->count"
            check, self.members = self.r.choice(((f"if ({count} != 2) {leave}", "n ? 2 : 3"), (f"assert({count} == 2);", "2"),
                                                 (f"if ({count} < 1 || {count} != 2) {leave}", "n ? 2 : 1")))
        else:
            check, count = self.r.choice(((f"if (n != 3) {leave}", "n"), (f"if (n < 1 || n > 5) {leave}", "2"), ("assert(n >= 0);", "2"),
                                          (f"if (!n) {leave}", "3"), (f"if (n == 3) ; else {leave}", "n")))
        self.effect(check)
        return self.make(f"tc_clone(%0); for (int i = 0; i < {count}; i++) @ = {self.r.choice(LOOP_BODIES).replace('%0', '@')}", [x], x.dtype, x.shape)

    # ---- early ends

    def leave(self):
        if self.open and any(b.keeps_last for b in self.open):
            return None
        x = self.pick(lambda v: v.dtype != "bool")
        kind = self.r.random()
        if kind < 0.5:
            self.folded = self.folded or x in self.params  # which nobody else may use
            return x and self.effect("if (!%0) goto out;" if self.cleanup else "if (!%0) return NULL;", [x])
        counter = self.open[-1].counter if self.open else None
        condition = self.r.choice(("n == 1", "n > 7", "s < 0") + (f"{counter} == 1",) * 3 * bool(counter))
        self.broken = True
        if not x:
            return None
        return self.effect(f"if ({condition}) {{ result = tc_neg(%0); goto out; }}" if self.cleanup else f"if ({condition}) return tc_neg(%0);", [x])

