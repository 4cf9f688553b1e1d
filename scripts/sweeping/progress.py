"""How far a sweep is, on standard error."""

import sys
import time


def span(seconds):
    """"4 s", "12 min", "3.5 h"."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


class Progress:
    """A bar that is redrawn in a terminal; elsewhere a line every ten seconds. `done` were finished before."""

    def __init__(self, total, done, quiet=False):
        self.total, self.before, self.count = total, done, done
        self.kinds = {}
        self.began = time.monotonic()
        self.drawn, self.shown = 0.0, -1
        self.quiet = quiet
        self.terminal = sys.stderr.isatty()

    def add(self, status):
        self.count += 1
        self.kinds[status] = self.kinds.get(status, 0) + 1
        now = time.monotonic()
        if now - self.drawn >= (0.2 if self.terminal else 10):
            self.draw(now)

    def draw(self, now=None):
        if self.quiet or not self.total:
            return
        now = now or time.monotonic()
        self.drawn, self.shown = now, self.count
        rate = (self.count - self.before) / max(now - self.began, 1e-3)
        line = f"{self.bar()} {self.count:,}/{self.total:,} points"
        if rate > 0:
            line += f", {rate:.1f}/s, {span((self.total - self.count) / rate)} left"
        for status in ("infeasible", "refused", "failed"):
            if status in self.kinds:
                line += f", {self.kinds[status]:,} {status}"
        sys.stderr.write(f"\r{line}\033[K" if self.terminal else line + "\n")
        sys.stderr.flush()

    def bar(self):
        filled = 20 * self.count // self.total
        return "[" + "#" * filled + "." * (20 - filled) + "]"

    def close(self):
        if self.shown != self.count:
            self.draw()
        if self.terminal and not self.quiet and self.total:
            sys.stderr.write("\n")
