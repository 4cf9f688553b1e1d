"""What scripts/sweep.py, query.py, plot.py and claims.py share. Python 3.11 and its standard library."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class UserError(Exception):
    """The user's input or machine does not allow it; the text is shown as it is, and the exit code is 2."""


def exit_as(main):
    """Runs main and ends the program: with what it returns, or with an error of the user's on stderr and 2."""
    try:
        sys.exit(main())
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
