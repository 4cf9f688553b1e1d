"""The SQLite store: points, metrics, errors, versions and inputs of any number of sweeps.

A point's key is the hash of all that decides its result, so points of several sweeps, or of one that was
changed, stand beside each other. What differs from one execution to the next (times, hosts, failed tries)
is in `attempts` alone: the other tables of two stores with the same points are the same.
"""

import json
import pathlib
import sqlite3

from sweeping import UserError

FORMAT = 1
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS sweeps (
  sweep TEXT PRIMARY KEY, definition TEXT NOT NULL, left_out INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS members (      -- which points a sweep has, in its order
  sweep TEXT NOT NULL, number INTEGER NOT NULL, point TEXT NOT NULL, PRIMARY KEY (sweep, number)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS coordinates (  -- where they stand on its axes
  sweep TEXT NOT NULL, number INTEGER NOT NULL, axis TEXT NOT NULL, value NOT NULL,
  PRIMARY KEY (sweep, number, axis)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS points (
  point TEXT PRIMARY KEY, scenario TEXT NOT NULL, settings TEXT NOT NULL, command TEXT NOT NULL,
  inputs TEXT NOT NULL, version TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('waiting', 'done', 'infeasible', 'refused', 'failed')),
  exit_code INTEGER, error TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS metrics (      -- run 0 is the scenario's own system
  point TEXT NOT NULL, run INTEGER NOT NULL, name TEXT NOT NULL, value NOT NULL,
  PRIMARY KEY (point, run, name)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS inputs (
  inputs TEXT NOT NULL, file TEXT NOT NULL, sha256 TEXT NOT NULL, PRIMARY KEY (inputs, file)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS attempts (
  point TEXT NOT NULL, started REAL NOT NULL, wall_s REAL NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL,
  exit_code INTEGER, simulation_s REAL, peak_rss_bytes INTEGER);
CREATE INDEX IF NOT EXISTS attempts_of ON attempts (point);
PRAGMA user_version = {FORMAT};
"""
FINAL = ("done", "infeasible", "refused")
# Exit codes of trnsim. What has none of them was killed or is a fault of trnsim, and is tried again.
_STATUS = {0: "done", 3: "infeasible", 2: "refused"}


class Store:
    """Raises UserError where the file cannot be read or written; what was committed before stays."""

    def __init__(self, path, read_only=False):
        self.path = pathlib.Path(path)
        if read_only and not self.path.is_file():
            raise UserError(f"{path}: there is no such store")
        with self._errors("opened"):
            self.db = sqlite3.connect(self.path, timeout=60, isolation_level=None)
            self.db.execute("PRAGMA busy_timeout = 60000")
            if self.db.execute("PRAGMA user_version").fetchone()[0] not in (0, FORMAT):
                raise UserError(f"{path}: is a store of another version of this script")
            if read_only:
                return
            # Commits then survive a kill at any moment, and cost no wait for the disk. A power cut may take the
            # last of them, whose points run again.
            self.db.execute("PRAGMA journal_mode = WAL")
            self.db.execute("PRAGMA synchronous = NORMAL")
            if self.db.execute("PRAGMA user_version").fetchone()[0] == 0:
                self.db.executescript("BEGIN IMMEDIATE;" + _SCHEMA + "COMMIT;")

    def close(self):
        self.db.close()

    def register(self, sweep, points, left_out, trnsim):
        """Makes the sweep known with all its points; those that are there already keep what they have."""
        with self._errors("written"), self._transaction():
            for table in ("members", "coordinates"):
                self.db.execute(f"DELETE FROM {table} WHERE sweep = ?", (sweep.name,))
            self.db.execute("INSERT OR REPLACE INTO sweeps VALUES (?, ?, ?)", (sweep.name, sweep.text, left_out))
            keys = []
            for number, point in enumerate(points):
                key = point.key()
                keys.append(key)
                self.db.execute("INSERT INTO members VALUES (?, ?, ?)", (sweep.name, number, key))
                self.db.executemany(
                    "INSERT INTO coordinates VALUES (?, ?, ?, ?)",
                    [(sweep.name, number, axis, value) for axis, value in point.coordinates.items()],
                )
                self.db.execute(
                    "INSERT OR IGNORE INTO points VALUES (?, ?, ?, ?, ?, ?, 'waiting', NULL, NULL)",
                    (key, point.scenario, json.dumps(point.settings), point.command(trnsim), point.inputs.hash, point.version),
                )
            for inputs in {id(point.inputs): point.inputs for point in points}.values():
                self.db.executemany(
                    "INSERT OR IGNORE INTO inputs VALUES (?, ?, ?)",
                    [(inputs.hash, name, digest) for name, digest in inputs.files.items()],
                )
        return keys

    def finished(self, key, also=()):
        status = self.status(key)
        return status in FINAL and status not in also

    def status(self, key):
        with self._errors("read"):
            row = self.db.execute("SELECT status FROM points WHERE point = ?", (key,)).fetchone()
        return row[0] if row else "waiting"

    def record(self, outcome):
        """Keeps one outcome, all of it or nothing, and returns the point's status. A finished point stays as it is."""
        status = _STATUS.get(outcome["exit_code"], "failed")
        error, runs, engine = None, [], {}
        if status == "done":
            try:
                runs = metrics_of(json.loads(outcome["stdout"]))
                engine = json.loads(outcome["stdout"])["runs"][0]["engine"]
            except (ValueError, KeyError, TypeError, AttributeError) as fault:
                status, error, runs = "failed", f"trnsim printed no result: {fault}", []
        else:
            error = outcome["stderr"].strip() or f"ended with exit code {outcome['exit_code']}"
        point = outcome["point"]
        with self._errors("written"), self._transaction():
            changed = self.db.execute(
                "UPDATE points SET status = ?, exit_code = ?, error = ? WHERE point = ? AND status NOT IN ('done', 'infeasible')",
                (status, outcome["exit_code"], error, point),
            ).rowcount
            if changed:
                self.db.executemany("INSERT OR REPLACE INTO metrics VALUES (?, ?, ?, ?)", [(point, *row) for row in runs])
            self.db.execute(
                "INSERT INTO attempts VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(outcome[key] for key in ("point", "started", "wall_s", "host", "pid", "exit_code")),
                    engine.get("wall_s"),
                    engine.get("peak_rss_bytes"),
                ),
            )
        return status

    def _errors(self, doing):
        return _Errors(self.path, doing)

    def _transaction(self):
        return _Transaction(self.db)


class _Errors:
    """Turns errors of SQLite into one for the user."""

    def __init__(self, path, doing):
        self.path, self.doing = path, doing

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if isinstance(error, sqlite3.Error):
            raise UserError(f"{self.path}: cannot be {self.doing}: {error}") from error


class _Transaction:
    """All or nothing; the write lock is taken at once, so that two sweeps wait for each other and never fail."""

    def __init__(self, db):
        self.db = db

    def __enter__(self):
        self.db.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind, error, trace):
        if kind is None:
            try:
                self.db.execute("COMMIT")
                return
            except sqlite3.Error:
                self._roll_back()
                raise
        self._roll_back()

    def _roll_back(self):
        try:
            self.db.execute("ROLLBACK")
        except sqlite3.Error:
            pass  # SQLite has rolled back by itself, as it does when the disk is full.


def metrics_of(result):
    """(run, name, value) of every single figure of a result; names have dots, "breakdown_s.compute"."""
    rows = []
    for number, run in enumerate(result["runs"]):
        own = {key: value for key, value in run.items() if key not in ("collectives", "links", "communication_by_level")}
        own["engine"] = {k: v for k, v in run["engine"].items() if k not in ("wall_s", "peak_rss_bytes")}
        own["assumptions"] = len(run["assumptions"])
        own["links"] = {link["level"]: link["utilisation"] for link in run["links"]}
        own["levels"] = {
            level["level"]: {key: level[key] for key in ("exposed_s", "hidden_s")} for level in run["communication_by_level"]
        }
        if number:
            comparison = result["comparison"][number - 1]
            own["comparison"] = {key: value for key, value in comparison.items() if key not in ("system", "reasons")}
        rows += [(number, name, value) for name, value in _flat(own, "")]
    return rows


def _flat(value, name):
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _flat(item, f"{name}.{key}" if name else key)
    elif isinstance(value, list):
        if len(value) == 2 and all(isinstance(item, (int, float)) for item in value):
            yield f"{name}.low", value[0]
            yield f"{name}.high", value[1]
    elif value is not None:
        # SQLite's integers have 64 bits; what is larger is kept as the nearest double.
        yield name, float(value) if isinstance(value, int) and abs(value) >= 2**63 else value
