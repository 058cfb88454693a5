"""Half-widths of 95 % intervals of A against A: tachometer's and Assay's, same work, same wall time. See ../statistics.sh."""

import argparse
import contextlib
import functools
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from assay_run import chromium, half_width, run

SAMPLES = 20  # a page, each a fresh load; two pages
# Quadruples are what narrows the interval: many short blocks, in turn, since this machine's speed changes within seconds.
STEPS_A_BLOCK = 12
SLICE_STEPS = 2
WARM_STEPS = 6  # past the engine's change of compilers, which the first five steps show
FIRST_QUADRUPLES = 3


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves the page. tachometer's own server would do, but reads a module of WebAssembly as if it were text."""

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def served(page):
    """The address of a page's folder while it is served."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(QuietHandler, directory=str(page)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/index.html"
    finally:
        server.shutdown()
        server.server_close()


def tachometer_config(address):
    switches = ["--no-sandbox"] if os.geteuid() == 0 else []
    browser = {"name": "chrome", "headless": True, "binary": chromium() or shutil.which("chromium"), "addArguments": switches}
    measurement = {"mode": "expression", "expression": "window.tachometerResult"}
    benchmarks = [{"name": name, "url": address, "browser": browser, "measurement": measurement} for name in ("first", "second")]
    return {"sampleSize": SAMPLES, "timeout": 0, "benchmarks": benchmarks}


def run_tachometer(program, page):
    """Relative half-width of the second page's time over the first's, the mean time in ms, and the seconds it took."""
    with tempfile.TemporaryDirectory(prefix="assay-tachometer-") as folder, served(page) as address:
        config, answer = Path(folder) / "config.json", Path(folder) / "answer.json"
        config.write_text(json.dumps(tachometer_config(address)))
        started = time.monotonic()
        ran = subprocess.run([program, "--config", str(config), "--json-file", str(answer)], cwd=folder, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, check=False)
        seconds = time.monotonic() - started
        if ran.returncode != 0 or not answer.exists():
            raise SystemExit(f"tachometer failed (exit code {ran.returncode}):\n{ran.stdout[-3000:]}")
        first, second = json.loads(answer.read_text())["benchmarks"]
    change = next(difference for difference in second["differences"] if difference)["percentChange"]
    # Low and high are percentages of the first one's mean.
    return (change["high"] - change["low"]) / 200, (first["mean"]["low"] + first["mean"]["high"]) / 2, seconds


def quadruples_for(seconds, quadruples, took):
    """How many quadruples fit in so many seconds, from a run of some that took its time; the load may change from round to round."""
    return max(FIRST_QUADRUPLES, int(quadruples * seconds / took))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--tachometer", required=True)
    parser.add_argument("--page", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()

    peers, ours = [], []
    with tempfile.TemporaryDirectory(prefix="assay-widths-") as home:
        quadruples = FIRST_QUADRUPLES
        _, took = run(options.program, home, ["wasm-simd"] * 2, "tiny", quadruples, STEPS_A_BLOCK, WARM_STEPS, 1, SLICE_STEPS)
        print("round  who         wall time  work of one sample  half-width")
        for number in range(1, options.rounds + 1):
            width, mean_ms, seconds = run_tachometer(options.tachometer, options.page)
            peers.append(width)
            print(f"{number:5}  tachometer  {seconds:7.1f} s  {mean_ms:15.2f} ms  {100 * width:8.2f} %", flush=True)
            quadruples = quadruples_for(seconds, quadruples, took)
            receipt, took = run(options.program, home, ["wasm-simd"] * 2, "tiny", quadruples, STEPS_A_BLOCK, WARM_STEPS, number,
                                SLICE_STEPS)
            ours.append(half_width(receipt))
            print(f"{number:5}  assay       {took:7.1f} s  {receipt['analysis']['a_median_ms']:15.2f} ms  {100 * ours[-1]:8.2f} %"
                  f"   ({quadruples} quadruples of {STEPS_A_BLOCK} steps, {SLICE_STEPS} at a time)", flush=True)
    ratio = statistics.median(ours) / statistics.median(peers)
    print(f"\nhalf-width, median: tachometer {100 * statistics.median(peers):.2f} %, assay {100 * statistics.median(ours):.2f} %: "
          f"{ratio:.2f} of it (at most 0.5 asked for)")
    sys.exit(0 if ratio <= 0.5 else 1)


if __name__ == "__main__":
    main()
