"""One run of the built program with its receipt, for the benches of the statistics."""

import json
import os
import subprocess
import time
from pathlib import Path

HEADLESS_SHELL = "/usr/lib/chromium/chromium-headless-shell"


def chromium():
    """The browser of a measurement that wants many short blocks: the small one where it is installed."""
    named = os.environ.get("CHROMIUM")
    if named:
        return named
    return HEADLESS_SHELL if Path(HEADLESS_SHELL).exists() else None


def run(program, home, arms, preset, quadruples, steps, warmup, seed, slice_steps=None):
    """The inner receipt of one run and how many seconds it took. The policy lets a software adapter through: no GPU is claimed."""
    command = [program, "run", "--home", str(home), "--preset", preset, "--arms", ",".join(arms), "--quadruples", str(quadruples),
               "--steps", str(steps), "--warmup", str(warmup), "--seed", str(seed), "--policy", "any", "--environment-policy", "none",
               "--json"]
    if slice_steps:
        command += ["--slice-steps", str(slice_steps)]
    browser = chromium()
    if browser:
        command += ["--browser", browser]
    started = time.monotonic()
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    seconds = time.monotonic() - started
    if not ran.stdout.strip():
        raise SystemExit(f"the run printed no receipt (exit code {ran.returncode}):\n{ran.stderr[-2000:]}")
    return json.loads(ran.stdout), seconds


def half_width(receipt):
    """Relative half-width of the 95 % interval, absent below three quadruples."""
    return receipt["analysis"].get("details", {}).get("interval_half_width")


def claims_difference(receipt):
    low, high = receipt["analysis"]["interval95"]
    return not low <= 1 <= high
