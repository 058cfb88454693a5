#!/usr/bin/env python3
"""The half-precision arm on a machine whose adapter has shader-f16: gradients, drift, repeats and speed, judged.

usage: f16_check.py BUNDLE [--presets P,P] [--peak TFLOPS]
  BUNDLE: what `tools/bench.sh webgpu --bundle BUNDLE` wrote. CHROMIUM and GPU_SWITCHES as for its measure.py; on NVIDIA
  Chromium shows shader-f16 only with --enable-dawn-features=vulkan_enable_f16_on_nvidia among the switches.
exit: 0 when every bound below holds on every preset.
Not part of the default test run, since the software adapter lacks the feature. Python standard library only.
"""
import argparse
import json
import os
import subprocess
import sys

# f16 has 11 bits: each number read by a product is off by at most 2^-11, and sums of many such errors stay below these.
WHOLE_GRADIENT_BOUND = 0.01
TENSOR_GRADIENT_BOUND = 0.05
DRIFT_BOUND = 0.005


def judge(result):
    """What is wrong with one task's result, in words; empty when nothing is."""
    if not result["ok"]:
        return result["error"].splitlines()[0]
    if result["task"] == "gradients":
        if result["whole_error"] > WHOLE_GRADIENT_BOUND:
            return f"the gradient differs by {result['whole_error']:.1e} of its length"
        if result["largest_error"] > TENSOR_GRADIENT_BOUND:
            return f"a tensor's gradient differs by {result['largest_error']:.1e} of its length"
    if result["task"] == "drift":
        if not result["same_inputs"]:
            return "the inputs of the two arms differ"
        if result["largest_drift"] > DRIFT_BOUND:
            return f"losses differ by {result['largest_drift']:.1e}"
    if result["task"] == "repeats" and not result["identical"]:
        return "repeated losses differ"
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bundle")
    parser.add_argument("--presets", default="small,medium,large,xl")
    parser.add_argument("--peak")
    options = parser.parse_args()
    tasks = []
    for preset in options.presets.split(","):
        half = f"preset={preset}&arm=webgpu-f16"
        tasks += [f"task={name}&{half}" for name in ("gradients", "drift", "repeats")]
        tasks += [f"task=steps&variants=kept-awake,no-timestamps&preset={preset}&arm={arm}" for arm in ("webgpu", "webgpu-f16")]
    lines = os.path.join(options.bundle, "f16.jsonl")
    if os.path.exists(lines):
        os.remove(lines)
    tool = lambda name: [sys.executable, os.path.join(options.bundle, name)]
    page = os.path.join(options.bundle, "page")
    subprocess.run([*tool("measure.py"), page, lines, *tasks], stdout=subprocess.DEVNULL, check=False)
    peak = ["--peak", options.peak] if options.peak else []
    subprocess.run([*tool("report.py"), lines, *peak], check=False)
    with open(lines, encoding="utf-8") as results:
        found = [(result["query"], judge(result)) for result in map(json.loads, results)]
    wrong = [(query, fault) for query, fault in found if fault]
    for query, fault in wrong:
        print(f"WRONG {query}: {fault}")
    print(f"{len(found) - len(wrong)} of {len(tasks)} tasks as they should be")
    sys.exit(1 if wrong or len(found) < len(tasks) else 0)


main()
