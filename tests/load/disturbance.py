"""Is a measurement disturbed by those who ask the server? One-thread wasm-simd runs, quiet and under load, turn by turn.

    tests/load/disturbance.py [--rounds 3] [--rate 200] [--steps 60] [--preset tiny]

The browser has core 0; the server and its clients have core 1. Prints the medians of every run and fails where the step time
under load differs from the quiet one by as much as the quiet blocks differ among themselves, or more.
"""

import argparse
import asyncio
import base64
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

from service import BUILD, ask_at_rate, free_port, median, quantile, wait_for_port

BROWSER_CORE, SERVER_CORE = 0, 1
PATHS = ("/api/v1/receipts", "/api/v1/runs", "/metrics", "/arm/index.html")


def call(port, path, body=None):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data=None if body is None else json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


def block_medians(port, request):
    """Runs once; answers the median step of each of the four blocks, in milliseconds."""
    run = call(port, "/api/v1/runs", request)["id"]
    while True:
        row = call(port, f"/api/v1/runs/{run}")
        if row["state"] not in ("queued", "running"):
            break
        time.sleep(1)
    if "receipt_id" not in row:
        raise RuntimeError(f"the run ended as {row}")
    receipt = json.loads(base64.b64decode(call(port, f"/api/v1/runs/{run}/receipt")["payload"]))["predicate"]
    medians = [arm["median_step_ms"] for arm in receipt["arms"] if "median_step_ms" in arm]
    if len(medians) != 4:
        raise RuntimeError(f"the run has no four blocks: {receipt['verdict']}")
    return medians


class Load(threading.Thread):
    """Requests at a fixed rate from the other core until it is stopped."""

    def __init__(self, port, rate):
        super().__init__()
        self.port, self.rate = port, rate
        self.stopping = False
        self.latencies = []

    def run(self):
        os.sched_setaffinity(0, {SERVER_CORE})
        number = 0
        while not self.stopping:
            path = PATHS[number % len(PATHS)]
            self.latencies += asyncio.run(ask_at_rate(self.port, path, self.rate, 1, connections=8))
            number += 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rate", type=int, default=200)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--preset", default="tiny")
    parser.add_argument("--browser", default=shutil.which("chromium") or "chromium")
    options = parser.parse_args()
    os.sched_setaffinity(0, {SERVER_CORE})
    request = {"preset": options.preset, "steps": options.steps, "warmup": 5, "arms": ["wasm-simd", "wasm-simd"], "threads": 1,
               "policy": "any", "environment_policy": "none", "allow_unqualified": True}
    quiet, loaded = [], []
    with tempfile.TemporaryDirectory() as folder:
        wrapper = Path(folder) / "browser"
        wrapper.write_text(f'#!/bin/sh\nexec taskset -c {BROWSER_CORE} "{options.browser}" "$@"\n')
        wrapper.chmod(0o755)
        port = free_port()
        command = ["taskset", "-c", str(SERVER_CORE), str(BUILD / "bin/assay"), "serve", "--listen", f"127.0.0.1:{port}", "--home",
                   f"{folder}/home", "--browser", str(wrapper)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_for_port(port, process)
            block_medians(port, request)  # the first warms the files' cache
            for _ in range(options.rounds):
                quiet += block_medians(port, request)
                load = Load(port, options.rate)
                load.start()
                try:
                    loaded += block_medians(port, request)
                finally:
                    load.stopping = True
                    load.join()
                print(f"quiet {[round(each, 3) for each in quiet[-4:]]} ms, loaded {[round(each, 3) for each in loaded[-4:]]} ms, "
                      f"{len(load.latencies)} requests, p99 {quantile(sorted(load.latencies), 0.99):.1f} ms", flush=True)
        finally:
            process.terminate()
            process.wait(timeout=60)
    spread = max(math.log(a / b) for a in quiet for b in quiet)
    shift = math.log(median(loaded) / median(quiet))
    print(f"median step: quiet {median(quiet):.3f} ms, under {options.rate} requests/s {median(loaded):.3f} ms: shift {shift:+.2%}, "
          f"quiet repeat spread {spread:.2%}")
    return 0 if abs(shift) < spread else 1


if __name__ == "__main__":
    sys.exit(main())
