"""Runs the same arm against itself many times and counts the runs that claim a difference. See tools/bench/aa_runs.sh."""

import argparse
import math
import statistics
import sys
import tempfile

from assay_run import claims_difference, half_width, run


def chance_of_more(runs, bound, rate=0.05):
    """Probability that more than `bound` of `runs` exact 95 % intervals miss the truth (binomial)."""
    return 1 - sum(math.comb(runs, k) * rate**k * (1 - rate) ** (runs - k) for k in range(bound + 1))


def bound_of(runs):
    """The smallest count that chance alone passes at most once in a hundred times; 7 for 60 runs."""
    return next(bound for bound in range(runs + 1) if chance_of_more(runs, bound) <= 0.012)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--arm", default="wasm-simd")
    parser.add_argument("--preset", default="tiny")
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--quadruples", type=int, default=3)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--warmup", type=int, default=2)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--slice-steps", type=int, help="measure the blocks of a quadruple in turn")
    options = parser.parse_args()
    if options.quadruples < 3:
        parser.error("an interval needs three quadruples or more")

    receipts, seconds = [], []
    with tempfile.TemporaryDirectory(prefix="assay-aa-") as home:
        for seed in range(options.first_seed, options.first_seed + options.runs):
            receipt, took = run(options.program, home, [options.arm] * 2, options.preset, options.quadruples, options.steps,
                                options.warmup, seed, options.slice_steps)
            if "interval95" not in receipt["analysis"]:
                raise SystemExit(f"run {seed} has no interval: {receipt['verdict']}")
            receipts.append(receipt)
            seconds.append(took)
            low, high = receipt["analysis"]["interval95"]
            print(f"{seed:4}  {took:5.1f} s  ratio {receipt['analysis']['speedup']:.4f}  {low:.4f} to {high:.4f}"
                  f"{'  claims a difference' if claims_difference(receipt) else ''}", flush=True)

    claims = sum(map(claims_difference, receipts))
    bound = bound_of(options.runs)
    logs = [math.log(receipt["analysis"]["speedup"]) for receipt in receipts]
    print(f"\n{options.runs} A/A runs of {options.preset}, {options.arm}, {options.quadruples} quadruples of {options.steps} steps, "
          f"{statistics.median(seconds):.1f} s each")
    print(f"claim a difference:        {claims} of {options.runs} (expected {0.05 * options.runs:.0f}, allowed {bound})")
    print(f"ratio, geometric mean:     {math.exp(statistics.fmean(logs)):.4f}")
    print(f"half-width, median:        {100 * statistics.median(map(half_width, receipts)):.2f} %")
    sys.exit(0 if claims <= bound else 1)


if __name__ == "__main__":
    main()
