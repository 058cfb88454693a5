#!/usr/bin/env python3
"""Serves the bench page (cross-origin isolated), opens it once a task in headless Chromium, prints one JSON line a task.

usage: measure.py PAGE_DIR OUT_FILE [--timeout SECONDS] [--switch SWITCH]... TASK...
  A task is a query: 'task=steps&preset=small'. CHROMIUM names the browser, HS_LIB an extra library folder for it,
  GPU_SWITCHES its switches for this machine's GPU, parted by blanks.
exit: 0 when every task gave a result without an error.
Python standard library only, so that it runs on a machine that has nothing else.
"""
import argparse
import functools
import http.server
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    extensions_map = {
        **http.server.SimpleHTTPRequestHandler.extensions_map,
        ".wasm": "application/wasm",
        ".mjs": "text/javascript",
        ".js": "text/javascript",
        ".wgsl": "text/plain",
    }

    def end_headers(self):
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode(errors="replace")
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
        if self.path == "/result":
            self.server.result = body
            self.server.arrived.set()

    def log_message(self, *_):
        pass


def run_task(server, query, timeout, switches):
    server.result = None
    server.arrived.clear()
    env = dict(os.environ)
    if env.get("HS_LIB"):
        env["LD_LIBRARY_PATH"] = env["HS_LIB"] + ":" + env.get("LD_LIBRARY_PATH", "")
    profile = tempfile.mkdtemp()
    command = [
        env["CHROMIUM"],
        "--headless",
        "--no-sandbox",
        "--no-first-run",
        "--disable-quic",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        f"--user-data-dir={profile}",
        *switches,
        f"http://127.0.0.1:{server.server_port}/index.html?{query}",
    ]
    browser = subprocess.Popen(
        command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        server.arrived.wait(timeout)
    finally:
        try:
            os.killpg(browser.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        browser.wait()
        shutil.rmtree(profile, ignore_errors=True)
    if server.result is None:
        return {"ok": False, "query": query, "error": f"no result within {timeout} s"}
    return {"query": query, **json.loads(server.result)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("page")
    parser.add_argument("out")
    parser.add_argument("tasks", nargs="+")
    parser.add_argument("--timeout", type=float, default=120)
    parser.add_argument("--switch", action="append", default=[])
    options = parser.parse_args()
    handler = functools.partial(Handler, directory=options.page)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # connections cut when the browser is ended
    server.arrived = threading.Event()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    switches = os.environ.get("GPU_SWITCHES", "--enable-unsafe-webgpu").split() + options.switch
    failed = False
    with open(options.out, "a", encoding="utf-8") as out:
        for query in options.tasks:
            result = run_task(server, query, options.timeout, switches)
            failed = failed or not result["ok"]
            line = json.dumps(result)
            out.write(line + "\n")
            out.flush()
            print(line, flush=True)
    sys.exit(1 if failed else 0)


main()
