"""scripts/sweep.py and query.py, run as their users run them."""

import csv
import io
import json
import os
import resource
import signal
import subprocess
import sys
import time
import unittest

from sweep_case import ROOT, TRNSIM, SweepCase, small_sweep


def slow_program(folder, seconds):
    """trnsim that takes longer, so that a kill meets it at work."""
    path = folder / "slow-trnsim"
    path.write_text(f'#!/bin/sh\n[ "$1" = run ] && sleep {seconds}\nexec {TRNSIM} "$@"\n')
    path.chmod(0o755)
    return path


class Results(SweepCase):
    def test_every_point_has_the_result_of_its_command(self):
        store = self.folder / "store.sqlite"
        done = self.sweep(self.write(small_sweep()), store)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = self.read(store, "SELECT point, command FROM points WHERE status = 'done'")
        self.assertEqual(len(rows), 8)
        for point, command in rows[:3]:
            alone = json.loads(subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, check=True).stdout)
            stored = dict(self.read(store, f"SELECT name, value FROM metrics WHERE point = '{point}' AND run = 0"))
            run = alone["runs"][0]
            self.assertEqual(stored["step_time_s"], run["step_time_s"])
            self.assertEqual(stored["breakdown_s.compute"], run["breakdown_s"]["compute"])
            self.assertEqual(stored["cost.usd_per_hour_range.high"], run["cost"]["usd_per_hour_range"][1])

    def test_what_does_not_fit_is_a_result_with_its_reason(self):
        store = self.folder / "store.sqlite"
        self.sweep(self.write(small_sweep()), store)
        rows = self.read(store, "SELECT exit_code, error FROM points WHERE status = 'infeasible'")
        self.assertEqual(len(rows), 8)  # the optimizer's states of 70.6 x 10^9 parameters alone are 847 GB
        for code, error in rows:
            self.assertEqual(code, 3)
            self.assertIn("does not fit in the memory", error)

    def test_axes_multiply_zips_do_not_and_constraints_leave_out(self):
        axes = [
            {"zip": [{"set": "layout.prefetch", "name": "prefetch", "values": [0, 1, 2]}, {"size": "chips", "values": [144, 288, 300]}]},
            {"name": "links", "variants": [{"name": "stated", "set": {}}, {"name": "half", "set": {"system.scale_up.dimensions.0.bandwidth": "256 GB/s"}}]},
        ]
        path = self.write(small_sweep(axes=axes, constraints=["not (chips == 144 and links == 'half')"]))
        done = self.sweep(path, self.folder / "s.sqlite", "--list")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), 3 * 2 - 1)
        # 300 chips are two whole units of 144.
        self.assertEqual([line.count("system.units=2") for line in lines], [0, 1, 1, 1, 1])
        self.assertEqual([line.count("layout.data=288") for line in lines], [0, 1, 1, 1, 1])

    def test_systems_are_variants_with_a_file_and_sizes_in_chips_follow_their_units(self):
        systems = [{"name": "Trn3", "file": str(ROOT / "topologies/trn3-gen2-ultraserver.json")}, {"name": "H100", "file": str(ROOT / "topologies/p5.json")}]
        path = self.write(small_sweep(axes=[{"name": "on", "variants": systems}, {"size": "chips", "values": [576]}]))
        store = self.folder / "s.sqlite"
        self.assertEqual(self.sweep(path, store).returncode, 0)
        rows = self.read(store, "SELECT name, value FROM metrics WHERE name = 'chips'")
        self.assertEqual(rows, [("chips", 576)] * 2)
        units = self.read(store, "SELECT value FROM coordinates WHERE axis = 'units' ORDER BY number")
        self.assertEqual(units, [(4,), (72,)])

    def test_ends_move_every_number_of_a_name_to_an_end_of_its_range(self):
        sweep = small_sweep(axes=[{"ends": ["gemm_efficiency", "efficiency"], "name": "assumed"}])
        lines = self.sweep(self.write(sweep), self.folder / "s.sqlite", "--list").stdout.splitlines()
        self.assertEqual(len(lines), 3)
        self.assertNotIn("efficiency", lines[0])
        chip = json.loads((ROOT / "topologies/chips/trainium3.json").read_text())
        for line, end in zip(lines[1:], (0, 1)):
            value = chip["compute"]["gemm_efficiency"]["range"][end]
            self.assertIn(f"system.chip.compute.gemm_efficiency.value={value}", line)
            self.assertIn("system.scale_up.dimensions.2.efficiency.value=", line)
            self.assertIn("system.scale_out.nic.efficiency.value=", line)

    def test_derived_units_spend_a_budget(self):
        systems = {"name": "H100", "file": str(ROOT / "topologies/p5.json"), "let": {"budget_usd": 1200}}
        sweep = small_sweep(axes=[{"variants": [systems]}])
        sweep["derive"] = {"system.units": "budget_usd // (price * chips_per_unit)"} | sweep["derive"]
        line = self.sweep(self.write(sweep), self.folder / "s.sqlite", "--list").stdout
        self.assertIn("system.units=28 ", line)  # 1,200 USD/h / (8 x 5.191 USD/h) = 28.9
        self.assertIn("layout.data=224 ", line)

    def test_export_and_query_show_the_same_figures(self):
        store, table = self.folder / "s.sqlite", self.folder / "all.csv"
        self.sweep(self.write(small_sweep()), store, "--csv", table)
        exported = list(csv.DictReader(io.StringIO(table.read_text())))
        self.assertEqual(len(exported), 16)
        asked = self.script("query.py", store, "small", "--columns", "efficiency,step_time_s", "--where", "mfu > 0.65", "--jsonl")
        self.assertEqual(asked.returncode, 0, asked.stderr)
        rows = [json.loads(line) for line in asked.stdout.splitlines()]
        wanted = [row for row in exported if row["mfu"] and float(row["mfu"]) > 0.65]
        self.assertEqual([row["step_time_s"] for row in rows], [float(row["step_time_s"]) for row in wanted])
        self.assertTrue(rows)


class Resuming(SweepCase):
    def test_killed_and_resumed_the_store_is_that_of_an_uninterrupted_sweep(self):
        program = slow_program(self.folder, 0.1)
        path, whole, broken = self.write(small_sweep()), self.folder / "whole.sqlite", self.folder / "broken.sqlite"
        self.assertEqual(self.sweep(path, whole, "--trnsim", program).returncode, 0)
        for wanted in (3, 8):
            running = subprocess.Popen([sys.executable, str(ROOT / "scripts/sweep.py"), *map(str, self.command(path, broken, "--trnsim", program))])
            while True:
                self.assertIsNone(running.poll(), "the sweep ended before it was killed")
                if broken.exists():
                    try:
                        if self.read(broken, "SELECT count(*) FROM points WHERE status <> 'waiting'")[0][0] >= wanted:
                            break
                    except Exception:  # the tables are not there yet
                        pass
                time.sleep(0.02)
            running.send_signal(signal.SIGKILL)
            running.wait()
        finished = self.read(broken, "SELECT point FROM points WHERE status <> 'waiting'")
        self.assertGreaterEqual(len(finished), 8)
        self.assertLess(len(finished), 16)
        self.assertEqual(self.sweep(path, broken, "--trnsim", program).returncode, 0)
        self.assertEqual(self.dump(broken), self.dump(whole))
        self.assertEqual(self.read(broken, "SELECT count(*), count(DISTINCT point) FROM attempts"), [(16, 16)])

    def test_a_finished_point_runs_again_only_when_its_inputs_change(self):
        store = self.folder / "s.sqlite"
        workload = json.loads((ROOT / "workloads/llama-3.1-8b.json").read_text())
        mine = self.folder / "mine.json"
        mine.write_text(json.dumps(workload))
        sweep = small_sweep(axes=[{"set": "layout.prefetch", "values": [0, 1]}])
        sweep["set"]["workload.file"] = str(mine)
        path = self.write(sweep)
        for _ in range(2):
            self.assertEqual(self.sweep(path, store).returncode, 0)
        self.assertEqual(self.read(store, "SELECT count(*) FROM attempts"), [(2,)])
        mine.write_text(json.dumps(workload | {"name": "another"}))
        self.assertEqual(self.sweep(path, store).returncode, 0)
        self.assertEqual(self.read(store, "SELECT count(*) FROM attempts"), [(4,)])
        self.assertEqual(self.read(store, "SELECT count(*) FROM members"), [(2,)])
        self.assertEqual(self.read(store, "SELECT count(DISTINCT inputs) FROM points"), [(2,)])

    def test_failures_are_tried_again_and_refusals_are_not(self):
        program = self.folder / "trnsim"
        program.write_text(f'#!/bin/sh\n[ "$1" = run ] && [ ! -e {self.folder}/mended ] && kill -9 $$\nexec {TRNSIM} "$@"\n')
        program.chmod(0o755)
        store = self.folder / "s.sqlite"
        path = self.write(small_sweep(axes=[{"set": "training.micro_batch", "name": "micro", "values": [1, 0]}]))
        self.assertEqual(self.sweep(path, store, "--trnsim", program).returncode, 1)
        self.assertEqual(self.read(store, "SELECT status, exit_code FROM points"), [("failed", -9)] * 2)
        (self.folder / "mended").touch()
        self.assertEqual(self.sweep(path, store, "--trnsim", program).returncode, 0)
        rows = dict(self.read(store, "SELECT status, error FROM points"))
        self.assertEqual(set(rows), {"done", "refused"})
        self.assertIn("training.micro_batch", rows["refused"])
        self.sweep(path, store, "--trnsim", program)
        self.assertEqual(self.read(store, "SELECT count(*) FROM attempts"), [(4,)])

    def test_two_sweeps_at_once_write_one_store(self):
        store = self.folder / "s.sqlite"
        first = self.write(small_sweep(), "first.json")
        second = self.write(small_sweep(name="other", constraints=["stage == 3"]), "second.json")
        both = [
            subprocess.Popen([sys.executable, str(ROOT / "scripts/sweep.py"), *map(str, self.command(path, store))], stdout=subprocess.DEVNULL)
            for path in (first, second)
        ]
        self.assertEqual([running.wait() for running in both], [0, 0])
        alone = self.folder / "alone.sqlite"
        for path in (first, second):
            self.assertEqual(self.sweep(path, alone).returncode, 0)
        self.assertEqual(self.dump(store), self.dump(alone))


class Trouble(SweepCase):
    def test_a_full_disk_is_an_error_and_loses_nothing(self):
        path, store = self.write(small_sweep()), self.folder / "s.sqlite"
        room = 200_000  # bytes of any file: for the points, and not for all results
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))  # noqa: E731
        full = self.sweep(path, store, preexec_fn=limit)
        self.assertEqual(full.returncode, 2, full.stderr)
        self.assertIn(f"error: {store}: cannot be written", full.stderr)
        self.assertNotIn("Traceback", full.stderr)
        before = self.read(store, "SELECT point FROM points WHERE status <> 'waiting'")
        self.assertTrue(0 < len(before) < 16, len(before))
        self.assertEqual(self.sweep(path, store).returncode, 0)
        whole = self.folder / "whole.sqlite"
        self.sweep(path, whole)
        self.assertEqual(self.dump(store), self.dump(whole))
        for (point,) in before:
            self.assertEqual(self.read(store, f"SELECT count(*) FROM attempts WHERE point = '{point}'"), [(1,)])

    @unittest.skipUnless(os.geteuid() == 0, "only root may make a file system")
    def test_a_full_file_system_is_an_error_and_loses_nothing(self):
        small = self.folder / "small"
        small.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=240k", "tmpfs", small], capture_output=True, check=False).returncode:
            self.skipTest("mounting is not allowed here")
        self.addCleanup(subprocess.run, ["umount", small], check=True)
        path, store = self.write(small_sweep()), small / "s.sqlite"
        full = self.sweep(path, store)
        self.assertEqual(full.returncode, 2, full.stderr)
        self.assertIn("disk is full", full.stderr)
        before = self.read(store, "SELECT point FROM points WHERE status <> 'waiting'")
        self.assertTrue(0 < len(before) < 16, len(before))
        subprocess.run(["mount", "-o", "remount,size=8m", small], check=True)
        self.assertEqual(self.sweep(path, store).returncode, 0)
        whole = self.folder / "whole.sqlite"
        self.sweep(path, whole)
        self.assertEqual(self.dump(store), self.dump(whole))

    def test_a_folder_that_cannot_be_written_is_an_error(self):
        path = self.write(small_sweep())
        shut = self.folder / "shut"
        shut.mkdir()
        shut.chmod(0o555)
        how = {"user": 65534} if os.geteuid() == 0 else {}  # root may write anywhere
        done = self.sweep(path, shut / "s.sqlite", **how)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"error: {shut}/s.sqlite: cannot be", done.stderr)
        self.assertEqual(list(shut.iterdir()), [])
        store = self.folder / "s.sqlite"
        self.assertEqual(self.sweep(path, store).returncode, 0)
        before = self.dump(store)
        done = self.sweep(path, store, "--csv", shut / "all.csv", **how)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(self.dump(store), before)

    def test_wrong_sweep_files_name_place_and_rule(self):
        def without(key):
            return {k: v for k, v in small_sweep().items() if k != key}

        cases = [
            (without("format"), 'format: must be "trnsim.sweep.v1"'),
            (without("axes"), "axes: must be a list"),
            (small_sweep(axis=[]), 'axis: unknown key; did you mean "axes"?'),
            (small_sweep(scenario="nowhere.json"), "scenario: there is no file"),
            (small_sweep(axes=[{}]), 'axes.0: must have one of "set", "size", "variants", "ends", "zip"'),
            (small_sweep(axes=[{"set": "a.b"}]), 'axes.0: must have either "values" or "range"'),
            (small_sweep(axes=[{"set": "a.b", "values": []}]), "axes.0.values: must be a list of at least one"),
            (small_sweep(axes=[{"size": "racks", "values": [1]}]), 'axes.0.size: must be "chips" or "units"'),
            (small_sweep(axes=[{"size": "chips", "values": [0]}]), "axes.0: a size must be a whole number from 1"),
            (small_sweep(axes=[{"set": "a", "range": {"from": 1, "to": 4}}]), "axes.0.range: must have"),
            (small_sweep(axes=[{"set": "a", "range": {"from": 0, "to": 4, "factor": 2}}]), "axes.0.range: must grow"),
            (small_sweep(axes=[{"set": "a", "values": [1]}] * 2), 'two axes have the name "a"'),
            (small_sweep(axes=[{"zip": [{"set": "a", "values": [1]}, {"set": "b", "values": [1, 2]}]}]), "axes.0: zips axes of 1 and 2 values"),
            (small_sweep(derive={"layout.data": "chip"}), "derive.layout.data: 'chip': there is no chip; there are"),
            (small_sweep(constraints=["units >"]), "constraints.0: 'units >' is no expression"),
            (small_sweep(constraints=["__import__('os')"]), "constraints.0: "),
            (small_sweep(axes=[{"set": "a", "range": {"from": 1, "to": 1e12, "step": 1}}]), "has more than 10,000,000 values"),
        ]
        for sweep, message in cases:
            with self.subTest(message):
                store = self.folder / "never.sqlite"
                done = self.sweep(self.write(sweep), store)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(message, done.stderr)
                self.assertNotIn("Traceback", done.stderr)
                self.assertFalse(store.exists())

    def test_what_is_no_store_is_an_error(self):
        text = self.folder / "text.sqlite"
        text.write_text("no database " * 100)
        path = self.write(small_sweep())
        for done in (self.sweep(path, text), self.script("query.py", text), self.script("query.py", self.folder / "none")):
            self.assertEqual(done.returncode, 2)
            self.assertTrue(done.stderr.startswith("error: "), done.stderr)


class ReadySweeps(SweepCase):
    def test_the_first_point_of_each_has_a_result(self):
        ready = sorted((ROOT / "scenarios/sweeps").glob("*.json"))
        self.assertTrue(ready)
        for path in ready:
            with self.subTest(path.name):
                done = self.sweep(path, self.folder / "s.sqlite", "--list")
                self.assertEqual(done.returncode, 0, done.stderr)
                commands = done.stdout.splitlines()
                self.assertGreater(len(commands), 3)
                first = subprocess.run(commands[0], shell=True, cwd=ROOT, capture_output=True, text=True, check=False)
                self.assertIn(first.returncode, (0, 3), first.stderr)


if __name__ == "__main__":
    unittest.main()
