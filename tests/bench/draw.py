"""What tools/bench sweep draws: the same for a seed, every family and kind of row, work in bounds, C that fits the rows."""
import math
import random
import unittest

import numpy as np

import sweep_draw
import sweep_source
from sweep_families import CPU, GPU, SWEPT, form_of, log_uniform

ROWS = sweep_draw.drawn_rows(7, 600)


class Draw(unittest.TestCase):
    def test_same_for_a_seed(self):
        self.assertEqual(ROWS[:40], sweep_draw.drawn_rows(7, 40))
        self.assertNotEqual(ROWS[:40], sweep_draw.drawn_rows(8, 40))

    def test_bytes_are_bounded(self):
        for r in sweep_draw.drawn_rows(7, 60, most_bytes=1e6):
            self.assertLessEqual(r.form().bytes(r.size, 4), 1e6)

    def test_families_all_in_each_round(self):
        weights = {name: family.weight for name, family in SWEPT.items()}
        first = [r.family for r in ROWS[:sum(weights.values())]]
        self.assertEqual({name: first.count(name) for name in SWEPT}, weights)

    def test_kinds(self):
        for kinds in ({r.dtype for r in ROWS}, {r.threads for r in ROWS}, {r.constant for r in ROWS}):
            self.assertEqual(len(kinds), 2)
        self.assertEqual({kind for r in ROWS for kind, _, _ in r.layout.values()}, {"columns", "offset"})
        for family in SWEPT.values():
            drawn = [r.options for r in ROWS if r.family == family.name]
            if len(drawn) > 12 * len(family.forms):
                self.assertTrue(all(form in drawn for form in family.forms), family.name)

    def test_sizes(self):
        widths = [r.size["C"] for r in ROWS if "C" in r.size]
        self.assertTrue(any(w % 2 for w in widths) and any(w % 16 == 0 for w in widths))
        self.assertTrue(any(w < 64 for w in widths) and any(w > 4096 for w in widths))
        heights = [r.size["M"] for r in ROWS if "M" in r.size]
        self.assertTrue(min(heights) < 8 and max(heights) > 1000)

    def test_work_is_bounded(self):
        for bounds, rows in ((CPU, ROWS), (GPU, sweep_draw.drawn_rows(7, 200, bounds=GPU))):
            for r in rows:
                form = r.form()
                self.assertLessEqual(form.bytes(r.size, 1), 1.2 * bounds.most_elements + 8 * r.size.get("R", 0), r.label())
                if form.product or form.streams is None:
                    self.assertLessEqual(form.flops(r.size), 4 * bounds.most_products, r.label())

    def test_log_uniform(self):
        drawn = [log_uniform(random.Random(i), 16, 4096) for i in range(4000)]
        self.assertTrue(16 <= min(drawn) and max(drawn) <= 4096)
        below = sum(n < 256 for n in drawn) / len(drawn)
        self.assertAlmostEqual(below, math.log(256 / 16) / math.log(4096 / 16), delta=0.04)

    def test_forms_have_names(self):
        for r in ROWS:
            if ":" in r.form().peer:
                self.assertEqual(form_of(r.form().peer).options, r.options)

    def test_inputs_fit_references(self):
        """One small row of each form."""
        tiny = {letter: n for letter, n in zip("RCVMKNBHTSDOWP", (5, 6, 7, 3, 8, 2, 2, 3, 4, 4, 16, 5, 9, 3))}
        for family in SWEPT.values():
            for options in family.forms:
                form = family(**options)
                size = {**tiny, "H": 8} if "convolution" in family.name else tiny
                if family.name == "grouped_convolution":
                    size = form.whole({**size, "G": 2})
                results = form.reference(*form.inputs(size, np.random.default_rng(1)))
                results = results if isinstance(results, (list, tuple)) else [results]
                self.assertEqual(len(results), form.results, family.name)
                self.assertTrue(all(np.isfinite(r).all() for r in results), family.name)


class Source(unittest.TestCase):
    def test_rows_share_symbolic_functions(self):
        names = sweep_source.named(ROWS)
        symbolic = [r for r in ROWS if r.family == "softmax" and not r.constant and r.dtype == "f32"]
        self.assertEqual(len({names[sweep_source.code_key(r)] for r in symbolic}), 1)
        constant = [r for r in ROWS if r.family == "softmax" and r.constant]
        self.assertGreater(len({names[sweep_source.code_key(r)] for r in constant}), len(constant) // 2)

    def test_each_function_once(self):
        text = "".join(sweep_source.sources(ROWS).values())
        for name in sweep_source.named(ROWS).values():
            self.assertEqual(text.count(f" run_{name}("), 1)


unittest.main()
