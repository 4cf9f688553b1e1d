#!/usr/bin/env python3
"""Step time against the size of a straggler: one slow chip, or one slow link, of a scenario.

  scripts/stragglers.py scenarios/million-chips.json --chip 17
  scripts/stragglers.py scenarios/million-chips.json --link "unit 3000 NIC 5 EFA NIC, out"
  scripts/stragglers.py scenarios/quickstart.json --chip 17 --factors 0.99 0.9 --set system.units=1 \\
      --set layout.data=144 --set training.global_batch=144

A factor is of compute, or of bandwidth. Where only bounds of a step are known both are printed
(docs/model.md). Compared systems are left out. Exit code: that of the first run that fails.
"""

import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FACTORS = (1, 0.999, 0.99, 0.95, 0.9, 0.8, 0.7, 0.5)


def step(options, factor):
    """The run of the scenario's own system with the fault, as JSON; none at factor 1."""
    where = {"chip": options.chip} if options.chip is not None else {"link": options.link}
    what = "compute" if options.chip is not None else "bandwidth"
    faults = [] if factor == 1 else [{**where, what: factor}]
    command = [options.trnsim, "run", options.scenario, "--quiet", "--json", "--set", "compare_with=[]"]
    for change in [*options.set, f"faults={json.dumps(faults)}"]:
        command += ["--set", change]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.returncode)
    return json.loads(done.stdout)["runs"][0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenario")
    place = parser.add_mutually_exclusive_group(required=True)
    place.add_argument("--chip", type=int, help="the number of the slow chip")
    place.add_argument("--link", help="the name of the slow link; an error of trnsim shows how links are named")
    parser.add_argument("--factors", type=float, nargs="+", default=FACTORS, help="parts of the healthy speed")
    parser.add_argument("--set", action="append", default=[], metavar="PATH=VALUE", help="as of trnsim run")
    parser.add_argument("--trnsim", default=ROOT / "build/release/trnsim", help="the program to run")
    options = parser.parse_args()
    healthy = None
    print(f"{'factor':>8}  {'at least (s)':>14}  {'at most (s)':>14}  {'longer by':>10}  folded")
    for factor in options.factors:
        run = step(options, factor)
        most, engine = run["step_time_s"], run["engine"]
        healthy = healthy or (most if factor == 1 else step(options, 1)["step_time_s"])
        least = engine["step_at_least_s"]
        shown = "exact" if least >= most * (1 - 1e-9) else f"{least:.6f}"
        print(
            f"{factor:>8g}  {shown:>14}  {most:>14.6f}  {100 * (most / healthy - 1):>8.2f} %"
            f"  {engine['ranks']} into {engine['classes']}"
        )


if __name__ == "__main__":
    main()
