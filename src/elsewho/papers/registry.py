"""The papers that can be reproduced: name on the command line, and the module that runs the protocol.

A module has three things:

    RUNS                              how many runs or splits the paper makes
    check(job) -> Material            reads what the data hold; refuses what cannot work before anything long begins
    reproduce(job, material) -> Reproduction
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

PAPERS: dict[str, str] = {
    "k-same-furthest": "elsewho.papers.k_same_furthest",
    "k-diff-furthest": "elsewho.papers.k_diff_furthest",
    "isd": "elsewho.papers.isd",
    "fet": "elsewho.papers.fet",
}

Progress = Callable[[str, int, int], None]  # what is being done, how much is done, of how much


def quiet(_what: str, _done: int, _of: int) -> None:
    """No progress is shown."""


@dataclass(frozen=True, slots=True)
class Job:
    """What was asked for."""

    data: Path
    runs: int
    seed: int = 0
    recogniser: Path | None = None
    workers: int = 1
    progress: Progress = quiet


def find_paper(name: str) -> ModuleType:
    """The module of a paper."""
    return import_module(PAPERS[name])


def count_cores() -> int:
    """How many processor cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
