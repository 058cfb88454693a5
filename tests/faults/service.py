"""A service under test: `assay serve` with a home of its own, its API, and what it leaves behind."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

SMOKE = {"preset": "smoke", "steps": 3, "warmup": 1, "policy": "any", "environment_policy": "none", "allow_unqualified": True}
ENDED = ("done", "failed", "cancelled", "interrupted")


class Service:
    """One home, and the process that serves it. Use as a context manager: everything is gone afterwards."""

    def __init__(self, binary: Path, browser: str | None, fault_layer: Path | None = None, options: tuple[str, ...] = ()):
        self.binary = binary
        self.options = options
        self.browser = browser
        self.fault_layer = fault_layer
        self.home = Path(tempfile.mkdtemp(prefix="assay-faults-"))
        self.switch = self.home.parent / (self.home.name + ".fault")
        self.log = self.home.parent / (self.home.name + ".log")
        self.process: subprocess.Popen | None = None
        self.origin = ""
        self.files_in_memory: set[Path] = set()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, value, trace):
        self.disk("well")
        self.stop()
        for pid in self.processes():
            os.kill(pid, signal.SIGKILL)
        if kind is None:
            self.log.unlink(missing_ok=True)
        for folder in (self.home, *self.files_in_memory):
            shutil.rmtree(folder, ignore_errors=True)

    def start(self) -> float:
        """Starts the service; returns the seconds until it answered."""
        began = time.monotonic()
        environment = dict(os.environ)
        if self.fault_layer:
            environment.update(LD_PRELOAD=str(self.fault_layer), ASSAY_FAULT_HOME=str(self.home), ASSAY_FAULT_SWITCH=str(self.switch))
        command = [str(self.binary), "serve", "--listen", "127.0.0.1:0", "--home", str(self.home), *self.options]
        if self.browser:
            command += ["--browser", self.browser]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log)
        line = self.process.stdout.readline().decode()
        found = re.search(r"http://[0-9.]+:\d+", line)
        if not found:
            raise AssertionError(f"the service did not start: {line!r}, log {self.log}")
        self.origin = found.group(0)
        self.healthy(within=10)
        return time.monotonic() - began

    def stop(self, how: int = signal.SIGTERM, within: float = 40) -> None:
        if self.process is None:
            return
        if self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(within)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise AssertionError(f"the service did not end within {within} s of signal {how}") from None
        self.process.stdout.close()
        self.process = None

    def call(self, method: str, path: str, body=None, timeout: float = 10):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.origin + path, data=data, method=method, headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=timeout) as reply:
            text = reply.read()
        return json.loads(text) if text else None

    def healthy(self, within: float) -> float:
        """Seconds until /healthz answered, counted from now; fails when it takes longer than `within`."""
        began = time.monotonic()
        while True:
            try:
                left = max(0.2, within - (time.monotonic() - began))
                with urllib.request.urlopen(self.origin + "/healthz", timeout=left) as reply:
                    reply.read()
                return time.monotonic() - began
            except (urllib.error.URLError, OSError) as problem:
                if time.monotonic() - began > within:
                    raise AssertionError(f"the service did not answer within {within} s: {problem}") from problem
                time.sleep(0.05)

    def submit(self, **changes) -> str:
        return self.call("POST", "/api/v1/runs", {**SMOKE, **changes})["id"]

    def run(self, run_id: str) -> dict:
        return self.call("GET", f"/api/v1/runs/{run_id}")

    def wait_for(self, run_id: str, states, within: float) -> dict:
        end = time.monotonic() + within
        while True:
            row = self.run(run_id)
            self.profiles()
            if row["state"] in states:
                return row
            if time.monotonic() > end:
                raise AssertionError(f"run {run_id} was still {row['state']} ({row.get('phase')}) after {within} s")
            time.sleep(0.05)

    def cancel(self, run_id: str) -> None:
        try:
            self.call("DELETE", f"/api/v1/runs/{run_id}")
        except urllib.error.HTTPError as refused:
            if refused.code != 409:  # it ended in the meantime
                raise

    def disk(self, state: str) -> None:
        """"well", "ENOSPC" or "EIO" for what the service writes below its home (profiles excepted); "CUT" for its browsers' pipes."""
        if state == "well":
            self.switch.unlink(missing_ok=True)
        else:
            self.switch.write_text(state)

    def processes(self, kind: str | None = None) -> list[int]:
        """Browser processes of this home: all, the browser itself ("browser"), or those of one --type."""
        found = []
        mark = str(self.home / "profiles")
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                folder = os.readlink(entry / "cwd")
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if not folder.startswith(mark) and mark not in line:
                continue
            type_of = re.search(r"--type=([a-z-]+)", line)
            name = type_of.group(1) if type_of else "browser"
            if kind is None or kind == name:
                found.append(int(entry.name))
        return found

    def profiles(self) -> list[Path]:
        """The profile folders of browsers that run now. Where their links lead to is kept, to be looked for at the end."""
        folder = self.home / "profiles"
        found = list(folder.iterdir()) if folder.exists() else []
        for profile in found:
            with contextlib.suppress(OSError):
                self.files_in_memory.add(Path(os.readlink(profile / "t")))
        return found

    def receipts(self) -> dict[str, dict]:
        """Every receipt file of the home, verified by the program, by run id."""
        files = sorted((self.home / "receipts").glob("*.assay.json"))
        if not files:
            return {}
        verified = subprocess.run([str(self.binary), "verify", *map(str, files)], capture_output=True, text=True, timeout=60)
        if verified.returncode not in (0, 3, 4, 5) or "INVALID" in verified.stdout:
            raise AssertionError(f"a receipt does not verify:\n{verified.stdout}{verified.stderr}")
        by_run: dict[str, dict] = {}
        for path in files:
            predicate = inner(path)
            if predicate["run_id"] in by_run:
                raise AssertionError(f"run {predicate['run_id']} has two receipts")
            by_run[predicate["run_id"]] = predicate
        return by_run

    def leftovers(self) -> list[str]:
        """Processes, profiles and temporary files that nobody owns any more."""
        left = [f"process {pid}" for pid in self.processes()]
        left += [str(path) for path in self.profiles()]
        left += [str(path) for path in self.files_in_memory if path.exists()]
        left += [str(path) for path in self.home.rglob("*") if path.name.endswith((".tmp", ".part"))]
        return left


def inner(path: Path) -> dict:
    """The receipt inside a DSSE file."""
    import base64

    envelope = json.loads(path.read_text())
    return json.loads(base64.b64decode(envelope["payload"]))["predicate"]
