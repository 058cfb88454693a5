#!/usr/bin/env python3
"""The queue survives: a service killed without warning in the middle of a measurement, and what its successor does with the queue.

    queue_restart.py [--kills 3] [--binary build/release/bin/assay] [--browser PATH]

Several runs are queued; the service is killed while one of them is measured, and started again, several times. At the end every
run that was interrupted has its failure receipt, every other one was measured, and nothing ran twice.
"""

import argparse
import random
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from fault_trials import failure_codes  # noqa: E402
from service import ENDED, Service  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]


def the_running(service: Service, runs: list[str], within: float) -> str:
    """The run that is measured now."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        for run_id in runs:
            if service.run(run_id)["state"] == "running":
                return run_id
        time.sleep(0.02)
    raise AssertionError("no queued run was taken")


def check(service: Service, runs: list[str], interrupted: list[str]) -> list[str]:
    problems = []
    receipts = service.receipts()  # each verified; two of one run are an error there
    listed = service.call("GET", "/api/v1/runs?limit=500")["runs"]
    if sorted(row["id"] for row in listed) != sorted(runs):
        problems.append(f"{len(runs)} runs were asked for and {len(listed)} are listed")
    for run_id in runs:
        row = service.run(run_id)
        receipt = receipts.get(run_id)
        if receipt is None:
            problems.append(f"run {run_id} ended as {row['state']} without a receipt")
            continue
        if row.get("receipt_id") != receipt["id"]:
            problems.append(f"run {run_id} names another receipt than its file")
        if row.get("attempt", 1) != 1:
            problems.append(f"run {run_id} was tried {row['attempt']} times")
        if run_id in interrupted:
            if row["state"] != "interrupted" or receipt["verdict"]["result"] != "failed" or failure_codes(receipt) != {"interrupted"}:
                problems.append(f"the interrupted run {run_id} is {row['state']}, {receipt['verdict']}")
        elif row["state"] != "done" or len(receipt["arms"]) != 4:
            problems.append(f"the queued run {run_id} is {row['state']} with {len(receipt['arms'])} arms")
    chain = sorted(receipt["chain"]["sequence"] for receipt in receipts.values())
    if chain != list(range(len(runs))):
        problems.append(f"the chain of receipts has gaps or doubles: {chain}")
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--binary", type=Path, default=ROOT / "build/release/bin/assay")
    parser.add_argument("--browser")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    with Service(options.binary, options.browser) as service:
        runs = [service.submit(label=f"run {number}") for number in range(options.kills + 2)]
        interrupted: list[str] = []
        slowest = 0.0
        for _ in range(options.kills):
            victim = the_running(service, [run for run in runs if run not in interrupted], within=60)
            time.sleep(chance.uniform(0, 1.5))
            state = service.run(victim)["state"]
            service.stop(signal.SIGKILL)
            slowest = max(slowest, service.start())
            if state == "running" and service.wait_for(victim, ENDED, within=60)["state"] == "interrupted":
                interrupted.append(victim)
        for run_id in runs:
            service.wait_for(run_id, ENDED, within=120)
        problems = check(service, runs, interrupted)
        if not interrupted:
            problems.append("no kill met a running measurement")
        problems += [f"left behind: {left}" for left in service.leftovers()]
    for problem in problems:
        print(f"[check] FAILED: {problem}")
    if not problems:
        print(f"[check] passed: {options.kills} kills: {len(interrupted)} runs interrupted with a receipt each, "
              f"{len(runs) - len(interrupted)} measured once, restart at most {slowest:.2f} s")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
