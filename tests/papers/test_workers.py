"""Work shared out over processes."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from elsewho.papers.workers import run_all


@pytest.mark.parametrize("workers", [1, 2])
def test_answers_come_in_the_order_of_the_tasks(workers):
    assert run_all(abs, [-3, 2, -1, 0], workers=workers) == [3, 2, 1, 0]


def test_an_error_of_a_task_is_raised():
    with pytest.raises(ValueError, match="invalid literal"):
        run_all(int, ["1", "two"], workers=2)


def alive(pid):
    """True for a process that runs; one that has ended and waits to be collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads Linux's table of processes")
def test_a_run_that_is_killed_takes_its_workers_with_it(tmp_path):
    script = tmp_path / "run.py"
    script.write_text(
        "import time\nfrom elsewho.papers.workers import run_all\n\n"
        'if __name__ == "__main__":\n    run_all(time.sleep, [60, 60], workers=2)\n'
    )
    run = subprocess.Popen([sys.executable, str(script)])
    listed = Path(f"/proc/{run.pid}/task/{run.pid}/children")
    until = time.monotonic() + 30
    children = []
    while len(children) < 3 and time.monotonic() < until:  # two workers, and the tracker of resources
        children = [int(pid) for path in listed.parent.parent.glob("*/children") for pid in path.read_text().split()]
    assert len(children) >= 3

    time.sleep(2)  # let the workers begin: their watch starts with them
    os.kill(run.pid, signal.SIGKILL)
    run.wait()

    until = time.monotonic() + 20
    while any(alive(pid) for pid in children) and time.monotonic() < until:
        time.sleep(0.1)
    assert not any(alive(pid) for pid in children)
