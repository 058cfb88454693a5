"""docs/receipt-reference.md is what the receipt's schema gives, and it names every field of a real receipt."""

import base64
import json
import re
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/receipt-reference.md"


def pointers_of(value, at=""):
    """Every field below a value; places in lists as N."""
    if isinstance(value, dict):
        for name, child in value.items():
            here = f"{at}/{name.replace('~', '~0').replace('/', '~1')}"
            yield here
            yield from pointers_of(child, here)
    if isinstance(value, list):
        for child in value:
            yield from pointers_of(child, f"{at}/N")


class TheReferencePage(unittest.TestCase):
    def test_is_what_the_schema_gives(self):
        checked = subprocess.run([sys.executable, ROOT / "tools/receipt_reference.py", "--check"], capture_output=True, text=True,
                                 check=False)
        self.assertEqual(checked.returncode, 0, checked.stderr)

    def test_names_every_field_of_a_real_receipt(self):
        envelope = json.loads((ROOT / "results/nvidia-h200/small.assay.json").read_text())
        receipt = json.loads(base64.b64decode(envelope["payload"]))["predicate"]
        page = PAGE.read_text()
        named = set(re.findall(r"^\| `(/[^`]+)`", page, flags=re.M)) | {f"/{name}" for name in re.findall(r"^## `(\w+)`", page, flags=re.M)}
        same = dict(re.findall(r"^\| `(/[^`]+)/\.\.\.` \| \| the same as `([^`]+)/\.\.\.`", page, flags=re.M))
        open_maps = {pointer[:-2] for pointer in named if pointer.endswith("/*")}
        missing = set()
        for pointer in set(pointers_of(receipt)):
            while (start := next((start for start in same if pointer.startswith(f"{start}/")), None)) is not None:
                pointer = same[start] + pointer[len(start):]
            parent = pointer.rsplit("/", 1)[0]
            if pointer not in named and parent not in open_maps and not self.is_map(page, parent):
                missing.add(pointer)
        self.assertEqual(missing, set())

    @staticmethod
    def is_map(page, pointer):
        row = rf"^\| `{re.escape(pointer)}` \| object of |^## `{re.escape(pointer[1:])}`\n\nType: object of "
        return re.search(row, page, flags=re.M) is not None


if __name__ == "__main__":
    unittest.main()
