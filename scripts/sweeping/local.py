"""Points on the cores of this machine."""

import queue
import threading

from sweeping.point import run


def outcomes(tasks, folder, jobs, timeout):
    """Outcomes of the tasks, (key, command), in the order in which they end; `jobs` processes run at a time.

    Tasks are taken when a process is free, so the iterator may leave out what others finished meanwhile.
    Closing the generator starts nothing more, and waits for what runs.
    """
    ended = queue.SimpleQueue()
    tasks = iter(tasks)
    running = 0

    def start(task):
        threading.Thread(target=lambda: ended.put(run(*task, folder, timeout)), daemon=True).start()

    try:
        while True:
            while running < jobs and (task := next(tasks, None)) is not None:
                start(task)
                running += 1
            if not running:
                return
            outcome = ended.get()
            running -= 1
            # The next process starts before this outcome is read and stored.
            if (task := next(tasks, None)) is not None:
                start(task)
                running += 1
            yield outcome
    finally:
        for _ in range(running):
            ended.get()
