"""`assay serve` as the tests of the real program start it: a home of its own, port 0, standard error kept."""

import base64
import http.client
import json
import os
import re
import signal
import ssl
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("ASSAY_BUILD", ROOT / "build/release"))
PROGRAM = BUILD / "bin/assay"
WEB = Path(os.environ.get("ASSAY_WEB", BUILD / "share/assay/web"))
SMOKE = {"preset": "smoke", "steps": 3, "warmup": 1, "policy": "any", "environment_policy": "none", "allow_unqualified": True,
         "arms": ["wasm-simd-mt", "wasm-simd-mt"]}


def pages_folder(folder):
    """A served tree as small as the program takes, for tests that measure nothing."""
    arm = Path(folder) / "web/arm"
    arm.mkdir(parents=True, exist_ok=True)
    (arm / "index.html").write_text("<!doctype html><title>arm</title>")
    policies = Path(folder) / "policies"
    if not policies.exists():
        policies.symlink_to(ROOT / "orchestrator/gate/policies")
    return Path(folder) / "web"


def clean_environment(**variables):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")}
    return {**kept, **variables}


class RunningService:
    """Use as a context manager. `config` is written to a file; `arguments` follow `serve`. With `takes_runs` it takes what is
    queued though it has no page to measure with: such runs fail at once, with a receipt."""

    def __init__(self, *arguments, config=None, environment=None, measures=False, takes_runs=False):
        self.temporary = tempfile.TemporaryDirectory(prefix="assay-service-")
        self.folder = Path(self.temporary.name)
        self.config_file = self.folder / "config.json"
        self.log_file = self.folder / "log.txt"
        web = WEB if measures else pages_folder(self.folder)
        self.command = [str(PROGRAM), "serve", "--home", str(self.folder / "home"), "--web-root", str(web), *arguments]
        if config is not None:
            self.write_config(config)
            self.command += ["--config", str(self.config_file)]
        if takes_runs:
            self.command += ["--browser", "/nonexistent/browser"]
        elif not measures:
            self.command.append("--agents-only")
        self.environment = clean_environment(**(environment or {}))
        self.process = None
        self.origin = ""

    def write_config(self, config):
        self.config_file.write_text(json.dumps(config))

    def __enter__(self):
        with self.log_file.open("ab") as log:
            self.process = subprocess.Popen(self.command, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log)
        line = self.process.stdout.readline().decode()
        found = re.search(r"(https?)://([^/ ]+):(\d+)/", line)
        if not found:
            self.process.wait(timeout=20)
            self.process.stdout.close()
            text = self.log()
            self.temporary.cleanup()
            raise AssertionError(f"the service did not start: {line!r} {text}")
        self.scheme, self.host, self.port = found.group(1), found.group(2), int(found.group(3))
        self.origin = f"{self.scheme}://{self.host}:{self.port}"
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process.stdout.close()
        self.temporary.cleanup()

    def log(self):
        return self.log_file.read_text(errors="replace")

    def wait_for_log(self, text, seconds=10):
        self.wait_until(lambda: text in self.log(), seconds, f"{text!r} in the log")

    @staticmethod
    def wait_until(condition, seconds=10, what="the condition"):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise AssertionError(f"{what} did not come within {seconds} s")
            time.sleep(0.02)

    def ask(self, method, path, body=None, headers=None, timeout=30):
        """Status, headers and body of one request on a connection of its own."""
        if self.scheme == "https":
            trust = ssl._create_unverified_context()
            connection = http.client.HTTPSConnection(self.host, self.port, timeout=timeout, context=trust)
        else:
            connection = http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        try:
            data = json.dumps(body).encode() if isinstance(body, (dict, list)) else body
            connection.request(method, path, body=data, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def resident_mib(self):
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        raise AssertionError("no VmRSS")

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def client(self, *arguments, environment=None, timeout=120):
        """Runs another command of the program against this server."""
        return subprocess.run([str(PROGRAM), *arguments, "--server", self.origin], capture_output=True, text=True, timeout=timeout,
                              env=clean_environment(**(environment or {})))


def start_that_fails(*arguments, config=None, environment=None):
    """Starts `serve`, which must end by itself; answers its exit status and what it said."""
    with tempfile.TemporaryDirectory(prefix="assay-service-") as folder:
        command = [str(PROGRAM), "serve", "--agents-only", "--home", f"{folder}/home", "--web-root", str(pages_folder(folder)), *arguments]
        if config is not None:
            path = Path(folder) / "config.json"
            path.write_text(config if isinstance(config, str) else json.dumps(config))
            command += ["--config", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, env=clean_environment(**(environment or {})))
        return done.returncode, done.stderr


def make_token(name, scopes):
    """A token and its entry for the configuration."""
    done = subprocess.run([str(PROGRAM), "token", name, "--scopes", scopes], capture_output=True, text=True, timeout=20, check=True)
    made = json.loads(done.stdout)
    return made["token"], made["configuration"]


def inner_receipt(bytes_):
    return json.loads(base64.b64decode(json.loads(bytes_)["payload"]))["predicate"]
