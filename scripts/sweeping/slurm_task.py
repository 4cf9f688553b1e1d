"""One task of a Slurm job array: every COUNT-th point from its number on. slurm_task.py SPOOL FOLDER COUNT [TIMEOUT]"""

import json
import os
import pathlib
import sys

from point import run


def main():
    spool, folder, count = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    timeout = float(sys.argv[4]) if len(sys.argv) > 4 else None
    tasks = json.loads((spool / "tasks.json").read_text())
    for key, command in tasks[int(os.environ["SLURM_ARRAY_TASK_ID"]) :: count]:
        # A task that Slurm starts again, after a node failed, goes on behind what it had finished.
        if (spool / f"{key}.outcome").exists() or (spool / f"{key}.taken").exists():
            continue
        partial = spool / f"{key}.{os.getpid()}.partial"
        partial.write_text(json.dumps(run(key, command, folder, timeout)))
        partial.replace(spool / f"{key}.outcome")


if __name__ == "__main__":
    main()
