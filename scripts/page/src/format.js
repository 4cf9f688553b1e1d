// Figures as a person reads them. All take SI units.

const absent = "\u2013";
const minus = "\u2212";

function scaled(value, steps, digits) {
  if (value === null || value === undefined) return absent;
  const size = Math.abs(value);
  let [factor, unit] = steps.find(([from]) => size >= from) ?? steps[steps.length - 1];
  const text = significant(value / factor, digits);
  return `${text} ${unit}`;
}

/** With so many significant digits, without an exponent, thousands set apart. */
export function significant(value, digits = 4) {
  if (value === null || value === undefined) return absent;
  if (value === 0) return "0";
  const places = Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(value))));
  return grouped(value.toFixed(Math.min(places, 12)));
}

function grouped(text) {
  const [whole, part] = text.replace("-", minus).split(".");
  const spaced = whole.replace(/\B(?=(\d{3})+$)/g, "\u202f");
  return part === undefined ? spaced : `${spaced}.${part}`;
}

export const seconds = (value, digits = 4) => value === 0 ? "0 s" : scaled(value,
  [[1, "s"], [1e-3, "ms"], [1e-6, "\u00b5s"], [1e-9, "ns"]], digits);
export const bytes = (value, digits = 4) => value === 0 ? "0 B" : scaled(value,
  [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]], digits);
export const bandwidth = (value, digits = 4) => value === 0 ? "0 B/s" : scaled(value,
  [[1e12, "TB/s"], [1e9, "GB/s"], [1e6, "MB/s"], [1e3, "kB/s"], [1, "B/s"]], digits);
export const percent = (value, places = 1) =>
  value === null || value === undefined ? absent : `${(value * 100).toFixed(places)}\u00a0%`;
export const count = (value) =>
  value === null || value === undefined ? absent : grouped(value.toFixed(0));
export const decimals = (value, places) =>
  value === null || value === undefined ? absent : grouped(value.toFixed(places));
export const signed = (text, value) => (value > 0 ? `+${text}` : text);

/** Distances between the ticks of an axis that are round, and how to write its labels. */
export function timeUnit(span) {
  if (span >= 2) return [1, "s"];
  if (span >= 2e-3) return [1e-3, "ms"];
  return span >= 2e-6 ? [1e-6, "\u00b5s"] : [1e-9, "ns"];
}

/** Round values from 0 up to `most`, about `wanted` of them. */
export function ticks(most, wanted) {
  const rough = most / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((of) => of * power).find((of) => of >= rough);
  const made = [];
  for (let i = 0; i * step <= most * (1 + 1e-9); ++i) made.push(i * step);
  return made;
}
