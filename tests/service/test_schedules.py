"""Schedules on the real program: run-now, pause, one catch-up after a stop."""

import datetime
import json
import sqlite3
import unittest

from running_service import RunningService


def make(service, **changes):
    body = {"name": "nightly", "cron": "0 3 * * *", "time_zone": "Europe/Berlin", "request": {"preset": "smoke", "policy": "any"}, **changes}
    status, _, text = service.ask("POST", "/api/v1/schedules", body, {"Content-Type": "application/json"})
    assert status == 201, text
    return json.loads(text)


def runs(service):
    return json.loads(service.ask("GET", "/api/v1/runs?limit=500")[2])["runs"]


class Schedules(unittest.TestCase):
    def test_run_now_pause_and_resume(self):
        with RunningService("--listen", "127.0.0.1:0") as service:
            schedule = make(service)
            self.assertEqual(service.ask("POST", f"/api/v1/schedules/{schedule['id']}/run")[0], 202)
            self.assertEqual(len(runs(service)), 1)
            self.assertEqual(runs(service)[0]["schedule_id"], schedule["id"])
            status, _, paused = service.ask("POST", f"/api/v1/schedules/{schedule['id']}/pause")
            self.assertEqual((status, json.loads(paused)["paused"]), (200, True))
            status, _, resumed = service.ask("POST", f"/api/v1/schedules/{schedule['id']}/resume")
            self.assertEqual((status, json.loads(resumed)["paused"]), (200, False))

    def test_after_a_long_stop_one_run_catches_up(self):
        first = RunningService("--listen", "127.0.0.1:0")
        with first as service:
            schedule = make(service, cron="*/5 * * * *", time_zone="UTC")
            service.process.terminate()
            service.process.wait(timeout=20)
            database = sqlite3.connect(service.folder / "home/assay.db")
            [text] = database.execute("SELECT text FROM documents WHERE kind = 'schedules'").fetchone()
            stored = json.loads(text)
            stopped = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=10)
            stored["checked_until"] = stopped.strftime("%Y-%m-%dT%H:%M:%S.000Z")
            database.execute("UPDATE documents SET text = ? WHERE id = ?", (json.dumps(stored), schedule["id"]))
            database.commit()
            database.close()
            service.process.stdout.close()
            service.__enter__()
            service.wait_until(lambda: runs(service), 20, "the catch-up run")
            shown = json.loads(service.ask("GET", f"/api/v1/schedules/{schedule['id']}")[2])
            self.assertEqual(len(runs(service)), 1)
            self.assertGreaterEqual(shown["missed"], 100)


if __name__ == "__main__":
    unittest.main()
