"""What a chaos trial is made of: processes that can be killed, relays and network namespaces that cut, a database that restarts."""

import asyncio
import os
import subprocess
import time
from pathlib import Path

# Whatever happens to the trial itself, its children end with it.
BOUND = ["setpriv", "--pdeathsig", "KILL"]


class Process:
    """A child that can be killed and started again, its output in a file."""

    def __init__(self, name, command, folder, environment=None):
        self.name, self.command, self.log = name, command, folder / f"{name}.log"
        self.environment = {**os.environ, **(environment or {})}
        self.child = None

    def start(self):
        with self.log.open("ab") as log:
            self.child = subprocess.Popen(BOUND + self.command, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                          env=self.environment)

    def kill(self):
        self.child.kill()
        self.child.wait()

    def stop(self):
        self.child.terminate()
        try:
            self.child.wait(30)
        except subprocess.TimeoutExpired:
            self.kill()


def make_certificate(folder, addresses):
    """A certificate of the hubs' own for these addresses: (certificate, key) as PEM files."""
    certificate, key = folder / "hub.pem", folder / "hub.key"
    names = ",".join(f"IP:{address}" for address in addresses)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                    "/CN=hub", "-addext", f"subjectAltName={names}", "-out", certificate, "-keyout", key], check=True,
                   capture_output=True)
    return certificate, key


class Relay:
    """Carries connections to one of the hubs and cuts them when asked."""

    def __init__(self, ports, chance):
        self.ports, self.chance, self.open = ports, chance, set()

    async def start(self, address):
        self.server = await asyncio.start_server(self.carry, address, 0)
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


def run_ip(*arguments):
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


class Network:
    """A network namespace for one machine, tied to ours by a pair of virtual cables that can be unplugged: packets then
    vanish, as on a dead link, in place of the clean end that a closed socket gives."""

    def __init__(self, number):
        self.number, self.cable = number, f"chaos{number}"
        self.address = f"10.231.{number}.1"

    def make(self):
        self.holder = subprocess.Popen(BOUND + ["unshare", "--net", "sleep", "infinity"])
        own = os.readlink("/proc/self/ns/net")
        while os.readlink(f"/proc/{self.holder.pid}/ns/net") == own:
            time.sleep(0.005)
        inside = ["nsenter", "--target", str(self.holder.pid), "--net"]
        run_ip("link", "add", self.cable, "type", "veth", "peer", "name", "lab0", "netns", str(self.holder.pid))
        run_ip("addr", "add", f"{self.address}/30", "dev", self.cable)
        run_ip("link", "set", self.cable, "up")
        for line in (["addr", "add", f"10.231.{self.number}.2/30", "dev", "lab0"], ["link", "set", "lab0", "up"],
                     ["link", "set", "lo", "up"]):
            subprocess.run([*inside, "ip", *line], check=True, capture_output=True)
        return inside

    def plug(self, there):
        run_ip("link", "set", self.cable, "up" if there else "down")

    def remove(self):
        self.holder.kill()
        self.holder.wait()


def can_make_networks():
    return subprocess.run(["unshare", "--net", "ip", "link", "set", "lo", "up"], check=False, capture_output=True).returncode == 0


class Database:
    """The throwaway PostgreSQL of tools/lib/with_postgresql.sh, restarted by us once we have ended it."""

    def __init__(self, url, folder):
        self.url, self.folder, self.child = url, Path(folder), None
        self.programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))[-1]
        owner = (self.folder / "data").owner()
        self.as_owner = ["setpriv", "--reuid", owner, "--regid", (self.folder / "data").group(), "--init-groups",
                         "--pdeathsig", "INT"] if os.geteuid() == 0 else ["setpriv", "--pdeathsig", "INT"]

    def query(self, text):
        answer = subprocess.run(["psql", "-qAt", self.url, "-c", text], check=False, capture_output=True, text=True)
        return answer.stdout.strip()

    def drop_connections(self):
        self.query("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND "
                   "application_name = 'assay'")

    def end(self, mode):
        """`mode`: "fast" rolls back and ends; "immediate" dies as by a crash, and the next start recovers."""
        subprocess.run([*self.as_owner, self.programs / "pg_ctl", "stop", "-D", self.folder / "data", "-m", mode, "-w"],
                       check=False, capture_output=True)
        if self.child:
            self.child.wait()

    def start(self):
        with (self.folder / "log").open("ab") as log:
            self.child = subprocess.Popen(
                [*self.as_owner, self.programs / "postgres", "-D", self.folder / "data", "-k", self.folder, "-c",
                 "listen_addresses=", "-c", "fsync=off", "-c", "full_page_writes=off", "-c", "max_connections=200"],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        for _ in range(300):
            if subprocess.run([self.programs / "pg_isready", "-q", "-h", self.folder], check=False).returncode == 0:
                return
            time.sleep(0.1)
        raise SystemExit("PostgreSQL did not start again")

    def stop(self):
        if self.child:
            self.end("fast")
