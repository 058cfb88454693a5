"""What stands in the files: where JSON may live, reasons beside switches, unfinished work, paths of one machine."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

from tree import Finding, Tree

# This folder names what it forbids.
OWN_FOLDER = "tests/tidy/"

JSON_LIBRARY = re.compile(r"#\s*include\s*<(nlohmann/|boost/json)|\bnlohmann::")
# contract/ parses and writes it, receipt/ has its canonical form, and the DevTools protocol is JSON: the files of browser/
# that speak it, not those that find, start and end processes.
JSON_PLACES = re.compile(r"^orchestrator/(contract/|receipt/|browser/(cdp_|devtools_|page_|chrome_host|attached_browser))")

UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
SKIPPED_TEST = re.compile(
    r"\b(?:it|test|describe)\.(?:skip|only|todo|fails)\b|doctest::(?:skip|may_fail|should_fail)\b|@unittest\.skip"
)
MACHINE_PATH = re.compile(r"(?<![\w.$}/])/(?:work|home/\w+|root|Users/\w+|tmp/setup)/")

SWITCH = re.compile(r'"(--[a-z][a-z0-9-]+)')
BINDING = re.compile(r"@compute")


def is_prose_or_code(path: str) -> bool:
    return not path.startswith(OWN_FOLDER) and not path.endswith(("package-lock.json", ".svg", "LICENSE"))


def check_json_places(tree: Tree) -> list[Finding]:
    """JSON values live in contract/, in browser/'s DevTools layer and in receipt/, nowhere else."""
    return [
        Finding(path, number, "JSON values do not live here; parse and write them in contract/")
        for path in tree.under("orchestrator", suffixes=(".cpp", ".hpp"))
        if not JSON_PLACES.match(path)
        for number, line in tree.lines(path)
        if JSON_LIBRARY.search(line.split("//")[0])
    ]


def check_switch_reasons(tree: Tree) -> list[Finding]:
    """Every Chrome switch has its reason beside it: a comment on its line or the lines before, or a second string after it."""
    found = []
    for path in tree.under("orchestrator/browser", suffixes=(".cpp", ".hpp")):
        if "chrome_switches" not in path.split("/")[-1]:
            continue
        lines = [line for _, line in tree.lines(path)]
        for index, line in enumerate(lines):
            code = line.split("//")[0]
            if not SWITCH.search(code):
                continue
            before = lines[index - 1].strip() if index else ""
            after = lines[index + 1].strip() if index + 1 < len(lines) else ""
            reason_string = re.search(r'"--[^"]*"[^"]*"[^"]{12,}"', code) or after.startswith('"')
            if not ("//" in line or before.startswith("//") or reason_string):
                found.append(Finding(path, index + 1, f"{SWITCH.search(code).group(1)} has no reason beside it"))
    return found


def check_unfinished(tree: Tree) -> list[Finding]:
    return [
        Finding(path, number, "a mark of unfinished work; finish it or open an issue")
        for path in tree.paths if is_prose_or_code(path)
        for number, line in tree.lines(path) if UNFINISHED.search(line)
    ]


def check_skipped_tests(tree: Tree) -> list[Finding]:
    return [
        Finding(path, number, "a test that is skipped, or that silences the others")
        for path in tree.under("", suffixes=(".ts", ".cpp", ".hpp", ".py", ".mjs")) if is_prose_or_code(path)
        for number, line in tree.lines(path) if SKIPPED_TEST.search(line)
    ]


def registry_hosts() -> set[str]:
    """The hosts that this machine's own package sources name: no file of the project may depend on one."""
    hosts: set[str] = set()
    sources = [Path("/etc/apt/sources.list"), *Path("/etc/apt/sources.list.d").glob("*")]
    for source in sources:
        if source.is_file():
            hosts.update(re.findall(r"[a-z]+://([^/\s]+)", source.read_text(errors="replace")))
    npm_settings = Path.home() / ".npmrc"
    if npm_settings.is_file():
        hosts.update(re.findall(r"^\s*registry\s*=\s*[a-z]+://([^/\s]+)", npm_settings.read_text(errors="replace"), re.M))
    return hosts


def check_machine_paths(tree: Tree, hosts: set[str] | None = None) -> list[Finding]:
    """No path of one machine and no package registry's host."""
    hosts = registry_hosts() if hosts is None else hosts
    found = []
    for path in tree.paths:
        if path.startswith(OWN_FOLDER) or path.endswith(".svg"):
            continue
        for number, line in tree.lines(path):
            if MACHINE_PATH.search(line):
                found.append(Finding(path, number, "a path of one machine"))
            named = next((host for host in sorted(hosts) if host in line), None)
            if named:
                found.append(Finding(path, number, "the host of a package registry"))
            if path.endswith("package-lock.json") and '"resolved":' in line:
                found.append(Finding(path, number, "the lock names an address; npm install --omit-lockfile-registry-resolved"))
    return found


def check_shaders(tree: Tree) -> list[Finding]:
    """A shader is plain WGSL: a header, at least one entry point, no textual includes; kernels.json knows exactly these files."""
    found = []
    shaders = [path for path in tree.under("shaders", suffixes=(".wgsl",))]
    for path in shaders:
        text = tree.text(path)
        if not text.startswith("//"):
            found.append(Finding(path, 1, "no header: state the operation, shapes, bindings and the reference"))
        if not BINDING.search(text):
            found.append(Finding(path, 1, "no @compute entry point: one operation a file"))
        for number, line in tree.lines(path):
            if re.match(r"\s*#", line) or "{{" in line or "${" in line:
                found.append(Finding(path, number, "not plain WGSL: shaders are valid as they lie here"))
    listing = "shaders/kernels.json"
    if listing in tree.paths:
        listed = set(re.findall(r'"([a-z0-9_/]+\.wgsl)"', json.dumps(json.loads(tree.text(listing)))))
        present = {path.split("/", 1)[1] for path in shaders}
        found += [Finding(listing, 1, f"names {name}, which is not here") for name in sorted(listed - present)]
        found += [Finding(f"shaders/{name}", 1, "kernels.json does not name it") for name in sorted(present - listed)]
    elif shaders:
        found.append(Finding(listing, 1, "missing, though there are shaders"))
    return found


def is_bash(tree: Tree, path: str) -> bool:
    if path.endswith(".sh"):
        return True
    first = tree.text(path)[:64].splitlines()[:1]
    return bool(first) and first[0].startswith("#!") and ("bash" in first[0] or first[0].endswith("/sh"))


def check_shell(tree: Tree) -> list[Finding]:
    """Shell scripts parse, and shellcheck finds nothing where it is installed."""
    found = []
    scripts = [path for path in tree.paths if "." not in path.split("/")[-1] or path.endswith(".sh")]
    scripts = [path for path in scripts if is_bash(tree, path)]
    for path in scripts:
        parsed = subprocess.run(["bash", "-n", path], cwd=tree.root, capture_output=True, text=True)
        if parsed.returncode != 0:
            found.append(Finding(path, 1, parsed.stderr.strip().splitlines()[0]))
    if scripts and shutil.which("shellcheck"):
        report = subprocess.run(
            ["shellcheck", "--external-sources", "--format=json", *scripts], cwd=tree.root, capture_output=True, text=True)
        found += [
            Finding(item["file"], item["line"], f"SC{item['code']}: {item['message']}")
            for item in json.loads(report.stdout or "[]")
        ]
    return found


CHECKS = [
    check_json_places, check_switch_reasons, check_unfinished, check_skipped_tests, check_machine_paths, check_shaders,
    check_shell,
]
