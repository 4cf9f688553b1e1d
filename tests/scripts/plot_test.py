"""scripts/plot.py: crossings and fronts with known places, and files that are what their names say."""

import math
import sys
import unittest

from sweep_case import ROOT, SweepCase, small_sweep

sys.path.insert(0, str(ROOT / "scripts"))
from sweeping.series import crossings, front, lines_of  # noqa: E402

try:
    import matplotlib
except ImportError:
    matplotlib = None


def row(x, y, stated="stated", **more):
    return {"run": 0, "chips": x, "step_time_s": y, "ends": stated} | more


class Series(unittest.TestCase):
    def test_power_laws_cross_where_they_are_equal(self):
        # y = x and y = 1000 / x meet at the root of 1000; straight lines in logarithms are exact for both.
        lines = {"up": [(x, x, x, x) for x in (1, 10, 100)], "down": [(x, 1000 / x, 0, 0) for x in (1, 10, 100)]}
        ((x, y, one, other),) = crossings(lines)
        self.assertAlmostEqual(x, math.sqrt(1000), places=9)
        self.assertAlmostEqual(y, math.sqrt(1000), places=9)
        self.assertEqual((one, other), ("up", "down"))

    def test_lines_that_keep_their_order_do_not_cross(self):
        lines = {"a": [(1, 1, 1, 1), (2, 2, 2, 2)], "b": [(1, 2, 2, 2), (2, 3, 3, 3)]}
        self.assertEqual(crossings(lines), [])

    def test_the_front_is_what_nothing_beats(self):
        self.assertEqual(front([(3, 1), (1, 5), (2, 6), (2, 2), (4, 1)]), [(1, 5), (2, 2), (3, 1)])

    def test_bands_span_the_ends_and_the_range_of_the_price(self):
        rows = [row(8, 2.0), row(8, 1.0, "high"), row(8, 4.0, "low")]
        self.assertEqual(lines_of(rows, "chips", "step_time_s", [], "ends"), {"step_time_s": [(8.0, 2.0, 1.0, 4.0)]})
        price = {"cost.usd_per_hour": 36.0, "cost.usd_per_hour_range.low": 18.0, "cost.usd_per_hour_range.high": 72.0}
        ((place, usd, low, high),) = lines_of([row(8, 100.0, **price)], "chips", "usd_per_step", [])["usd_per_step"]
        # 36 USD/h for 100 s is one dollar.
        for value, right in ((place, 8), (usd, 1), (low, 0.5), (high, 2)):
            self.assertAlmostEqual(value, right, places=12)

    def test_efficiency_compares_each_end_with_itself(self):
        rows = [row(n, 1.0, end, tokens_per_s_per_chip=speed * part) for n, part in ((1, 1), (2, 0.5)) for end, speed in (("stated", 4), ("low", 2))]
        points = lines_of(rows, "chips", "efficiency", [], "ends")["tokens_per_s_per_chip"]
        self.assertEqual(points, [(1.0, 1, 1, 1), (2.0, 0.5, 0.5, 0.5)])


@unittest.skipUnless(matplotlib, "python3-matplotlib is not installed")
class Pictures(SweepCase):
    def test_each_kind_of_picture_is_a_file_of_its_format_and_the_same_each_time(self):
        store = self.folder / "s.sqlite"
        self.sweep(self.write(small_sweep()), store)
        kinds = [
            ("curves", "--x", "chips", "--y", "step_time_s,efficiency", "--lines", "efficiency"),
            ("heatmap", "--x", "efficiency", "--y", "stage", "--panels", "units"),
            ("pareto", "--x", "step_time_s", "--y", "usd_per_step", "--lines", "stage"),
        ]
        for kind, *options in kinds:
            with self.subTest(kind):
                svg, png, again = (self.folder / name for name in ("a.svg", "a.png", "b.svg"))
                done = self.script("plot.py", kind, store, "small", *options, "-o", svg, "-o", png)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.script("plot.py", kind, store, "small", *options, "-o", again)
                self.assertTrue(png.read_bytes().startswith(b"\x89PNG"))
                self.assertIn("<svg", svg.read_text())
                self.assertEqual(svg.read_bytes(), again.read_bytes())

    def test_what_cannot_be_drawn_is_an_error(self):
        store = self.folder / "s.sqlite"
        self.sweep(self.write(small_sweep()), store)
        cases = [
            (("curves", store, "small", "--x", "chips", "--y", "nothing"), "no point has both 'chips' and 'nothing'"),
            (("curves", store, "small", "--x", "chips", "--y", "mfu"), "4 points have 'mfu' at 144"),
            (("heatmap", store, "small", "--x", "chips", "--y", "stage"), "several points are at"),
            (("pareto", store, "large", "--x", "chips", "--y", "mfu"), "has no sweep 'large'; it has 'small'"),
        ]
        for arguments, message in cases:
            with self.subTest(message):
                done = self.script("plot.py", *arguments, "-o", self.folder / "x.svg")
                self.assertEqual(done.returncode, 2)
                self.assertIn(message, done.stderr)
                self.assertFalse((self.folder / "x.svg").exists())


if __name__ == "__main__":
    unittest.main()
