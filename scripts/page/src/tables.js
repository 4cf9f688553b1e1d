import { element, figure, folded, section, table } from "./dom.js";
import * as format from "./format.js";

function withRatio(run, index, own, better, value, content) {
  if (index === 0 || !own.memory.fits || !run.memory.fits) return content;
  const ratio = value(run) / value(own);
  const good = better === "less" ? ratio < 1 : ratio > 1;
  return [content, element("small", { class: good ? "better" : "worse" },
    ` \u00d7\u202f${format.significant(ratio, 3)}`)];
}

/** The systems side by side; small figures are ratios to the first. */
export function headline(result) {
  const { runs } = result;
  const row = (head, key, write, better) => ({
    head,
    cells: runs.map((run, index) => {
      const value = (of) => key.split(".").reduce((at, name) => at[name], of);
      const shown = figure(`runs.${index}.${key}`, value(run), write(value(run)));
      return { class: "number", content: better ? withRatio(run, index, runs[0], better, value, shown) : shown };
    }),
  });
  const price = (run, index) => {
    const path = `runs.${index}.cost.usd_per_million_tokens`;
    const value = run.cost.usd_per_million_tokens;
    const [low, high] = run.cost.usd_per_hour_range.map((of) => value * of / run.cost.usd_per_hour);
    const shown = figure(path, value, format.decimals(value, 2));
    const content = [withRatio(run, index, runs[0], "less",
      (of) => of.cost.usd_per_million_tokens, shown)].flat();
    if (value !== null && low < high)
      content.push(element("small", { class: "range" },
        `${format.decimals(low, 2)} to ${format.decimals(high, 2)}`));
    return { class: "number", content };
  };
  const rows = [
    row("chips", "chips", format.count),
    row("step time", "step_time_s", format.seconds, "less"),
    row("communication overhead (exposed / step)", "communication_overhead", format.percent),
    {
      head: "communication, hidden",
      cells: runs.map((run) => ({
        class: "number",
        content: !run.memory.fits ? "\u2013"
          : run.communication_s > 0 ? format.percent(run.overlapped_communication_s / run.communication_s)
            : "none",
      })),
    },
    row("step with free communication", "free_communication_step_time_s", format.seconds, "less"),
    row("tokens/s", "tokens_per_s", format.count, "more"),
    row("tokens/s a chip", "tokens_per_s_per_chip", format.count, "more"),
    row("MFU", "mfu", format.percent),
    row("HFU", "hfu", format.percent),
    { head: "$/Mtoken", cells: runs.map(price) },
    row("kWh/Mtoken", "energy.kwh_per_million_tokens", (value) => format.significant(value, 3), "less"),
  ];
  const unfit = runs.filter((run) => !run.memory.fits).map((run) => run.system);
  return section("headline", "Side by side",
    table(`Figures of each system${runs.length > 1 ? `; \u00d7 is the ratio to ${runs[0].system}` : ""}`,
      ["", ...runs.map((run) => run.system)], rows, { class: "wide-head" }),
    unfit.length > 0 && element("p", { class: "warning" },
      `Does not fit in memory, and so has no times: ${unfit.join(", ")}.`),
    element("ul", { class: "layouts" }, runs.map((run) =>
      element("li", {}, element("b", {}, run.system), `: ${run.layout}`))));
}

/** What each property of another system would change in the first. */
export function reasons(result) {
  const explainedOnes = result.comparison.map((of, index) => ({ of, index }))
    .filter(({ of }) => of.reasons.length > 0);
  if (explainedOnes.length === 0) return null;
  const own = result.runs[0].system;
  return section("reasons", "Why they differ",
    element("p", { class: "note" },
      `The step of ${own} with one property of the other system in place of its own, in analytic `
      + "fidelity. Changes below zero are faster."),
    explainedOnes.map(({ of, index }) => {
      const largest = Math.max(...of.reasons.map((reason) => Math.abs(reason.change_s)));
      return table(`With this of ${of.system}`, ["property", "step time", "change", "faster | slower"],
        of.reasons.map((reason, i) => {
          const path = `comparison.${index}.reasons.${i}`;
          const width = (48 * Math.abs(reason.change_s)) / (largest || 1);
          return {
            head: reason.property,
            cells: [
              { class: "number", content: figure(`${path}.step_time_s`, reason.step_time_s, format.seconds(reason.step_time_s)) },
              {
                class: "number",
                content: figure(`${path}.change_s`, reason.change_s,
                  format.signed(format.seconds(reason.change_s), reason.change_s)),
              },
              {
                class: "swing",
                content: element("i", {
                  class: reason.change_s > 0 ? "slower" : "faster", "aria-hidden": "true",
                  style: `width:${width}%;${reason.change_s > 0 ? "left" : "right"}:50%`,
                }),
              },
            ],
          };
        }), { class: "reasons" });
    }));
}

function collectivesOf(run, index) {
  const rows = run.collectives.map((of, i) => {
    const path = `runs.${index}.collectives.${i}`;
    const bound = of.bound_s > 0 ? of.busbw_bytes_per_s * of.time_s / of.bound_s : null;
    const number = (key, write) => ({ class: "number", content: figure(`${path}.${key}`, of[key], write(of[key])) });
    const reached = of.time_s > 0 ? of.bound_s / of.time_s : null;
    return {
      head: [`${of.op}, ${of.what}`, element("small", { class: "below" }, `${of.group} ${format.count(of.ranks)}: ${of.algorithm}`)],
      cells: [
        number("size_bytes", format.bytes), number("count", format.count),
        number("time_s", format.seconds), number("bound_s", format.seconds),
        number("busbw_bytes_per_s", format.bandwidth),
        { class: "number", content: bound === null ? "\u2013" : format.bandwidth(bound) },
        {
          class: "number meter",
          content: [element("i", { "aria-hidden": "true", style: `width:${100 * Math.min(1, reached ?? 0)}%` }),
            element("span", {}, format.percent(reached, 0))],
        },
        number("exposed_s", (value) => format.seconds(value, 3)),
        number("hidden_s", (value) => format.seconds(value, 3)),
      ],
    };
  });
  const levels = run.communication_by_level.map((of, i) => {
    const path = `runs.${index}.communication_by_level.${i}`;
    return {
      head: of.level,
      cells: ["exposed_s", "hidden_s"].map((key) => ({
        class: "number", content: figure(`${path}.${key}`, of[key], format.seconds(of[key], 3)),
      })),
    };
  });
  return [
    table(`Collectives of ${run.system}`, ["collective", "size", "count", "time", "bound", "busbw",
      "bound busbw", "reached", "exposed", "hidden"], rows, { class: "collectives" }),
    table(`Communication of ${run.system} by dimension of the fabric`,
      ["along", "exposed", "hidden"], levels, { class: "small" }),
  ];
}

/** Each kind of collective: achieved and bound. The first system is open, the others fold out. */
export function collectives(runs) {
  const some = runs.map((run, index) => ({ run, index })).filter(({ run }) => run.collectives.length > 0);
  if (some.length === 0) return null;
  return section("collectives", "Collectives",
    element("p", { class: "note" },
      "busbw as nccl-tests define it. The bound is what no algorithm exceeds: each chip passes the least "
      + "bytes through all its ports, each unit through all its NICs."),
    some.map(({ run, index }, i) =>
      i === 0 ? collectivesOf(run, index) : folded(run.system, collectivesOf(run, index))));
}

/** The busiest link of each kind, by system. */
export function linkTable(runs) {
  const some = runs.map((run, index) => ({ run, index })).filter(({ run }) => run.links.length > 0);
  const made = some.map(({ run, index }) => table(`Links of ${run.system}`,
    ["kind of link", "utilisation", "carried", "capacity", "links"],
    run.links.map((of, i) => {
      const path = `runs.${index}.links.${i}`;
      return {
        head: of.level,
        cells: [
          {
            class: "number heat", style: `--part:${Math.min(1, of.utilisation).toFixed(3)}`,
            content: figure(`${path}.utilisation`, of.utilisation, format.percent(of.utilisation)),
          },
          { class: "number", content: figure(`${path}.busiest_bytes`, of.busiest_bytes, format.bytes(of.busiest_bytes)) },
          {
            class: "number",
            content: figure(`${path}.capacity_bytes_per_s`, of.capacity_bytes_per_s, format.bandwidth(of.capacity_bytes_per_s)),
          },
          { class: "number", content: figure(`${path}.links`, of.links, format.count(of.links)) },
        ],
      };
    }), { class: "links" }));
  return made.map((one, i) => (i === 0 ? one : folded(some[i].run.system, one)));
}

/** The numbers that nobody publishes. */
export function assumptions(runs) {
  return section("assumptions", "What it rests on",
    element("p", { class: "note" },
      "Numbers that nobody publishes, with the range in which they lie, and why. All others have a "
      + "published source in the files of systems, chips and workloads."),
    runs.map((run) => folded(`${run.system}: ${run.assumptions.length} assumed numbers`,
      table(`Assumed numbers of ${run.system}`, ["number", "value (range)", "why"],
        run.assumptions.map((of) => ({
          head: of.what, cells: [of.value, of.source.replace(/^assumed: /, "")],
        })), { class: "assumptions" }))));
}

/** How to have the same again. */
export function reproduce(result, command) {
  const copy = element("button", { type: "button" }, "Copy");
  copy.addEventListener("click", async () => {
    await navigator.clipboard?.writeText(command);
    copy.textContent = "Copied";
  });
  const rows = result.runs.map((run, index) => {
    const { engine } = run;
    const number = (key, write) => ({
      class: "number", content: figure(`runs.${index}.engine.${key}`, engine[key], write(engine[key])),
    });
    return {
      head: run.system,
      cells: [`${engine.fidelity}${engine.approximate ? " (approximate)" : ""}`, engine.method,
        number("ranks", format.count), number("classes", format.count),
        number("represented_messages", format.count), number("messages", format.count),
        number("wall_s", (value) => format.seconds(value, 3)),
        number("peak_rss_bytes", (value) => format.bytes(value, 3))],
    };
  });
  return section("reproduce", "Have the same again",
    element("div", { class: "command" }, element("pre", { tabindex: "0", id: "command" }, command), copy),
    element("p", {}, "trnsim ", element("span", { "data-path": "version" }, result.version), "."),
    table("How each system was simulated", ["system", "fidelity", "ranks put together", "ranks", "classes",
      "messages", "of them simulated", "took", "memory"], rows, { class: "engine" }));
}
