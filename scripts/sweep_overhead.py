#!/usr/bin/python3
"""What a sweep costs over the bare simulations: 1,000 points, with scripts/sweep.py and without it, on all cores.

  scripts/sweep_overhead.py [--points 1000] [--blocks 5]

Llama 3.1 405B on 1,500 UltraServers, message by message; the points differ in one efficiency. In each block the same
commands run bare (started from as many threads as there are cores, output thrown away) and as a sweep into a new
store, and in the next block in the other order, so that what else the machine does falls on both. Prints wall and
processor time of both, and the sums' ratios.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import resource
import shlex
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SWEEP = ROOT / "scripts/sweep.py"


def sweep_file(folder, block, points):
    """A sweep of its own for each block, so that nothing is cached from one to the next."""
    chips = 1500 * 144
    sizes = {"system.units": 1500, "layout.data": chips, "training.global_batch": chips}
    values = [0.5 + 0.4 * (block * points + n) / 1e5 for n in range(points)]
    sweep = {
        "format": "trnsim.sweep.v1",
        "name": f"block {block}",
        "scenario": str(ROOT / "scenarios/million-chips.json"),
        "set": sizes,
        "axes": [{"set": "system.chip.compute.gemm_efficiency", "values": values}],
    }
    path = folder / f"{block}.json"
    path.write_text(json.dumps(sweep))
    return path


def timed(work):
    """Wall and processor seconds of this process and its children."""

    def used():
        return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))

    wall, busy = time.monotonic(), used()
    work()
    return time.monotonic() - wall, used() - busy


def bare(commands, jobs):
    run = lambda command: subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=True)  # noqa: E731
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(run, commands))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=1000)
    parser.add_argument("--blocks", type=int, default=5)
    options = parser.parse_args()
    jobs = len(os.sched_getaffinity(0))
    sums = {"bare": [0.0, 0.0], "sweep": [0.0, 0.0]}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for block in range(options.blocks):
            path = sweep_file(folder, block, options.points // options.blocks)
            listed = subprocess.run([SWEEP, path, "--list"], capture_output=True, text=True, check=True).stdout
            commands = [shlex.split(line) for line in listed.splitlines()]
            command = [SWEEP, path, "--store", folder / f"{block}.sqlite", "--quiet"]
            works = [
                ("bare", lambda: bare(commands, jobs)),
                ("sweep", lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL)),
            ]
            for name, work in works if block % 2 == 0 else works[::-1]:
                wall, busy = timed(work)
                sums[name][0] += wall
                sums[name][1] += busy
                print(f"block {block}, {name}: {wall:.2f} s, {busy:.2f} s of processors", file=sys.stderr)
    for name, (wall, busy) in sums.items():
        print(f"{name:6} {wall:8.2f} s  {busy:8.2f} s of processors")
    print(f"over   {100 * (sums['sweep'][0] / sums['bare'][0] - 1):7.1f} %  {100 * (sums['sweep'][1] / sums['bare'][1] - 1):8.1f} %")


if __name__ == "__main__":
    main()
