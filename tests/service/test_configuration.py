"""The three sources of the configuration, what is refused, signals, TLS: on the real program."""

import json
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

from running_service import RunningService, make_token, start_that_fails

LOOPBACK = "127.0.0.1:0"


class Sources(unittest.TestCase):
    def test_an_unknown_key_is_refused_by_name(self):
        code, said = start_that_fails("--listen", LOOPBACK, config={"lisen": LOOPBACK})
        self.assertEqual(code, 2)
        self.assertIn("/lisen", said)

    def test_a_file_that_is_missing_or_no_json_is_refused_by_its_path(self):
        code, said = start_that_fails("--config", "/nonexistent/assay.json")
        self.assertNotEqual(code, 0)
        self.assertIn("/nonexistent/assay.json", said)
        code, said = start_that_fails(config="{")
        self.assertEqual(code, 2)
        self.assertIn("config.json", said)

    def test_flags_are_stronger_than_variables_and_variables_than_the_file(self):
        one, two = {"log": {"format": "json"}, "listen": "127.0.0.1:1"}, {"ASSAY_LISTEN": "127.0.0.1:2"}
        with RunningService("--listen", LOOPBACK, config=one, environment=two) as service:
            self.assertGreater(service.port, 2)
            service.process.send_signal(signal.SIGHUP)
            service.wait_for_log('"message":"the configuration was read again"')
            for line in service.log().splitlines():
                self.assertIn("level", json.loads(line))
        with RunningService(config={"listen": "192.0.2.1:1"}, environment={"ASSAY_LISTEN": LOOPBACK}) as service:
            self.assertEqual(service.ask("GET", "/healthz")[0], 200)

    def test_a_json_line_about_a_run_names_it_in_a_field_and_a_text_line_before_its_message(self):
        for log_format in ("json", "text"):
            with RunningService("--listen", LOOPBACK, config={"log": {"format": log_format, "level": "info"}}, takes_runs=True) as service:
                run = json.loads(service.ask("POST", "/api/v1/runs", {"preset": "smoke", "policy": "any"})[2])["id"]
                service.wait_for_log("failed, receipt ", 30)
                if log_format == "text":
                    self.assertIn(f" info run {run}: started\n", service.log())
                    continue
                lines = [json.loads(line) for line in service.log().splitlines()]
                self.assertIn("started", [line["message"] for line in lines if line.get("run") == run])
                for line in lines:
                    self.assertEqual("run" in line, line.get("run") == run, line)
                    self.assertNotIn(run, line["message"])

    def test_the_limits_of_the_file_are_in_force(self):
        with RunningService(config={"listen": LOOPBACK, "limits": {"body_bytes": 1024}}) as service:
            status, _, body = service.ask("POST", "/api/v1/runs", b"{" + b" " * 2000 + b"}")
            self.assertEqual(status, 413, body)

    def test_an_address_that_others_reach_needs_tokens(self):
        code, said = start_that_fails("--listen", "0.0.0.0:0")
        self.assertEqual(code, 2)
        self.assertIn("token", said)
        _, entry = make_token("ci", "trigger")
        with RunningService("--listen", "0.0.0.0:0", config={"tokens": [entry]}) as service:
            self.assertEqual(service.ask("GET", "/api/v1/runs")[0], 401)

    def test_a_certificate_without_its_key_is_refused(self):
        code, said = start_that_fails("--listen", LOOPBACK, "--tls-certificate", "server.pem")
        self.assertEqual(code, 2)
        self.assertIn("--tls-key", said)


class Signals(unittest.TestCase):
    def test_hangup_puts_new_tokens_and_names_into_force(self):
        token, entry = make_token("reader", "read")
        with RunningService(config={"listen": LOOPBACK}) as service:
            self.assertEqual(service.ask("GET", "/api/v1/runs")[0], 200)
            self.assertEqual(service.ask("GET", "/api/v1/runs", headers={"Host": "assay.example"})[0], 421)
            service.write_config({"listen": LOOPBACK, "tokens": [entry], "allowed_hosts": ["assay.example"]})
            service.process.send_signal(signal.SIGHUP)
            service.wait_for_log("the configuration was read again")
            service.wait_until(lambda: service.ask("GET", "/api/v1/runs")[0] == 401)
            bearer = {"Authorization": f"Bearer {token}", "Host": "assay.example"}
            self.assertEqual(service.ask("GET", "/api/v1/runs", headers=bearer)[0], 200)
            self.assertEqual(service.ask("POST", "/api/v1/runs", {"preset": "smoke"}, headers=bearer)[0], 403)
            self.assertNotIn(token, service.log())

    def test_hangup_with_a_wrong_file_changes_nothing(self):
        with RunningService(config={"listen": LOOPBACK}) as service:
            service.config_file.write_text('{"tokenz": []}')
            service.process.send_signal(signal.SIGHUP)
            service.wait_for_log("the configuration stays as it was")
            self.assertIn("/tokenz", service.log())
            self.assertEqual(service.ask("GET", "/api/v1/runs")[0], 200)

    def test_terminate_ends_the_service_with_status_0_and_its_streams(self):
        with RunningService(config={"listen": LOOPBACK}) as service:
            _, _, body = service.ask("POST", "/api/v1/runs", {"preset": "smoke", "policy": "any"})
            run = json.loads(body)["id"]
            reader = subprocess.Popen(["curl", "-sN", f"{service.origin}/api/v1/runs/{run}/events"], stdout=subprocess.PIPE)
            reader.stdout.readline()
            service.process.send_signal(signal.SIGTERM)
            self.assertEqual(service.process.wait(timeout=20), 0)
            self.assertEqual(reader.wait(timeout=10), 0)
            reader.stdout.close()


class Tls(unittest.TestCase):
    def make_certificate(self, folder, name):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                        "-subj", f"/CN={name}", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", f"{folder}/key.pem",
                        "-out", f"{folder}/certificate.pem"], check=True, capture_output=True)

    def subject_of(self, service):
        said = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{service.port}"], input="", capture_output=True, text=True,
                              timeout=20).stdout
        return next(line for line in said.splitlines() if line.startswith("subject"))

    def test_https_alone_with_a_certificate_that_hangup_renews(self):
        with tempfile.TemporaryDirectory() as folder:
            self.make_certificate(folder, "first")
            tls = {"certificate": f"{folder}/certificate.pem", "key": f"{folder}/key.pem"}
            with RunningService(config={"listen": LOOPBACK, "tls": tls}) as service:
                self.assertEqual(service.scheme, "https")
                self.assertEqual(service.ask("GET", "/healthz")[0], 200)
                listed = service.client("runs", "--ca", tls["certificate"])
                self.assertEqual(listed.returncode, 0, listed.stderr)
                distrusted = service.client("runs")
                self.assertNotEqual(distrusted.returncode, 0)
                self.assertIn("first", self.subject_of(service))
                self.make_certificate(folder, "second")
                service.process.send_signal(signal.SIGHUP)
                service.wait_for_log("the configuration was read again")
                service.wait_until(lambda: "second" in self.subject_of(service))

    def test_a_key_of_another_certificate_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            self.make_certificate(folder, "one")
            (Path(folder) / "one.pem").write_bytes((Path(folder) / "certificate.pem").read_bytes())
            self.make_certificate(folder, "two")
            tls = {"certificate": f"{folder}/one.pem", "key": f"{folder}/key.pem"}
            code, said = start_that_fails(config={"listen": LOOPBACK, "tls": tls})
            self.assertNotEqual(code, 0)
            self.assertIn("/tls/key", said)


if __name__ == "__main__":
    unittest.main()
