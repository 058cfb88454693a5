"""Where things are: folders, names, sizes, and which room may include which."""

from __future__ import annotations

import re

from tree import Finding, Tree

# core <- contract <- {schedule, gate, analysis, receipt, client} <- run <- {browser, store, http, lab, notify} <- main
RANKS = {
    "core": 0, "contract": 1,
    "schedule": 2, "gate": 2, "analysis": 2, "receipt": 2, "client": 2,
    "run": 3,
    "browser": 4, "store": 4, "http": 4, "lab": 4, "notify": 4,
}
ROOMS = {*RANKS, "dashboard"}
MAIN_RANK = 5

ROOT_FOLDERS = {
    "orchestrator", "trainer_wasm", "shaders", "protocols", "results", "tests", "docker", "tools", "docs", "cmake",
    ".ci", ".github",
}
ROOT_FILES = {
    "CMakeLists.txt", "CMakePresets.json", "README.md", "LICENSE", "CONTRIBUTING.md", "CHANGELOG.md",
    "package.json", "package-lock.json", "tsconfig.json", "vitest.config.ts", "vitest.browser.config.ts", "vitest.kernels.config.ts",
    "vitest.commands.config.ts",
    ".clang-format", ".clang-tidy", ".gitignore", ".gitattributes", ".npmrc", ".dockerignore", ".editorconfig",
}
TEST_FOLDERS = {
    "unit", "store", "contract", "commands", "kernels", "browser", "faults", "load", "fuzz", "peers", "tidy", "support",
    "package", "docs", "tools", "service",
}

CODE_SUFFIXES = (".cpp", ".hpp", ".ts", ".mts", ".mjs", ".wgsl", ".py", ".sh", ".css", ".sql", ".cmake")
MAXIMUM_LINES = 450
MAXIMUM_BYTES = 1 << 20

GENERATED = re.compile(
    r"(^|/)(node_modules|build|dist|__pycache__|\.cache|CMakeFiles)/"
    r"|\.(o|a|so|wasm|pyc|tsbuildinfo|orig|rej|swp|log)$"
    r"|(^|/)(CMakeCache\.txt|compile_commands\.json|\.DS_Store)$"
)
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
SNAKE_CASE = re.compile(r"^[a-z0-9_]+(\.[a-z0-9_-]+)+$")


def room_of(path: str) -> str | None:
    parts = path.split("/")
    return parts[1] if len(parts) > 2 and parts[0] == "orchestrator" else None


def check_includes(tree: Tree) -> list[Finding]:
    """Includes point left only; siblings never include each other; the trainer and the orchestrator stay apart."""
    found = []
    for path in tree.under("orchestrator", "trainer_wasm", suffixes=(".cpp", ".hpp")):
        room = room_of(path)
        rank = RANKS.get(room, MAIN_RANK) if path.startswith("orchestrator/") else None
        for number, line in tree.lines(path):
            match = INCLUDE.match(line)
            if not match:
                continue
            target = match.group(1)
            target_room = target.split("/")[0] if "/" in target else None
            if rank is None:
                if target_room in RANKS or "orchestrator" in target:
                    found.append(Finding(path, number, f'the trainer includes "{target}" of the orchestrator'))
            elif ".." in target.split("/") or "trainer_wasm" in target:
                found.append(Finding(path, number, f'"{target}" leaves the orchestrator; name a room, "room/file.hpp"'))
            elif target_room is None and room is not None:
                found.append(Finding(path, number, f'write "{room}/{target}": an include names its room'))
            elif target_room in RANKS and target_room != room and RANKS[target_room] >= rank:
                kind = "its sibling" if RANKS[target_room] == rank else "to its right,"
                found.append(Finding(path, number, f"{room or 'main'} includes {kind} {target_room}"))
    return found


def check_folders(tree: Tree) -> list[Finding]:
    """Only the folders of the design, each for what it is for."""
    found = []
    for path in tree.paths:
        parts = path.split("/")
        if len(parts) == 1:
            if path not in ROOT_FILES:
                found.append(Finding(path, 1, "this file does not belong in the root"))
        elif parts[0] not in ROOT_FOLDERS:
            found.append(Finding(path, 1, f"there is no folder {parts[0]}/ in the design"))
        elif parts[0] == "orchestrator" and len(parts) > 2 and parts[1] not in ROOMS:
            found.append(Finding(path, 1, f"there is no room orchestrator/{parts[1]}"))
        elif parts[0] == "tests" and len(parts) > 2 and parts[1] not in TEST_FOLDERS:
            found.append(Finding(path, 1, f"there is no folder tests/{parts[1]}"))
    return found


def check_names(tree: Tree) -> list[Finding]:
    """Source files are named in snake_case (npm's own configuration files excepted)."""
    suffixes = (".cpp", ".hpp", ".ts", ".wgsl", ".py", ".sql")
    found = []
    for path in tree.under("orchestrator", "trainer_wasm", "shaders", "tests", suffixes=suffixes):
        name = path.split("/")[-1]
        if not SNAKE_CASE.match(name):
            found.append(Finding(path, 1, f"{name} is not in snake_case"))
    return found


def check_length(tree: Tree) -> list[Finding]:
    """A room that grows past about 400 lines is two rooms."""
    found = []
    for path in tree.under("", suffixes=CODE_SUFFIXES):
        lines = len(tree.lines(path))
        if lines > MAXIMUM_LINES:
            found.append(Finding(path, lines, f"{lines} lines, at most {MAXIMUM_LINES}: is it still one room?"))
    for path in tree.paths:
        size = (tree.root / path).stat().st_size
        if size > MAXIMUM_BYTES:
            found.append(Finding(path, 1, f"{size} bytes in a tracked file, at most {MAXIMUM_BYTES}"))
    return found


def check_generated(tree: Tree) -> list[Finding]:
    """What a tool makes is not kept here."""
    return [Finding(path, 1, "a generated file; make it in build/") for path in tree.paths if GENERATED.search(path)]


def check_header_guards(tree: Tree) -> list[Finding]:
    return [
        Finding(path, 1, "a header without #pragma once")
        for path in tree.under("orchestrator", "trainer_wasm", "tests", suffixes=(".hpp",))
        if "#pragma once" not in tree.text(path)
    ]


CHECKS = [check_includes, check_folders, check_names, check_length, check_generated, check_header_guards]
