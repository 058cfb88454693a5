"""Fills a SQLite store with synthetic receipts: small, unsigned, for lists only.

    tests/load/make_receipts.py HOME COUNT

HOME is the --home of a server that has made its store and is not running. Spread over 20 machines, 6 presets, 6 verdicts.
"""

import datetime
import sqlite3
import sys
from pathlib import Path

PRESETS = ["smoke", "tiny", "small", "medium", "large", "xl"]
VERDICTS = ["verified"] * 5 + ["unqualified", "inconclusive", "refused", "failed", "invalid"]
START = datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)
COLUMNS = ["id", "run_id", "machine_id", "machine_name", "created_at", "preset", "arm_a", "arm_b", "verdict", "evidence", "policy",
           "speedup", "interval_low", "interval_high", "a_median_ms", "b_median_ms", "max_loss_drift", "flops_per_step",
           "label", "precision_rule", "file_sha256", "chain_sequence"]


def row(number):
    machine = number * 7919 % 20
    moment = START + datetime.timedelta(seconds=60 * number)
    speedup = 5 + number % 97 / 50
    return (f"{number:026d}", f"R{number:025d}", f"{machine:064x}", f"machine-{machine}",
            moment.strftime("%Y-%m-%dT%H:%M:%S.000Z"), PRESETS[number % 6], "wasm-simd-mt", "webgpu", VERDICTS[number // 3 % 10],
            "measured", "any-hardware", speedup, speedup * 0.98, speedup * 1.02, 100.0, 100.0 / speedup, 0.001, 2.3e9,
            "nightly" if number % 4 == 0 else None, "interval", f"{number:064x}", number)


def fill(database, count):
    connection = sqlite3.connect(database)
    connection.execute("PRAGMA synchronous = OFF")
    marks = ",".join("?" * len(COLUMNS))
    with connection:
        connection.executemany(f"INSERT INTO receipts ({','.join(COLUMNS)}) VALUES ({marks})", (row(number) for number in range(count)))
    connection.execute("ANALYZE")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def database_of(home):
    found = [path for path in Path(home).rglob("*") if path.suffix in (".db", ".sqlite", ".sqlite3")]
    if len(found) != 1:
        raise SystemExit(f"expected one database below {home}, found {found}")
    return found[0]


if __name__ == "__main__":
    fill(database_of(sys.argv[1]), int(sys.argv[2]))
