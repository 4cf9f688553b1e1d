#!/usr/bin/python3
"""Reads a store of scripts/sweep.py.

  scripts/query.py out/bucket.sqlite                       which sweeps there are, and how far
  scripts/query.py out/bucket.sqlite NAME                  the points: where they stand, step time, cost, energy
  scripts/query.py out/bucket.sqlite NAME --columns bucket,step_time_s,mfu --where "mfu > 0.4" --sort step_time_s
  scripts/query.py out/bucket.sqlite NAME --names          which columns there are
  scripts/query.py out/bucket.sqlite --sql "SELECT ..."    plain SQL; docs/sweeps.md has the tables

--csv and --jsonl print in these formats in place of a table. Exit code: 0 done, 2 the input is wrong.
"""

import argparse
import pathlib
import sqlite3
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from sweeping import UserError, exit_as  # noqa: E402
from sweeping.export import rows_of, text_of  # noqa: E402
from sweeping.expression import evaluate  # noqa: E402
from sweeping.store import Store  # noqa: E402

METRICS = ("system", "chips", "step_time_s", "mfu", "cost.usd_per_million_tokens", "energy.kwh_per_million_tokens")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=pathlib.Path)
    parser.add_argument("sweep", nargs="?", help="the name of the sweep")
    parser.add_argument("--columns", help="axes and metrics, with commas between them")
    parser.add_argument("--where", help="an expression over axes and metrics; dots in their names are written _")
    parser.add_argument("--sort", metavar="COLUMN", help="order of the rows, lowest first")
    parser.add_argument("--names", action="store_true", help="print the names of all columns")
    parser.add_argument("--sql", help="a query of your own")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--csv", action="store_const", dest="how", const="csv")
    how.add_argument("--jsonl", action="store_const", dest="how", const="jsonl")
    return parser.parse_args()


def table(rows, columns):
    """Columns side by side; numbers with five digits, to the right."""

    def shown(value):
        if isinstance(value, float):
            return f"{value:.5g}"
        return "-" if value is None else str(value).split("\n", 1)[0]

    cells = [list(columns)] + [[shown(row.get(column)) for column in columns] for row in rows]
    widths = [max(len(line[i]) for line in cells) for i in range(len(columns))]
    right = [all(isinstance(row.get(column), (int, float, type(None))) for row in rows) for column in columns]
    return "".join(
        "  ".join(cell.rjust(w) if r else cell.ljust(w) for cell, w, r in zip(line, widths, right)).rstrip() + "\n"
        for line in cells
    )


def sweeps(store):
    return store.db.execute(
        "SELECT sweep, count(*) AS points, sum(status = 'done') AS done, sum(status = 'infeasible') AS infeasible,"
        " sum(status = 'refused') AS refused, sum(status = 'failed') AS failed, sum(status = 'waiting') AS waiting"
        " FROM members JOIN points USING (point) GROUP BY sweep"
    )


def keep(row, text, names):
    known = {name.replace(".", "_").replace(" ", "_"): row.get(name) for name in names}
    try:
        return evaluate(text, known, "--where")
    except UserError:
        if any(value is None for value in known.values()):
            return False  # a point without this metric
        raise


def main():
    options = arguments()
    store = Store(options.store, read_only=True)
    if options.sql or not options.sweep:
        try:
            found = store.db.execute(options.sql) if options.sql else sweeps(store)
            columns = [column[0] for column in found.description or []]
            rows = [dict(zip(columns, row)) for row in found]
        except sqlite3.Error as error:
            raise UserError(f"{options.store}: {error}") from None
    else:
        rows = list(rows_of(store, options.sweep))
        names = list(dict.fromkeys(name for row in rows for name in row))
        if options.names:
            print("\n".join(names))
            return
        query = "SELECT DISTINCT axis FROM coordinates WHERE sweep = ?"
        axes = [axis for (axis,) in store.db.execute(query, (options.sweep,))]
        columns = options.columns.split(",") if options.columns else list(dict.fromkeys(["status", *axes, *METRICS]))
        for column in [*columns, *([options.sort] if options.sort else [])]:
            if column not in names and column not in METRICS:
                raise UserError(f"there is no column {column!r}; --names lists them")
        if options.where:
            rows = [row for row in rows if keep(row, options.where, names)]
        if options.sort:
            rows.sort(key=lambda row: (row.get(options.sort) is None, row.get(options.sort)))
    sys.stdout.write(text_of(rows, options.how, columns) if options.how else table(rows, columns))


if __name__ == "__main__":
    try:
        exit_as(main)
    except BrokenPipeError:
        sys.exit(0)
