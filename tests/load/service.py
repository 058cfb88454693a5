"""What the load tests share: a server of their own with a home of its own, its figures, requests at a fixed rate."""

import asyncio
import os
import socket
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("ASSAY_BUILD", ROOT / "build/release"))
WEB = Path(os.environ.get("ASSAY_WEB", BUILD / "share/assay/web"))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for_port(port, process, seconds=30):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError("the server ended at once")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.02)
    raise RuntimeError("the server does not listen")


class Service:
    """`assay serve` on a free port that measures nothing itself, so that queued runs stay queued; on one core if asked."""

    def __init__(self, web=WEB, core=None, home=None, store=None):
        self.folder = tempfile.TemporaryDirectory()
        self.home = Path(home or f"{self.folder.name}/home")
        self.port = free_port()
        command = [str(BUILD / "bin/assay"), "serve", "--agents-only", "--listen", f"127.0.0.1:{self.port}", "--home", str(self.home),
                   "--web-root", str(web), *(["--store", store] if store else [])]
        if core is not None:
            command = ["taskset", "-c", str(core), *command]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for_port(self.port, self.process)

    def status(self, field):
        """A number of /proc/PID/status: VmRSS in KiB, Threads."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1])
        raise KeyError(field)

    def resident_mib(self):
        return self.status("VmRSS") / 1024

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=30)
        self.folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


async def read_answer(reader):
    """Status and body of one answer with a Content-Length."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = 0
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    return int(head[9:12]), await reader.readexactly(length)


async def ask_at_rate(port, path, per_second, seconds, connections=32):
    """Requests at a fixed rate, each timed from the moment it was due (so that a stall counts for all it delays). Answers the
    sorted latencies in milliseconds."""
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
    latencies = []
    start = time.perf_counter() + 0.2

    async def work(offset):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for number in range(offset, int(per_second * seconds), connections):
            due = start + number / per_second
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            writer.write(request)
            status, _ = await read_answer(reader)
            if status != 200:
                raise RuntimeError(f"status {status}")
            latencies.append((time.perf_counter() - due) * 1e3)
        writer.close()

    await asyncio.gather(*(work(offset) for offset in range(connections)))
    return sorted(latencies)


def quantile(ordered, fraction):
    return ordered[min(len(ordered) - 1, int(fraction * len(ordered)))]


def median(values):
    return statistics.median(values)
