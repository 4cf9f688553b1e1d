import { element, folded, section, table } from "./dom.js";
import * as format from "./format.js";
import { axis, colour, fitted } from "./plot.js";

const figures = [
  { name: "step time", unit: "s", of: (run) => run.step_time_s, write: (value) => format.seconds(value) },
  { name: "tokens/s a chip", unit: "tokens/s", of: (run) => run.tokens_per_s_per_chip, write: (value) => format.significant(value) },
  { name: "communication overhead", unit: "%", of: (run) => 100 * run.communication_overhead, write: (value) => `${format.significant(value, 3)} %` },
];

/** What a system does at several sizes, where the runs have it at more than one. */
function sweeps(runs) {
  const systems = new Map();
  for (const run of runs) {
    if (!run.memory.fits) continue;
    if (!systems.has(run.system)) systems.set(run.system, new Map());
    const sizes = systems.get(run.system);
    if (!sizes.has(run.chips)) sizes.set(run.chips, run);
  }
  return [...systems].filter(([, sizes]) => sizes.size > 1);
}

export function curves(result) {
  const systems = sweeps(result.runs);
  if (systems.length === 0) return null;
  const chips = [...new Set(systems.flatMap(([, sizes]) => [...sizes.keys()]))].sort((a, b) => a - b);
  const plots = figures.map(({ name, unit, of, write }) => {
    const place = element("div", { class: "plot" });
    const data = [chips, ...systems.map(([, sizes]) =>
      chips.map((size) => (sizes.has(size) ? of(sizes.get(size)) : null)))];
    fitted(place, (width) => ({
      width, height: 260, padding: [12, 16, 0, 0],
      cursor: { drag: { x: false, y: false } },
      scales: {
        x: { time: false, distr: 3, log: 2, range: () => [chips[0] * 0.9, chips[chips.length - 1] * 1.1] },
        y: { range: (plot, min, max) => [0, max * 1.1 || 1] },
      },
      series: [{ label: "chips", value: (plot, value) => format.count(value) },
        ...systems.map(([system], i) => ({
          label: system, stroke: () => colour(`s-${i % 6}`), width: 2, spanGaps: true,
          dash: i % 2 ? [8, 4] : [], points: { show: true, size: 7 },
          value: (plot, value) => (value === null ? "\u2013" : write(value)),
        }))],
      axes: [
        axis({ label: "chips", labelSize: 18, size: 36, splits: () => chips, filter: (plot, splits) => splits,
          values: (plot, splits) => splits.map((value) => format.count(value)) }),
        axis({ label: `${name} (${unit})`, labelSize: 18, size: 58 }),
      ],
    }), data);
    return element("figure", { "aria-label": `${name} over chips` }, element("figcaption", {}, name), place);
  });
  const rows = systems.flatMap(([system, sizes]) => chips.filter((size) => sizes.has(size)).map((size) => ({
    head: system,
    cells: [{ class: "number", content: format.count(size) },
      ...figures.map(({ of, write }) => ({ class: "number", content: write(of(sizes.get(size))) }))],
  })));
  return section("curves", "Over the number of chips", element("div", { class: "beside" }, plots),
    folded("As a table", table("Each system at each size",
      ["system", "chips", ...figures.map(({ name }) => name)], rows)));
}
