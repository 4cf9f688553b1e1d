#!/usr/bin/python3
"""Runs every point of a sweep file, on all cores, and keeps what comes out in an SQLite store.

  scripts/sweep.py scenarios/sweeps/bucket.json                     out/bucket.sqlite
  scripts/sweep.py my.json --store all.sqlite --csv all.csv         any store; several sweeps may share one
  scripts/sweep.py my.json --dask tcp://10.0.0.5:8786               on the workers of a Dask scheduler
  scripts/sweep.py my.json --slurm --slurm-option=--partition=cpu   as a job array of Slurm

The same command again goes on where the last one ended, whatever ended it. docs/sweeps.md has the file and the store.
Exit code: 0 every point has a result (also that it does not fit), 1 some failed, 2 the input is wrong or the
store cannot be written.
"""

import argparse
import os
import pathlib
import shlex
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from sweeping import ROOT, UserError, dask, exit_as, local, slurm  # noqa: E402
from sweeping.definition import Sweep  # noqa: E402
from sweeping.export import export  # noqa: E402
from sweeping.inputs import named, version_of  # noqa: E402
from sweeping.progress import Progress  # noqa: E402
from sweeping.store import Store  # noqa: E402


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sweep", help="the sweep file")
    parser.add_argument("--store", type=pathlib.Path, help="SQLite file; default: out/NAME_OF_THE_FILE.sqlite")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="processes at a time; default: cores")
    parser.add_argument("--dask", metavar="ADDRESS", help="run on the workers of this Dask scheduler, in place of here")
    parser.add_argument("--slurm", action="store_true", help="run as a job array of Slurm, and wait for it")
    parser.add_argument("--slurm-option", action="append", default=[], metavar="OPTION", help="of sbatch, as --slurm-option=--time=60")
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="a point that takes longer fails")
    parser.add_argument("--retry", action="store_true", help="also run again what trnsim refused (exit code 2)")
    parser.add_argument("--list", action="store_true", help="print the commands, run nothing")
    parser.add_argument("--csv", type=pathlib.Path, metavar="FILE", help="afterwards write all points as CSV")
    parser.add_argument("--jsonl", type=pathlib.Path, metavar="FILE", help="afterwards write all points as JSON lines")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.add_argument("--trnsim", default=str(ROOT / "build/release/trnsim"), help="the program to run")
    options = parser.parse_args()
    if options.jobs < 1:
        parser.error("--jobs must be 1 or more")
    options.trnsim = named(options.trnsim)
    return options


def waiting(store, keys, again, commands):
    """What is still to run: read when it is asked for, as another sweep may have finished it meanwhile."""
    for key in dict.fromkeys(keys):
        if not store.finished(key, again):
            yield key, commands[key]


def run_all(store, tasks, progress, runner):
    """Runs and records. When an outcome cannot be written nothing more starts, and what still runs is waited for
    and tried once more: a full disk may have room again. Without room those points run again the next time."""
    trouble, unwritten = None, []

    def until_trouble():
        for task in tasks:
            if trouble:
                return
            yield task

    for outcome in runner(until_trouble()):
        try:
            progress.add(store.record(outcome))
        except UserError as error:
            trouble = error
            unwritten.append(outcome)
    progress.close()
    for number, outcome in enumerate(unwritten):
        try:
            store.record(outcome)
        except UserError as error:
            left = len(unwritten) - number
            raise UserError(f"{error}; what was stored before stays, and {left} finished points will run again") from None
    if trouble:
        raise UserError(f"{trouble}; nothing is lost, and the same command goes on")


def main():
    options = arguments()
    sweep = Sweep(options.sweep)
    version = version_of(ROOT / options.trnsim)
    points, left_out = sweep.points(version)
    if options.list:
        print("\n".join(point.command(options.trnsim) for point in points))
        return 0
    path = options.store or pathlib.Path("out") / (pathlib.Path(options.sweep).stem + ".sqlite")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{path.parent}: cannot be made: {error.strerror}") from None
    store = Store(path)
    keys = store.register(sweep, points, left_out, options.trnsim)
    commands = {key: shlex.split(point.command(options.trnsim)) for key, point in zip(keys, points)}
    again = ("refused",) if options.retry else ()
    total = len(commands)
    done = sum(store.finished(key, again) for key in commands)
    progress = Progress(total, done, options.quiet)
    tasks = waiting(store, keys, again, commands)
    if options.dask:
        runner = lambda tasks: dask.outcomes(tasks, str(ROOT), options.dask, options.timeout)  # noqa: E731
    elif options.slurm:
        runner = lambda tasks: slurm.outcomes(tasks, str(ROOT), path, options.slurm_option, options.timeout)  # noqa: E731
    else:
        runner = lambda tasks: local.outcomes(tasks, str(ROOT), options.jobs, options.timeout)  # noqa: E731
    run_all(store, tasks, progress, runner)
    for file, kind in ((options.csv, "csv"), (options.jsonl, "jsonl")):
        if file:
            export(store, sweep.name, kind, file)
    counts = {}
    for key in commands:
        status = store.status(key)
        counts[status] = counts.get(status, 0) + 1
    store.close()
    print(f"{path}: {total:,} points of {sweep.name}: " + ", ".join(f"{n:,} {status}" for status, n in sorted(counts.items())))
    if left_out:
        print(f"{left_out:,} more are left out by constraints")
    return 1 if counts.keys() & {"failed", "waiting"} else 0


if __name__ == "__main__":
    try:
        exit_as(main)
    except KeyboardInterrupt:
        print("\ninterrupted; the same command goes on from here", file=sys.stderr)
        sys.exit(130)
