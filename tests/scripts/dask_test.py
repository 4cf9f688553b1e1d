"""A sweep over a real Dask scheduler with two workers, of which one is killed midway."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import unittest

from sweep_case import ROOT, TRNSIM, SweepCase, small_sweep

try:
    import distributed
except ImportError:
    distributed = None


@unittest.skipUnless(distributed and shutil.which("dask-worker"), "python3-distributed is not installed")
class Dask(SweepCase):
    def start(self, name, *arguments):
        process = subprocess.Popen(
            ["/usr/bin/python3", shutil.which(name), *arguments], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        self.addCleanup(process.wait)
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)

    def test_with_one_of_two_workers_killed_the_store_is_the_same(self):
        slow = self.folder / "slow-trnsim"
        slow.write_text(f'#!/bin/sh\n[ "$1" = run ] && sleep 0.5\nexec {TRNSIM} "$@"\n')
        slow.chmod(0o755)
        path, here, there = self.write(small_sweep()), self.folder / "here.sqlite", self.folder / "there.sqlite"
        self.assertEqual(self.sweep(path, here, "--trnsim", slow).returncode, 0)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"
        self.start("dask-scheduler", "--host", "127.0.0.1", "--port", address.split(":")[1], "--no-dashboard")
        worker = ("dask-worker", address, "--host", "127.0.0.1", "--no-nanny", "--no-dashboard", "--nthreads", "1")
        first, _ = self.start(*worker), self.start(*worker)
        command = [sys.executable, ROOT / "scripts/sweep.py", *self.command(path, there, "--trnsim", slow, "--dask", f"tcp://{address}")]
        running = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL)
        self.addCleanup(running.wait)
        self.addCleanup(running.kill)
        while running.poll() is None:
            try:
                if self.read(there, "SELECT count(*) FROM points WHERE status <> 'waiting'")[0][0] >= 3:
                    break
            except Exception:  # the store is not there yet
                pass
            time.sleep(0.05)
        self.assertIsNone(running.poll(), "the sweep ended before a worker was killed")
        self.end(first)
        ended = running.wait(timeout=120)
        self.assertEqual(self.read(there, "SELECT error FROM points WHERE status NOT IN ('done', 'infeasible')"), [])
        self.assertEqual(ended, 0)
        self.assertEqual(self.dump(there), self.dump(here))
        self.assertEqual(self.read(there, "SELECT count(DISTINCT pid) FROM attempts"), [(2,)])

    def test_no_scheduler_is_an_error(self):
        done = self.sweep(self.write(small_sweep()), self.folder / "s.sqlite", "--dask", "tcp://127.0.0.1:1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("error: --dask tcp://127.0.0.1:1: no scheduler answers", done.stderr)


if __name__ == "__main__":
    unittest.main()
