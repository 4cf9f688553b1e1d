#!/usr/bin/env python3
"""Time and memory of simulating a step, against chips: a table, and a picture.

Runs scenarios/million-chips.json on 1 to 6,945 UltraServers. Needs python3-matplotlib (Debian) and
a build (scripts/quickstart makes one).

  scripts/scaling.py docs/scaling.svg
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
UNITS = (1, 15, 60, 150, 600, 1500, 3000, 6945)  # of 144 chips; multiples of a pod, or one
RUNS = 3  # the fastest counts: what else the machine does only slows down


def measure(trnsim, units):
    """The engine's figures of the fastest of some runs."""
    chips = 144 * units
    command = [trnsim, "run", ROOT / "scenarios/million-chips.json", "--quiet", "--json"]
    for change in (f"system.units={units}", f"layout.data={chips}", f"training.global_batch={chips}"):
        command += ["--set", change]
    runs = []
    for _ in range(RUNS):
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        runs.append(json.loads(done.stdout)["runs"][0]["engine"])
    return min(runs, key=lambda engine: engine["wall_s"])


def draw(engines, file):
    """Two panels under each other, both axes logarithmic."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "trnsim"
    from matplotlib import pyplot

    chips = [engine["ranks"] for engine in engines]
    figure, (above, below) = pyplot.subplots(2, 1, sharex=True, figsize=(7, 6))
    above.loglog(chips, [engine["wall_s"] for engine in engines], "o-", color="#0072b2")
    above.set_ylabel("wall time of a step (s)")
    below.loglog(chips, [engine["peak_rss_bytes"] / 2**20 for engine in engines], "s-", color="#d55e00")
    below.set_ylabel("peak memory (MiB)")
    below.set_ylim(1, 1000)
    below.set_xlabel("Trainium3 chips, every message of every layer")
    for panel in (above, below):
        panel.grid(True, which="major", alpha=0.4)
    figure.suptitle("Llama 3.1 405B, hybrid sharding, folded, two cores")
    figure.tight_layout()
    partial = tempfile.NamedTemporaryFile(dir=file.parent, suffix=".svg", delete=False)
    figure.savefig(partial, format="svg", metadata={"Date": None})
    partial.close()
    os.chmod(partial.name, 0o644)
    os.replace(partial.name, file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture", type=pathlib.Path, help="the SVG to write")
    parser.add_argument("--trnsim", default=ROOT / "build/release/trnsim", help="the program to run")
    options = parser.parse_args()
    engines = [measure(options.trnsim, units) for units in UNITS]
    print("| UltraServers | chips | messages | stand for | wall | peak RSS |\n|---|---|---|---|---|---|")
    for units, engine in zip(UNITS, engines):
        print(
            f"| {units:,} | {engine['ranks']:,} | {engine['messages']:,} | {engine['represented_messages']:,} "
            f"| {engine['wall_s']:.2f} s | {engine['peak_rss_bytes'] / 2**20:.0f} MiB |"
        )
    draw(engines, options.picture)


if __name__ == "__main__":
    main()
