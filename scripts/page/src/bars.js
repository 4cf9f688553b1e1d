import { element, explained, figure, folded, section, table } from "./dom.js";
import * as format from "./format.js";

/**
 * Horizontal stacked bars on one axis. Each bar is {name, total, parts: [{name, value, class}],
 * mark: {value, name}}; `axis` is {unit, factor, most}, with values divided by `factor` on the axis.
 */
function stackedBars(label, bars, axis, write) {
  const at = (value) => `${(100 * value) / axis.most}%`;
  const scale = element("div", { class: "axis", "aria-hidden": "true" },
    format.ticks(axis.most / axis.factor, 6).map((value) => element("span", {
      style: `left:${at(value * axis.factor)}`,
    }, String(+value.toPrecision(6)))),
    element("em", {}, axis.unit));
  const rows = bars.map((bar) => {
    const parts = bar.parts.filter((part) => part.value > 0).map((part) => {
      const lines = [`${bar.name}: ${part.name}`, write(part.value),
        `${format.percent(part.value / bar.total)} of ${write(bar.total)}`];
      const made = element("span", {
        class: `part ${part.class}`, role: "img", style: `width:${at(part.value)}`,
        "aria-label": lines.join(", "),
      });
      if (part.value / axis.most > 0.09)
        made.append(element("span", {}, format.percent(part.value / bar.total, 0)));
      return explained(made, lines);
    });
    return element("div", { class: "bar", role: "group", "aria-label": bar.name },
      element("div", { class: "bar-name" }, element("b", {}, bar.name), ` ${bar.note}`),
      element("div", { class: "track" }, parts, bar.mark && element("i", {
        class: "mark", style: `left:${at(bar.mark.value)}`, title: bar.mark.name,
      })));
  });
  return element("div", { class: "bars", role: "group", "aria-label": label }, rows, scale);
}

function legend(parts) {
  return element("ul", { class: "legend", "aria-label": "Colours" },
    parts.map((part) => element("li", {}, element("i", { class: `swatch ${part.class}` }), part.name)));
}

const breakdownParts = [
  ["compute", "compute"], ["exposed_communication", "exposed communication"], ["bubble", "bubble"],
  ["optimizer", "optimizer"], ["other", "other"],
].map(([key, name]) => ({ key, name, class: `c-${key}` }));

/** Where the step goes: bars in seconds or as shares of each step, and the same as a table. */
export function breakdown(runs) {
  const shown = runs.map((run, index) => ({ run, index })).filter(({ run }) => run.memory.fits);
  const used = breakdownParts.filter(({ key }) => shown.some(({ run }) => run.breakdown_s[key] > 0));
  const place = element("div");
  const draw = (shares) => {
    const longest = Math.max(...shown.map(({ run }) => run.step_time_s));
    const [factor, unit] = format.timeUnit(longest);
    const bars = shown.map(({ run }) => ({
      name: run.system, note: format.seconds(run.step_time_s), total: shares ? 1 : run.step_time_s,
      parts: used.map((part) => ({
        ...part, value: run.breakdown_s[part.key] / (shares ? run.step_time_s : 1),
      })),
    }));
    place.replaceChildren(stackedBars("Breakdown of the step", bars,
      shares ? { unit: "% of the step", factor: 0.01, most: 1 } : { unit: `${unit} of a step`, factor, most: longest },
      shares ? (value) => format.percent(value) : (value) => format.seconds(value)));
  };
  draw(false);
  const choice = [["time", false], ["share of each step", true]].map(([name, shares], i) => {
    const input = element("input", { type: "radio", name: "breakdown-as", checked: i === 0 });
    input.addEventListener("change", () => draw(shares));
    return element("label", {}, input, ` ${name}`);
  });
  const rows = [...used.map((part) => ({
    head: part.name,
    cells: shown.map(({ run, index }) => ({
      class: "number",
      content: [figure(`runs.${index}.breakdown_s.${part.key}`, run.breakdown_s[part.key],
        format.seconds(run.breakdown_s[part.key])),
      element("small", {}, ` ${format.percent(run.breakdown_s[part.key] / run.step_time_s)}`)],
    })),
  })), {
    head: "step time",
    class: "sum",
    cells: shown.map(({ run, index }) => ({
      class: "number",
      content: figure(`runs.${index}.step_time_s`, run.step_time_s, format.seconds(run.step_time_s)),
    })),
  }];
  return section("breakdown", "Where the step goes",
    element("fieldset", { class: "choice" }, element("legend", {}, "Bars show"), choice),
    legend(used), place,
    folded("As a table", table("Parts of the step, mean over the ranks",
      ["part", ...shown.map(({ run }) => run.system)], rows)));
}

const memoryClass = (i) => `m-${i % 8}`;

/** What fills a chip's memory, against what it has. */
export function memory(runs) {
  const names = [...new Set(runs.flatMap((run) => run.memory.parts.map((part) => part.name)))];
  const parts = names.map((name, i) => ({ name, class: memoryClass(i) }));
  const most = Math.max(...runs.flatMap((run) => [run.memory.capacity_bytes, run.memory.per_chip_bytes]));
  const bars = runs.map((run) => ({
    name: run.system,
    note: `${format.bytes(run.memory.per_chip_bytes)} of ${format.bytes(run.memory.capacity_bytes)}`
      + (run.memory.stages > 1 ? `, stage ${run.memory.stage}` : "")
      + (run.memory.fits ? "" : " \u2013 does not fit"),
    total: run.memory.per_chip_bytes,
    parts: run.memory.parts.map((part) => ({
      name: part.name, value: part.bytes, class: memoryClass(names.indexOf(part.name)),
    })),
    mark: { value: run.memory.capacity_bytes, name: "what a chip has" },
  }));
  const cell = (path, value) => ({ class: "number", content: figure(path, value, format.bytes(value)) });
  const rows = names.map((name) => ({
    head: name,
    cells: runs.map((run, index) => {
      const at = run.memory.parts.findIndex((part) => part.name === name);
      return at < 0 ? { class: "number", content: "\u2013" }
        : cell(`runs.${index}.memory.parts.${at}.bytes`, run.memory.parts[at].bytes);
    }),
  }));
  for (const [head, key] of [["in all", "per_chip_bytes"], ["a chip has", "capacity_bytes"],
    ["most at any moment of the step", "peak_bytes"]])
    rows.push({
      head, class: "sum",
      cells: runs.map((run, index) => cell(`runs.${index}.memory.${key}`, run.memory[key])),
    });
  return section("memory", "Memory of a chip", legend(parts),
    stackedBars("Memory of a chip by part", bars, { unit: "GB a chip", factor: 1e9, most }, format.bytes),
    element("p", { class: "note" }, "The line across each bar is what the chip has."),
    folded("As a table", table("Parts of a chip's memory", ["part", ...runs.map((run) => run.system)], rows)));
}
