#!/usr/bin/env python3
"""Runs the tasks of the bench page in headless Chromium and prints their tables.

usage: report.py PAGE_DIR [--variants V,V] [--presets P,P] [--steps N] [--threads N,N]
  CHROMIUM names the browser. Every task has a fresh browser; steps of all variants of a preset stand side by side, so
  compare within one run only. Python standard library only.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile


def measure(page, tasks, timeout):
    """One result a task, in order."""
    here = pathlib.Path(__file__).resolve().parent
    script = here / "measure.py"
    if not script.exists():
        script = here.parent / "webgpu" / "measure.py"
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "results"
        environment = {**os.environ, "GPU_SWITCHES": os.environ.get("GPU_SWITCHES", "--disable-gpu")}
        command = [sys.executable, str(script), page, str(out), "--timeout", str(timeout), *tasks]
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=False)
        return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


def report_products(page, variants):
    results = measure(page, [f"task=gemm&variant={variant}" for variant in variants], 120)
    print("\nGFLOP/s of one thread, packing included (best of 12), and the share of its multiply-add peak")
    shapes = next((list(r["gflops"]) for r in results if r["ok"]), [])
    print(f"{'variant':18}{'peak':>7}" + "".join(f"{shape:>19}" for shape in shapes))
    for variant, result in zip(variants, results):
        if not result["ok"]:
            print(f"{variant:18} failed: {result['error'].splitlines()[0]}")
            continue
        peak = result["peak_gflops"]
        cells = "".join(f"{g:11.1f} ({g / peak:4.0%})" + " " for g in result["gflops"].values())
        print(f"{variant:18}{peak:7.1f}{cells}  {result['facts']['microkernel']}"
              f"{' fused' if result['facts']['madd_fused'] else ''}")
    return {variant: r["peak_gflops"] for variant, r in zip(variants, results) if r["ok"]}


def report_steps(page, variants, presets, threads, steps, peaks):
    for preset in presets:
        tasks = [
            f"task=steps&variant={variant}&preset={preset}&steps={steps}&threads={count}"
            for variant in variants
            for count in (threads if variant.endswith("-mt") else [1])
        ]
        results = measure(page, tasks, 600)
        print(f"\n{preset}: ms a step")
        print(f"{'variant':18}{'threads':>8}{'median':>10}{'least':>10}{'GFLOP/s':>9}{'of peak':>9}{'create':>9}{'MiB':>7}  losses")
        for result in results:
            if not result["ok"]:
                print(f"{result['query']}: {result['error'].splitlines()[0]}")
                continue
            peak = peaks.get(result["variant"], 0) * result["threads"]
            share = f"{result['gflops'] / peak:9.0%}" if peak else f"{'-':>9}"
            print(f"{result['variant']:18}{result['threads']:8}{result['median_ms']:10.1f}{result['least_ms']:10.1f}"
                  f"{result['gflops']:9.1f}{share}{result['cold_start']['create']:9.0f}"
                  f"{result['memory_bytes'] / 2**20:7.0f}  {result['first_loss']:.6f} -> {result['last_loss']:.6f}")
        print("breakdown of a step, ms:")
        for result in results:
            if result["ok"]:
                parts = ", ".join(f"{name} {value:.2f}" for name, value in result["breakdown"].items() if value >= 0.005)
                print(f"  {result['variant']} x{result['threads']}: {parts}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("page")
    parser.add_argument("--variants", default="wasm-scalar,wasm-simd,wasm-simd-mt,wasm-relaxed-mt,wasm64-simd-mt")
    parser.add_argument("--presets", default="small,large")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--threads", default=str(os.cpu_count()))
    options = parser.parse_args()
    variants = options.variants.split(",")
    threads = [int(count) for count in options.threads.split(",")]
    peaks = report_products(options.page, variants)
    report_steps(options.page, variants, options.presets.split(","), threads, options.steps, peaks)


main()
