// Elements are made from text alone: what a scenario names cannot become markup.

/** element("td", {class: "number"}, "text", child, ...); null attributes and children are left out. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (value !== null && value !== undefined && value !== false)
      made.setAttribute(key, value === true ? "" : value);
  made.append(...children.flat(Infinity).filter((child) => child || child === 0 || child === ""));
  return made;
}

/**
 * A table with roles, which keep their meaning where a narrow screen lays rows out as blocks.
 * `heads` are texts; each row is {head, cells}, and a cell is a text or an element made by cell().
 */
export function table(caption, heads, rows, attributes = {}) {
  const headRow = element("tr", { role: "row" },
    heads.map((head) => element("th", { scope: "col", role: "columnheader" }, head)));
  const body = rows.map((row) => element("tr", { role: "row", class: row.class },
    element("th", { scope: "row", role: "rowheader" }, row.head),
    row.cells.map((content, i) => element("td", {
      role: "cell", "data-label": heads[i + 1], style: content?.style, class: content?.class,
    }, ...[content?.content ?? content].flat()))));
  return element("table", { role: "table", ...attributes },
    element("caption", {}, caption),
    element("thead", { role: "rowgroup" }, headRow),
    element("tbody", { role: "rowgroup" }, body));
}

/** A figure of the result, by its place there ("runs.0.mfu"); the full value is its title. */
export function figure(path, value, text) {
  return element("span", { "data-path": path, title: value === null ? null : String(value) }, text);
}

/** A part of the page, with its heading. */
export function section(id, heading, ...children) {
  return element("section", { id, "aria-labelledby": `${id}-heading` },
    element("h2", { id: `${id}-heading` }, heading), ...children);
}

/** Something that opens, in print always open. */
export function folded(summary, ...children) {
  return element("details", {}, element("summary", {}, summary), ...children);
}

let tip;

/** The one tooltip of the page: shown beside a point of the window, or hidden without lines. */
export function showTip(lines, x, y) {
  tip ??= document.body.appendChild(element("div", { id: "tip", role: "tooltip", hidden: true }));
  tip.hidden = !lines;
  if (!lines) return;
  tip.replaceChildren(...lines.map((line) => element("div", {}, line)));
  const width = document.documentElement.clientWidth;
  const { offsetWidth, offsetHeight } = tip;
  const left = x + 14 + offsetWidth > width ? x - 14 - offsetWidth : x + 14;
  const top = y + 14 + offsetHeight > window.innerHeight ? y - 14 - offsetHeight : y + 14;
  tip.style.left = `${Math.max(4, Math.min(left, width - offsetWidth - 4))}px`;
  tip.style.top = `${Math.max(4, top)}px`;
}

/** Lets an element say more when it is pointed at or has the focus. */
export function explained(target, lines) {
  target.setAttribute("tabindex", "0");
  target.addEventListener("pointermove", (event) => showTip(lines, event.clientX, event.clientY));
  target.addEventListener("pointerleave", () => showTip(null));
  target.addEventListener("focus", () => {
    const box = target.getBoundingClientRect();
    showTip(lines, box.left + box.width / 2, box.bottom);
  });
  target.addEventListener("blur", () => showTip(null));
  return target;
}
