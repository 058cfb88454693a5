#!/usr/bin/env python3
"""Sets the trainer's WebAssembly builds beside two public libraries that train the same model, in one browser and run.

usage: compare.py PEERS_DIR BENCH_PAGE_DIR [--presets P,P] [--steps N] [--threads N] [--rounds N]
  PEERS_DIR       holds dist/jax.html and dist/tfjs.html, built by its own build.sh, and its run.py. The project does
                  not depend on it: without it only this comparison cannot be made.
  BENCH_PAGE_DIR  made by `tools/bench.sh wasm --bundle DIR` (DIR/page)
  CHROMIUM names the browser, HS_LIB an extra library folder for it.
Every round measures each library once, in turn, so that a drift of the machine meets all of them; the best of the rounds
counts. Not part of the tests: times depend on the machine. Python standard library only.
exit: 0 when every figure was measured, 1 otherwise.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PRODUCT = 512  # the square product that all of them offer
PEERS = {"jax-js wasm": "jax.html", "TensorFlow.js wasm": "tfjs.html"}
OURS = ["wasm-simd-mt", "wasm-relaxed-mt"]


def run_peer(peers, query):
    """What a peer's page posts, or a reason."""
    command = [sys.executable, str(peers / "run.py"), os.environ["CHROMIUM"], query, "--headless", "--no-sandbox"]
    done = subprocess.run(command, text=True, capture_output=True, check=False, env={**os.environ, "T": "300"})
    for line in reversed(done.stdout.splitlines()):
        if line.startswith("{"):
            return json.loads(line)
    return {"ok": False, "error": (done.stderr or "no result").strip()[-200:]}


def run_ours(page, queries):
    script = pathlib.Path(__file__).resolve().parents[2] / "tools" / "bench" / "webgpu" / "measure.py"
    beside = pathlib.Path(page).resolve().parent / "measure.py"
    script = script if script.exists() else beside
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "results"
        environment = {**os.environ, "GPU_SWITCHES": "--disable-gpu"}
        subprocess.run([sys.executable, str(script), str(page), str(out), "--timeout", "300", *queries],
                       env=environment, stdout=subprocess.DEVNULL, check=False)
        return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


def compare_products(options):
    """GFLOP/s of one thread on a square product, by library."""
    best, missing = {}, []
    for _ in range(options.rounds):
        for name, page in PEERS.items():
            result = run_peer(options.peers, f"{page}?be=wasm&bench=matmul&n={PRODUCT}&threads=1")
            row = next((row for row in result.get("rows", []) if row.get("N") == PRODUCT), {})
            if "gflops_best" not in row:
                missing.append(f"{name} product: {result.get('error', 'no figure')}")
            else:
                best[name] = max(row["gflops_best"], best.get(name, 0.0))
        size = f"{PRODUCT}x{PRODUCT}x{PRODUCT}"
        for result in run_ours(options.page, [f"task=gemm&variant={variant}&shapes={size}" for variant in OURS]):
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
            result = run_peer(options.peers, query)
            step = result.get("median_ms")
            if not result.get("ok") or step is None:
                missing.append(f"{name}: {result.get('error', 'no step time in ' + ', '.join(result))}")
            else:
                best[name] = min(step, best.get(name, float("inf")))
        for result in run_ours(options.page, [f"task=steps&variant={v}&preset={preset}&steps={options.steps}&threads={options.threads}" for v in OURS]):
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
    if not (options.peers / "dist" / "jax.html").exists():
        sys.exit(f"{options.peers}/dist is not built: run {options.peers}/build.sh first")
    if "CHROMIUM" not in os.environ:
        sys.exit("CHROMIUM does not name a browser")
    missing = compare_products(options)
    for preset in options.presets.split(","):
        missing += compare_steps(options, preset)
    for reason in missing:
        print(f"not measured: {reason}", file=sys.stderr)
    sys.exit(1 if missing else 0)


main()
