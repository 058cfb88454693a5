"""GET /api/v1/receipts over many stored receipts, at 500 requests a second, the server on one core.

    tests/load/receipt_list.py [--receipts 1000000] [--seconds 10]

Prints the latencies and fails where a 99th percentile is 25 ms or more.
"""

import argparse
import asyncio
import shutil
import sys
import tempfile
from pathlib import Path

from make_receipts import database_of, fill
from service import Service, ask_at_rate, quantile

MOST_P99_MS = 25
RATE = 500
QUERIES = ("/api/v1/receipts", "/api/v1/receipts?preset=large&limit=20", "/api/v1/receipts?machine=machine-7&verdict=verified",
           "/api/v1/receipts?label=nightly")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--receipts", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    home = Path(tempfile.mkdtemp())
    try:
        with Service(home=home):
            pass
        fill(database_of(home), options.receipts)
        failed = False
        with Service(home=home, core=0) as service:
            for path in QUERIES:
                asyncio.run(ask_at_rate(service.port, path, RATE, 1))
                ordered = asyncio.run(ask_at_rate(service.port, path, RATE, options.seconds))
                p99 = quantile(ordered, 0.99)
                print(f"{path} over {options.receipts}: median {quantile(ordered, 0.5):.2f} ms, p99 {p99:.2f} ms, "
                      f"worst {ordered[-1]:.2f} ms", flush=True)
                failed = failed or p99 >= MOST_P99_MS
        return 1 if failed else 0
    finally:
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
