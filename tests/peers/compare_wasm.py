#!/usr/bin/env python3
"""Sets the trainer's WebAssembly builds beside two public libraries that train the same model, in one browser and run.

usage: compare_wasm.py PEERS_DIR BENCH_PAGE_DIR [--presets P,P] [--steps N] [--threads N] [--rounds N]
  PEERS_DIR       holds dist/jax.html and dist/tfjs.html, built by its own build.sh, and its run.py. The project does
                  not depend on it: without it only this comparison cannot be made.
  BENCH_PAGE_DIR  made by `tools/bench.sh wasm --bundle DIR` (DIR/page)
  CHROMIUM names the browser, HS_LIB an extra library folder for it.
Every round measures each library once, in turn, so that a drift of the machine meets all of them; the best of the rounds
counts. Not part of the tests: times depend on the machine. Python standard library only.
exit: 0 when every figure was measured, 1 otherwise.
"""
import argparse
import os
import pathlib
import sys

from sides import check_inputs, run_ours, run_peer

PRODUCT = 512  # the square product that all of them offer
PEERS = {"jax-js wasm": "jax.html", "TensorFlow.js wasm": "tfjs.html"}
SWITCHES = "--disable-gpu"
OURS = ["wasm-simd-mt", "wasm-relaxed-mt"]


def compare_products(options):
    """GFLOP/s of one thread on a square product, by library."""
    best, missing = {}, []
    for _ in range(options.rounds):
        for name, page in PEERS.items():
            result = run_peer(options.peers, SWITCHES, f"{page}?be=wasm&bench=matmul&n={PRODUCT}&threads=1")
            row = next((row for row in result.get("rows", []) if row.get("N") == PRODUCT), {})
            if "gflops_best" not in row:
                missing.append(f"{name} product: {result.get('error', 'no figure')}")
            else:
                best[name] = max(row["gflops_best"], best.get(name, 0.0))
        size = f"{PRODUCT}x{PRODUCT}x{PRODUCT}"
        for result in run_ours(options.page, SWITCHES, [f"task=gemm&variant={variant}&shapes={size}" for variant in OURS]):
            if not result["ok"]:
                missing.append(result["error"].splitlines()[0])
            else:
                best[result["variant"]] = max(result["gflops"][size], best.get(result["variant"], 0.0))
    print(f"\nf32 product {PRODUCT}^3, one thread: GFLOP/s (best of {options.rounds} rounds)")
    for name, speed in sorted(best.items(), key=lambda pair: -pair[1]):
        print(f"  {name:22}{speed:10.1f}")
    return missing


def compare_steps(options, preset):
    best = {}
    missing = []
    for _ in range(options.rounds):
        for name, page in PEERS.items():
            query = f"{page}?be=wasm&preset={preset}&steps={options.steps}&threads={options.threads}"
            result = run_peer(options.peers, SWITCHES, query)
            step = result.get("median_ms")
            if not result.get("ok") or step is None:
                missing.append(f"{name}: {result.get('error', 'no step time in ' + ', '.join(result))}")
            else:
                best[name] = min(step, best.get(name, float("inf")))
        for result in run_ours(options.page, SWITCHES, [f"task=steps&variant={v}&preset={preset}&steps={options.steps}&threads={options.threads}" for v in OURS]):
            if not result["ok"]:
                missing.append(result["error"].splitlines()[0])
            else:
                best[result["variant"]] = min(result["median_ms"], best.get(result["variant"], float("inf")))
    print(f"\n{preset}, {options.threads} threads: median ms a step (best of {options.rounds} rounds), and times slower than the fastest build")
    fastest = min((best[v] for v in OURS if v in best), default=None)
    for name, step in sorted(best.items(), key=lambda pair: pair[1]):
        print(f"  {name:22}{step:10.1f}" + (f"{step / fastest:8.2f}x" if fastest else ""))
    return missing


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("peers", type=pathlib.Path)
    parser.add_argument("page")
    parser.add_argument("--presets", default="small,large")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    check_inputs(options.peers)
    missing = compare_products(options)
    for preset in options.presets.split(","):
        missing += compare_steps(options, preset)
    for reason in missing:
        print(f"not measured: {reason}", file=sys.stderr)
    sys.exit(1 if missing else 0)


main()
