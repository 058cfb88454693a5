#!/usr/bin/env python3
"""Real hubs, real agents, one PostgreSQL, and everything that can be killed is killed at random.

Only the browser is replaced: both arms are the native command. Each agent reaches the hubs through a relay that cuts its
connections. Killed without warning: agents, hubs, relayed connections, the store's connections. At the end:

- every job has ended, exactly once, as delivered or with a reason, after at most three attempts, each a record of its own;
- no receipt is lost or doubled: the runs that were delivered and the receipts stored are the same set, one each;
- every receipt verifies, and is signed by the machine that ran it.

    tests/support/run_with_postgresql.sh tests/faults/lab_chaos.py --bin build/release/bin/assay [--agents 20] [--jobs 2000] [--seed 1]
"""

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

REQUEST = {"preset": "smoke", "steps": 2, "warmup": 1, "arms": ["native", "native"], "policy": "any",
           "allow_unqualified": True, "environment_policy": "none"}
MAX_ATTEMPTS = 3
PAGE = 500


class Process:
    """A child that can be killed and started again, its output in a file."""

    def __init__(self, name, command, folder):
        self.name, self.command, self.log = name, command, folder / f"{name}.log"
        self.child = None

    def start(self):
        with self.log.open("ab") as log:
            self.child = subprocess.Popen(self.command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def kill(self):
        self.child.kill()
        self.child.wait()

    def stop(self):
        self.child.send_signal(signal.SIGTERM)
        try:
            self.child.wait(30)
        except subprocess.TimeoutExpired:
            self.kill()


class Relay:
    """Carries connections to one of the hubs and cuts them when asked."""

    def __init__(self, ports, chance):
        self.ports, self.chance, self.open = ports, chance, set()

    async def start(self):
        self.server = await asyncio.start_server(self.carry, "127.0.0.1", 0)
        return self.server.sockets[0].getsockname()[1]

    async def carry(self, reader, writer):
        self.open.add(writer)
        other = None
        try:
            back, other = await asyncio.open_connection("127.0.0.1", self.chance.choice(self.ports))
            self.open.add(other)
            await asyncio.gather(self.pump(reader, other), self.pump(back, writer))
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            for each in (writer, other):
                if each is not None:
                    self.open.discard(each)
                    each.close()

    @staticmethod
    async def pump(reader, writer):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.close()

    def cut(self):
        for writer in list(self.open):
            writer.transport.abort()


def call(port, method, path, body=None, headers=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data=data, method=method,
                                     headers={"Content-Type": "application/json", **(headers or {})})
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


def call_any(ports, *arguments):
    """The first hub that answers; a hub may be dead at the moment."""
    for _ in range(200):
        for port in ports:
            try:
                return call(port, *arguments)
            except urllib.error.HTTPError as problem:
                if problem.code < 500:
                    raise
            except (OSError, ValueError):
                pass
        time.sleep(0.3)
    raise SystemExit("no hub answers")


def all_pages(ports, path, name):
    found, cursor = [], None
    while True:
        page = call_any(ports, "GET", f"{path}?limit={PAGE}" + (f"&cursor={cursor}" if cursor else ""))
        found += page[name]
        cursor = page.get("next")
        if not cursor:
            return found


def free_port():
    import socket
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def drop_store_connections(url):
    subprocess.run(["psql", "-qAt", url, "-c",
                    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND "
                    "application_name = 'assay'"], check=False, capture_output=True)


async def cause_trouble(chance, agents, hubs, relays, store, stop, counts):
    while not stop.is_set():
        await asyncio.sleep(chance.uniform(0.5, 3.0))
        kind = chance.choice(["agent", "agent", "agent", "sockets", "sockets", "hub", "store"])
        counts[kind] = counts.get(kind, 0) + 1
        if kind == "agent":
            victim = chance.choice(agents)
            await asyncio.to_thread(victim.kill)
            victim.start()
        elif kind == "hub":
            victim = chance.choice(hubs)
            await asyncio.to_thread(victim.kill)
            await asyncio.sleep(chance.uniform(0, 2))
            victim.start()
        elif kind == "sockets":
            for relay in chance.sample(relays, max(1, len(relays) // 3)):
                relay.cut()
        else:
            await asyncio.to_thread(drop_store_connections, store)


def enqueue(ports, jobs):
    """Adds every job once: an answer that was lost is asked for again under the same key."""
    ids = []
    for number in range(jobs):
        while True:
            try:
                answer = call_any(ports, "POST", "/api/v1/runs", REQUEST, {"Idempotency-Key": f"job {number}"})
                ids.append(answer["id"])
                break
            except urllib.error.HTTPError as problem:
                if problem.code not in (429, 503):
                    raise SystemExit(f"job {number}: {problem.code} {problem.read()[:300]!r}") from None
                time.sleep(1)
    return ids


def check(ports, jobs, binary, folder):
    faults = []
    runs = {run["id"]: run for run in all_pages(ports, "/api/v1/runs", "runs")}
    receipts = all_pages(ports, "/api/v1/receipts", "receipts")
    if len(set(jobs)) != len(jobs):
        faults.append("two jobs have one run")
    delivered = {}
    for run in runs.values():
        if run["state"] in ("queued", "running"):
            faults.append(f"run {run['id']} has not ended: {run['state']} ({run.get('phase')}) on machine {run.get('machine_id')}")
        elif run.get("receipt_id"):
            if run["receipt_id"] in delivered:
                faults.append(f"receipt {run['receipt_id']} ends two runs")
            delivered[run["receipt_id"]] = run
        elif not run.get("error"):
            faults.append(f"run {run['id']} ended as {run['state']} with neither receipt nor reason")
        if run.get("attempt", 1) > MAX_ATTEMPTS:
            faults.append(f"run {run['id']} is attempt {run['attempt']}")
    stored = [receipt["id"] for receipt in receipts]
    if sorted(stored) != sorted(delivered):
        faults.append(f"{len(stored)} receipts are stored, {len(delivered)} runs were delivered, and they differ")
    for receipt in receipts:
        if delivered.get(receipt["id"], {}).get("id") != receipt["run_id"]:
            faults.append(f"receipt {receipt['id']} is of another run")
    # One delivery a job: attempts follow one another, none after a delivered one.
    lost = sum(1 for run in runs.values() if not run.get("receipt_id"))
    given_up = sum(1 for run in runs.values() if not run.get("receipt_id") and run.get("attempt", 1) == MAX_ATTEMPTS)
    if len(runs) - (lost - given_up) != len(jobs):
        faults.append(f"{len(runs)} records, {lost} lost, {given_up} given up: that is not {len(jobs)} jobs")
    files = []
    for receipt in receipts:
        file = folder / f"{receipt['id']}.assay.json"
        with urllib.request.urlopen(f"http://127.0.0.1:{ports[0]}/api/v1/receipts/{receipt['id']}", timeout=20) as answer:
            file.write_bytes(answer.read())
        files.append(str(file))
    for at in range(0, len(files), 200):
        verified = subprocess.run([binary, "verify", *files[at:at + 200]], capture_output=True, text=True, check=False)
        if verified.returncode != 0:
            wrong = verified.stdout[verified.stdout.find("INVALID"):]
            faults.append("receipts do not verify: " + wrong[:1500])
    summary = f"{len(jobs)} jobs, {len(runs)} records, {len(delivered)} delivered, {lost} lost attempts, {given_up} given up"
    return faults, summary


async def main():
    options = argparse.ArgumentParser()
    options.add_argument("--bin", required=True)
    options.add_argument("--agents", type=int, default=20)
    options.add_argument("--hubs", type=int, default=2)
    options.add_argument("--jobs", type=int, default=2000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--limit-minutes", type=float, default=60)
    given = options.parse_args()
    binary = str(Path(given.bin).resolve())
    store = os.environ.get("ASSAY_TEST_POSTGRESQL") or sys.exit("no PostgreSQL: run tests/support/run_with_postgresql.sh")
    chance = random.Random(given.seed)
    with tempfile.TemporaryDirectory(prefix="assay-chaos-") as name:
        folder = Path(name)
        ports = [free_port() for _ in range(given.hubs)]
        hubs = [Process(f"hub{i}", [binary, "serve", "--agents-only", "--home", str(folder / f"hub{i}"), "--store", store,
                                    "--listen", f"127.0.0.1:{port}"], folder) for i, port in enumerate(ports)]
        for hub in hubs:
            hub.start()
        await asyncio.to_thread(call_any, ports, "GET", "/healthz")
        relays, agents = [Relay(ports, chance) for _ in range(given.agents)], []
        for i, relay in enumerate(relays):
            port = await relay.start()
            agents.append(Process(f"agent{i}", [binary, "agent", "--hub", f"http://127.0.0.1:{port}", "--home",
                                                str(folder / f"agent{i}"), "--name", f"machine-{i}", "--log-level", "info"], folder))
            agents[-1].start()
        started = time.monotonic()
        stop, counts = asyncio.Event(), {}
        trouble = asyncio.create_task(cause_trouble(chance, agents, hubs, relays, store, stop, counts))
        jobs = await asyncio.to_thread(enqueue, ports, given.jobs)
        deadline = started + given.limit_minutes * 60
        calm = False
        while time.monotonic() < deadline:
            await asyncio.sleep(2)
            open_runs = 0
            for state in ("queued", "running"):
                page = await asyncio.to_thread(call_any, ports, "GET", f"/api/v1/runs?state={state}&limit=500")
                open_runs += len(page["runs"])
            print(f"[{time.monotonic() - started:6.0f} s] open {open_runs}, trouble {counts}", flush=True)
            # The last few end in peace, or trouble would have them tried for ever.
            if not calm and open_runs <= given.agents and len(jobs) == given.jobs:
                stop.set()
                await trouble
                calm = True
            if open_runs == 0 and calm:
                break
        # Receipts that still wait on an agent's disk belong to runs that have ended otherwise; give them their answer.
        await asyncio.sleep(5)
        faults, summary = await asyncio.to_thread(check, ports, jobs, binary, folder)
        for process in agents + hubs:
            process.stop()
        print(summary, f"in {time.monotonic() - started:.0f} s; trouble: {counts}")
        for fault in faults:
            print("FAULT", fault)
        if faults:
            for process in hubs + agents:
                print(f"--- {process.name}\n" + process.log.read_text(errors="replace")[-2000:])
        print("[check] " + ("failed" if faults else "passed") + ": every job of the lab ends once, no receipt is lost or doubled")
        sys.exit(1 if faults else 0)


if __name__ == "__main__":
    asyncio.run(main())
