"""Run hand-outs of a hub on PostgreSQL: runs are posted at a fixed rate, agents take them over connections of their own.

    tools/lib/with_postgresql.sh python3 tests/load/hand_outs.py [--rate 200] [--seconds 10] [--agents 40] [--hubs 1]

The agents are played by this program in the words of the protocol: ask, be given a run, end it, ask again. Each hand-out is
timed from the moment its run was due to be posted until an agent holds it. Fails where the 99th percentile is 50 ms or more
(--most-p99-ms), where a run is handed out twice or not at all, or where the rate is not kept.
"""

import argparse
import asyncio
import base64
import hashlib
import json
import os
import sys
import time

from service import Service, quantile, read_answer

REQUEST = {"preset": "smoke", "steps": 2, "warmup": 1, "arms": ["native", "native"], "policy": "any", "allow_unqualified": True}


async def exchange(reader, writer, path, body, keep):
    text = json.dumps(body).encode()
    writer.write(f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(text)}\r\n"
                 f"Connection: {'keep-alive' if keep else 'close'}\r\n\r\n".encode() + text)
    return await read_answer(reader)


async def call(port, path, body):
    """One call over a connection of its own, as agents make them."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        return await exchange(reader, writer, path, body, False)
    finally:
        writer.close()


class Lab:
    def __init__(self, ports, agents):
        self.ports, self.due, self.held = ports, {}, {}
        keys = [hashlib.sha256(f"agent {n}".encode()).digest() for n in range(agents)]
        self.machines = [(hashlib.sha256(key).hexdigest()[:16], base64.b64encode(key).decode()) for key in keys]
        self.stop = False

    async def agent(self, number):
        machine, key = self.machines[number]
        port = self.ports[number % len(self.ports)]
        status, answer = await call(port, "/api/v1/lab/machines", {"machine_id": machine, "public_key": key, "name": f"agent-{number}"})
        if status != 200:
            raise RuntimeError(f"registration: {status} {answer!r}")
        while not self.stop:
            status, answer = await call(port, "/api/v1/leases", {"machine_id": machine, "wait_ms": 1000})
            if status == 204:
                continue
            if status != 200:
                raise RuntimeError(f"lease: {status} {answer!r}")
            moment = time.perf_counter()
            grant = json.loads(answer)
            self.held.setdefault(grant["run"], []).append(moment)
            status, answer = await call(port, f"/api/v1/leases/{grant['run']}/end",
                                        {"fencing_token": grant["fencing_token"], "reason": "a load test"})
            if status != 200:
                raise RuntimeError(f"end: {status} {answer!r}")

    async def post_runs(self, rate, seconds, connections=16):
        start = time.perf_counter() + 0.2

        async def work(offset):
            port = self.ports[offset % len(self.ports)]
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            for number in range(offset, int(rate * seconds), connections):
                due = start + number / rate
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
                status, answer = await exchange(reader, writer, "/api/v1/runs", REQUEST, True)
                if status != 202:
                    raise RuntimeError(f"post: {status} {answer!r}")
                self.due[json.loads(answer)["id"]] = due
            writer.close()

        await asyncio.gather(*(work(offset) for offset in range(connections)))
        return time.perf_counter() - start


async def measure(ports, options):
    lab = Lab(ports, options.agents)
    agents = [asyncio.create_task(lab.agent(number)) for number in range(options.agents)]
    await asyncio.sleep(1)
    took = await lab.post_runs(options.rate, options.seconds)
    deadline = time.monotonic() + 10
    while len(lab.held) < len(lab.due) and time.monotonic() < deadline:
        await asyncio.sleep(0.05)
    lab.stop = True
    await asyncio.gather(*agents)
    return lab, took


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rate", type=float, default=200)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--agents", type=int, default=40)
    parser.add_argument("--hubs", type=int, default=1)
    parser.add_argument("--most-p99-ms", type=float, default=50)
    options = parser.parse_args()
    store = os.environ.get("ASSAY_TEST_POSTGRESQL") or sys.exit("no PostgreSQL: run this with tools/lib/with_postgresql.sh")
    services = [Service(store=store) for _ in range(options.hubs)]
    try:
        lab, took = asyncio.run(measure([service.port for service in services], options))
    finally:
        for service in services:
            service.stop()
    faults = []
    if set(lab.held) != set(lab.due):
        faults.append(f"{len(lab.due)} runs were posted, {len(lab.held)} handed out")
    if any(len(times) > 1 for times in lab.held.values()):
        faults.append("a run was handed out twice")
    latencies = sorted((times[0] - lab.due[run]) * 1e3 for run, times in lab.held.items() if run in lab.due)
    kept = len(lab.due) / max(took, 1e-9)
    print(f"{len(latencies)} hand-outs by {options.hubs} hub(s) to {options.agents} agents at {kept:.0f}/s: median "
          f"{quantile(latencies, 0.5):.1f} ms, p99 {quantile(latencies, 0.99):.1f} ms, worst {latencies[-1]:.1f} ms")
    if kept < options.rate * 0.95:
        faults.append(f"{kept:.0f} hand-outs a second, not {options.rate:.0f}")
    if quantile(latencies, 0.99) >= options.most_p99_ms:
        faults.append(f"the 99th percentile is not below {options.most_p99_ms} ms")
    for fault in faults:
        print("FAULT", fault)
    print(f"[check] {'failed' if faults else 'passed'}: hand-outs at {options.rate:.0f}/s")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
