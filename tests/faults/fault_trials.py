#!/usr/bin/env python3
"""Seeded faults at random moments of a measurement, and what must hold after each.

    fault_trials.py --trials 10 [--seed 1] [--binary build/release/bin/assay] [--browser PATH]

After every trial: the service answers within 2 s, both runs that were there have ended, the queue measures a run that the fault
cannot have met to its end, no browser process, profile or temporary file is left, every receipt verifies, no run has two, and nothing that was disturbed
is called verified.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from devtools import evaluate_in_page  # noqa: E402
from service import ENDED, Service  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]

#: kind of fault -> (process type, signal), or None for the others
FAULTS = {
    "browser killed": ("browser", signal.SIGKILL),
    "browser stopped": ("browser", signal.SIGSTOP),
    "GPU process killed": ("gpu-process", signal.SIGKILL),
    "GPU process stopped": ("gpu-process", signal.SIGSTOP),
    "renderer killed": ("renderer", signal.SIGKILL),
    "renderer stopped": ("renderer", signal.SIGSTOP),
    "network process killed": ("utility", signal.SIGKILL),
    "pipe cut": None,
    "page out of memory": None,
    "page opens a dialog": None,
    "page navigates away": None,
    "page falls silent": None,
    "page reports an error": None,
    "disk full": None,
    "disk fails": None,
    "service killed": None,
    "service ended": None,
    "run cancelled": None,
}

#: What is run in the arm's page, through a second DevTools connection.
PAGE_FAULTS = {
    "page out of memory": "const kept = []; for (;;) kept.push(new Array(1 << 20).fill(kept.length + 0.5))",
    "page opens a dialog": "alert('are you there?')",
    "page navigates away": "location.href = '/arm/?again'",
    "page falls silent": "for (;;) {}",
    "page reports an error": "console.error('the tile is upside down')",
}

#: The reasons that a run may fail with when the fault met it; a kind that is absent here may have any.
EXPECTED_REASONS = {
    "browser killed": {"crashed"},
    "browser stopped": {"silence", "cancelled"},
    "renderer killed": {"page-crashed", "page-closed"},
    "renderer stopped": {"silence", "cancelled"},
    "GPU process stopped": {"silence", "cancelled"},
    "pipe cut": {"connection-lost"},
    "page out of memory": {"out-of-memory"},
    "page opens a dialog": {"dialog"},
    "page navigates away": {"navigated-away"},
    "page falls silent": {"silence"},
    "page reports an error": {"console-error"},
    "service killed": {"interrupted"},
    "service ended": {"interrupted"},
    "run cancelled": {"cancelled"},
}

#: Seconds of silence after which an arm is ended here; preparing may take five times that.
SILENCE_SECONDS = 5


def build_fault_layer(folder: Path) -> Path:
    library = folder / "fault_layer.so"
    source = Path(__file__).with_name("fault_layer.cpp")
    subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", "-O1", "-shared", "-fPIC", "-o", library, source], check=True)
    return library


def strike(service: Service, fault: str, victim: str, chance: random.Random) -> bool:
    """Does the damage; False when there was nothing left to hit."""
    if fault in ("disk full", "disk fails"):
        service.disk("ENOSPC" if fault == "disk full" else "EIO")
        time.sleep(chance.uniform(0.5, 3))
        service.disk("well")
        return True
    if fault == "pipe cut":
        service.disk("CUT")
        time.sleep(chance.uniform(0.5, 1.5))
        service.disk("well")
        return True
    if fault in PAGE_FAULTS:
        end = time.monotonic() + 3
        while time.monotonic() < end:
            if any(evaluate_in_page(profile, PAGE_FAULTS[fault]) for profile in service.profiles()):
                return True
            time.sleep(0.02)
        return False
    if fault == "service killed":
        service.stop(signal.SIGKILL)
        service.start()
        return True
    if fault == "service ended":
        service.stop(signal.SIGTERM)
        service.start()
        return True
    if fault == "run cancelled":
        service.cancel(victim)
        return True
    kind, number = FAULTS[fault]
    end = time.monotonic() + 3
    hit = False
    while not hit and time.monotonic() < end:  # between two arms there is no process for a moment
        for pid in service.processes(kind):
            try:
                os.kill(pid, number)
                hit = True
            except ProcessLookupError:
                pass
        time.sleep(0.02)
    if hit and number == signal.SIGSTOP:
        # A stopped process is silence, whose deadline is long; asking for the end must be enough.
        time.sleep(chance.uniform(0, 1))
        service.cancel(victim)
    return hit


def check_after(service: Service, fault: str, victim: str, follower: str) -> str:
    answered = service.healthy(within=2)
    row = service.wait_for(victim, ENDED, within=180)
    fresh = follower
    if service.wait_for(follower, ENDED, within=180)["state"] != "done":
        # The fault may have come when the follower ran already; the queue must move for a run that it cannot have met.
        fresh = service.submit()
        after = service.wait_for(fresh, ENDED, within=180)
        if after["state"] != "done":
            raise AssertionError(f"the run after the fault ended as {after['state']}: {verdict_of(service, fresh)}")
    end = time.monotonic() + 5
    while (left := service.leftovers()) and time.monotonic() < end:
        time.sleep(0.1)
    if left:
        raise AssertionError(f"left behind: {left}")
    receipts = service.receipts()
    codes = failure_codes(receipts.get(victim, {}))
    expected = EXPECTED_REASONS.get(fault)
    if expected and row["state"] in ("failed", "interrupted") and not codes & expected:
        raise AssertionError(f"the victim failed as {sorted(codes)}, which is not what '{fault}' is: {verdict_of(service, victim)}")
    for run_id, name in ((victim, "victim"), (follower, "follower"), (fresh, "run after the fault")):
        state = service.run(run_id)
        if state.get("receipt_id") and run_id not in receipts:
            raise AssertionError(f"the {name}'s receipt {state['receipt_id']} has no file")
        if state["state"] in ("failed", "interrupted") and not state.get("receipt_id"):
            raise AssertionError(f"the {name} ended as {state['state']} without a receipt: {state}")
    verdict = receipts.get(victim, {}).get("verdict", {}).get("result", "no receipt")
    if any(receipt["verdict"]["result"] == "verified" for receipt in receipts.values()):
        raise AssertionError("a disturbed run was called verified")
    return f"answered in {answered:.2f} s, {row['state']}, verdict {verdict}" + (f" ({', '.join(sorted(codes))})" if codes else "")


def failure_codes(receipt: dict) -> set[str]:
    """The typed reasons of a failed run, without their prefix."""
    reasons = receipt.get("verdict", {}).get("reasons", [])
    return {reason["code"].removeprefix("run-") for reason in reasons if reason["code"].startswith("run-")}


def verdict_of(service: Service, run_id: str) -> str:
    """Why a run ended as it did, in its receipt's words."""
    reasons = service.receipts().get(run_id, {}).get("verdict", {}).get("reasons", [])
    return "; ".join(f"{reason['code']}: {reason['message'][:200]}" for reason in reasons if reason["code"].startswith(("run-", "arm-")))


def run_trials(count: int, seed: int, binary: Path, browser: str | None) -> int:
    chance = random.Random(seed)
    order: list[str] = []
    while len(order) < count:  # every kind comes before any comes again
        round_of = list(FAULTS)
        chance.shuffle(round_of)
        order += round_of
    folder = Path(tempfile.mkdtemp(prefix="assay-fault-layer-"))
    failures = 0
    try:
        options = ("--silence-limit", str(SILENCE_SECONDS), "--browser-switch=--remote-debugging-port=0")
        with Service(binary, browser, build_fault_layer(folder), options) as service:
            for index, fault in enumerate(order[:count]):
                began = time.monotonic()
                try:
                    victim, follower = service.submit(), service.submit()
                    service.wait_for(victim, ("running", *ENDED), within=180)
                    time.sleep(chance.uniform(0, 4))
                    hit = strike(service, fault, victim, chance)
                    told = check_after(service, fault, victim, follower)
                    if not hit:
                        told += " (it came too late to hit anything)"
                    print(f"[check] passed: trial {index + 1}, {fault}: {told}, {time.monotonic() - began:.0f} s", flush=True)
                except Exception as problem:  # noqa: BLE001: one trial's failure must not hide the others
                    failures += 1
                    print(f"[check] FAILED: trial {index + 1}, seed {seed}, {fault}: {problem!r}", flush=True)
                    service.disk("well")
                    if service.process is None or service.process.poll() is not None:
                        service.process = None
                        service.start()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--binary", type=Path, default=ROOT / "build/release/bin/assay")
    parser.add_argument("--browser")
    options = parser.parse_args()
    failures = run_trials(options.trials, options.seed, options.binary, options.browser)
    print(f"{options.trials - failures} of {options.trials} trials passed, seed {options.seed}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
