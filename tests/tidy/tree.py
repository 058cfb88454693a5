"""The files that the checks look at: every tracked file and every new one that is not ignored."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Finding:
    """One broken rule: where, and what to do about it."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


class Tree:
    """A checkout, or any folder (the tests of the checks make small ones)."""

    def __init__(self, root: Path):
        self.root = root
        self.paths = sorted(self._list())

    def _list(self) -> list[str]:
        if (self.root / ".git").exists():
            listed = subprocess.run(
                ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                cwd=self.root, check=True, capture_output=True,
            ).stdout.decode()
            return [path for path in listed.split("\0") if path and (self.root / path).is_file()]
        return [str(path.relative_to(self.root)) for path in self.root.rglob("*") if path.is_file()]

    def under(self, *folders: str, suffixes: tuple[str, ...] = ()) -> list[str]:
        """Paths below the folders ("" is the root), with one of the suffixes if any are given."""
        return [
            path for path in self.paths
            if any(folder == "" or path.startswith(folder + "/") for folder in folders)
            and (not suffixes or path.endswith(suffixes))
        ]

    def text(self, path: str) -> str:
        """A file's text; an empty one for a binary file."""
        data = (self.root / path).read_bytes()
        return "" if b"\0" in data else data.decode("utf-8", errors="replace")

    def lines(self, path: str) -> list[tuple[int, str]]:
        return list(enumerate(self.text(path).splitlines(), start=1))
