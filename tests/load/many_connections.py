"""Memory and descriptors: idle, 1,000 readers of live events, 10,000 idle connections; all gone afterwards.

    tests/load/many_connections.py [--readers 1000] [--idle 10000]
"""

import argparse
import json
import resource
import socket
import sys
import time
import urllib.request

from service import Service

MOST_IDLE_MIB, MOST_READERS_MIB = 30, 60


def ask_for_run(port):
    request = urllib.request.Request(f"http://127.0.0.1:{port}/api/v1/runs", data=b'{"preset":"smoke","policy":"any"}', method="POST")
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["id"]


def wait_until(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return condition()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--readers", type=int, default=1000)
    parser.add_argument("--idle", type=int, default=10000)
    options = parser.parse_args()
    wanted = max(options.readers, options.idle) + 200
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard), hard))
    problems = []
    with Service() as service:
        at_rest = service.resident_mib()
        before = service.descriptors()
        print(f"idle: {at_rest:.1f} MiB, {before} descriptors", flush=True)
        if at_rest >= MOST_IDLE_MIB:
            problems.append("too much memory at rest")
        run = ask_for_run(service.port)
        readers = []
        for _ in range(options.readers):
            reader = socket.create_connection(("127.0.0.1", service.port))
            reader.sendall(f"GET /api/v1/runs/{run}/events HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            readers.append(reader)
        streaming = sum(b"text/event-stream" in reader.recv(4096) for reader in readers)
        with_readers = service.resident_mib()
        print(f"{streaming} readers of live events: {with_readers:.1f} MiB", flush=True)
        if streaming != options.readers or with_readers >= MOST_READERS_MIB:
            problems.append("readers")
        urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{service.port}/api/v1/runs/{run}", method="DELETE")).close()
        ended = 0
        for reader in readers:
            reader.settimeout(20)
            received = b""
            while (part := reader.recv(4096)):
                received += part
            ended += b"event: done" in received
            reader.close()
        print(f"{ended} readers saw the end", flush=True)
        if ended != options.readers:
            problems.append("readers that missed the end")
        idle = [socket.create_connection(("127.0.0.1", service.port)) for _ in range(options.idle)]
        wait_until(lambda: service.descriptors() >= options.idle)
        with urllib.request.urlopen(f"http://127.0.0.1:{service.port}/healthz", timeout=5) as answer:
            alive = answer.status == 200
        print(f"{options.idle} idle connections: {service.resident_mib():.1f} MiB, {service.descriptors()} descriptors, "
              f"{'answers' if alive else 'does not answer'}", flush=True)
        for connection in idle:
            connection.close()
        if not wait_until(lambda: service.descriptors() <= before + 2):
            problems.append(f"{service.descriptors()} descriptors left of {before}")
        print(f"afterwards: {service.resident_mib():.1f} MiB, {service.descriptors()} descriptors", flush=True)
    for problem in problems:
        print(f"FAILED: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
