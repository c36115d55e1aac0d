// Merges the small scripts of Streamlit's browser side into one: node tools/merge_scripts.mjs STATIC INTO
//
// STATIC is the folder `static` of the installed package `streamlit`. INTO gets `streamlit.js`, the merged script, and `streamlit.json`,
// which says under what name it is served, whose place it takes, and what is served in place of each script that is merged: the same
// exports, out of the merged one, so that scripts which are not merged find what they import. The same STATIC gives the same bytes.

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { rollup } from "@rollup/wasm-node";

// The elements that pages of the board draw. Plotly, the grid and coloured code are megabytes each and come when they are drawn.
const ELEMENTS = [
  "BidiComponent",
  "Button",
  "ButtonGroup",
  "Checkbox",
  "DownloadButton",
  "Html",
  "Multiselect",
  "NumberInput",
  "PageLink",
  "Pagination",
  "Progress",
  "Selectbox",
  "Slider",
  "Spinner",
  "TextArea",
  "TextInput",
];

// Scripts that throw and catch errors while they begin: the browser parses all of a script again to say where one was thrown.
const LEFT_ALONE = /^(protobuf|recordbatch|rolldown-runtime)\./;

const ENTRY = /<script type="module"[^>]* src="\.\/static\/js\/([^"]+)"/;
const PRELOADED = /<link rel="modulepreload" crossorigin href="\.\/static\/js\/([^"]+)"/g;
const LATE_FILES = /\bm\.f=\[([^\]]*)\]/;
const LATE = /import\(`\.\/(\w+)\.[\w-]+\.js`\)[^()]*(?:\([^()]*\)[^()]*)*?__vite__mapDeps\(\[([\d,]*)\]\)/g;
const WAITED_FOR = /\(\)=>\w+\(\(\)=>import\(`\.\/([\w-]+\.[\w-]+\.js)`\),__vite__mapDeps\(\[[\d,]*\]\),import\.meta\.url\)/g;
const OWN_SCRIPT = /getOrCreateUrlForJs\((\w+),\w+\)\{/;
const IMPORTED = /\(\)=>import\((\w+)\),\[\],import\.meta\.url/;
const EXPORTS = /export\{([^}]*)\};?\s*$/;
const MERGING = "merging.js";
const THERE = "there.js";
const ITSELF = "streamlit.of-which-the-name-is-not-known-yet.js";

const [, , folder, into] = process.argv;
const scripts = join(folder, "static", "js");
const text = (/** @type {string} */ name) => readFileSync(join(scripts, name), "utf8");
const page = readFileSync(join(folder, "index.html"), "utf8");
const entry = found(page.match(ENTRY), "index.html has no entry script");
const late = lateScripts(text(entry));
const merged = [
  ...new Set([entry, ...names(page, PRELOADED), ...ELEMENTS.flatMap((element) => late.get(element) ?? missing(element))]),
]
  .filter((name) => !LEFT_ALONE.test(name))
  .sort();
const drawn = new Set(ELEMENTS.map((element) => late.get(element)?.[0]));
const said = merged.map((one, at) => ({ one, exported: exportsOf(one).map((to) => ({ to, from: `m${at}_${to}` })) }));

const build = await rollup({ input: MERGING, treeshake: false, plugins: [{ name: "merging", resolveId, load }] });
const { output } = await build.generate({ format: "esm", compact: true, inlineDynamicImports: true });
const [{ code, imports }] = output;
const name = `streamlit.${createHash("sha256").update(code).digest("hex").slice(0, 12)}.js`;
const beside = imports.map((one) => basename(one)).sort();
const replacements = Object.fromEntries(said.map(({ one, exported }) => [one, inPlace(exported)]));
const notice = `/* Scripts of Streamlit, Apache License 2.0, merged into one by tools/merge_scripts.mjs. */\n`;
mkdirSync(into, { recursive: true });
writeFileSync(join(into, "streamlit.js"), notice + code.replaceAll(ITSELF, name));
writeFileSync(join(into, "streamlit.json"), `${JSON.stringify({ name, entry, beside, replacements }, null, 2)}\n`);

/** @param {string} id */
function resolveId(id) {
  const file = basename(id);
  if (file === MERGING || file === THERE || merged.includes(file)) return join(scripts, file);
  return { id: `./${file}`, external: true };
}

/** @param {string} id */
function load(id) {
  const file = basename(id);
  if (file === MERGING) return [`import "./${entry}";`, `import { there } from "./${THERE}";`, ...said.map(passedOn)].join("\n");
  if (file === THERE) return "export const there = {};";
  if (file.startsWith("BidiComponent.")) return fromAddresses(text(file));
  if (file === entry) return atOnce(text(file).replace(LATE_FILES, (all) => all.replace(/"\.\/([^"]+)"/g, inItself)));
}

/**
 * What an element asks for before it is drawn is there with the merged script.
 * @param {string} quoted
 * @param {string} one
 */
function inItself(quoted, one) {
  return merged.includes(one) ? `"./${ITSELF}"` : quoted;
}

/**
 * The entry script, in which the elements that are merged are there and not waited for: React draws something else first in place of what
 * is waited for, and takes it away half a second later. They stand behind the entry script, of which they take things, and come before any
 * element is drawn.
 * @param {string} script
 */
function atOnce(script) {
  let count = 0;
  const changed = script.replace(WAITED_FOR, (waited, one) => {
    if (!drawn.has(one)) return waited;
    count += 1;
    return `()=>({then:(then)=>then(there[${JSON.stringify(one)}])})`;
  });
  if (count < ELEMENTS.length) throw new Error(`${ELEMENTS.length - count} elements are still waited for`);
  return `import { there } from "./${THERE}";\n${changed}`;
}

/**
 * The script that mounts components, which goes to the address on the first line of what it is to run, where one stands there, and makes
 * no file of the rest. Served by `board/serving/component_scripts.py`.
 * @param {string} script
 */
function fromAddresses(script) {
  found(script.match(OWN_SCRIPT), "components are no longer made into files");
  found(script.match(IMPORTED), "components are no longer imported");
  const changed = script
    .replace(OWN_SCRIPT, (begins, given) => `${begins}if(boardAt.test(${given}))return{url:${given}};`)
    .replace(IMPORTED, (all, url) => all.replace(`import(${url})`, `boardComponent(${url})`));
  return `${changed}
const boardAt = /^\\/\\/ at (\\S+) component (\\S+)\\n/;
const boardComponent = async (url) => {
  const [, at, name] = boardAt.exec(url) ?? [];
  if (!at) return import(url);
  const { component } = await import(new URL(at, window.__streamlit.BACKEND_BASE_URL).href);
  return { default: component(name) };
};
`;
}

/**
 * What the merged script gives to others, and the elements to the entry script.
 * @param {{ one: string; exported: { to: string; from: string }[] }} script
 * @param {number} at
 */
function passedOn({ one, exported }, at) {
  const names = exported.map(({ to, from }) => `${to} as ${from}`).join(",");
  const toEntry = `import * as all${at} from "./${one}";\nthere[${JSON.stringify(one)}] = all${at};`;
  return `export {${names}} from "./${one}";\n${drawn.has(one) ? toEntry : ""}`;
}

/** @param {{ to: string; from: string }[]} exported */
function inPlace(exported) {
  if (!exported.length) return `import"./${name}";`;
  return `export{${exported.map(({ to, from }) => `${from} as ${to}`).join(",")}}from"./${name}";`;
}

/** @param {string} script */
function exportsOf(script) {
  const list = text(script).match(EXPORTS)?.[1] ?? "";
  return list.split(",").flatMap((one) => one.split(" as ").at(-1)?.trim() || []);
}

/**
 * By the name of an element: its script and those that this one imports.
 * @param {string} script
 * @returns {Map<string, string[]>}
 */
function lateScripts(script) {
  const files = names(found(script.match(LATE_FILES), "the entry script lists no files"), /"([^"]+)"/g).map((one) =>
    basename(one),
  );
  const ofElement = (/** @type {string} */ places) => places.split(",").map((at) => files[Number(at)]);
  return new Map(
    [...script.matchAll(LATE)].map(([, element, at]) => [element, ofElement(at).filter((one) => one.endsWith(".js"))]),
  );
}

/**
 * @param {string} where
 * @param {RegExp} pattern
 */
function names(where, pattern) {
  return [...where.matchAll(pattern)].map(([, one]) => one);
}

/**
 * @param {RegExpMatchArray | null} match
 * @param {string} otherwise
 */
function found(match, otherwise) {
  if (!match) throw new Error(otherwise);
  return match[1];
}

/**
 * @param {string} element
 * @returns {string[]}
 */
function missing(element) {
  throw new Error(`Streamlit's build has no script of ${element}.`);
}
