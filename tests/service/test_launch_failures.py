"""Browsers that do not come up: the slot that a run held is free again, and the queue moves on."""

import json
import unittest

from running_service import SMOKE, RunningService


def start_run(service):
    status, _, text = service.ask("POST", "/api/v1/runs", SMOKE, {"Content-Type": "application/json"})
    assert status == 202, text
    return json.loads(text)["id"]


class LaunchFailures(unittest.TestCase):
    def test_a_failed_launch_frees_its_slot_for_every_run_behind_it(self):
        with RunningService("--listen", "127.0.0.1:0", takes_runs=True) as service:
            waiting = [start_run(service) for _ in range(4)]

            def ended():
                rows = [json.loads(service.ask("GET", f"/api/v1/runs/{run}")[2]) for run in waiting]
                return all(row["state"] == "failed" and row.get("receipt_id") for row in rows)

            service.wait_until(ended, 30, "the end of every run")


if __name__ == "__main__":
    unittest.main()
