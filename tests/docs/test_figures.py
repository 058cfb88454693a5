"""The README's curve and its table are what the receipts under results/ give."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ASSAY = Path(os.environ.get("ASSAY_BUILD", ROOT / "build/release")) / "bin" / "assay"


def draw(root, *options):
    command = [sys.executable, str(root / "tools/figures/draw_curve.py"), str(ASSAY), *options]
    return subprocess.run(command, text=True, capture_output=True, check=False)


class CurveOfTheReadme(unittest.TestCase):
    def test_is_drawn_from_the_receipts(self):
        done = draw(ROOT, "--check")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_figure_that_no_receipt_gives_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder)
            for name in ("results", "docs", "tools/figures"):
                shutil.copytree(ROOT / name, copy / name)
            readme = (ROOT / "README.md").read_text()
            (copy / "README.md").write_text(readme.replace("| verified |", "| inconclusive |", 1))
            done = draw(copy, "--check")
            self.assertEqual(done.returncode, 1)
            self.assertIn("README.md", done.stderr)
            self.assertNotIn("curve.svg", done.stderr)


if __name__ == "__main__":
    unittest.main()
