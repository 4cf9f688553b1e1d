"""A folder of its own for each test, a small sweep in it, and how scripts are run."""

import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TRNSIM = os.environ.get("TRNSIM_BINARY", str(ROOT / "build/release/trnsim"))


def small_sweep(**changes):
    """Llama 3.1 8B with one microbatch a chip: 2 sizes x 2 stages x 4 efficiencies, of which DDP does not fit."""
    sweep = {
        "format": "trnsim.sweep.v1",
        "name": "small",
        "scenario": str(ROOT / "scenarios/quickstart.json"),
        "set": {"engine.fidelity": "analytic", "compare_with": []},
        "axes": [
            {"size": "units", "values": [1, 2]},
            {"name": "stage", "set": "layout.zero_stage", "values": [0, 3]},
            {"name": "efficiency", "set": "system.chip.compute.gemm_efficiency", "range": {"from": 0.5, "to": 0.8, "step": 0.1}},
        ],
        "derive": {"layout.data": "chips", "training.global_batch": "chips"},
    }
    return sweep | changes


class SweepCase(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="trnsim-sweep-"))
        self.folder.chmod(0o755)
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def write(self, sweep, name="sweep.json"):
        path = self.folder / name
        path.write_text(json.dumps(sweep))
        return path

    def script(self, name, *arguments, **how):
        """The finished process of a script of this project."""
        command = [sys.executable, str(ROOT / "scripts" / name), *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False, **how)

    def command(self, sweep, store, *arguments):
        return [sweep, "--store", store, "--trnsim", TRNSIM, "--quiet", *arguments]

    def sweep(self, sweep, store, *arguments, **how):
        return self.script("sweep.py", *self.command(sweep, store, *arguments), **how)

    def read(self, store, query):
        with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as db:
            rows = db.execute(query).fetchall()
        db.close()
        return rows

    def dump(self, store):
        """All that two stores with the same points must have in common: every table but the attempts."""
        with sqlite3.connect(store) as db:
            lines = [line for line in db.iterdump() if not line.startswith('INSERT INTO "attempts"')]
        db.close()
        return "\n".join(lines)
