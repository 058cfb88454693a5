#!/usr/bin/env python3
"""Draws the README's curve and writes its table, both from the receipts and the published figures under results/.

usage: draw_curve.py ASSAY [--check]
  ASSAY    the built program: `assay export` reads the receipts, so that this script knows nothing of their format
  --check  changes nothing; exits with 1 when the figure or the table is not what results/ gives
Python standard library only.
"""
import argparse
import html
import json
import math
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIGURE = ROOT / "docs" / "images" / "curve.svg"
README = ROOT / "README.md"
MEASURED = "results/nvidia-h200"
HISTORICAL = ROOT / "results" / "historical" / "curve.json"
TABLE_BEGIN, TABLE_END = "<!-- curve: made by tools/figures/draw_curve.py -->", "<!-- end of the curve -->"
GFLOP = {"small": 2.30, "medium": 8.01, "large": 26.3, "xl": 40.7}  # a step, for published figures that state only a preset

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 860, 440, 76, 210, 56, 62
X_RANGE, Y_RANGE = (1.5, 70.0), (1.5, 150.0)
INK, MUTED, GRID, MEASURED_INK, PAST_INK = "#1f2d3a", "#5b6b7a", "#dfe5ea", "#0b6b5d", "#8a5a00"


def measured_rows(assay):
    """One row a measured receipt of the two arms that holds a ratio, from the smallest model to the largest."""
    files = sorted(str(path.relative_to(ROOT)) for path in (ROOT / MEASURED).glob("*.assay.json"))
    command = [assay, "export", "--table", "receipts", "--format", "jsonl", *files]
    done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=True)
    rows = [dict(json.loads(line), file=file) for line, file in zip(done.stdout.splitlines(), files, strict=True)]
    return sorted((row for row in rows if "speedup" in row and row["arm_b"] == "webgpu"), key=lambda row: row["flops_per_step"])


def published_rows():
    figures = json.loads(HISTORICAL.read_text(encoding="utf-8"))["figures"]
    return [{"preset": figure["preset"], "gflop": GFLOP[figure["preset"]], "speedup": figure["speedup"]} for figure in figures
            if figure["evidence"] == "historical"]


def range_of(row):
    """The interval where there is one; else how far repeats of one arm lay apart, which is no interval."""
    if "interval95_low" in row:
        return row["interval95_low"], row["interval95_high"]
    spread = max(row["repeat_spread_a"], row["repeat_spread_b"])
    return row["speedup"] * math.exp(-spread), row["speedup"] * math.exp(spread)


def across(value):
    low, high = (math.log(bound) for bound in X_RANGE)
    return LEFT + (math.log(value) - low) / (high - low) * (WIDTH - LEFT - RIGHT)


def up(value):
    low, high = (math.log(bound) for bound in Y_RANGE)
    return HEIGHT - BOTTOM - (math.log(value) - low) / (high - low) * (HEIGHT - TOP - BOTTOM)


def text(x, y, words, **attributes):
    rest = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in attributes.items())
    return f'<text x="{x:.1f}" y="{y:.1f}"{rest}>{html.escape(words)}</text>'


def axes():
    parts = []
    for gflop in (2, 5, 10, 20, 50):
        x = across(gflop)
        parts.append(f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{HEIGHT - BOTTOM}" stroke="{GRID}"/>')
        parts.append(text(x, HEIGHT - BOTTOM + 20, str(gflop), text_anchor="middle", fill=MUTED))
    for ratio in (2, 5, 10, 20, 50, 100):
        y = up(ratio)
        parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="{GRID}"/>')
        parts.append(text(LEFT - 10, y + 4.5, f"{ratio}x", text_anchor="end", fill=MUTED))
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 16, "GFLOP a training step (both axes are logarithmic)", text_anchor="middle", fill=MUTED))
    parts.append(text(LEFT, 24, "WebGPU's training step against WebAssembly's, by size of the model", font_weight="600", font_size="16"))
    parts.append(text(LEFT, 43, "times faster; WebAssembly with SIMD on every core is the baseline", fill=MUTED))
    return parts


def polyline(points, ink, dash=""):
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{line}" fill="none" stroke="{ink}" stroke-width="1.5"{dash}/>'


def figure(measured, published):
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
             'font-family="system-ui, sans-serif" font-size="13" role="img" aria-label="Speed-up of WebGPU over WebAssembly by size of the model">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>', f'<g fill="{INK}">', *axes()]
    past = [(across(row["gflop"]), up(row["speedup"])) for row in published]
    parts.append(polyline(past, PAST_INK, ' stroke-dasharray="2 5"'))
    for (x, y), row in zip(past, published):
        parts.append(f'<rect x="{x - 5:.1f}" y="{y - 5:.1f}" width="10" height="10" fill="#ffffff" stroke="{PAST_INK}" stroke-width="1.8"/>')
        parts.append(text(x, y + 22, f'{row["speedup"]:g}x', text_anchor="middle", fill=PAST_INK))
    points = [(across(row["flops_per_step"] / 1e9), up(row["speedup"])) for row in measured]
    parts.append(polyline(points, MEASURED_INK))
    for (x, y), row in zip(points, measured):
        low, high = (up(bound) for bound in range_of(row))
        parts.append(f'<path d="M{x:.1f} {low:.1f}V{high:.1f}M{x - 5:.1f} {low:.1f}h10M{x - 5:.1f} {high:.1f}h10" stroke="{MEASURED_INK}" stroke-width="1.5" fill="none"/>')
        fill = MEASURED_INK if row["verdict"] == "verified" else "#ffffff"
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5.5" fill="{fill}" stroke="{MEASURED_INK}" stroke-width="1.8"/>')
        parts.append(text(x + 14, high - 10, f'{row["preset"]} {row["speedup"]:.1f}x', text_anchor="end", fill=MEASURED_INK, font_weight="600"))
    parts += legend(measured)
    return "\n".join([*parts, "</g>", "</svg>", ""])


def legend(measured):
    x, y = WIDTH - RIGHT + 22, TOP + 14
    verdicts = {row["verdict"] for row in measured}
    parts = [text(x + 16, y, "measured here", fill=MEASURED_INK, font_weight="600"),
             text(x + 16, y + 18, "NVIDIA H200, 16 cores,", fill=MUTED), text(x + 16, y + 35, "headless Chromium 156", fill=MUTED)]
    y += 60
    for verdict, fill in (("verified", MEASURED_INK), ("inconclusive", "#ffffff")):
        if verdict in verdicts:
            parts.append(f'<circle cx="{x + 4:.1f}" cy="{y - 4:.1f}" r="5.5" fill="{fill}" stroke="{MEASURED_INK}" stroke-width="1.8"/>')
            parts.append(text(x + 16, y, verdict))
            y += 20
    bars = "95 % interval" if all("interval95_low" in row for row in measured) else "interval, or repeat spread"
    parts.append(f'<path d="M{x + 4:.1f} {y - 11:.1f}v13M{x - 1:.1f} {y - 11:.1f}h10M{x - 1:.1f} {y + 2:.1f}h10" stroke="{MEASURED_INK}" stroke-width="1.5" fill="none"/>')
    parts.append(text(x + 16, y, bars))
    y += 36
    parts.append(text(x + 16, y, "historical", fill=PAST_INK, font_weight="600"))
    parts.append(f'<rect x="{x - 1:.1f}" y="{y + 8:.1f}" width="10" height="10" fill="#ffffff" stroke="{PAST_INK}" stroke-width="1.8"/>')
    parts += [text(x + 16, y + 18, "published by another", fill=MUTED), text(x + 16, y + 35, "project, on another", fill=MUTED),
              text(x + 16, y + 52, "machine; four workers;", fill=MUTED), text(x + 16, y + 69, "no raw samples", fill=MUTED)]
    return parts


def duration(milliseconds):
    return f"{milliseconds:.3g} ms" if milliseconds < 100 else f"{milliseconds:.0f} ms"


def table(measured):
    lines = ["| preset | GFLOP a step | `wasm-simd-mt` | `webgpu` | ratio | 95 % interval | largest repeat spread | largest loss drift | verdict |",
             "|---|---|---|---|---|---|---|---|---|"]
    for row in measured:
        interval = f'{row["interval95_low"]:.1f} to {row["interval95_high"]:.1f}' if "interval95_low" in row else "a point"
        spread = max(row["repeat_spread_a"], row["repeat_spread_b"])
        lines.append(f'| [{row["preset"]}]({row["file"]}) | {row["flops_per_step"] / 1e9:.1f} | {duration(row["a_median_ms"])} | {duration(row["b_median_ms"])} '
                     f'| {row["speedup"]:.1f} | {interval} ({row["quadruples"]}) | {100 * spread:.1f} % | {row["max_loss_drift"]:.1e} | {row["verdict"]} |')
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("assay")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    measured = measured_rows(options.assay)
    picture = figure(measured, published_rows())
    readme = README.read_text(encoding="utf-8")
    before, rest = readme.split(TABLE_BEGIN)
    after = rest.split(TABLE_END)[1]
    page = f"{before}{TABLE_BEGIN}\n{table(measured)}\n{TABLE_END}{after}"
    if options.check:
        stale = [str(path) for path, wanted in ((FIGURE, picture), (README, page))
                 if not path.exists() or path.read_text(encoding="utf-8") != wanted]
        if stale:
            sys.exit(f"{', '.join(stale)}: not what results/ gives; run tools/figures/draw_curve.py")
        return
    FIGURE.write_text(picture, encoding="utf-8")
    README.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
