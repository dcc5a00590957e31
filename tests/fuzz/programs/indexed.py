"""Steps with the functions of tcompile/indexing.h: elements at places that several tensors of indices name, rows that are added
or written at indices, places of triangles, differences of neighbours."""
from math import prod

from sizes import less_one, named, size, value

RUNS = range(3)
FRONT, PAIR = "(const tc_tensor *[]){%1}", "(const tc_tensor *[]){%1, %2}"


def known(d):
    return isinstance(d, int) and d > 0


def places_in_triangle(op, rows, columns, k):
    """How many elements of the matrix tc_tril or tc_triu keeps; None where there may be none but for sizes 0 and 1, of which
    kernels of a maximum may be refused."""
    counts = []
    for run in RUNS:
        inside = [(i, j) for i in range(value(rows, run)) for j in range(value(columns, run))]
        counts.append(sum(j - i <= k if op == "tril" else j - i >= k for i, j in inside))
    if not (counts[0] and counts[1]):
        return None
    return counts[0] if isinstance(rows, int) and isinstance(columns, int) else named(f"{op}({rows},{columns},{k})", counts)


class Indexed:
    def indices(self, shape, bound):
        """An operand of indices below the bound."""
        return self.pick(lambda v: v.values == "index" and v.bound <= bound and v.shape == shape) or \
            self.parameter(self.r.choice(("i64", "i32")), shape, "index", bound)

    def elements_at(self):
        """Elements at places: along one axis, or along two by two tensors of indices; they may be written."""
        x = self.pick(lambda v: any(map(known, v.shape)))
        if not x:
            return None
        r, s = self.r, x.shape
        pairs = [a for a in range(len(s) - 1) if known(s[a]) and known(s[a + 1])]
        n = 2 if pairs and r.random() < 0.7 else 1
        a = r.choice(pairs if n == 2 else [a for a, d in enumerate(s) if known(d)])
        m = r.choice((size("M"), size("N"), 4))
        first = self.indices(r.choice(((m,), (m, 1), ())) if n == 2 else (m,), s[a])
        second = first and n == 2 and self.indices(r.choice(((m,), first.shape)), s[a + 1])
        if not first or (n == 2 and not second):
            return None
        at = first.shape if n == 1 else (first.shape[:1] + second.shape if len(first.shape) == 2 and second.shape == (m,) else max(first.shape, second.shape, key=len))
        index, uses = (FRONT, [first]) if n == 1 else (PAIR, [first, second])
        if r.random() < 0.4:  # counted from the end
            index = index.replace("%1", f"tc_sub_s(%1, {s[a]})")
        call = f"%0, {r.choice((a, a - len(s)))}, {index}, {n}"
        shape = s[:a] + at + s[a + n:]
        if r.random() < 0.5:
            return self.layer(f"tc_index({call})", [x] + uses, x.dtype, shape, x.exact)
        return self.put_at(x, call, uses, shape)

    def put_at(self, x, call, uses, shape):
        """Written there: a value of their shape, or of one that is broadcast to it."""
        fits = [shape[i:] for i in range(len(shape) + 1)]
        y = self.pick(lambda v: v.shape in fits and (v.dtype == x.dtype or (v.exact and not v.real)))
        adds = self.r.random() < 0.4 and x.dtype != "bool"
        return y and self.layer(f"tc_index_put({call}, %{len(uses) + 1}, {'true' if adds else 'false'})", [x] + uses + [y], x.dtype, x.shape,
                                x.exact and y.exact and not adds)

    def taken(self):
        x = self.pick(lambda v: all(map(known, v.shape)))
        i = x and self.pick(lambda v: v.values == "index" and v.bound <= prod(x.shape))
        i = i or (x and self.parameter(self.r.choice(("i64", "i32")), (size("M"), 3), "index", prod(x.shape)))
        return i and self.layer("tc_take(%0, %1)", [x, i], x.dtype, i.shape, x.exact)

    def rows_at(self):
        """Rows along an axis, which are added to those at indices, or take their place."""
        x = self.pick(lambda v: any(map(known, v.shape)) and v.dtype != "bool")
        if not x:
            return None
        r, s = self.r, x.shape
        a, m = r.choice([a for a, d in enumerate(s) if known(d)]), r.choice((size("M"), 3))
        i = self.indices((m,), s[a])
        if not i:
            return None
        y = not self.chooses(indices=True) and self.pick(lambda v: v.dtype == x.dtype and v.shape == s[:a] + (m,) + s[a + 1:])
        rows, exact = ("%2", y.exact) if y else (f"tc_flip(tc_index_select(%0, {a}, %1), TC_AXES({a}))", x.exact)
        op, alpha = r.choice((("index_copy", ""), ("index_add", ", 1"), ("index_add", ", 2")))
        return self.layer(f"tc_{op}(%0, {r.choice((a, a - len(s)))}, %1, {rows}{alpha})", [x, i] + [y] * bool(y), x.dtype, s,
                          x.exact and exact and op == "index_copy")

    def triangle(self):
        """The places of a triangle, of a matrix of known sizes or of an operand's."""
        r, x = self.r, self.pick(lambda v: len(v.shape) >= 2)
        op, k = r.choice(("tril", "triu")), r.choice((-2, -1, 0, 1))
        rows, columns = (r.choice((1, 4)), r.choice((1, 3, 5)))
        sizes = f"{rows}, {columns}"
        if x and r.random() < 0.5:
            (rows, columns), sizes = x.shape[:2], "tc_size(%0, 0), tc_size(%0, 1)"
        count = places_in_triangle(op, rows, columns, k)
        return count and self.layer(f"tc_{op}_indices({sizes}, {k})", [x] if "%0" in sizes else [], "i64", (2, count), True)

    def difference(self):
        x = self.pick(lambda v: v.shape)
        if not x:
            return None
        a, n = self.r.randrange(len(x.shape)), self.r.choice((0, 1, 1, 1, 2))
        d = x.shape[a]
        for _ in range(n):
            d = less_one(d)
        make = self.layer if n else self.shared_layer  # not a copy
        return make(f"tc_diff(%0, {n}, {self.r.choice((a, a - len(x.shape)))})", [x], x.dtype, x.shape[:a] + (d,) + x.shape[a + 1:], x.exact and not n)
