import { breakdown, memory } from "./bars.js";
import { element } from "./dom.js";
import { curves } from "./curves.js";
import { overTime } from "./over_time.js";
import { assumptions, collectives, headline, reasons, reproduce } from "./tables.js";

const read = (id) => JSON.parse(document.getElementById(id).textContent);

function page() {
  const result = read("result");
  const { command, timelines } = read("beside");
  const own = result.runs[0];
  const { engine } = own;
  const sections = [
    headline(result), breakdown(result.runs), overTime(result.runs, timelines),
    collectives(result.runs), memory(result.runs), curves(result), reasons(result),
    assumptions(result.runs), reproduce(result, command),
  ].filter(Boolean);
  const links = sections.map((of) => element("li", {},
    element("a", { href: `#${of.id}` }, of.querySelector("h2").textContent)));
  document.getElementById("page").replaceChildren(
    element("header", {}, element("h1", {}, result.scenario),
      element("p", { class: "title" }, result.title),
      element("p", { class: "note" }, `${engine.fidelity} fidelity${engine.approximate ? " (approximate)" : ""}, `
        + `${engine.ranks.toLocaleString("en").replaceAll(",", "\u202f")} ranks`
        + (engine.folded ? ` folded into ${engine.classes}` : "")),
      element("nav", { "aria-label": "Sections" }, element("ul", {}, links))),
    element("main", {}, sections));
  const opened = [];
  window.addEventListener("beforeprint", () => {
    for (const one of document.querySelectorAll("details:not([open])")) {
      one.open = true;
      opened.push(one);
    }
  });
  window.addEventListener("afterprint", () => {
    for (const one of opened.splice(0)) one.open = false;
  });
}

page();
