"""Lines, bands and crossings from the points of a sweep. No drawing."""

import math

from sweeping import UserError

# What the figures of a result do not state themselves; of one row.
DERIVED = {
    "tokens_per_usd": lambda row: row["tokens_per_s"] * 3600 / row["cost.usd_per_hour"],
    "tokens_per_kwh": lambda row: 1e6 / row["energy.kwh_per_million_tokens"],
    "exposed_share": lambda row: row["breakdown_s.exposed_communication"] / row["step_time_s"],
    "usd_per_step": lambda row: row["step_time_s"] / 3600 * row["cost.usd_per_hour"],
}
# How a figure follows the price: it grows with it, or falls.
OF_PRICE = {"cost.usd_per_million_tokens": 1, "usd_per_step": 1, "tokens_per_usd": -1}


def value_of(row, name):
    """The figure, or None where the point has none."""
    if name in DERIVED:
        try:
            return DERIVED[name](row)
        except KeyError:
            return None
    return row.get(name)


def lines_of(rows, x, y, by, band=None):
    """{line: [(x, y, low, high)]}, sorted by x. Rows of the band's axis other than "stated" widen the band, and so
    does an assumed price where the figure follows it. `y` may be "efficiency": of a chip, against the line's first point."""
    figure = "tokens_per_s_per_chip" if y == "efficiency" else y
    found = {}
    for row in rows:
        place, value = row.get(x), value_of(row, figure)
        if place is None or value is None or row["run"] != 0:
            continue
        line = ", ".join(str(row.get(name)) for name in by) or figure
        stated = band is None or row.get(band) == "stated"
        found.setdefault(line, {}).setdefault(float(place), []).append((stated, value, row))
    lines = {line: _points(places, figure) for line, places in found.items()}
    if y == "efficiency":
        # Each end is compared with itself at the first size: what a kernel reaches cancels, what the network costs stays.
        lines = {line: [(a, b / points[0][1], c / points[0][2], d / points[0][3]) for a, b, c, d in points] for line, points in lines.items()}
    if not lines:
        raise UserError(f"no point has both {x!r} and {y!r}; scripts/query.py ... --names lists what there is")
    return lines


def _points(places, figure):
    points = []
    for place, all_of in sorted(places.items()):
        stated = [(value, row) for is_stated, value, row in all_of if is_stated]
        if len(stated) != 1:
            raise UserError(
                f"{len(stated)} points have {figure!r} at {place:g} of one line; name the other axes in --lines or choose by --where"
            )
        low = high = None
        for _, value, row in all_of:
            for end in _with_price(value, row, figure):
                low = end if low is None else min(low, end)
                high = end if high is None else max(high, end)
        points.append((place, stated[0][0], low, high))
    return points


def _with_price(value, row, figure):
    power = OF_PRICE.get(figure)
    if not power or not row.get("cost.usd_per_hour"):
        return (value,)
    ends = (row["cost.usd_per_hour_range.low"], row["cost.usd_per_hour_range.high"])
    return tuple(value * (end / row["cost.usd_per_hour"]) ** power for end in ends if end)


def crossings(lines):
    """(x, y, line, line) where two lines cross, on straight pieces between points in logarithms of both."""
    names, found = list(lines), []
    for i, one in enumerate(names):
        for other in names[i + 1 :]:
            a, b = ({p[0]: p[1] for p in lines[name]} for name in (one, other))
            shared = sorted(a.keys() & b.keys())
            for left, right in zip(shared, shared[1:]):
                if min(a[left], b[left], a[right], b[right], left) <= 0:
                    continue
                before, after = math.log(a[left] / b[left]), math.log(a[right] / b[right])
                if before * after >= 0:
                    continue
                part = before / (before - after)
                place = math.exp(math.log(left) + part * math.log(right / left))
                found.append((place, math.exp(math.log(a[left]) + part * math.log(a[right] / a[left])), one, other))
    return found


def front(points):
    """Those of (x, y, ...) that no other beats in both, by growing x."""
    best, kept = math.inf, []
    for point in sorted(points, key=lambda p: (p[0], p[1])):
        if point[1] < best:
            kept.append(point)
            best = point[1]
    return kept
