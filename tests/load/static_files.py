"""Static files against nginx with one worker: the same files, the same machine, turn by turn in one run.

    tests/load/static_files.py [--seconds 3] [--rounds 5]

Prints requests a second of both for each file and fails where assay's median is under 0.8 of nginx's. Needs wrk and nginx.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from service import ROOT, Service, free_port, median, wait_for_port

NEEDED_RATIO = 0.8
SERVER_CORE, CLIENT_CORE = 0, 1

CONFIGURATION = """
worker_processes 1; daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 10000000; open_file_cache max=1000;
  client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c; uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
  server {{ listen 127.0.0.1:{port}; root {root}; etag on; }}
}}
"""


def requests_per_second(port, path, seconds):
    done = subprocess.run(
        ["taskset", "-c", str(CLIENT_CORE), "wrk", "-t1", "-c32", f"-d{seconds}s", f"http://127.0.0.1:{port}{path}"],
        capture_output=True, text=True, check=False)
    answer = done.stdout + done.stderr
    if done.returncode != 0 or re.search(r"Non-2xx|Socket errors: .*(read|write) [1-9]", answer):
        raise RuntimeError(answer)
    return float(re.search(r"Requests/sec:\s+([\d.]+)", answer).group(1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        web = Path(folder) / "web"
        (web / "arm").mkdir(parents=True)
        (Path(folder) / "policies").symlink_to(ROOT / "orchestrator/gate/policies")
        (web / "arm/index.html").write_bytes(b"<!doctype html>" + b"x" * 600)
        (web / "arm/module.js").write_bytes(b"// script\n" * 1600)
        (web / "arm/large.wasm").write_bytes(bytes(range(256)) * 1200)
        port = free_port()
        configuration = Path(folder) / "nginx.conf"
        configuration.write_text(CONFIGURATION.format(folder=folder, port=port, root=web))
        nginx = subprocess.Popen(["taskset", "-c", str(SERVER_CORE), "nginx", "-c", str(configuration)], stderr=subprocess.DEVNULL)
        try:
            wait_for_port(port, nginx)
            with Service(web=web, core=SERVER_CORE) as assay:
                for path in ("/arm/index.html", "/arm/module.js", "/arm/large.wasm"):
                    pairs = [(requests_per_second(assay.port, path, options.seconds), requests_per_second(port, path, options.seconds))
                             for _ in range(options.rounds)]
                    ratio = median([ours / theirs for ours, theirs in pairs])
                    print(f"{path}: assay {median([a for a, _ in pairs]):.0f}/s, nginx {median([b for _, b in pairs]):.0f}/s, "
                          f"median ratio {ratio:.2f}", flush=True)
                    failed = failed or ratio < NEEDED_RATIO
        finally:
            nginx.terminate()
            nginx.wait(timeout=10)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
