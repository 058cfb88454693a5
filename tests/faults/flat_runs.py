#!/usr/bin/env python3
"""Many runs one after another in one service: memory, descriptors and processes stay flat.

    flat_runs.py --runs 5 [--binary build/release/bin/assay] [--browser PATH]
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from service import ENDED, Service  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]

#: Growth from the second run (the first fills caches) to the last that is still called flat.
MAX_GROWTH_KIB = 12 * 1024


def usage(pid: int) -> dict[str, int]:
    status = Path(f"/proc/{pid}/status").read_text()
    resident = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:"))
    children = sum(
        1
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit() and (entry / "stat").exists() and parent_of(entry) == pid
    )
    return {"resident_kib": resident, "descriptors": len(list(Path(f"/proc/{pid}/fd").iterdir())), "children": children}


def parent_of(entry: Path) -> int:
    try:
        return int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:
        return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--binary", type=Path, default=ROOT / "build/release/bin/assay")
    parser.add_argument("--browser")
    options = parser.parse_args()
    seen = []
    with Service(options.binary, options.browser) as service:
        for index in range(options.runs):
            row = service.wait_for(service.submit(), ENDED, within=120)
            if row["state"] != "done":
                print(f"[check] FAILED: run {index + 1} ended as {row}")
                return 1
            seen.append(usage(service.process.pid))
            print(f"run {index + 1}: {seen[-1]}", flush=True)
        left = service.leftovers()
    base, last = seen[min(1, len(seen) - 1)], seen[-1]
    problems = [f"left behind: {left}"] if left else []
    if last["children"] > 0:
        problems.append(f"{last['children']} processes are left")
    if last["descriptors"] > base["descriptors"]:
        problems.append(f"descriptors grew from {base['descriptors']} to {last['descriptors']}")
    if last["resident_kib"] > base["resident_kib"] + MAX_GROWTH_KIB:
        problems.append(f"memory grew from {base['resident_kib']} to {last['resident_kib']} KiB")
    for problem in problems:
        print(f"[check] FAILED: {problem}")
    if not problems:
        print(f"[check] passed: {options.runs} runs in a row leave memory, descriptors and processes flat")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
