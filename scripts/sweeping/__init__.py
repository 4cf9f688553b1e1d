"""What scripts/sweep.py, query.py, plot.py and claims.py share. Python 3.11 and its standard library."""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class UserError(Exception):
    """The user's input or machine does not allow it; the text is shown as it is, and the exit code is 2."""
