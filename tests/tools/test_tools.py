"""The set-up scripts' own logic: versions, what counts as missing, what a suite's log says, a cluster that always ends."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def bash(script, **environment):
    return subprocess.run(
        ["bash", "-c", f"set -euo pipefail; source '{ROOT}/tools/lib/common.sh'; {script}"],
        capture_output=True, text=True, timeout=120, env={**os.environ, **environment})


class Versions(unittest.TestCase):
    def test_versions_compare_as_numbers_part_by_part(self):
        for have, want, answer in [
            ("4.0.10", "4.0.10", 0), ("4.0.9", "4.0.10", 1), ("6.0.5", "4.0.10", 0), ("3.1.6", "4.0.10", 1),
            ("18", "18", 0), ("20.1", "18", 0), ("1.81", "1.81.0", 0), ("1.08", "1.9", 1), ("4.0.10-git", "4.0.10", 0),
        ]:
            result = bash(f"version_at_least {have} {want}")
            self.assertEqual(result.returncode, answer, f"{have} >= {want}: {result.stderr}")


class Progress(unittest.TestCase):
    def test_a_failing_step_shows_the_end_of_its_log_and_keeps_its_status(self):
        with tempfile.TemporaryDirectory() as folder:
            result = bash(f"with_progress 'a step' {folder}/log sh -c 'echo the reason; exit 7' || echo status $?")
        self.assertIn("status 7", result.stdout)
        self.assertIn("the reason", result.stderr)

    def test_a_step_prints_nothing_on_standard_output(self):
        with tempfile.TemporaryDirectory() as folder:
            result = bash(f"with_progress 'a step' {folder}/log echo noise")
        self.assertEqual((result.returncode, result.stdout), (0, ""))


class Dependencies(unittest.TestCase):
    def install(self, script):
        return bash(f"source '{ROOT}/tools/lib/install.sh'; {script}")

    def test_a_command_on_the_path_meets_its_dependency(self):
        result = self.install(
            "dependency_lines() { echo 'no-such-package command=bash'; }; missing_dependencies run")
        self.assertEqual(result.stdout, "", result.stderr)

    def test_an_older_alternative_does_not_stand_in_for_a_newer_one_that_apt_has(self):
        result = self.install(
            "dependency_lines() { echo 'new | old'; }; is_installed() { [[ $1 == old ]]; }; "
            "is_known_to_apt() { [[ $1 == new ]]; }; missing_dependencies run")
        self.assertEqual(result.stdout.split(), ["new", "old"], result.stderr)

    def test_the_first_alternative_that_is_known_or_installed_counts(self):
        result = self.install(
            "dependency_lines() { echo 'absent | there'; }; is_installed() { [[ $1 == there ]]; }; "
            "is_known_to_apt() { [[ $1 == there ]]; }; missing_dependencies run")
        self.assertEqual(result.stdout, "", result.stderr)

    def test_groups_are_read_apart_and_comments_dropped(self):
        result = self.install("dependency_lines package")
        self.assertEqual(result.stdout.split("\n")[0].split(), ["dpkg-dev", "command=dpkg-shlibdeps"], result.stderr)
        self.assertNotIn("#", self.install("dependency_lines run").stdout)


class Counts(unittest.TestCase):
    def count(self, log):
        result = subprocess.run(
            ["awk", "-f", ROOT / "tools/lib/count_tests.awk"], input=log, capture_output=True, text=True, check=True)
        return tuple(int(number) for number in result.stdout.split())

    def test_every_runner_is_counted(self):
        self.assertEqual(self.count("1: [doctest] test cases: 12 | 11 passed | 1 failed | 0 skipped\n"), (11, 1))
        self.assertEqual(self.count("\033[2m      Tests \033[22m 1 failed | 12 passed (13)\n"), (12, 1))
        self.assertEqual(self.count("# pass 4\n# fail 2\n"), (4, 2))
        self.assertEqual(self.count("Ran 5 tests in 0.1s\n\nOK\n"), (5, 0))
        self.assertEqual(self.count("Ran 5 tests in 0.1s\n\nFAILED (failures=1, errors=1)\n"), (3, 2))
        self.assertEqual(self.count("[check] passed: a\n[check] failed: b\n"), (1, 1))

    def test_a_test_program_that_hung_or_crashed_is_a_failure(self):
        self.assertEqual(self.count("1/2 Test #1: core ....***Timeout 300.0 sec\n"), (0, 1))
        self.assertEqual(self.count("1/2 Test #1: core ....***Exception: SegFault  1.0 sec\n"), (0, 1))

    def test_words_in_other_lines_do_not_count(self):
        self.assertEqual(self.count("3 passed the gate\nTest Files  2 passed (2)\n"), (0, 0))


class ThrowawayPostgresql(unittest.TestCase):
    def run_with(self, *command):
        return subprocess.run(
            [ROOT / "tools/lib/with_postgresql.sh", *command], capture_output=True, text=True, timeout=120)

    def test_the_command_finds_a_server_and_its_status_is_handed_on(self):
        result = self.run_with("bash", "-c", 'psql "$ASSAY_TEST_POSTGRESQL" -Atc "select 40 + 2"; exit 9')
        self.assertEqual((result.returncode, result.stdout), (9, "42\n"), result.stderr)

    def test_no_server_and_no_folder_stay(self):
        result = self.run_with("bash", "-c", 'echo "$ASSAY_TEST_POSTGRESQL_FOLDER"; head -1 "$ASSAY_TEST_POSTGRESQL_FOLDER/data/postmaster.pid"')
        folder, server = result.stdout.split()
        self.assertFalse(Path(folder).exists())
        self.assertFalse(Path(f"/proc/{server}").exists())

    def test_without_a_command_it_says_how_to_use_it(self):
        result = self.run_with()
        self.assertEqual(result.returncode, 1)
        self.assertIn("usage:", result.stderr)


if __name__ == "__main__":
    unittest.main()
