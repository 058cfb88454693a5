#!/usr/bin/env python3
"""Prints the tables of a WebGPU bench from the JSON lines that measure.py wrote.

usage: report.py RESULTS [--peak TFLOPS]
  --peak: the chip's f32 peak, for the share of it. exit: 1 when a task failed.
"""
import argparse
import json
import sys


def share(tflops, peak):
    return f" ({100 * tflops / peak:.0f} % of peak)" if peak else ""


def gpu_time(step):
    return f", {step['gpu_ms']:.3f} ms on the GPU" if "gpu_ms" in step else ""


def print_steps(result, peak):
    for variant, step in result["results"].items():
        same = step["same_losses"] and step["pipelined_same_losses"]
        print(
            f"{result['preset']:9} {result['arm']:10} {variant:13} {step['median_ms']:8.3f} ms a step, pipelined {step['pipelined_ms']:8.3f} ms, "
            f"{step['dispatches']} dispatches{gpu_time(step)}, {step['tflops']:.1f} TFLOP/s{share(step['tflops'], peak)}, "
            f"loss {step['first_loss']:.4f} -> {step['last_loss']:.4f}, repeats {'identical' if same else 'differ'}"
        )


def print_operations(result, peak):
    print(f"{result['preset']}: {result['sum_us']:.0f} us in operations timed alone, {result['replayed_step_ms']:.3f} ms replayed in order")
    for row in result["table"]:
        rate = f"{row['tflops']:6.1f} TFLOP/s{share(row['tflops'], peak)}" if "tflops" in row else ""
        print(f"  {row['operation']:24} x {row['count']:3} {row['us']:9.1f} us {rate}")


def print_table(result, unit):
    for name, row in result["table"].items():
        print(f"{result.get('preset', 'f32')} {name} ({unit}): " + ", ".join(f"{tile} {value}" for tile, value in row.items()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("results")
    parser.add_argument("--peak", type=float)
    options = parser.parse_args()
    failed = False
    with open(options.results, encoding="utf-8") as lines:
        for line in lines:
            result = json.loads(line)
            if not result["ok"]:
                failed = True
                print(f"FAILED {result.get('query')}: {result['error']}", file=sys.stderr)
            elif result["task"] == "steps":
                print_steps(result, options.peak)
            elif result["task"] == "operations":
                print_operations(result, options.peak)
            elif result["task"] == "gemm":
                print_table(result, "TFLOP/s")
            elif result["task"] in ("tiles", "attention"):
                print_table(result, "us")
            elif result["task"] == "gradients":
                print(f"{result['preset']} {result['arm']}: gradients differ from WebAssembly's by at most {result['largest_error']:.1e} a tensor, {result['whole_error']:.1e} in all")
            elif result["task"] == "drift":
                print(f"{result['preset']} {result['arm']}: largest paired loss drift {result['largest_drift']:.1e}, inputs {'equal' if result['same_inputs'] else 'UNEQUAL'}")
            elif result["task"] == "repeats":
                print(f"{result['preset']} {result['arm']}: serial, repeated and pipelined losses {'identical' if result['identical'] else 'DIFFER'}")
    sys.exit(1 if failed else 0)


main()
