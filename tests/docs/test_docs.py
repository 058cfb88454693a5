"""Every command in README.md and docs/ works as it stands there.

A guide's ```sh blocks run in order, in one bash session that ends at the first failure, with the built program on PATH and a home
and working folder of their own. The two commands that install and build (./tools/...) are left to those who call this test.
"""

import os
import re
import signal
import socket
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(os.environ.get("ASSAY_BUILD", ROOT / "build/release")) / "bin"
GUIDES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
DEADLINE_SECONDS = 600
SETS_UP = re.compile(r"^\./tools/(run|test|package)\.sh\b")
PATH_LINE = re.compile(r'^export PATH="\$PWD/build/release/bin:\$PATH"$')


def blocks_of(text):
    return re.findall(r"^```sh\n(.*?)^```$", text, flags=re.M | re.S)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def script_of(text, port):
    """The guide's commands as one script; the port that a guide names is replaced by a free one."""
    lines = []
    for block in blocks_of(text):
        lines += [line for line in block.splitlines() if not SETS_UP.match(line) and not PATH_LINE.match(line)]
    return "\n".join(lines).replace("127.0.0.1:8080", f"127.0.0.1:{port}") + "\n"


class CommandsInTheGuides(unittest.TestCase):
    def run_guide(self, guide):
        script = script_of(guide.read_text(), free_port())
        if not script.strip():
            return
        with tempfile.TemporaryDirectory() as folder:
            environment = {
                **os.environ, "PATH": f"{PROGRAMS}:{os.environ['PATH']}", "HOME": folder, "XDG_DATA_HOME": f"{folder}/data",
                "ASSAY_SOURCE": str(ROOT),
            }
            session = subprocess.Popen(
                ["bash", "-c", f"set -euo pipefail\nset -m\nset -x\n{script}"], cwd=folder, env=environment,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, start_new_session=True)
            try:
                output, _ = session.communicate(timeout=DEADLINE_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(session.pid, signal.SIGKILL)
                output, _ = session.communicate()
                self.fail(f"{guide.name} takes longer than {DEADLINE_SECONDS} s:\n{output[-4000:]}")
            self.assertEqual(session.returncode, 0, f"{guide.name}:\n{output[-4000:]}")


def add_guide(guide):
    def test(self):
        self.run_guide(guide)

    test.__doc__ = f"the commands of {guide.relative_to(ROOT)}"
    setattr(CommandsInTheGuides, f"test_{re.sub('[^a-z0-9]', '_', guide.stem.lower())}", test)


for each in GUIDES:
    add_guide(each)


class TheGuidesThemselves(unittest.TestCase):
    def test_every_link_to_a_file_leads_somewhere(self):
        for guide in GUIDES:
            for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", guide.read_text()):
                if "://" not in target:
                    self.assertTrue((guide.parent / target).exists(), f"{guide.name} links to {target}")

    def test_every_tool_that_a_guide_names_exists(self):
        for guide in GUIDES:
            for name in re.findall(r"(?:tools|docker|docs|tests)/[\w./-]+\.(?:sh|yaml|service|plist|md|py|txt)", guide.read_text()):
                self.assertTrue((ROOT / name).exists(), f"{guide.name} names {name}")

    def test_commands_are_found_in_guides(self):
        self.assertEqual(blocks_of("text\n```sh\necho a\n```\n```json\n{}\n```\n"), ["echo a\n"])
        self.assertEqual(script_of("```sh\n./tools/run.sh\necho 127.0.0.1:8080\n```\n", 1234), "echo 127.0.0.1:1234\n")


if __name__ == "__main__":
    unittest.main()
