"""Runs one measurement of either side: a peer library's page, or the trainer's bench page. Python standard library only."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

LIMIT_S = 300


def check_inputs(peers):
    """Ends the program, naming what is missing, unless the peers are built and a browser is named."""
    if not (peers / "dist" / "jax.html").exists():
        sys.exit(f"{peers}/dist is not built: run {peers}/build.sh first")
    if "CHROMIUM" not in os.environ:
        sys.exit("CHROMIUM does not name a browser")


def run_peer(peers, switches, query):
    """What a peer's page posts, or {"ok": False, "error": reason}."""
    command = [sys.executable, str(peers / "run.py"), os.environ["CHROMIUM"], query, *switches.split(), "--headless", "--no-sandbox"]
    environment = {name: value for name, value in os.environ.items() if name != "OUT"}
    done = subprocess.run(command, text=True, capture_output=True, check=False, env={**environment, "T": str(LIMIT_S)})
    for line in reversed(done.stdout.splitlines()):
        if line.startswith("{"):
            return json.loads(line)
    return {"ok": False, "error": (done.stderr or "no result").strip()[-200:]}


def run_ours(page, switches, queries):
    """One result a query, from the bench page that `tools/bench.sh wasm` or `webgpu` wrote with --bundle."""
    script = pathlib.Path(__file__).resolve().parents[2] / "tools" / "bench" / "webgpu" / "measure.py"
    beside = pathlib.Path(page).resolve().parent / "measure.py"
    script = script if script.exists() else beside
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "results"
        subprocess.run([sys.executable, str(script), str(page), str(out), "--timeout", str(LIMIT_S), *queries],
                       env={**os.environ, "GPU_SWITCHES": switches}, stdout=subprocess.DEVNULL, check=False)
        return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
