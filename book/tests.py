#!/usr/bin/env python3
"""What the book makes of figures: charts, tables, verdicts. `book/tests.py` checks it; nothing is measured."""

import json
import math
import re
import unittest
from types import SimpleNamespace
from xml.etree import ElementTree

import chapters
import page
import svg
from result import Result, holds, plain, spread

BARS = {"kind": "bars", "title": "A <title>", "axis": "µs & more", "groups": {"": {"thrum": [1.0, 3.0, 2.0], "peer": [0.5]}}, "log": False}
LINES = {
    "kind": "lines",
    "title": "t",
    "x": "pipes",
    "y": "seconds",
    "lines": {"thrum": [[100, [1.0, 2.0]], [83_898, [4.0]]], "GHC": [[100, [9.0]], [83_898, [None]]]},
    "log": "xy",
}


def texts(chart: dict) -> list[str]:
    return ["".join(each.itertext()) for each in ElementTree.fromstring(svg.draw(chart)).iter("text")]


class Charts(unittest.TestCase):
    def test_bars_are_as_long_as_their_medians(self):
        widths = [float(each.get("width")) for each in ElementTree.fromstring(svg.draw(BARS)).iter("rect")]
        self.assertAlmostEqual(widths[0] / widths[1], 2 / 0.5, delta=0.01)

    def test_a_chart_says_what_it_shows_with_the_spread(self):
        said = texts(BARS)
        for words in ["A <title>", "µs & more", "thrum", "2.00  (1.00 .. 3.00)"]:
            self.assertIn(words, said)

    def test_what_is_thrums_stands_out(self):
        chart = {**BARS, "groups": {"thrum": {"alone": [1.0]}, "GHC": {"alone": [1.0]}, "local": {"thrum": [1.0]}}}
        styles = [each.get("class") for each in ElementTree.fromstring(svg.draw(chart)).iter("rect")]
        self.assertEqual(styles, ["thrum", "peer", "thrum"])

    def test_who_was_never_answered_has_no_bar(self):
        chart = {**BARS, "groups": {"": {"thrum": [1.0], "starved": [None]}}}
        self.assertIn("none", texts(chart))
        self.assertEqual(len(list(ElementTree.fromstring(svg.draw(chart)).iter("rect"))), 1)

    def test_a_logarithmic_axis_has_equal_steps(self):
        axis = svg.Axis([100, 83_898], 0, 100, log=True)
        self.assertAlmostEqual(axis.at(1000) - axis.at(100), axis.at(10_000) - axis.at(1000))
        self.assertEqual(axis.ticks(), [100, 1000, 10_000, 100_000])

    def test_a_linear_axis_begins_at_zero_and_has_round_ticks(self):
        self.assertEqual(svg.Axis([7.1, 14.3], 0, 100, log=False, zero=True).ticks(), [0, 5, 10])

    def test_lines_end_where_nothing_was_measured(self):
        circles = list(ElementTree.fromstring(svg.draw(LINES)).iter("circle"))
        self.assertEqual(len(circles), 3)

    def test_names_at_the_ends_of_lines_do_not_overlap(self):
        ends = {f"peer {number}": (10.0, 50.0, "peer0") for number in range(10)}
        places = [float(place) for place in re.findall(r'<text[^>]* y="([\d.]+)"', "".join(svg.end_names(ends, 20, 0, 200)))]
        self.assertTrue(all(below - above >= 11.9 for above, below in zip(places, places[1:])), places)


class Results(unittest.TestCase):
    def test_a_bar_is_held_by_the_median(self):
        self.assertTrue(holds(("", [0.5, 0.9, 5.0], "at most", 0.9)))
        self.assertFalse(holds(("", [0.5, 0.9, 5.0], "at least", 1)))

    def test_a_file_has_no_infinity(self):
        result = Result()
        result.table(["a"]).row(spread([math.inf, math.inf]))
        result.line_chart("t", "x", "y", {"thrum": [(1, [math.inf])]})
        found = json.loads(json.dumps(result.figures(), allow_nan=False))
        self.assertEqual(found["tables"][0]["rows"], [[{"values": [None, None], "digits": 2}]])
        self.assertEqual(plain(-math.inf), None)

    def test_a_cell_shows_the_median_and_the_spread(self):
        self.assertEqual(page.cell({"values": [1.0, 3.0, 2.0], "digits": 1}), '<td class="figure">2.0 <small>[1.0 .. 3.0]</small></td>')
        self.assertIn("none", page.cell({"values": [None], "digits": 1}))


class Pages(unittest.TestCase):
    def test_the_sources_of_each_chapter_are_there(self):
        for name, module in chapters.modules().items():
            with self.subTest(name):
                self.assertEqual(page.programs(module).count("<figure>"), len(module.PROGRAMS))
                self.assertTrue(all(page.words(module)) and module.MEANING)

    def test_a_source_is_a_file_or_a_function_of_one(self):
        path, content = page.source("book/svg.py#short")
        self.assertEqual(path, "book/svg.py")
        self.assertTrue(content.startswith("def short(") and "def heading" not in content)

    def test_a_chapter_is_shown_with_what_it_missed(self):
        result = Result()
        result.table(["server", "µs"]).row("thrum", spread([2.0]))
        result.at_most("cost", [2.0], 1)
        about = {"machine": "m", "date": "d", "rounds": 1, "seconds": 2, "took_s": 60, "skipped": ["Caddy (not installed)"]}
        module = SimpleNamespace(__doc__="Title: a question?", MEANING="It `means`.", PROGRAMS={"thrum": "examples/pong.rs"})
        shown = page.section(3, "name", module, json.loads(json.dumps({**about, **result.figures()})))
        for words in ["A question?", "missed", "It <code>means</code>.", "examples/pong.rs", "Skipped: Caddy", "1 round of 2 s"]:
            self.assertIn(words, shown)


if __name__ == "__main__":
    unittest.main()
