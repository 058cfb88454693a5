"""protocols/openapi.yaml against the running server: every operation is there, its examples work, its answers have its form."""

import json
import os
import re
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("ASSAY_BUILD", ROOT / "build/release"))
PROGRAM = BUILD / "bin/assay"
METHODS = ("get", "post", "put", "delete")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.port = free_port()
        self.process = subprocess.Popen(
            [PROGRAM, "serve", "--listen", f"127.0.0.1:{self.port}", "--home", f"{self.folder.name}/home",
             "--agents-only"],  # nothing is measured here: what is queued stays queued
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise RuntimeError(self.process.stderr.read())
            try:
                if self.ask("GET", "/healthz")[0] == 200:
                    return
            except OSError:
                time.sleep(0.05)
        raise RuntimeError("the server does not answer")

    def ask(self, method, path, body=None, headers=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data=data, method=method.upper(), headers=headers or {})
        if data is not None:
            request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, dict(answer.headers), answer.read()
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code, dict(refused.headers), refused.read()

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=30)
        self.process.stderr.close()
        self.folder.cleanup()


class Form:
    """As much of JSON Schema as the description uses."""

    def __init__(self, api):
        self.api = api

    def resolved(self, value):
        while "$ref" in value:
            at = self.api
            for name in value["$ref"][2:].split("/"):
                at = at[name]
            value = at
        return value

    def wrong(self, schema, value, at=""):
        schema = self.resolved(schema)
        kinds = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool}
        found = [each for part in schema.get("allOf", []) for each in self.wrong(part, value, at)]
        kind = schema.get("type")
        if kind and (not isinstance(value, kinds[kind]) or (isinstance(value, bool) and kind != "boolean")):
            return found + [f"{at} is no {kind}: {value!r}"]
        if "const" in schema and value != schema["const"]:
            found.append(f"{at} is not {schema['const']!r}")
        if "enum" in schema and value not in schema["enum"]:
            found.append(f"{at} is {value!r}, none of {schema['enum']}")
        if isinstance(value, dict):
            found += [f"{at}/{name} is missing" for name in schema.get("required", []) if name not in value]
            for name, each in schema.get("properties", {}).items():
                if name in value:
                    found += self.wrong(each, value[name], f"{at}/{name}")
        if isinstance(value, list) and "items" in schema:
            for index, each in enumerate(value):
                found += self.wrong(schema["items"], each, f"{at}/{index}")
        return found


class TheDescriptionAndTheServer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.addClassCleanup(cls.server.stop)
        status, _, body = cls.server.ask("GET", "/api/v1/openapi.json")
        assert status == 200, status
        cls.api = json.loads(body)
        cls.form = Form(cls.api)

    def media_of(self, operation, status):
        response = self.form.resolved(operation["responses"][str(status)])
        return response.get("content", {})

    def check(self, method, path, operation, answer):
        """The answer is one that the description names, and its body has the form given there."""
        status, headers, body = answer
        self.assertIn(str(status), operation["responses"], f"{method} {path}: {body[:400]}")
        media = self.media_of(operation, status)
        kind = headers.get("Content-Type", "").split(";")[0]
        if media:
            self.assertIn(kind, media, f"{method} {path}")
            if kind.endswith("json"):
                self.assertEqual(self.form.wrong(media[kind]["schema"], json.loads(body)), [], f"{method} {path}")

    def operation(self, name):
        for path, item in self.api["paths"].items():
            for method in METHODS:
                if item.get(method, {}).get("operationId") == name:
                    return method, path, item[method]
        raise KeyError(name)

    def call(self, operation_id, body=None, headers=None, query="", **captures):
        method, path, operation = self.operation(operation_id)
        path = re.sub(r"\{(\w+)\}", lambda match: captures[match.group(1)], path)
        answer = self.server.ask(method, path + query, body, headers)
        self.check(method, path, operation, answer)
        return answer[0], json.loads(answer[2]) if answer[2] and "json" in answer[1].get("Content-Type", "") else answer[2]

    def test_every_operation_exists_and_every_path_names_its_methods(self):
        for path, item in self.api["paths"].items():
            status, headers, _ = self.server.ask("OPTIONS", re.sub(r"\{\w+\}", "x", path))
            self.assertEqual(status, 204, path)
            allowed = set(headers["Allow"].replace(" ", "").split(","))
            for method in METHODS:
                if method in item:
                    self.assertIn(method.upper(), allowed, path)

    def test_examples_of_bodies_are_accepted(self):
        for path, item in self.api["paths"].items():
            for method in METHODS:
                operation = item.get(method, {})
                examples = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("examples", {})
                for name, example in examples.items():
                    answer = self.server.ask(method, path, example["value"])
                    self.check(method, path, operation, answer)
                    self.assertLess(answer[0], 300, f"{name}: {answer[2]}")

    def test_reading_without_anything_there_has_the_documented_form(self):
        for name in ("listRuns", "listReceipts", "getCurve", "listPresets", "listPolicies", "listMachines", "listSchedules",
                     "getHealth", "getReadiness", "getMetrics", "listUndelivered"):
            with self.subTest(name):
                self.assertEqual(self.call(name)[0], 200)

    def test_a_run_can_be_asked_for_read_and_cancelled(self):
        status, accepted = self.call("createRun", {"preset": "smoke", "policy": "any"}, {"Idempotency-Key": "openapi"})
        self.assertEqual(status, 202)
        self.assertEqual(self.call("getRun", id=accepted["id"])[0], 200)
        self.assertIn(self.call("cancelRun", id=accepted["id"])[0], (200, 202))
        status, again = self.call("createRun", {"preset": "tiny"}, {"Idempotency-Key": "openapi"})
        self.assertEqual(status, 409)

    def test_failures_have_the_form_of_a_problem(self):
        self.assertEqual(self.call("createRun", {"preset": "smoke", "steps": 0})[1]["pointer"], "/steps")
        self.assertEqual(self.call("listRuns", query="?limit=0")[1]["pointer"], "?limit")
        self.assertEqual(self.call("getRun", id="nothing")[0], 404)
        self.assertEqual(self.call("getReceipt", id="nothing")[0], 404)
        self.assertEqual(self.call("compareReceipts", query="?a=x&b=y")[0], 404)
        self.assertEqual(self.call("getTrends")[0], 400)
        self.assertEqual(self.call("getPolicy", name="nothing")[0], 404)

    def test_a_schedule_lives_its_life(self):
        wanted = {"name": "weekly", "cron": "0 3 * * 0", "time_zone": "Europe/Berlin", "request": {"preset": "smoke", "policy": "any"}}
        status, schedule = self.call("createSchedule", wanted)
        self.assertEqual(status, 201)
        self.assertIn("next_due", schedule)
        identity = schedule["id"]
        self.assertTrue(self.call("pauseSchedule", id=identity)[1]["paused"])
        self.assertFalse(self.call("resumeSchedule", id=identity)[1]["paused"])
        self.assertEqual(len(self.call("runSchedule", id=identity)[1]["runs"]), 1)
        self.assertEqual(self.call("getSchedule", id=identity)[0], 200)
        self.assertEqual(self.call("deleteSchedule", id=identity)[0], 204)
        self.assertEqual(self.call("getSchedule", id=identity)[0], 404)
        self.assertEqual(self.call("createSchedule", {**wanted, "cron": "61 * * * *"})[1]["pointer"], "/cron")
        self.assertEqual(self.call("createSchedule", {**wanted, "time_zone": "Mars/Base"})[1]["pointer"], "/time_zone")

    def test_the_page_to_read_is_there(self):
        status, headers, body = self.server.ask("GET", "/api/")
        self.assertEqual(status, 200)
        self.assertIn(b"POST /api/v1/runs", body)


if __name__ == "__main__":
    unittest.main()
