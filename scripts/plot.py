#!/usr/bin/python3
"""Pictures of a sweep's store: PNG and SVG.

  scripts/plot.py curves STORE SWEEP --x chips --y step_time_s,efficiency --lines system --band assumed -o weak.svg
  scripts/plot.py heatmap STORE SWEEP --x gbps --y sequence --value exposed_share --panels system -o nic.png
  scripts/plot.py pareto STORE SWEEP --x step_time_s --y usd_per_step --lines system -o pareto.svg -o pareto.png

Figures are those of scripts/query.py --names, and efficiency (of a chip, against the first point of its line),
exposed_share, tokens_per_usd, tokens_per_kwh, usd_per_step. --band is an axis of "ends": the line is "stated", the
band reaches over the ends. Figures that follow an assumed price have the band of its range too. A ring marks where
two lines cross, and its x is written beside it. Needs Debian's python3-matplotlib.
Exit code: 0 done, 2 the input is wrong.
"""

import argparse
import io
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from sweeping import UserError, exit_as  # noqa: E402
from sweeping.export import rows_of, write_whole  # noqa: E402
from sweeping.expression import evaluate  # noqa: E402
from sweeping.series import crossings, front, lines_of, value_of  # noqa: E402
from sweeping.store import Store  # noqa: E402

# Okabe and Ito's colours, which the colour-blind tell apart; markers and dashes say the same once more.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
MARKERS, DASHES = "osD^vPX", ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))
LABELS = {
    "chips": "chips",
    "step_time_s": "step time (s)",
    "efficiency": "scaling efficiency",
    "tokens_per_s": "tokens/s",
    "tokens_per_s_per_chip": "tokens/s a chip",
    "exposed_share": "exposed communication (part of the step)",
    "mfu": "MFU",
    "cost.usd_per_million_tokens": "$/Mtoken",
    "cost.usd_per_hour": "price (USD/h)",
    "energy.kwh_per_million_tokens": "kWh/Mtoken",
    "tokens_per_usd": "tokens a dollar",
    "tokens_per_kwh": "tokens a kWh",
    "usd_per_step": "$ a step",
    "usd": "budget (USD/h)",
    "ratio": "oversubscription (in : out)",
    "bucket_mb": "bucket (MB)",
    "sequence": "tokens a chip and step",
    "gbps": "network of a chip (Gb/s)",
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("curves", "heatmap", "pareto"))
    parser.add_argument("store", type=pathlib.Path)
    parser.add_argument("sweep")
    parser.add_argument("--x", required=True)
    parser.add_argument("--y", required=True, help="of curves: several, with commas between them, a panel each")
    parser.add_argument("--value", default="step_time_s", help="of a heat map: what its colours show")
    parser.add_argument("--lines", default="", help="axes that make a line each, with commas between them")
    parser.add_argument("--panels", help="of a heat map: an axis that makes a panel each")
    parser.add_argument("--band", help="an axis of ends")
    parser.add_argument("--where", help="an expression over the axes: only these points")
    parser.add_argument("--title")
    parser.add_argument("--linear", action="store_true", help="y is linear from 0, not logarithmic")
    parser.add_argument("-o", "--out", type=pathlib.Path, action="append", required=True, help=".svg or .png; several times")
    options = parser.parse_args()
    for file in options.out:
        if file.suffix not in (".svg", ".png"):
            parser.error(f"{file}: must end in .svg or .png")
    return options


def pyplot():
    try:
        import matplotlib
    except ImportError:
        raise UserError("pictures need matplotlib: apt-get install python3-matplotlib") from None
    matplotlib.use("agg")
    # The same points give the same bytes; text stays text in SVG.
    matplotlib.rcParams.update(
        {"svg.hashsalt": "trnsim", "svg.fonttype": "none", "font.size": 11, "axes.grid": True, "grid.alpha": 0.35, "axes.axisbelow": True}
    )
    from matplotlib import pyplot as plot

    return plot


def label(name):
    return LABELS.get(name, name)


def short(number):
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g} {letter}"
    return f"{number:.3g}"


def plain_ticks(axis):
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    low, high = axis.get_view_interval()
    if high / low < 100:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low > 8 else (1, 1.5, 2, 3, 4, 5, 6, 8)))
    axis.set_minor_formatter(NullFormatter())


def curves(plot, rows, options):
    names = options.y.split(",")
    columns = 1 if len(names) == 1 else 2
    count = -(-len(names) // columns)
    figure, panels = plot.subplots(count, columns, figsize=(5.4 * columns + 0.6, 3.7 * count + 0.6), squeeze=False, sharex=True)
    by = [name for name in options.lines.split(",") if name]
    for panel, name in zip(panels.flat, names):
        lines = lines_of(rows, options.x, name, by, options.band)
        for number, (line, points) in enumerate(lines.items()):
            x, y, low, high = zip(*points)
            colour, kind = COLOURS[number % 7], number % 7
            panel.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
            panel.plot(x, y, color=colour, marker=MARKERS[kind], linestyle=DASHES[kind], markersize=5, label=line)
        panel.set_xscale("log")
        if options.linear or name in ("efficiency", "exposed_share", "mfu"):
            panel.margins(y=0.1)
            panel.set_ylim(bottom=0)
        else:
            panel.set_yscale("log")
        for place, value, one, other in crossings(lines):
            panel.plot([place], [value], "o", markersize=13, markerfacecolor="none", markeredgecolor="black")
            panel.annotate(short(place), (place, value), textcoords="offset points", xytext=(0, 11), ha="center")
            print(f"{name}: {one} and {other} cross at {options.x} {place:,.4g}", file=sys.stderr)
        plain_ticks(panel.xaxis)
        if panel.get_yscale() == "log":
            plain_ticks(panel.yaxis)
        panel.set_ylabel(label(name))
    for panel in panels.flat[len(names) :]:
        panel.set_visible(False)
    for panel in panels[-1]:
        panel.set_xlabel(label(options.x))
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=min(len(labels), 4 if columns > 1 else 2), frameon=False)
    figure.tight_layout(rect=(0, 0.02 + 0.05 * -(-len(labels) // (4 if columns > 1 else 2)) * 3.7 / (3.7 * count + 0.6), 1, 1))
    return figure


def heatmap(plot, rows, options):
    panels = list(dict.fromkeys(row.get(options.panels) for row in rows)) if options.panels else [None]
    cells = {}
    for row in rows:
        if row["run"] == 0:
            key = (row.get(options.panels) if options.panels else None, row.get(options.x), row.get(options.y))
            if key in cells:
                raise UserError(f"several points are at {key[1]!r}, {key[2]!r}; name --panels or choose by --where")
            cells[key] = value_of(row, options.value)
    number = lambda value: float(value) if str(value).replace(".", "", 1).isdigit() else str(value)  # noqa: E731
    xs = sorted({key[1] for key in cells}, key=number)
    ys = sorted({key[2] for key in cells}, key=number)
    known = [value for value in cells.values() if value is not None]
    if not known:
        raise UserError(f"no point has {options.value!r}; scripts/query.py ... --names lists what there is")
    low, high = min(known), max(known)
    figure, axes = plot.subplots(1, len(panels), figsize=(5.2 * len(panels) + 1.2, 0.55 * len(ys) + 2.2), squeeze=False, sharey=True)
    for panel, name in zip(axes[0], panels):
        grid = [[cells.get((name, x, y)) for x in xs] for y in ys]
        shown = [[float("nan") if value is None else value for value in line] for line in grid]
        image = panel.imshow(shown, cmap="cividis", vmin=low, vmax=high, origin="lower", aspect="auto")
        for j, line in enumerate(grid):
            for i, value in enumerate(line):
                dark = value is not None and value < (low + high) / 2
                text = "does\nnot fit" if value is None else f"{value:.2f}" if high < 10 else short(value)
                panel.text(i, j, text, ha="center", va="center", color="white" if dark else "black", fontsize=9)
        panel.set_xticks(range(len(xs)), [str(x) for x in xs])
        panel.set_yticks(range(len(ys)), [str(y) for y in ys])
        panel.set_xlabel(label(options.x))
        panel.grid(False)
        if name is not None:
            panel.set_title(str(name))
    axes[0][0].set_ylabel(label(options.y))
    figure.tight_layout()
    figure.colorbar(image, ax=list(axes[0]), label=label(options.value))
    return figure


def pareto(plot, rows, options):
    figure, panel = plot.subplots(figsize=(7.4, 5))
    by = [name for name in options.lines.split(",") if name]
    groups, everything = {}, []
    for row in rows:
        x, y = value_of(row, options.x), value_of(row, options.y)
        if row["run"] == 0 and x is not None and y is not None:
            groups.setdefault(", ".join(str(row.get(name)) for name in by) or options.sweep, []).append((x, y, row))
    if not groups:
        raise UserError(f"no point has both {options.x!r} and {options.y!r}; scripts/query.py ... --names lists what there is")
    for number, (name, points) in enumerate(groups.items()):
        everything += [(x, y, name, row) for x, y, row in points]
        panel.plot(*zip(*[(x, y) for x, y, _ in points]), MARKERS[number % 7], color=COLOURS[number % 7], alpha=0.75, label=name)
    best = front(everything)
    panel.plot([p[0] for p in best], [p[1] for p in best], "-", color="black", linewidth=1.3, label="Pareto front", zorder=1)
    last = None
    for x, y, name, row in best:
        print(f"{label(options.x)} {x:.4g}, {label(options.y)} {y:.4g}: {name}, {row.get('chips')} chips, {row.get('layout')}", file=sys.stderr)
        if last is None or name != last:
            panel.annotate(f"{row.get('chips'):,} chips", (x, y), textcoords="offset points", xytext=(7, -13), fontsize=9)
        last = name
    panel.set_xscale("log")
    panel.set_yscale("log")
    plain_ticks(panel.xaxis)
    plain_ticks(panel.yaxis)
    panel.set_xlabel(label(options.x))
    panel.set_ylabel(label(options.y))
    panel.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.tight_layout()
    return figure


def chosen(rows, where):
    for row in rows:
        names = {name.replace(".", "_"): value for name, value in row.items()}
        if where is None or evaluate(where, names, "--where"):
            yield row


def main():
    options = arguments()
    rows = list(chosen(rows_of(Store(options.store, read_only=True), options.sweep), options.where))
    plot = pyplot()
    figure = {"curves": curves, "heatmap": heatmap, "pareto": pareto}[options.kind](plot, rows, options)
    if options.title:
        figure.suptitle(options.title, y=1.02 if options.kind == "heatmap" else 0.98, va="bottom" if options.kind == "heatmap" else "top")
        if options.kind != "heatmap":
            figure.subplots_adjust(top=1 - 0.4 / figure.get_figheight())
    for file in options.out:
        content = io.BytesIO()
        metadata = {"Date": None} if file.suffix == ".svg" else {"Software": None}
        figure.savefig(content, format=file.suffix[1:], dpi=150, metadata=metadata, bbox_inches="tight")
        write_whole(file, content.getvalue())


if __name__ == "__main__":
    exit_as(main)
