"""Steps of a random program that write in place: whole tensors, views of them, and parts whose place only
a number of the run tells."""
from in_place import InPlace
from sizes import Size, size, value
from values import INTS, Block

RUNS = range(3)
FAR = 1 << 62  # what INT64_MAX is here


class Position:
    """A C expression over numbers of the run, and its values in each of the three runs of the driver (a loop's
    counter takes several)."""

    def __init__(self, text, values):
        self.text, self.values = text, [list(v) for v in values]

    def plus(self, k):
        return Position(f"{self.text} {'+' if k > 0 else '-'} {abs(k)}", [[v + k for v in row] for row in self.values])

    def alike(self, text, values):
        """The same number for each of the values."""
        return Position(text, [[v] * len(row) for v, row in zip(values, self.values)])


NUMBERS = (("n", (3, 1, 0)), ("n", (3, 1, 0)), ("n - 1", (2, 0, -1)), ("n / 2", (1, 0, 0)), ("(n & 1) + 1", (2, 2, 1)),
           ("(int)(s * 4)", (3, 3, 3)), ("4 - n", (1, 3, 4)), ("7 - 2 * n", (1, 5, 7)), ("n - 2", (1, -1, -2)))
COUNTED = (("for (int @ = 0; @ < n; @++) {", "}", ((0, 1, 2), (0,), ())), ("for (int @ = n; @ > 0; @--) {", "}", ((3, 2, 1), (1,), ())),
           ("int @ = n; while (@-- > 0) {", "}", ((2, 1, 0), (0,), ())), ("int @ = 0; do {", "} while (++@ < n);", ((0, 1, 2), (0,), (0,))),
           ("for (int @ = 0;; @++) { if (@ >= n) break;", "}", ((0, 1, 2), (0,), ())),
           ("int @ = 0; for (double w@ = s; w@ < 1.6; w@ += 0.5, @++) {", "}", ((0, 1),) * 3),
           ("int @ = 0; while (@ < n && s > 0) {", "@++; }", ((0, 1, 2), (0,), ())),
           ("for (int @ = 0; @ < n + 1; @++) { if (@ == 1) continue;", "}", ((0, 2, 3), (0,), (0,))))

UPDATES = ("tc_mul_s_(%0, 0.875)", "tc_sub_(%0, tc_mul_s(%0, 0.25))", "tc_add_s_(tc_mul_s_(%0, 0.5), s)", "tc_tanh_(%0)")


class Writes(InPlace):
    """self.unfollowed: something was written that no segment may hold; views_written: views are operands of
    segments that fall back for them."""

    # ---- what is written

    @staticmethod
    def may_write(v):
        return not v.overlaps and all(u.values == "normal" for u in v.family)

    def target(self, test=lambda v: True):
        return self.pick(lambda v: self.may_write(v) and test(v))

    def looping(self):
        return any(b.counter for b in self.open)

    def written(self, x, exact):
        for v in x.family:
            v.exact, v.changed = v.exact and exact, True
            if v in self.params:
                self.writes = True
                v.written = True

    def put_write(self, x, y, whole):
        """x op= y, a part of `whole`.  What comes first in a loop has seen the writes of earlier rounds."""
        form = self.form_of(x, y)
        if not form:
            return None
        text, uses, exact = form
        exact = exact or not x.real
        if self.looping() and not exact and any(v.exact for v in whole.family):
            return None
        self.note_views(x)
        self.effect(f"{text};", uses)
        self.written(whole, exact)
        return x

    def note_views(self, x):
        """Writes that are no part of a segment: where a reshape may have copied what is a view itself, as a helper's
        result may be."""
        viewing = tuple(f"{name}(" for name, text in self.helpers.items() if "tc_transpose(tc_neg(" in text)
        self.views_written = self.views_written or any(v.viewed or v.text.startswith(viewing) for v in x.family)
        helpers = tuple(f"{name}(" for name in self.helpers)
        for v in x.family:
            inner = "tc_reshape(tc_" in v.text or (v.viewed and (v.viewed.viewed or v.viewed.text.startswith(helpers)))
            if inner and any(op in v.text for op in ("reshape", "flatten", "contiguous")):
                self.unfollowed = True

    # ---- whole tensors, and views

    def write(self):
        """A whole tensor: an operand, a result, or something local."""
        x = self.target(lambda v: bool(v.shape) and v.dtype != "bool")
        y = x and self.partner(x)
        return y and self.put_write(x, y, x)

    def updates(self):
        """The same update of several operands, each of a size of its own, as optimisers have them: one launch runs those."""
        if self.open:
            return None
        fits = [p for p in self.params if p.real and p.shape and self.may_write(p)]
        x = self.r.choice(fits) if fits else self.parameter("f32")
        others = [p for p in fits if p.dtype == x.dtype and p.shape != x.shape] if x else []
        found = [x] + (others or [x and self.parameter(x.dtype, self.parameter_shape(self.r.randint(1, 3)))])
        if not all(p and p.shape and self.may_write(p) for p in found):
            return None
        text = self.r.choice(UPDATES)
        for p in found:
            self.note_views(p)
            self.effect(f"{text};", [p])
            self.written(p, False)
        return found[-1]

    def write_view(self):
        """A part of a tensor, by one view or two."""
        x = self.target(lambda v: bool(v.shape) and v.dtype != "bool")
        kinds = "transpose permute slice slice select flip unsqueeze flatten".split()
        v = x and self.some_view(x, kinds)
        if v and v.shape and self.r.random() < 0.4:
            v = self.some_view(v, kinds) or v
        y = v and self.partner(v)
        return y and self.put_write(v, y, x)

    def in_place(self):
        """A write as part of an expression."""
        x = self.pick(lambda v: v.dtype != "bool" and v.shape)
        y = x and self.partner(x)
        if not y:
            return None
        form = self.form_of(x, y)
        if not form:
            return None
        text, uses, exact = form
        return self.make(text.replace("%0", "tc_clone(%0)"), uses, x.dtype, x.shape, exact)

    # ---- parts at positions known at run time only

    def position(self):
        """The count of a loop, or a number of the function."""
        loops = [b for b in self.open if b.counter]
        if loops and self.r.random() < 0.8:
            return Position(loops[-1].counter, loops[-1].rounds)
        text, values = self.r.choice(NUMBERS)
        return Position(text, [[v] for v in values])

    def ends(self, x, a, at):
        """Begin, end and step of a slice along axis a."""
        zero, far = at.alike("0", (0, 0, 0)), at.alike("INT64_MAX", (FAR,) * 3)
        last = at.alike(f"tc_size(%0, {a})", [value(x.shape[a], run) for run in RUNS])
        return self.r.choice(((at, at.plus(1), 1), (at, at.plus(1), 1), (at, at.plus(2), 1), (at, at.plus(3), 1), (zero, at.plus(1), 1),
                              (at, last, 1), (at, far, 1), (at, at.plus(4), 2), (at.plus(1), at.plus(-1), -1)))

    def lengths(self, x, a, begin, end, step):
        """In each run, of each slice."""
        axes = [range(value(x.shape[a], run)) for run in RUNS]
        return [[len(axis[i:j:step]) for i, j in zip(begin.values[run], end.values[run])] for run, axis in enumerate(axes)]

    def length(self, name, counts):
        """The same number in each run, or one that has a name (in a loop, for the most)."""
        known = {n for row in counts[:2] for n in row}
        if len(known) == 1:
            return known.pop()
        Size.VALUES[f"{self.name}_{name}"] = tuple(max(row, default=0) for row in counts)
        return size(f"{self.name}_{name}")

    def part(self, x):
        """A view of x at a position.  Kernels run where it lies inside of x and has a known length; others may be for
        the body, and are rare.  In the first run there are elements."""
        a, at = self.r.randrange(len(x.shape)), self.position()
        sizes = [value(x.shape[a], run) for run in RUNS[:2]]
        if self.r.random() < 0.4:
            inside = [0 <= i < d for d, row in zip(sizes, at.values) for i in row]
            outside, empty = not all(inside), not all(inside[:len(at.values[0])])
            text, shape = f"tc_select(%0, {a}, {at.text})", x.shape[:a] + x.shape[a + 1:]
        else:
            begin, end, step = self.ends(x, a, at)
            counts = self.lengths(x, a, begin, end, step)
            outside = any(not 0 <= i <= d - (step < 0 and p is begin) and i != FAR
                          for p in (begin, end) for d, row in zip(sizes, p.values) for i in row)
            empty = not all(counts[0])
            # a length that depends on the position may be taken for that of what it meets, where it is 1
            outside = outside or begin.text == "0" or end.text == "INT64_MAX" or "tc_size" in end.text
            text = f"tc_slice(%0, {a}, {begin.text}, {end.text}, {step})"
            shape = x.shape[:a] + (self.length(f"{x.name}({text})", counts),) + x.shape[a + 1:]
        if empty or (outside and self.r.random() < 0.8):
            return None
        v = self.view_of(x, text, shape)
        if v and outside:
            self.unfollowed = self.may_fall = True
        return v

    def read_part(self):
        x = self.pick(lambda v: v.shape)
        return x and self.part(x)

    def strided_part(self):
        """A step known at run time only, which is a graph break."""
        x = self.pick(lambda v: v.shape)
        a = x and self.r.randrange(len(x.shape))
        if not x:
            return None
        d = [value(x.shape[a], run) for run in RUNS]
        name = f"{self.name}_{x.name}[::(n & 1) + 1]"
        Size.VALUES[name] = tuple((count + step - 1) // step for count, step in zip(d, (2, 2, 1)))
        self.broken = self.views_written = True
        return self.view_of(x, f"tc_slice(%0, {a}, 0, INT64_MAX, (n & 1) + 1)", x.shape[:a] + (size(name),) + x.shape[a + 1:])

    def source(self, v, x):
        """What is written to v, a part of x: another part of x, which may overlap it, or of what is like x;
        something made of v; another dtype; or what broadcasts."""
        kind = self.r.random()
        if kind < 0.5:
            z = x if kind < 0.3 else self.pick(lambda u: (u.dtype, u.shape) == (x.dtype, x.shape))
            y = self.part(z)
            if y and y.shape == v.shape:
                return y
        if kind < 0.7:
            return self.make("tc_logical_not(%0)" if v.dtype == "bool" else "tc_neg(%0)", [v], v.dtype, v.shape, v.exact)
        if kind < 0.8:
            y = self.pick(lambda u: u.shape == v.shape and (u.real or u.dtype in INTS) and (v.real or u.dtype in INTS))
            if y and v.dtype != "bool":
                return y
        return self.partner(v)

    def put(self):
        """One part of a tensor or some, one after the other, which is read before and behind."""
        x = self.target(lambda v: bool(v.shape))
        if not x:
            return None
        before = self.make("tc_neg(%0)", [x], x.dtype, x.shape, x.exact) if x.dtype != "bool" and self.r.random() < 0.5 else None
        wrote = False
        for _ in range(self.r.choice((1, 1, 2, 3))):
            v = self.part(x)
            y = v and self.source(v, x)
            wrote = bool(y and self.put_write(v, y, x)) or wrote
        if not wrote:
            return None
        return self.make("tc_sub(%0, %1)", [before, x], x.dtype, x.shape) if before else x

    def position_loop(self):
        """A loop over the positions of what is written."""
        if len(self.open) >= 2:
            return None
        self.broken = True
        return self.nested(self.counted(), self.r.random() < 0.5, self.put)

    def counted(self):
        """A loop whose count is known at run time only."""
        i = f"i{self.count}"
        self.count += 1
        opening, closing, rounds = self.r.choice(COUNTED)
        block = Block(opening.replace("@", i), closing.replace("@", i))
        block.counter, block.rounds = i, rounds
        return block
