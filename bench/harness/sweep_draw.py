"""The rows of `tools/bench sweep`, drawn: the same for a seed, whatever the count and wherever it runs.

Rows come in rounds; each round has every family `weight` times, in an order of its own."""
import dataclasses
import json
import math
import random

from families import ITEM
from sweep_families import CPU, SWEPT

LAYOUTS = (("dense", 14), ("columns", 3), ("offset", 3))  # of 20 rows


@dataclasses.dataclass
class Row:
    index: int
    family: str
    options: dict
    size: dict  # letter: number
    dtype: str
    threads: int
    constant: bool  # are sizes numbers in the annotations?
    layout: dict  # operand: (kind, left, right), of those that are not dense

    def form(self):
        return SWEPT[self.family](**self.options)

    def label(self):
        text = " ".join([self.family, *(f"{k}={v}" for k, v in self.options.items()), self.dtype,
                         "x".join(f"{letter}{n}" for letter, n in self.size.items())])
        return text + (" constant" if self.constant else "") + "".join({f" {kind}" for kind, _, _ in self.layout.values()})


def drawn_layout(rng, form):
    """Matrices as columns of wider ones, or behind an offset; all operands alike."""
    kind = rng.choices(*zip(*LAYOUTS))[0]
    if kind == "dense":
        return {}
    layout = {}
    for i, dims in enumerate(form.operand_dims()):
        if i not in form.index and "," in dims and not dims.endswith(",1"):
            layout[i] = (kind, rng.randint(1, 64), rng.randint(0, 64) if kind == "columns" else 0)
    return layout


def drawn_row(seed, index, family, dtypes, threads, most_bytes, bounds):
    rng = random.Random(f"{seed} {index}")
    size, options = SWEPT[family].draw(rng, bounds)
    while SWEPT[family](**options).bytes(size, ITEM["f32"]) > most_bytes:
        size, options = SWEPT[family].draw(rng, bounds)
    return Row(index, family, options, size, rng.choice(dtypes), rng.choice(threads), rng.random() < 0.3,
               drawn_layout(rng, SWEPT[family](**options)))


def drawn_rows(seed, count, dtypes=("f32", "bf16"), threads=(1, 2), most_bytes=math.inf, bounds=CPU):
    order, rows = [], []
    for index in range(count):
        if not order:
            order = [name for name, family in SWEPT.items() for _ in range(family.weight)]
            random.Random(f"{seed} order {index}").shuffle(order)
        rows.append(drawn_row(seed, index, order.pop(), dtypes, threads, most_bytes, bounds))
    return rows


# ---- options of the command line -----------------------------------------------------------------

def list_of(kind):
    return lambda text: [kind(x) for x in text.split(",") if x]


def add_row_options(p):
    p.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6), help="drawn and printed if not given")
    p.add_argument("--count", type=int, default=150)
    p.add_argument("--only", type=list_of(str), default=[], help="families, comma separated, of the rows drawn")
    p.add_argument("--rows", type=list_of(int), default=[], help="numbers of the rows drawn")
    p.add_argument("--again", metavar="JSON", default="", help="the rows of a run before")
    p.add_argument("--dtypes", type=list_of(str), default=["f32", "bf16"])
    p.add_argument("--most-bytes", type=float, default=math.inf, help="of the operands and results of a row, if they were f32")
    p.add_argument("--list", action="store_true", help="prints the rows and ends")


def rows_of_file(path):
    with open(path, encoding="utf-8") as f:
        return [Row(**{**r["row"], "layout": {int(k): tuple(v) for k, v in r["row"]["layout"].items()}}) for r in json.load(f)["rows"]]


def chosen_rows(options, threads, bounds=CPU):
    """The rows of the seed, or those of --again."""
    rows = (rows_of_file(options.again) if options.again
            else drawn_rows(options.seed, options.count, options.dtypes, threads, options.most_bytes, bounds))
    wanted = set(options.rows)
    return [r for r in rows if (not wanted or r.index in wanted) and (not options.only or r.family in options.only)]


def print_rows(rows):
    for row in rows:
        print(f"{row.index:4} {row.threads}T {row.label()} {row.layout or ''}")
