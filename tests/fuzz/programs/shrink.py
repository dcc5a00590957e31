"""Makes a function that fails smaller, as long as it fails in the same way."""
from runner import fails
from values import Block, Effect, Value


KINDS = ("crashed", "does not build", "no gradient leads to", "generator", "kernels did not run", "kernels ran on", "exceptions", "other threads",
         "leaves", "lies in operand", "differences: ")


def kind(why):
    return next((words for words in KINDS if words in why), "wrong")


class Shrinker:
    def __init__(self, o, f, why, ways, suffix):
        self.o, self.f, self.kind, self.ways = o, f, kind(why), ways
        self.path = f"{o.out}/shrunk_{o.seed}_{f.name}{suffix}"

    def still(self):
        found, _, _ = fails(self.o, [self.f], self.path, self.ways)
        return kind(found[self.f.name]) == self.kind if found else False

    def attempt(self, change, undo):
        change()
        if self.still():
            return True
        undo()
        return False

    def earlier_result(self):
        f, last = self.f, self.f.result
        for v in [s for s in f.body if isinstance(s, Value)]:
            f.result = v
            if self.still():
                return
        f.result = last

    def fewer_effects(self):
        f = self.f
        for e in [s for s in f.everything() if isinstance(s, Effect)]:
            self.attempt(lambda e=e: f.dropped.add(e), lambda e=e: f.dropped.discard(e))

    def replace(self, v, u):
        """u instead of v, wherever v is used."""
        def swap(a, b):
            for s in users:
                for name in ("uses", "condition"):
                    if hasattr(s, name):
                        setattr(s, name, [b if x is a else x for x in getattr(s, name)])
                for name in ("start", "last"):
                    if isinstance(s, Block) and getattr(s, name) is a:
                        setattr(s, name, b)
        users = [s for s in self.f.everything() if v in s.needs()]
        return self.attempt(lambda: swap(v, u), lambda: swap(u, v)) if users else False

    def fewer_values(self):
        f = self.f
        values = [s for s in f.everything() if isinstance(s, Value)]
        for v in reversed(values):
            if v is f.result or v not in f.live():
                continue
            sources = v.uses or ([v.block.start] if hasattr(v, "block") else [])
            for u in sources:
                if isinstance(u, Value) and (u.dtype, u.shape) == (v.dtype, v.shape) and self.replace(v, u):
                    break

    def run(self, why):
        if not self.kind.startswith("differences"):  # of the result that gradients are of
            self.earlier_result()
        self.fewer_effects()
        self.fewer_values()
        self.fewer_effects()
        found, _, _ = fails(self.o, [self.f], self.path, self.ways)
        return self.path, found.get(self.f.name, why)
