"""Points as a job array of Slurm."""

import json
import pathlib
import shutil
import subprocess
import time

from sweeping import UserError

_MOST_TASKS = 1000  # Slurm's own limit of an array (MaxArraySize) is 1,001 unless it was changed
_HERE = pathlib.Path(__file__).resolve().parent


def outcomes(tasks, folder, store, options, timeout):
    """Outcomes of the tasks, (key, command), as they come into the spool: a folder beside the store, which all nodes must see.

    An array that an earlier sweep left running is waited for before another is submitted, so no point runs twice.
    """
    if not shutil.which("sbatch"):
        raise UserError("--slurm needs sbatch on PATH")
    spool = pathlib.Path(f"{store}.spool").resolve()
    waiting = {key: command for key, command in tasks}
    if not waiting:
        return
    try:
        spool.mkdir(exist_ok=True)
        job = spool / "job"
        if job.exists():
            yield from _collect(spool, waiting, job.read_text().strip())
        if waiting:
            _submit(spool, waiting, folder, options, timeout)
            yield from _collect(spool, waiting, job.read_text().strip())
    except OSError as error:
        raise UserError(f"{spool}: {error.strerror}") from None
    for key in list(waiting):
        yield {
            "point": key, "started": 0.0, "wall_s": 0.0, "host": "", "pid": 0, "exit_code": None, "stdout": "",
            "stderr": f"the job array ended without a result of this point; its output is in {spool}",
        }  # fmt: skip
    if not list(spool.glob("*.outcome")) and not waiting:
        shutil.rmtree(spool, ignore_errors=True)


def _submit(spool, waiting, folder, options, timeout):
    for old in spool.glob("*.taken"):
        old.unlink()
    (spool / "tasks.json").write_text(json.dumps(list(waiting.items())))
    count = min(len(waiting), _MOST_TASKS)
    more = [str(timeout)] if timeout else []
    task = ["exec", "/usr/bin/python3", "-B", str(_HERE / "slurm_task.py"), str(spool), folder, str(count), *more]
    script = spool / "array.sh"
    script.write_text("#!/bin/sh\n" + " ".join(f"'{part}'" if " " in part else part for part in task) + "\n")
    command = ["sbatch", "--parsable", f"--array=0-{count - 1}", "--job-name=trnsim-sweep", f"--output={spool}/%a.log", *options, str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UserError(f"{' '.join(command)}: {done.stderr.strip()}")
    (spool / "job").write_text(done.stdout.strip().split(";")[0])


def _collect(spool, waiting, job):
    """Yields until the array has ended and the spool is empty. An outcome leaves the spool after it was recorded."""
    while waiting:
        # Asked first: what an array that has ended wrote is then seen below.
        ended = not _runs(job)
        for file in sorted(spool.glob("*.outcome")):
            outcome = json.loads(file.read_text())
            if waiting.pop(outcome["point"], None):
                yield outcome
            file.rename(file.with_suffix(".taken"))
        if ended:
            return
        time.sleep(1)


def _runs(job):
    done = subprocess.run(["squeue", "--noheader", "--jobs", job], capture_output=True, text=True, check=False)
    # Of a job that it has forgotten squeue says that the id is invalid; of a controller that does not answer, something else.
    if done.returncode != 0 and "Invalid job id" not in done.stderr:
        time.sleep(5)
        return True
    return bool(done.stdout.strip())
