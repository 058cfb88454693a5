#!/usr/bin/env python3
"""Sets the WebGPU trainer beside two public libraries that train the same model, in one browser and run.

usage: compare_webgpu.py PEERS_DIR BENCH_PAGE_DIR [--presets P,P] [--steps N]
  PEERS_DIR       holds dist/jax.html and dist/tfjs.html, built by its own build.sh, and its run.py
  BENCH_PAGE_DIR  made by `tools/bench.sh webgpu --bundle DIR` (DIR/page)
  CHROMIUM names the browser, GPU_SWITCHES its switches for this machine's GPU, HS_LIB an extra library folder for it.
A step ends when the host has seen its loss. Chromium's GPU process looks for finished work only every 2.4 ms or so when
nothing arrives, so each library is measured twice: as it waits by itself, and kept awake in the way that the trainer waits
(an error scope pushed and popped until the loss is there). The better of the two counts for it.
Not part of the tests: times depend on the machine. Python standard library only.
exit: 0 when every figure was measured, 1 otherwise.
"""
import argparse
import os
import pathlib
import re
import shutil
import sys
import tempfile

from sides import check_inputs, run_ours, run_peer

PEERS = {"jax-js": "jax", "TensorFlow.js": "tfjs"}
STEP = re.compile(r"await (step\d*\(next\(\), i \+ 1\))")
KEPT_AWAKE = """
globalThis.keptAwake = async (promise) => {
  const device = globalThis.peerDevice;
  if (!device || !new URLSearchParams(location.search).get("awake")) return promise;
  let done = false;
  promise.finally(() => { done = true; });
  while (!done) { device.pushErrorScope("validation"); await device.popErrorScope(); }
  return promise;
};
if (typeof GPUAdapter !== "undefined") {
  const request = GPUAdapter.prototype.requestDevice;
  GPUAdapter.prototype.requestDevice = async function (...given) { return (globalThis.peerDevice = await request.apply(this, given)); };
}
"""


def with_kept_awake_wait(peers, folder):
    """A copy of the peers whose pages can wait kept awake (awake=1)."""
    copy = pathlib.Path(folder) / "peers"
    (copy / "dist").mkdir(parents=True)
    shutil.copy(peers / "run.py", copy)
    for name in PEERS.values():
        shutil.copy(peers / "dist" / f"{name}.html", copy / "dist")
        code, found = STEP.subn(r"await keptAwake(\1)", (peers / "dist" / f"{name}.js").read_text(encoding="utf-8"))
        if found != 1:
            sys.exit(f"{peers}/dist/{name}.js awaits its step {found} times: this script no longer fits that page")
        (copy / "dist" / f"{name}.js").write_text(KEPT_AWAKE + code, encoding="utf-8")
    return copy


def compare(peers, options, preset):
    """Prints one preset's row; returns what could not be measured."""
    switches = os.environ.get("GPU_SWITCHES", "--enable-unsafe-webgpu")
    missing, best = [], {}
    ours = run_ours(options.page, switches, [f"task=steps&variants=kept-awake&preset={preset}&steps={options.steps}"])[0]
    if not ours["ok"]:
        return [f"{preset}: {ours['error'].splitlines()[0]}"]
    our_ms = ours["results"]["kept-awake"]["median_ms"]
    for name, page in PEERS.items():
        for wait in ("", "&awake=1"):
            result = run_peer(peers, switches, f"{page}.html?be=webgpu&preset={preset}&steps={options.steps}{wait}")
            if not result.get("ok") or "median_ms" not in result:
                missing.append(f"{preset}, {name}{wait}: {result.get('error', 'no step time')}")
            else:
                best[name] = min(result["median_ms"], best.get(name, float("inf")))
    row = "".join(f"  {name} {step:.2f} ms" for name, step in best.items())
    times = f"  the faster takes {min(best.values()) / our_ms:.1f} times as long" if best else ""
    print(f"{preset:8}webgpu {our_ms:.2f} ms{row}{times}", flush=True)
    return missing


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("peers", type=pathlib.Path)
    parser.add_argument("page")
    parser.add_argument("--presets", default="small,medium,large,xl")
    parser.add_argument("--steps", type=int, default=30)
    options = parser.parse_args()
    check_inputs(options.peers)
    missing = []
    with tempfile.TemporaryDirectory() as folder:
        peers = with_kept_awake_wait(options.peers, folder)
        for preset in options.presets.split(","):
            missing += compare(peers, options, preset)
    for reason in missing:
        print(f"not measured: {reason}", file=sys.stderr)
    sys.exit(1 if missing else 0)


main()
