"""scripts/claims.py: verdicts, intervals, and the arithmetic that data sheets leave no doubt about."""

import json
import sys
import unittest

from sweep_case import ROOT, TRNSIM, SweepCase

sys.path.insert(0, str(ROOT / "scripts"))
from claims import quantity, verdict  # noqa: E402


class Verdicts(unittest.TestCase):
    def test_a_claim_agrees_is_possible_or_not_so(self):
        self.assertEqual(verdict(4.4, 4.0, 5.0, [4.3, 4.5]), "agrees")
        self.assertEqual(verdict(4.0, 3.0, 4.3, [4.3, 4.5]), "possible")
        self.assertEqual(verdict(4.0, 3.0, 4.2, [4.3, 4.5]), "not so")
        self.assertEqual(verdict(6.0, 4.4, 7.0, [4.3, 4.5]), "possible")

    def test_quantities_are_read_in_si(self):
        for text, value in (("4.9 TB/s", 4.9e12), ("1.5 us", 1.5e-6), ("700 W", 700), ("4.00 USD/h", 4), (0.8, 0.8)):
            self.assertAlmostEqual(quantity(text) / value, 1, places=12)
        self.assertIsNone(quantity("as on the sled switch"))


class Table(SweepCase):
    def claims(self, *arguments):
        return self.script("claims.py", "--trnsim", TRNSIM, *arguments)

    def test_the_peak_of_an_ultraserver_is_that_of_its_chips(self):
        # 144 x 2,517 TFLOP/s = 362.4 PFLOP/s (AWS's data sheet), and 64 x 1,299 = 83.1: 4.36 times.
        done = self.claims("--only", "362 PFLOP/s")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("agrees    peak of 144 chips, PFLOP/s: 362; claimed 362 to 363", done.stdout)

    def test_the_table_goes_between_the_marks_of_a_page(self):
        page = self.folder / "page.md"
        page.write_text("before\n<!-- claims -->\nold\n<!-- end of claims -->\nafter\n")
        done = self.claims("--only", "chip to chip", "--markdown", page)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = page.read_text()
        self.assertTrue(text.startswith("before\n<!-- claims -->\n| claim |"))
        self.assertTrue(text.endswith("<!-- end of claims -->\nafter\n"))
        self.assertNotIn("old", text)
        self.assertIn("| worst in an UltraServer, us | below 10 |", text)

    def test_a_formula_of_no_figure_is_an_error(self):
        claims = json.loads((ROOT / "scenarios/claims/claims.json").read_text())
        claims["claims"] = claims["claims"][:1]
        claims["claims"][0]["figures"][0]["value"] = "own_peaks"
        path = self.write(claims, "claims.json")
        done = self.claims("--claims", path)
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no own_peaks", done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        del claims["claims"][0]["source"]
        done = self.claims("--claims", self.write(claims, "claims.json"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("claims.0.source: is missing", done.stderr)


if __name__ == "__main__":
    unittest.main()
