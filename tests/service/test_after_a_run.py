"""Webhooks, hooks, and what the command line shows of a server's runs: on the real program."""

import hashlib
import hmac
import http.server
import json
import os
import signal
import stat
import tempfile
import threading
import unittest
from pathlib import Path

from running_service import SMOKE, RunningService, inner_receipt, make_token

LOOPBACK = "127.0.0.1:0"
SECRET = "sixteen characters or more"


class Receiver:
    """An HTTP server that keeps what it is sent and answers with the statuses given, the last one for ever."""

    def __init__(self, *statuses):
        received, left = [], list(statuses)

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                received.append((self.path, dict(self.headers), body))
                self.send_response(left.pop(0) if len(left) > 1 else left[0])
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.received = received
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook?from=assay"
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def start_run(service, **changes):
    status, _, body = service.ask("POST", "/api/v1/runs", {**SMOKE, **changes})
    assert status == 202, body
    return json.loads(body)["id"]


def run_row(service, run):
    return json.loads(service.ask("GET", f"/api/v1/runs/{run}")[2])


def wait_for_end(service, run, seconds=60):
    service.wait_until(lambda: run_row(service, run)["state"] not in ("queued", "running"), seconds, f"the end of run {run}")
    return run_row(service, run)


class Webhooks(unittest.TestCase):
    def test_a_notice_is_signed_tried_again_and_delivered_once(self):
        with Receiver(503, 200) as receiver:
            config = {"listen": LOOPBACK, "webhooks": [{"url": receiver.url, "secret": SECRET}]}
            with RunningService(config=config, takes_runs=True) as service:
                run = start_run(service)
                wait_for_end(service, run)
                service.wait_until(lambda: len(receiver.received) == 2, 15, "the second attempt")
                (path, first, body), (_, second, same_body) = receiver.received
                self.assertEqual(path, "/hook?from=assay")
                self.assertEqual(body, same_body)
                self.assertEqual(first["Assay-Delivery"], second["Assay-Delivery"])
                expected = hmac.new(SECRET.encode(), f"{second['Assay-Timestamp']}.".encode() + body, hashlib.sha256).hexdigest()
                self.assertEqual(second["Assay-Signature"], "sha256=" + expected)
                notice = json.loads(body)
                self.assertEqual((notice["run_id"], notice["state"], notice["verdict"]), (run, "failed", "failed"))
                self.assertEqual(json.loads(service.ask("GET", "/api/v1/undelivered")[2]), {"undelivered": []})
                self.assertNotIn(SECRET, service.log())

    def test_a_refused_notice_is_a_dead_letter_at_once(self):
        with Receiver(410) as receiver:
            config = {"listen": LOOPBACK, "webhooks": [{"url": receiver.url, "secret": SECRET}]}
            with RunningService(config=config, takes_runs=True) as service:
                run = start_run(service)
                letters = lambda: json.loads(service.ask("GET", "/api/v1/undelivered")[2])["undelivered"]
                service.wait_until(lambda: len(letters()) == 1, 30, "the dead letter")
                self.assertEqual(letters()[0]["run_id"], run)
                self.assertIn("410", letters()[0]["last_error"])
                self.assertNotIn(SECRET, json.dumps(letters()))

    def test_only_the_verdicts_asked_for_are_told(self):
        with Receiver(200) as wanted, Receiver(200) as unwanted:
            hooks = [{"url": unwanted.url, "secret": SECRET, "verdicts": ["verified"]},
                     {"url": wanted.url, "secret": SECRET, "verdicts": ["failed"]}]
            with RunningService(config={"listen": LOOPBACK, "webhooks": hooks}, takes_runs=True) as service:
                start_run(service)
                service.wait_until(lambda: wanted.received, 30, "the notice")
            self.assertEqual(unwanted.received, [])


class CommandHooks(unittest.TestCase):
    def test_a_hook_gets_the_receipt_and_the_verdict_and_no_shell(self):
        with tempfile.TemporaryDirectory() as folder:
            program, out = Path(folder) / "hook", Path(folder) / "out.txt"
            program.write_text('#!/bin/sh\ntest -s "$ASSAY_RECEIPT" && printf "%s|%s|%s|%s\\n" "$1" "$ASSAY_RUN" "$ASSAY_VERDICT" "$ASSAY_STATE" >> "$2"\n')
            program.chmod(program.stat().st_mode | stat.S_IXUSR)
            literal = "$(touch /tmp/never); `id`"
            config = {"listen": LOOPBACK, "hooks": [{"command": [str(program), literal, str(out)]}]}
            with RunningService(config=config, takes_runs=True) as service:
                run = start_run(service)
                service.wait_until(out.exists, 30, "the hook's file")
                service.wait_until(lambda: out.read_text().endswith("\n"))
                self.assertEqual(out.read_text(), f"{literal}|{run}|failed|failed\n")

    def test_a_hook_that_hangs_is_ended_and_the_service_goes_on(self):
        config = {"listen": LOOPBACK, "hooks": [{"command": ["sleep", "600"], "timeout_seconds": 1}]}
        with RunningService(config=config, takes_runs=True) as service:
            start_run(service)
            service.wait_for_log("took longer than", 30)
            self.assertEqual(service.ask("GET", "/healthz")[0], 200)

    def test_terminate_ends_a_hook_in_progress(self):
        config = {"listen": LOOPBACK, "hooks": [{"command": ["sleep", "600"], "timeout_seconds": 600}]}
        with RunningService(config=config, takes_runs=True) as service:
            wait_for_end(service, start_run(service))
            service.process.send_signal(signal.SIGTERM)
            self.assertEqual(service.process.wait(timeout=20), 0)


class CommandLine(unittest.TestCase):
    def test_runs_logs_and_cancel_ask_the_server(self):
        token, entry = make_token("ci", "trigger")
        with RunningService(config={"listen": LOOPBACK, "tokens": [entry]}) as service:
            bearer = {"Authorization": f"Bearer {token}"}
            run = json.loads(service.ask("POST", "/api/v1/runs", SMOKE, bearer)[2])["id"]
            refused = service.client("runs")
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn("ASSAY_TOKEN", refused.stderr)
            with_token = {"ASSAY_TOKEN": token}
            listed = service.client("runs", "--state", "queued", environment=with_token)
            self.assertIn(run, listed.stdout)
            self.assertEqual(len(json.loads(service.client("runs", "--json", environment=with_token).stdout)["runs"]), 1)
            self.assertIn("queued", service.client("logs", run, environment=with_token).stdout)
            cancelled = service.client("cancel", run, environment=with_token)
            self.assertEqual(cancelled.returncode, 0, cancelled.stderr)
            self.assertIn("cancelled", cancelled.stdout)
            followed = service.client("logs", run, "--follow", environment=with_token)
            self.assertEqual(followed.returncode, 0, followed.stderr)
            self.assertIn("done {", followed.stdout)
            file = service.folder / "token"
            file.write_text(token + "\n")
            self.assertEqual(service.client("runs", "--token-file", str(file)).returncode, 0)
            self.assertNotIn(token, service.log() + listed.stdout + listed.stderr)
            self.assertEqual(service.client("logs", "../../etc/passwd", environment=with_token).returncode, 2)

    def test_a_remote_run_shows_its_progress_and_fetches_the_receipt(self):
        with RunningService("--listen", LOOPBACK, takes_runs=True) as service:
            output = service.folder / "remote.assay.json"
            done = service.client("run", "--preset", "smoke", "--steps", "3", "--warmup", "1", "--policy", "any", "--output", str(output), "--json")
            self.assertEqual(done.returncode, 5, done.stderr)  # there is no browser: failed
            self.assertNotEqual(done.stdout, "", done.stderr)
            self.assertEqual(json.loads(done.stdout), inner_receipt(output.read_bytes()))
            self.assertEqual(json.loads(done.stdout)["verdict"]["result"], "failed")
            self.assertIn("assay: run ", done.stderr)

    def test_a_server_that_is_not_there_is_named(self):
        with RunningService("--listen", LOOPBACK) as service:
            service.process.send_signal(signal.SIGTERM)
            service.process.wait(timeout=20)
            done = service.client("runs")
            self.assertEqual(done.returncode, 5, done.stderr)
            self.assertIn(f":{service.port}", done.stderr)


if __name__ == "__main__":
    unittest.main()
