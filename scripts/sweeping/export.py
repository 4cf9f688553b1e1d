"""Points of a sweep as a wide table: one row for each point and run, one column for each axis and metric."""

import csv
import io
import json
import os
import tempfile

from sweeping import UserError

FIRST = ("number", "point", "status", "run", "error", "command", "version")


def rows_of(store, sweep, columns=None):
    """Dictionaries, in the order of the sweep; a point without a result is one row without metrics."""
    db = store.db
    if not db.execute("SELECT 1 FROM sweeps WHERE sweep = ?", (sweep,)).fetchone():
        known = ", ".join(repr(name) for (name,) in db.execute("SELECT sweep FROM sweeps"))
        raise UserError(f"{store.path}: has no sweep {sweep!r}; it has {known or 'none'}")
    query = "SELECT number, point, status, error, command, version FROM members JOIN points USING (point) WHERE sweep = ? ORDER BY number"
    for number, point, status, error, command, version in db.execute(query, (sweep,)).fetchall():
        fixed = {"number": number, "point": point, "status": status, "run": 0, "error": error, "command": command, "version": version}
        place = dict(db.execute("SELECT axis, value FROM coordinates WHERE sweep = ? AND number = ?", (sweep, number)))
        runs = {}
        for run, name, value in db.execute("SELECT run, name, value FROM metrics WHERE point = ? ORDER BY run, name", (point,)):
            if columns is None or name in columns:
                runs.setdefault(run, {})[name] = value
        for run, metrics in runs.items() or [(0, {})]:
            # An axis may be called as a metric is ("chips"): of the own system the two agree, else the metric is meant.
            yield fixed | {"run": run} | place | metrics


def text_of(rows, kind, columns=None):
    rows = list(rows)
    if kind == "jsonl":
        return "".join(json.dumps({k: row.get(k) for k in columns} if columns else row, ensure_ascii=False) + "\n" for row in rows)
    if columns is None:
        columns = list(FIRST)
        columns += sorted({key for row in rows for key in row} - set(FIRST))
    written = io.StringIO()
    table = csv.writer(written, lineterminator="\n")
    table.writerow(columns)
    table.writerows([row.get(column) for column in columns] for row in rows)
    return written.getvalue()


def write_whole(path, content):
    """The file appears under its name only when it is complete. `content` is text or bytes."""
    data = content.encode() if isinstance(content, str) else content
    partial = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.name, delete=False) as file:
            partial = file.name
            file.write(data)
        os.chmod(partial, 0o644)
        os.replace(partial, path)
    except OSError as error:
        if partial and os.path.exists(partial):
            os.unlink(partial)
        raise UserError(f"{path}: cannot be written: {error.strerror}") from None


def export(store, sweep, kind, path):
    write_whole(path, text_of(rows_of(store, sweep), kind))
