"""Overview, comparison, curve and trend over many receipts in PostgreSQL, one request after the other at a fixed rate.

    tools/lib/with_postgresql.sh python3 tests/load/lab_receipts.py [--receipts 1000000] [--seconds 5]

The receipts are small and synthetic, but two, which are real: those are compared. Spread over 200 machines, 6 presets, 3
pairs of arms and 6 verdicts. Fails where a 99th percentile is 50 ms or more (--most-p99-ms), or where PostgreSQL reads the
table from end to end for any of it (its own count of such reads tells).
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile

from service import BUILD, Service, ask_at_rate, quantile

RUN = ["run", "--preset", "smoke", "--steps", "2", "--warmup", "1", "--arms", "native,native", "--policy", "any",
       "--allow-unqualified", "--environment-policy", "none"]
FILL = """
INSERT INTO receipts (id, run_id, machine_id, machine_name, created_at, preset, arm_a, arm_b, verdict, evidence, policy, speedup,
                      interval_low, interval_high, a_median_ms, b_median_ms, max_loss_drift, flops_per_step, label,
                      precision_rule, file_sha256, chain_sequence)
SELECT '00' || lpad(n::text, 24, '0'), '01' || lpad(n::text, 24, '0'), lpad(to_hex(n::bigint * 7919 % 200), 16, '0'),
       'machine-' || n::bigint * 7919 % 200,
       to_char(timestamp '2020-01-01' + n * interval '2 minutes', 'YYYY-MM-DD"T"HH24:MI:SS.000"Z"'),
       (ARRAY['smoke', 'tiny', 'small', 'medium', 'large', 'xl'])[n / 200 % 6 + 1],
       (ARRAY['wasm-simd-mt', 'wasm-simd-mt', 'wasm-scalar'])[n % 3 + 1], (ARRAY['webgpu', 'webgpu-f16', 'webgpu'])[n % 3 + 1],
       (ARRAY['verified', 'verified', 'verified', 'verified', 'verified', 'unqualified', 'inconclusive', 'refused', 'failed',
              'invalid'])[n / 3 % 10 + 1], 'measured', 'any-hardware', s.speedup, s.speedup * 0.98, s.speedup * 1.02, 100.0,
       100.0 / s.speedup, 0.001, 2.3e9, CASE WHEN n % 4 = 0 THEN 'nightly' END, 'interval', lpad(to_hex(n), 64, '0'), n / 200
FROM generate_series(0, {last}) AS n, LATERAL (SELECT 5 + n % 97 / 50.0 AS speedup) AS s
"""


def query(store, text):
    return subprocess.run(["psql", "-qAt", "-v", "ON_ERROR_STOP=1", store, "-c", text], check=True, capture_output=True,
                          text=True).stdout.split()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--receipts", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--most-p99-ms", type=float, default=50)
    options = parser.parse_args()
    store = os.environ.get("ASSAY_TEST_POSTGRESQL") or sys.exit("no PostgreSQL: run this with tools/lib/with_postgresql.sh")
    with tempfile.TemporaryDirectory() as home:
        for _ in range(2):
            subprocess.run([BUILD / "bin/assay", *RUN, "--home", home, "--store", store], check=False, capture_output=True)
    first, second = query(store, "SELECT id FROM receipts")
    query(store, FILL.format(last=options.receipts - 1))
    query(store, "VACUUM ANALYZE receipts")
    questions = {"overview": ("/api/v1/receipts?limit=50", 100),
                 "overview of a machine": ("/api/v1/receipts?machine=machine-7&limit=50", 100),
                 "overview, filtered": ("/api/v1/receipts?verdict=verified&preset=large&label=nightly", 100),
                 "compare": (f"/api/v1/compare?a={first}&b={second}", 50),
                 "curve of a machine": ("/api/v1/curve?machine=machine-7&arm_a=wasm-simd-mt&arm_b=webgpu", 10),
                 "trend": ("/api/v1/trends?machine=machine-7&preset=large", 10)}
    failed = False
    # Read once from end to end when the store opened and when it was filled; from here on by index alone.
    before = query(store, "SELECT seq_scan FROM pg_stat_user_tables WHERE relname = 'receipts'")
    with Service(store=store) as service:
        for name, (path, rate) in questions.items():
            asyncio.run(ask_at_rate(service.port, path, rate, 1, 4))
            ordered = asyncio.run(ask_at_rate(service.port, path, rate, options.seconds, 4))
            p99 = quantile(ordered, 0.99)
            print(f"{name} over {options.receipts} at {rate}/s: median {quantile(ordered, 0.5):.1f} ms, p99 {p99:.1f} ms, worst "
                  f"{ordered[-1]:.1f} ms", flush=True)
            failed = failed or p99 >= options.most_p99_ms
    after = query(store, "SELECT pg_stat_clear_snapshot(), seq_scan FROM pg_stat_user_tables WHERE relname = 'receipts'")
    scans = int(after[-1].split("|")[-1]) - int(before[0])
    print(f"reads of the whole table: {scans}")
    failed = failed or scans > 0
    print(f"[check] {'failed' if failed else 'passed'}: queries over {options.receipts} receipts in PostgreSQL")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
