// What all canvases share: colours of the page, drawn anew when those, or the width, change.

import uPlot from "uplot";

/** A colour of the style sheet, as it is now. */
export const colour = (name) =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

export const font = (size) => `${size}px system-ui, "DejaVu Sans", sans-serif`;

/** An axis of uPlot in the page's colours. */
export function axis(options) {
  return {
    stroke: () => colour("text"), grid: { stroke: () => colour("grid"), width: 1 },
    ticks: { stroke: () => colour("grid"), width: 1 }, font: font(12), labelFont: font(12), ...options,
  };
}

/**
 * A plot of uPlot that keeps to the width of `place`. `options(width)` gives its options; returns
 * {plot()}, which is another after a change of the colours.
 */
export function fitted(place, options, data) {
  let plot = null;
  const width = () => Math.max(240, Math.floor(place.clientWidth));
  const make = () => {
    const before = plot && { min: plot.scales.x.min, max: plot.scales.x.max };
    plot?.destroy();
    plot = new uPlot(options(width()), data, place);
    if (before && before.min !== null) plot.setScale("x", before);
  };
  const fit = () => plot && plot.width !== width() && plot.setSize({ width: width(), height: plot.height });
  // Its place may not be in the page yet, and then has no width.
  requestAnimationFrame(() => {
    make();
    new ResizeObserver(() => requestAnimationFrame(fit)).observe(place);
    for (const query of ["(prefers-color-scheme: dark)", "print"])
      window.matchMedia(query).addEventListener("change", () => {
        fit();
        plot.redraw(false);
      });
  });
  return { plot: () => plot };
}
