#!/usr/bin/env python3
"""Real hubs, real agents, one PostgreSQL, and everything that can be killed is killed at random.

Only the browser is replaced: both arms are the native command. Each agent lives in a network namespace of its own (where
this machine allows them) and reaches the hubs, over HTTPS with a certificate of their own, through a relay. Killed or cut
without warning: agents, hubs, connections by the relays, whole machines by an unplugged cable, the store's connections, the
store itself. At the end:

- every job has ended, exactly once, as delivered or with a reason, after at most three attempts, each a record of its own;
- no receipt is lost or doubled: the runs that were delivered and the receipts stored are the same set, one each;
- every receipt verifies, and is signed by the machine that ran it;
- each schedule has fired once for each minute at most, however many hubs saw it come due, and has fired.

    tools/lib/with_postgresql.sh tests/faults/lab_chaos.py --bin build/release/bin/assay [--agents 20] [--jobs 2000] [--seed 1]
"""

import argparse
import asyncio
import collections
import http.client
import json
import os
import random
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from lab_machines import Database, Network, Process, Relay, can_make_networks, make_certificate

REQUEST = {"preset": "smoke", "steps": 2, "warmup": 1, "arms": ["native", "native"], "policy": "any",
           "allow_unqualified": True, "environment_policy": "none"}
MAX_ATTEMPTS = 3
SCHEDULES = 5
PAGE = 500


class Trust:
    """How the hubs are reached; their certificate is known once it is made."""

    context, scheme = ssl.create_default_context(), "https"


def fetch(port, method, path, body=None, headers=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{Trust.scheme}://127.0.0.1:{port}{path}", data=data, method=method,
                                     headers={"Content-Type": "application/json", **(headers or {})})
    with urllib.request.urlopen(request, timeout=20, context=Trust.context) as answer:
        return answer.read()


def call(*arguments):
    return json.loads(fetch(*arguments))


def call_any(ports, *arguments):
    """The first hub that answers; a hub may be dead at the moment, or its queue full."""
    for _ in range(1000):
        for port in ports:
            try:
                return call(port, *arguments)
            except urllib.error.HTTPError as problem:
                if problem.code < 500 and problem.code != 429:  # the queue is full: 429
                    print(*arguments[:2], problem.code, problem.read()[:500], file=sys.stderr)
                    raise
            except (OSError, ValueError, http.client.HTTPException):
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
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Lab:
    """All that runs during a trial."""

    def __init__(self, given, folder):
        self.given, self.folder, self.chance = given, folder, random.Random(given.seed)
        self.binary = str(Path(given.bin).resolve())
        self.store = Database(os.environ["ASSAY_TEST_POSTGRESQL"], os.environ["ASSAY_TEST_POSTGRESQL_FOLDER"])
        self.ports = [free_port() for _ in range(given.hubs)]
        self.networks = [Network(i) for i in range(given.agents)] if given.namespaces else []
        names = [network.address for network in self.networks]
        certificate, key = make_certificate(folder, ["127.0.0.1", *names])
        Trust.context.load_verify_locations(certificate)
        self.certificate = str(certificate)
        Trust.scheme = "http" if given.plain else "https"
        settings = {"ASSAY_ALLOWED_HOSTS": ",".join(names)}
        if not given.plain:
            settings |= {"ASSAY_TLS_CERTIFICATE": str(certificate), "ASSAY_TLS_KEY": str(key)}
        self.hubs = [Process(f"hub{i}", [self.binary, "serve", "--agents-only", "--home", str(folder / f"hub{i}"), "--store",
                                         self.store.url, "--listen", f"127.0.0.1:{port}"], folder, settings)
                     for i, port in enumerate(self.ports)]
        self.relays = [Relay(self.ports, self.chance) for _ in range(given.agents)]
        self.agents, self.counts = [], {}

    async def start(self):
        for hub in self.hubs:
            hub.start()
        await asyncio.to_thread(call_any, self.ports, "GET", "/healthz")
        for i, relay in enumerate(self.relays):
            inside = self.networks[i].make() if self.networks else []
            address = self.networks[i].address if self.networks else "127.0.0.1"
            port = await relay.start(address)
            self.agents.append(Process(f"agent{i}", [*inside, self.binary, "agent", "--hub", f"{Trust.scheme}://{address}:{port}", "--ca",
                                                     self.certificate, "--home", str(self.folder / f"agent{i}"), "--name",
                                                     f"machine-{i}", "--log-level", "info"], self.folder))
            self.agents[-1].start()

    async def cause_trouble(self, stop):
        kinds = ["agent", "agent", "agent", "sockets", "sockets", "hub", "connections", "store"]
        kinds += ["cable", "cable"] if self.networks else []
        waiting = []
        while not stop.is_set():
            # Each kind once before chance alone decides, so that a short trial has met them all.
            kind = waiting.pop() if waiting else self.chance.choice(kinds)
            if not self.counts:
                waiting = sorted(set(kinds))
                kind = waiting.pop()
            self.counts[kind] = self.counts.get(kind, 0) + 1
            await getattr(self, f"trouble_of_{kind}")()
            await asyncio.sleep(self.chance.uniform(0.2, 1.0 if waiting else self.given.calm_seconds))

    async def trouble_of_agent(self):
        victim = self.chance.choice(self.agents)
        await asyncio.to_thread(victim.kill)
        victim.start()

    async def trouble_of_hub(self):
        victim = self.chance.choice(self.hubs)
        await asyncio.to_thread(victim.kill)
        await asyncio.sleep(self.chance.uniform(0, 2))
        victim.start()

    async def trouble_of_sockets(self):
        for relay in self.chance.sample(self.relays, max(1, len(self.relays) // 3)):
            relay.cut()

    async def trouble_of_cable(self):
        victims = self.chance.sample(self.networks, max(1, len(self.networks) // 4))
        for network in victims:
            network.plug(False)
        await asyncio.sleep(self.chance.uniform(0.5, 4))
        for network in victims:
            network.plug(True)

    async def trouble_of_connections(self):
        await asyncio.to_thread(self.store.drop_connections)

    async def trouble_of_store(self):
        await asyncio.to_thread(self.store.end, self.chance.choice(["fast", "immediate"]))
        await asyncio.sleep(self.chance.uniform(0, 1))
        await asyncio.to_thread(self.store.start)

    def add_schedules(self):
        for number in range(SCHEDULES):
            call_any(self.ports, "POST", "/api/v1/schedules",
                     {"name": f"every minute {number}", "cron": "* * * * *", "time_zone": "UTC", "request": REQUEST})
        # As though the hubs had been away for a while: every one of them finds all of these due at its next look.
        self.store.query("UPDATE documents SET text = jsonb_set(text::jsonb, '{checked_until}', to_jsonb(to_char(now() AT TIME "
                         "ZONE 'UTC' - interval '10 minutes', 'YYYY-MM-DD\"T\"HH24:MI:SS.000\"Z\"')))::text WHERE kind = 'schedules'")

    def enqueue(self):
        """Adds every job once: an answer that was lost is asked for again under the same key."""
        ids = []
        for number in range(self.given.jobs):
            ids.append(call_any(self.ports, "POST", "/api/v1/runs", REQUEST, {"Idempotency-Key": f"job {number}"})["id"])
        return ids

    def open_runs(self):
        return sum(len(call_any(self.ports, "GET", f"/api/v1/runs?state={state}&limit={PAGE}")["runs"])
                   for state in ("queued", "running"))

    def stop(self):
        for process in self.agents + self.hubs:
            if process.child:
                process.stop()
        for network in self.networks:
            network.remove()
        self.store.stop()


def check_runs(runs, receipts, jobs):
    """The faults in what the hubs say at the end, and the runs by the receipt that ended them."""
    faults, delivered = [], {}
    if len(set(jobs)) != len(jobs):
        faults.append("two jobs have one run")
    for run in runs.values():
        if run["state"] in ("queued", "running"):
            faults.append(f"run {run['id']} has not ended: {run['state']} ({run.get('phase')}) on {run.get('machine_id')}")
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
    return faults, delivered


def check_schedules(runs):
    """Each schedule's first attempts: one a minute at most, by the minute that they were due."""
    faults, fired = [], {}
    for run in runs.values():
        if run.get("schedule_id") and run.get("attempt", 1) == 1:
            fired.setdefault(run["schedule_id"], []).append(run["created_at"][:16])
    if len(fired) != SCHEDULES:
        faults.append(f"{len(fired)} of {SCHEDULES} schedules fired")
    for schedule, minutes in fired.items():
        # The first, overdue, may share its minute with the next one that comes due.
        if len(minutes) - len(set(minutes)) > 1:
            faults.append(f"schedule {schedule} fired more than once a minute: {sorted(minutes)}")
    return faults, sum(map(len, fired.values()))


def check_files(lab, receipts):
    files = []
    for receipt in receipts:
        file = lab.folder / f"{receipt['id']}.assay.json"
        file.write_bytes(fetch(lab.ports[0], "GET", f"/api/v1/receipts/{receipt['id']}"))
        files.append(str(file))
    faults = []
    for at in range(0, len(files), 200):
        verified = subprocess.run([lab.binary, "verify", *files[at:at + 200]], capture_output=True, text=True, check=False)
        if verified.returncode != 0:
            faults.append("receipts do not verify: " + verified.stdout[verified.stdout.find("INVALID"):][:1500])
    return faults


def check(lab, jobs):
    runs = {run["id"]: run for run in all_pages(lab.ports, "/api/v1/runs", "runs")}
    receipts = all_pages(lab.ports, "/api/v1/receipts", "receipts")
    faults, delivered = check_runs(runs, receipts, jobs)
    more, fired = check_schedules(runs)
    faults += more + check_files(lab, receipts)
    # One end a job: attempts follow one another, none after one that was delivered or ended with a reason.
    again = sum(1 for run in runs.values() if run.get("attempt", 1) > 1)
    if len(runs) - again != len(jobs) + fired:
        faults.append(f"{len(runs)} records, {again} further attempts: that is not {len(jobs)} jobs and {fired} of schedules")
    doubled = lab.store.query("SELECT count(*) FROM (SELECT 1 FROM runs WHERE idempotency_key LIKE 'schedule/%' GROUP BY "
                              "schedule_id, split_part(idempotency_key, '/', 3) HAVING count(*) > 1) AS twice")
    if doubled != "0":
        faults.append(f"{doubled} due times have more than one run")
    states = {}
    for run in runs.values():
        kind = f"{run['state']} with receipt" if run.get("receipt_id") else f"{run['state']} with reason"
        states[kind] = states.get(kind, 0) + 1
    reasons = collections.Counter(receipt.get("first_reason", "") for receipt in receipts if receipt["verdict"] == "failed")
    reasons.update(run["error"] for run in runs.values() if run.get("error"))
    for reason, count in reasons.most_common(5):
        print(f"{count} ended so: {reason[:300]}")
    return faults, f"{len(jobs)} jobs, {fired} scheduled, {len(runs)} records ({again} further attempts): {states}"


async def trial(lab, given):
    await lab.start()
    started = time.monotonic()
    await asyncio.to_thread(lab.add_schedules)
    stop = asyncio.Event()
    trouble = asyncio.create_task(lab.cause_trouble(stop))
    jobs = await asyncio.to_thread(lab.enqueue)
    calm = False
    while time.monotonic() < started + given.limit_minutes * 60:
        await asyncio.sleep(1)
        open_runs = await asyncio.to_thread(lab.open_runs)
        print(f"[{time.monotonic() - started:6.0f} s] open {open_runs}, trouble {lab.counts}", flush=True)
        # The last few end in peace, or trouble would have them tried for ever; no schedule adds to them any more.
        if not calm and open_runs <= given.agents:
            stop.set()
            await trouble
            for schedule in (await asyncio.to_thread(call_any, lab.ports, "GET", "/api/v1/schedules"))["schedules"]:
                await asyncio.to_thread(call_any, lab.ports, "POST", f"/api/v1/schedules/{schedule['id']}/pause")
            calm = True
        elif calm and open_runs == 0:
            break
    # Receipts that still wait on an agent's disk belong to runs that have ended otherwise; give them their answer.
    await asyncio.sleep(3)
    faults, summary = await asyncio.to_thread(check, lab, jobs)
    print(summary, f"in {time.monotonic() - started:.0f} s; trouble: {lab.counts}")
    return faults


async def main():
    options = argparse.ArgumentParser()
    options.add_argument("--bin", required=True)
    options.add_argument("--agents", type=int, default=20)
    options.add_argument("--hubs", type=int, default=3)
    options.add_argument("--jobs", type=int, default=2000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--calm-seconds", type=float, default=3, help="the longest time between two troubles")
    options.add_argument("--plain", action="store_true", help="HTTP in place of HTTPS")
    options.add_argument("--limit-minutes", type=float, default=60)
    given = options.parse_args()
    if "ASSAY_TEST_POSTGRESQL_FOLDER" not in os.environ:
        sys.exit("no PostgreSQL of our own: run this with tools/lib/with_postgresql.sh")
    given.namespaces = "ASSAY_CHAOS_NETWORK" in os.environ
    if not given.namespaces:
        print("no network namespaces here (they need root): the relays alone cut connections")
    with tempfile.TemporaryDirectory(prefix="assay-chaos-") as name:
        lab = Lab(given, Path(name))
        try:
            faults = await trial(lab, given)
        finally:
            await asyncio.to_thread(lab.stop)
        for fault in faults:
            print("FAULT", fault)
        if faults:
            for process in lab.hubs + lab.agents:
                print(f"--- {process.name}\n" + process.log.read_text(errors="replace")[-2000:])
    print("[check] " + ("failed" if faults else "passed") + ": every job of the lab ends once, no receipt is lost or doubled")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    # A network of the trial's own, so that its cables and addresses meet nobody else's.
    if "ASSAY_CHAOS_NETWORK" not in os.environ and can_make_networks():
        os.environ["ASSAY_CHAOS_NETWORK"] = "own"
        os.execvp("unshare", ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", sys.executable, *sys.argv])
    # A deadline from outside ends the trial as an error does: its processes and its folder go.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    asyncio.run(main())
