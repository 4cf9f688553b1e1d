"""One point as one process of trnsim. Sent to workers as it is, so it imports nothing of this project."""

import os
import socket
import subprocess
import time


def run(point, command, folder, timeout=None):
    """Runs the command in the folder and says how it went; whatever happens to the process is an outcome."""
    started = time.time()
    outcome = {"point": point, "started": started, "host": socket.gethostname(), "pid": os.getpid()}
    try:
        done = subprocess.run(
            command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, check=False
        )
        outcome |= {
            "exit_code": done.returncode,
            "stdout": done.stdout.decode(errors="replace"),
            "stderr": done.stderr.decode(errors="replace"),
        }
    except subprocess.TimeoutExpired:
        outcome |= {"exit_code": None, "stdout": "", "stderr": f"was ended after {timeout:g} s"}
    except OSError as error:
        outcome |= {"exit_code": None, "stdout": "", "stderr": f"{command[0]} could not be started: {error}"}
    outcome["wall_s"] = time.time() - started
    return outcome
