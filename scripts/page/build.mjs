// Bundles the page into one file, whose places for title, text and data trnsim fills in.

import { build } from "esbuild";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const options = { bundle: true, minify: true, write: false, charset: "ascii", legalComments: "inline", target: "es2022" };
const bundled = async (entry, more) =>
  (await build({ ...options, ...more, entryPoints: [here(entry)] })).outputFiles[0].text.trim();

const script = await bundled("src/main.js", { format: "iife" });
const style = await bundled("src/all.css", {});
if (/<\/script|<!--|@[A-Z]+@/i.test(script) || /<\/style/i.test(style))
  throw new Error("the bundle would end its own element, or holds a place for data");
const page = readFileSync(here("src/page.html"), "utf8")
  .replace("@LICENSE@", () => readFileSync(here("node_modules/uplot/LICENSE"), "utf8").trim())
  .replace("@STYLE@", () => style).replace("@SCRIPT@", () => script);
if (/[^\n\x20-\x7e]/.test(page)) throw new Error("the page is to be of ASCII alone");
const target = process.argv[2] ?? here("../../sim/result/page/report.html");
writeFileSync(target, page);
console.log(`${target}: ${page.length} bytes`);
