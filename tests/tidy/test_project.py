"""The project keeps its own rules: one test a rule."""

import unittest
from pathlib import Path

import content_checks
import layout_checks
from tree import Tree

ROOT = Path(__file__).resolve().parents[2]


class ProjectKeepsItsRules(unittest.TestCase):
    maxDiff = None


def add_test(check):
    def test(self):
        found = check(Tree(ROOT))
        self.assertFalse(found, "\n" + "\n".join(str(finding) for finding in found))

    test.__doc__ = check.__doc__
    setattr(ProjectKeepsItsRules, f"test_{check.__name__.removeprefix('check_')}", test)


for each in [*layout_checks.CHECKS, *content_checks.CHECKS]:
    add_test(each)

if __name__ == "__main__":
    unittest.main()
