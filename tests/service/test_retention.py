"""`assay store prune` on the real program: the rows, their files, and what is left of the chain."""

import json
import sqlite3
import subprocess
import unittest

from running_service import PROGRAM, SMOKE, RunningService, clean_environment


def assay(*arguments):
    return subprocess.run([str(PROGRAM), *arguments], capture_output=True, text=True, timeout=60, env=clean_environment())


class Retention(unittest.TestCase):
    def test_prune_removes_old_rows_and_their_files_and_leaves_a_chain_that_is_only_shorter(self):
        with RunningService("--listen", "127.0.0.1:0", takes_runs=True) as service:
            for number in range(3):
                service.ask("POST", "/api/v1/runs", SMOKE, {"Content-Type": "application/json", "Idempotency-Key": str(number)})
            receipts = service.folder / "home/receipts"
            service.wait_until(lambda: len(list(receipts.glob("*.assay.json"))) == 3, 30, "three receipts")
            service.wait_until(lambda: not json.loads(service.ask("GET", "/api/v1/runs?state=running")[2])["runs"], 30, "the end")
            service.process.terminate()
            service.process.wait(timeout=20)
            home = service.folder / "home"
            database = sqlite3.connect(home / "assay.db")
            old, middle, newest = [row[0] for row in database.execute("SELECT id FROM receipts ORDER BY id")]
            database.execute("UPDATE receipts SET created_at = '2020-01-01T00:00:00.000Z' WHERE id <> ?", (middle,))
            database.execute("UPDATE runs SET created_at = '2020-01-01T00:00:00.000Z' WHERE receipt_id = ?", (old,))
            database.commit()
            database.close()
            done = assay("store", "prune", "--home", str(home), "--receipts-days", "30", "--runs-days", "30")
            self.assertEqual((done.returncode, done.stdout), (0, "1 receipts and 1 runs removed\n"), done.stderr)
            kept = sorted(file.name.split(".")[0] for file in receipts.glob("*.assay.json"))
            self.assertEqual(kept, [middle, newest])
            files = [str(receipts / f"{name}.assay.json") for name in kept]
            self.assertEqual(assay("verify", *files).returncode, 0)
            chain = assay("verify", "--chain", *files).stdout
            self.assertIn("CHAIN    no-start: ", chain)
            self.assertIn("receipt 0 is missing", chain)
            self.assertEqual(chain.count("CHAIN"), 1, chain)

    def test_prune_without_a_rule_removes_nothing_and_says_what_it_wants(self):
        done = assay("store", "prune", "--store", "sqlite:///nonexistent/assay.db")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--receipts-days", done.stderr)


if __name__ == "__main__":
    unittest.main()
