#!/usr/bin/env python3
"""`assay run --attach`: a whole run in a Chromium that was started by somebody else, which goes on afterwards.

    attached_run.py [--binary build/release/bin/assay] [--browser PATH]
"""

import argparse
import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BROWSERS = ("/usr/lib/chromium/chromium-headless-shell", "/usr/lib/chromium/chromium", "/usr/bin/chromium")


def start_browser(path: str, profile: Path) -> tuple[subprocess.Popen, str]:
    command = [path, "--headless", "--no-sandbox", "--remote-debugging-port=0", "--enable-unsafe-webgpu", f"--user-data-dir={profile}",
               "about:blank"]
    browser = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.monotonic() + 20
    while time.monotonic() < end:
        lines = (profile / "DevToolsActivePort").read_text().splitlines() if (profile / "DevToolsActivePort").exists() else []
        if len(lines) == 2:
            return browser, f"ws://127.0.0.1:{lines[0]}{lines[1]}"
        time.sleep(0.05)
    browser.kill()
    raise SystemExit("the browser opened no debugging port")


def measure(binary: Path, home: Path, url: str) -> tuple[int, dict | None, str]:
    command = [str(binary), "run", "--home", str(home), "--attach", url, "--preset", "smoke", "--steps", "2", "--warmup", "1", "--policy", "any",
               "--environment-policy", "none", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return done.returncode, json.loads(done.stdout) if done.stdout.startswith("{") else None, done.stderr


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, default=ROOT / "build/release/bin/assay")
    parser.add_argument("--browser")
    options = parser.parse_args()
    path = options.browser or next(path for path in BROWSERS if Path(path).exists())
    folder = Path(tempfile.mkdtemp(prefix="assay-attached-"))
    problems = []
    browser, url = start_browser(path, folder / "profile")
    try:
        status, receipt, said = measure(options.binary, folder / "home", url)
        if status != 0 or receipt is None:
            problems.append(f"the run ended with {status}: {said}")
        else:
            arms = [(arm["arm"], len(arm["steps"]), arm["errors"]) for arm in receipt["arms"]]
            if arms != [(name, 2, []) for name in ("wasm-simd-mt", "webgpu", "webgpu", "wasm-simd-mt")]:
                problems.append(f"the arms are {arms}")
            if receipt["verdict"]["result"] != "unqualified":
                problems.append(f"the verdict is {receipt['verdict']}")
            if receipt["browser"]["switches"] != ["<attached>"]:
                problems.append(f"the receipt states switches that nobody can know: {receipt['browser']['switches']}")
        if browser.poll() is not None:
            problems.append("the browser was ended, though it is not ours")
        browser.kill()
        browser.wait()
        began = time.monotonic()
        status, receipt, _ = measure(options.binary, folder / "home", url)
        if status != 5 or receipt is None or receipt["verdict"]["result"] != "failed":
            problems.append(f"attaching to a browser that is gone ended with {status}")
        if time.monotonic() - began > 40:
            problems.append(f"attaching to a browser that is gone took {time.monotonic() - began:.0f} s")
    finally:
        if browser.poll() is None:
            browser.send_signal(signal.SIGKILL)
            browser.wait()
        shutil.rmtree(folder, ignore_errors=True)
    for problem in problems:
        print(f"[check] FAILED: {problem}")
    if not problems:
        print("[check] passed: a whole run in an attached browser, which goes on afterwards; one that is gone is named")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
