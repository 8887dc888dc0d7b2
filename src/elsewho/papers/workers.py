"""Many runs of one function over the cores: the same results, in the same order, whatever the number of workers."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import TypeVar

from threadpoolctl import threadpool_limits

from elsewho.papers.registry import Progress, quiet

Task = TypeVar("Task")
Answer = TypeVar("Answer")


def run_all(
    function: Callable[[Task], Answer],
    tasks: Sequence[Task],
    *,
    workers: int,
    what: str = "runs",
    progress: Progress = quiet,
) -> list[Answer]:
    """`function` of each task, in their order; the function and the tasks must live at the top of a module."""
    progress(what, 0, len(tasks))
    if workers <= 1 or len(tasks) <= 1:
        found = []
        for done, task in enumerate(tasks, 1):
            found.append(call_alone(function, task))
            progress(what, done, len(tasks))
        return found
    fresh = multiprocessing.get_context("spawn")  # a fork would copy the threads' locks, but not the threads
    count = min(workers, len(tasks))
    with ProcessPoolExecutor(count, mp_context=fresh, initializer=end_with, initargs=(os.getpid(),)) as pool:
        waiting = [pool.submit(call_alone, function, task) for task in tasks]
        try:
            for done, one in enumerate(as_completed(waiting), 1):
                one.result()
                progress(what, done, len(tasks))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
        return [one.result() for one in waiting]


def call_alone(function: Callable[[Task], Answer], task: Task) -> Answer:
    """On one thread: sums are rounded alike everywhere, and workers do not take each other's cores."""
    with threadpool_limits(1):
        return function(task)


def end_with(parent: int) -> None:
    """In a worker: end when the process `parent` that started it is gone, killed or not."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
