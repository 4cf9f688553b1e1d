// The timeline of the representative ranks, and below it the load of the links on the same axis.

import { element, folded, section, showTip, table } from "./dom.js";
import * as format from "./format.js";
import { axis, colour, fitted, font } from "./plot.js";
import { Spans } from "./spans.js";
import { linkTable } from "./tables.js";

const kinds = ["forward", "backward", "recompute", "optimizer", "collective"];
const lane = { label: 16, bar: 18, gap: 6 };
const laneHeight = lane.label + lane.bar + lane.gap;
const axisHeight = 52;
const axisLabel = 20;

const timeAxis = () => axis({
  side: 2, size: axisHeight - axisLabel, label: "time since the begin of the step", labelSize: axisLabel,
  labelGap: 2, space: 70,
  values: (plot, splits, index, space, increment) => {
    const [factor, unit] = format.timeUnit(Math.max(...splits.map(Math.abs)));
    const places = Math.max(0, -Math.floor(Math.log10(increment / factor) + 1e-9));
    return splits.map((value) => `${(value / factor).toFixed(places)} ${unit}`);
  },
});

/** Lanes below each other, drawn by `draw(plot, lane, top)`; nothing but x has an axis. */
function laneOptions(width, lanes, last, draw, more) {
  return {
    width, height: lanes * laneHeight + axisHeight + 8, padding: [4, 24, 0, 24],
    legend: { show: false },
    cursor: {
      y: false, points: { show: false }, drag: { x: true, y: false, setScale: false },
      bind: { dblclick: () => null },
    },
    scales: { x: { time: false, range: (plot, min, max) => [min ?? 0, max ?? last] }, y: { range: [0, 1] } },
    series: [{}, { show: true, stroke: "transparent", points: { show: false } }],
    axes: [timeAxis(), { show: false }],
    ...more,
    hooks: {
      ...more?.hooks,
      draw: [(plot) => {
        const ratio = devicePixelRatio;
        const { ctx, bbox } = plot;
        ctx.save();
        ctx.beginPath();
        ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
        ctx.clip();
        for (let i = 0; i < lanes; ++i) draw(plot, i, bbox.top + i * laneHeight * ratio, ratio);
        ctx.restore();
      }],
    },
  };
}

function laneLabel({ ctx, bbox }, text, top, ratio) {
  ctx.fillStyle = colour("text");
  ctx.font = font(12 * ratio);
  ctx.textBaseline = "middle";
  ctx.textAlign = "left";
  ctx.fillText(text, bbox.left, top + (lane.label / 2 + 1) * ratio);
}

const trackName = (track) => `rank ${track.rank}`
  + (track.stands_for > 1 ? ` (stands for ${track.stands_for})` : "") + `, ${track.stream}`;

/** What a span is, line by line. */
function describe(spans, place) {
  const operation = spans.operations[spans.operation[place]];
  const merged = spans.count ? spans.count[place] : 1;
  const lines = [operation.name + (operation.what ? ` \u2013 ${operation.what}` : ""),
    `${operation.kind}, ${format.seconds(spans.end[place] - spans.begin[place])} from `
    + format.seconds(spans.begin[place], 7)];
  if (merged > 1) lines.push(`with ${merged - 1} more operations too short to be kept apart`);
  const where = [spans.layer[place] >= 0 && `layer ${spans.layer[place]}`,
    spans.microbatch[place] >= 0 && `microbatch ${spans.microbatch[place]}`].filter(Boolean);
  if (where.length) lines.push(where.join(", "));
  if (operation.ranks) lines.push(`${operation.ranks} ranks, `
    + `${operation.hops} ${operation.hops === 1 ? "hop" : "hops"} of ${format.bytes(operation.message_bytes)}`);
  return lines;
}

function totalsTable(timeline) {
  const busiest = timeline.totals.map(([track, operation, count, time]) =>
    ({ track: timeline.tracks[track], operation: timeline.operations[operation], count, time }))
    .sort((a, b) => b.time - a.time).slice(0, 30);
  return table(`Operations that take longest in all${timeline.totals.length > 30 ? ", the first 30" : ""}`,
    ["operation", "where", "kind", "count", "in all", "mean"], busiest.map((of) => ({
      head: of.operation.name + (of.operation.what ? `, ${of.operation.what}` : ""),
      cells: [trackName(of.track), of.operation.kind, { class: "number", content: format.count(of.count) },
        { class: "number", content: format.seconds(of.time) },
        { class: "number", content: format.seconds(of.time / of.count) }],
    })), { class: "totals" });
}

/** The canvases of one timeline with their buttons and keys. */
class Viewer {
  constructor(timeline, step) {
    this.timeline = timeline;
    this.spans = new Spans(timeline);
    this.step = step;
    this.chosen = { track: 0, index: -1 };
    this.status = element("p", { class: "chosen", role: "status" },
      "Point at an operation, or choose one with the arrow keys.");
    this.colours = {};
    this.stage = element("div", {
      class: "plot timeline", tabindex: "0", role: "group",
      "aria-label": `Timeline of ${timeline.system}, ${this.spans.size} operations. Left and right arrow `
        + "choose the operation before and after, up and down the stream, plus and minus zoom, shift "
        + "with an arrow moves, Home shows the whole step. What is chosen is said below.",
    });
    this.heat = element("div", { class: "plot heat-map" });
    const empty = [[0, step], [0, 0]];
    const select = { hooks: { setSelect: [(plot) => this.selected(plot)] } };
    this.plots = [fitted(this.stage, (width) => {
      for (const kind of kinds) this.colours[kind] = colour(`k-${kind}`);
      return laneOptions(width, timeline.tracks.length, step, (...lane) => this.drawTrack(...lane), select);
    }, empty)];
    if (timeline.links.levels.length > 0)
      this.plots.push(fitted(this.heat, (width) => laneOptions(width, timeline.links.levels.length, step,
        (...lane) => this.drawLevel(...lane), select), empty));
    this.listen();
  }

  plot() { return this.plots[0].plot(); }
  view() {
    const { min, max } = this.plot().scales.x;
    return [min, max];
  }

  /** Shows the time from `min` to `max`, held inside the step, on all canvases. */
  show(min, max) {
    const width = Math.min(this.step, Math.max(max - min, this.step * 1e-7));
    const from = Math.max(0, Math.min(min, this.step - width));
    this.wanted = { min: from, max: from + width };
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      for (const fit of this.plots) fit.plot()?.setScale("x", this.wanted);
    });
  }

  zoom(factor, around) {
    const { min, max } = this.waiting ? this.wanted : this.plot().scales.x;
    const at = around ?? (min + max) / 2;
    this.show(at - (at - min) * factor, at + (max - at) * factor);
  }

  move(part) {
    const { min, max } = this.waiting ? this.wanted : this.plot().scales.x;
    this.show(min + part * (max - min), max + part * (max - min));
  }

  selected(plot) {
    const { left, width } = plot.select;
    if (width < 4) return;
    this.show(plot.posToVal(left, "x"), plot.posToVal(left + width, "x"));
    plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
  }

  drawTrack(plot, track, top, ratio) {
    const { ctx, bbox } = plot;
    const { min, max } = plot.scales.x;
    const { spans } = this;
    const { places } = spans.tracks[track];
    const scale = bbox.width / (max - min);
    const y = top + lane.label * ratio;
    const height = lane.bar * ratio;
    if (track === 0) for (const kind of kinds) this.colours[kind] = colour(`k-${kind}`);
    laneLabel(plot, trackName(spans.tracks[track]), top, ratio);
    ctx.fillStyle = colour("lane");
    ctx.fillRect(bbox.left, y, bbox.width, height);
    let drawnTo = -1;
    const named = [];
    for (let i = spans.firstAfter(track, min); i < places.length; ++i) {
      const place = places[i];
      if (spans.begin[place] >= max) break;
      const left = bbox.left + (Math.max(spans.begin[place], min) - min) * scale;
      const right = bbox.left + (Math.min(spans.end[place], max) - min) * scale;
      // Of those that share a column of pixels the first is seen.
      if (right < drawnTo) continue;
      const width = Math.max(ratio * 0.75, right - left - (right - left > 3 * ratio ? ratio : 0));
      ctx.fillStyle = this.colours[spans.operations[spans.operation[place]].kind];
      ctx.fillRect(left, y, width, height);
      drawnTo = Math.ceil(left) + (right - left < 1 ? 1 : 0);
      if (width > 42 * ratio) named.push([place, left, width]);
    }
    ctx.font = font(11 * ratio);
    ctx.fillStyle = colour("on-kind");
    for (const [place, left, width] of named) {
      const { name } = spans.operations[spans.operation[place]];
      if (ctx.measureText(name).width < width - 6 * ratio)
        ctx.fillText(name, left + 3 * ratio, y + height / 2 + ratio / 2);
    }
    if (this.chosen.track === track && this.chosen.index >= 0) {
      const place = places[this.chosen.index];
      const left = bbox.left + (spans.begin[place] - min) * scale;
      ctx.strokeStyle = colour("text");
      ctx.lineWidth = 2 * ratio;
      ctx.strokeRect(left, y, Math.max(2 * ratio, (spans.end[place] - spans.begin[place]) * scale), height);
    }
  }

  drawLevel(plot, level, top, ratio) {
    const { ctx, bbox } = plot;
    const { min, max } = plot.scales.x;
    const { links } = this.timeline;
    const { utilisation } = links.levels[level];
    const bin = links.bin_us * 1e-6;
    const scale = bbox.width / (max - min);
    const y = top + lane.label * ratio;
    laneLabel(plot, links.levels[level].level, top, ratio);
    ctx.fillStyle = colour("lane");
    ctx.fillRect(bbox.left, y, bbox.width, lane.bar * ratio);
    ctx.fillStyle = colour("heat");
    for (let i = Math.max(0, Math.floor(min / bin)); i < utilisation.length && i * bin < max; ++i) {
      if (!utilisation[i]) continue;
      const left = Math.floor(bbox.left + (i * bin - min) * scale);
      const right = Math.floor(bbox.left + (Math.min((i + 1) * bin, this.step) - min) * scale);
      ctx.globalAlpha = 0.08 + 0.92 * Math.min(1, utilisation[i]);
      ctx.fillRect(left, y, Math.max(1, right - left), lane.bar * ratio);
    }
    ctx.globalAlpha = 1;
  }

  choose(track, index, bring) {
    const { places } = this.spans.tracks[track];
    if (index < 0 || index >= places.length) return;
    this.chosen = { track, index };
    const place = places[index];
    const [min, max] = this.view();
    this.status.textContent = `${trackName(this.spans.tracks[track])}: ${describe(this.spans, place).join("; ")}`;
    if (bring && (this.spans.begin[place] < min || this.spans.end[place] > max)) {
      const half = Math.max((max - min) / 2, (this.spans.end[place] - this.spans.begin[place]) * 0.6);
      const middle = (this.spans.begin[place] + this.spans.end[place]) / 2;
      this.show(middle - half, middle + half);
    }
    this.plot().redraw(false);
  }

  pressed(event) {
    const { track, index } = this.chosen;
    const across = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const down = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const chosen = index >= 0 ? this.spans.tracks[track].places[index] : -1;
    const around = chosen >= 0 ? (this.spans.begin[chosen] + this.spans.end[chosen]) / 2 : undefined;
    if (across && event.shiftKey) this.move(across * 0.25);
    else if (across) this.choose(track, index + across, true);
    else if (down) {
      const next = Math.max(0, Math.min(this.spans.tracks.length - 1, track + down));
      const found = this.spans.firstAfter(next, around ?? this.view()[0]);
      this.choose(next, Math.min(found, this.spans.tracks[next].places.length - 1), true);
    } else if (event.key === "+" || event.key === "=") this.zoom(0.5, around);
    else if (event.key === "-") this.zoom(2, around);
    else if (event.key === "Home") this.show(0, this.step);
    else return;
    event.preventDefault();
  }

  pointed(event) {
    const plot = this.plot();
    const box = plot.over.getBoundingClientRect();
    const track = Math.floor((event.clientY - box.top) / laneHeight);
    if (track < 0 || track >= this.spans.tracks.length) return null;
    const [min, max] = this.view();
    const index = this.spans.at(track, plot.posToVal(event.clientX - box.left, "x"), (2 * (max - min)) / box.width);
    return index < 0 ? null : { track, index };
  }

  pointedLevel(event) {
    const plot = this.plots[1].plot();
    const box = plot.over.getBoundingClientRect();
    const level = this.timeline.links.levels[Math.floor((event.clientY - box.top) / laneHeight)];
    const bin = Math.floor(plot.posToVal(event.clientX - box.left, "x") / (this.timeline.links.bin_us * 1e-6));
    if (!level || level.utilisation[bin] === undefined) return null;
    return [level.level, `${format.percent(level.utilisation[bin])} of its bandwidth`,
      `from ${format.seconds(bin * this.timeline.links.bin_us * 1e-6)}, `
      + `mean over ${format.seconds(this.timeline.links.bin_us * 1e-6, 3)}`];
  }

  listen() {
    this.stage.addEventListener("keydown", (event) => this.pressed(event));
    this.stage.addEventListener("pointermove", (event) => {
      const at = this.pointed(event);
      showTip(at && [...describe(this.spans, this.spans.tracks[at.track].places[at.index])], event.clientX, event.clientY);
    });
    this.heat.addEventListener("pointermove", (event) =>
      showTip(this.pointedLevel(event), event.clientX, event.clientY));
    this.stage.addEventListener("click", (event) => {
      const at = this.pointed(event);
      if (at) this.choose(at.track, at.index, false);
    });
    for (const place of [this.stage, this.heat]) {
      place.addEventListener("pointerleave", () => showTip(null));
      place.addEventListener("dblclick", () => this.show(0, this.step));
      place.addEventListener("wheel", (event) => {
        // Without a key the wheel scrolls the page.
        if (!event.ctrlKey && !event.shiftKey && !event.altKey) return;
        event.preventDefault();
        const box = this.plot().over.getBoundingClientRect();
        const turned = event.deltaY || event.deltaX;
        this.zoom(1.0015 ** turned, this.plot().posToVal(event.clientX - box.left, "x"));
      }, { passive: false });
    }
  }

  controls() {
    const button = (text, label, act) => {
      const made = element("button", { type: "button", "aria-label": label, title: label }, text);
      made.addEventListener("click", act);
      return made;
    };
    return element("div", { class: "controls", role: "group", "aria-label": "Zoom of the timeline" },
      button("+", "Zoom in", () => this.zoom(0.5)), button("\u2212", "Zoom out", () => this.zoom(2)),
      button("\u2190", "Earlier", () => this.move(-0.25)), button("\u2192", "Later", () => this.move(0.25)),
      button("Whole step", "Show the whole step", () => this.show(0, this.step)));
  }
}

function timelineOf(runs, timeline, several) {
  const viewer = new Viewer(timeline, runs[timeline.run].step_time_s);
  const used = kinds.filter((kind) => timeline.operations.some((of) => of.kind === kind));
  const notes = [];
  if (timeline.merged_below_us > 0)
    notes.push(`Neighbours that fit into ${format.seconds(timeline.merged_below_us * 1e-6, 3)} are drawn as one.`);
  if (timeline.classes_left_out > 0)
    notes.push(`${format.count(timeline.classes_left_out)} more classes of ranks are not drawn.`);
  return [
    several && element("h3", {}, timeline.system), viewer.controls(),
    element("ul", { class: "legend", "aria-label": "Colours" }, used.map((kind) =>
      element("li", {}, element("i", { class: `swatch k-${kind}` }), kind))),
    viewer.stage, viewer.status,
    element("p", { class: "note" }, "Drag over the timeline to zoom, or turn the wheel with Ctrl or Shift held; "
      + `double-click shows the whole step. ${notes.join(" ")}`),
    folded("As a table", totalsTable(timeline)),
    ...(timeline.links.levels.length > 0 ? [
      element("h3", {}, `Load of the links of ${timeline.system}`),
      element("div", { class: "heat-scale", "aria-hidden": "true" }, element("span", {}, "0 %"),
        element("i", {}), element("span", {}, "100 % of the bandwidth of the busiest link of its kind")),
      viewer.heat] : []),
  ];
}

/** Timelines where there are some, and the links of all systems. */
export function overTime(runs, timelines) {
  const tables = linkTable(runs);
  return section("timeline", timelines.length ? "The step over time" : "Links",
    timelines.flatMap((of) => timelineOf(runs, of, timelines.length > 1)),
    tables.length > 0 && element("h3", {}, "Busiest link of each kind, over the step"),
    tables);
}
