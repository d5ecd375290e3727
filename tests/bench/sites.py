"""Builds of the archive, each in a watched child process."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path

from .peak import Child, in_child

OURS = ("prepare", "write", "publish", "fragments", "manifest")


@dataclass(frozen=True, slots=True)
class Build:
    """A finished build."""

    site: Path
    child: Child

    @property
    def whole(self) -> float:
        return self.child.seconds["whole"]

    @property
    def ours(self) -> float:
        """Seconds outside MkDocs and Pagefind. Fragments that `write` asks for are counted in it."""
        return sum(self.child.seconds.get(phase, 0.0) for phase in OURS)

    def phases(self) -> str:
        """For people: where the time went."""
        parts = {**self.child.seconds, "mkdocs": self.whole - self.ours - self.child.seconds["pagefind"]}
        shown = sorted(parts.items(), key=lambda part: -part[1])
        return " ".join(f"{phase} {seconds:.1f}" for phase, seconds in shown)


def build(runs: Path, home: Path, site: Path, *, fresh: bool) -> Build:
    """`fresh` removes the home first."""
    if fresh:
        shutil.rmtree(home, ignore_errors=True)
    return Build(site, in_child("build", str(runs), str(home), str(site)))


def digests(site: Path) -> dict[str, str]:
    """Site path -> SHA-256 of every file."""
    return {
        path.relative_to(site).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(site.rglob("*"))
        if path.is_file()
    }
