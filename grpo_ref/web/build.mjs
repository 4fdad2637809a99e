/** Bundle the programs for the browser into the folder that is given, and write the pages and their styles beside. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const PAGES = {
  "index.html": "Course",
  "play.html": "Playground",
  "surrogates.html": "Surrogates",
  "explain.html": "Explain",
  "diagnose.html": "Diagnose",
};
/** Titles of the pages whose content page.html frames. Those that compute have a program of their own. */
const FRAMED = {
  play: "grpo_ref: the playground",
  surrogates: "grpo_ref: the surrogates",
  explain: "grpo_ref: explain a configuration",
  diagnose: "grpo_ref: diagnose a training log",
  symptoms: "grpo_ref: what the curves of a run mean", // other pages link to its sections
};
const COMPUTING = Object.keys(FRAMED).filter((name) => name !== "symptoms");
const PROGRAMS = ["course", "judge", "student", "program", ...COMPUTING, "worker", "offline"];
const LANGUAGE = `<select id="language" aria-label="Language of the statements">
  <option value="en" lang="en">English</option><option value="zh" lang="zh-CN">中文</option></select>`;
const folder = process.argv[2];

/** The links to all pages, for one of them. */
function links(current) {
  const each = Object.entries(PAGES).map(
    ([page, name]) => `<a href="${page}"${page === current ? ' aria-current="page"' : ""}>${name}</a>`,
  );
  const nav = `<nav class="pages" aria-label="Pages"><!-- home -->${each.join(" ")}</nav>`;
  return `<header lang="en">${nav}${current === "index.html" ? LANGUAGE : ""}</header>`;
}

mkdirSync(folder, { recursive: true });
await build({
  entryPoints: PROGRAMS.map((name) => `${name}.ts`),
  bundle: true,
  loader: { ".py": "text" },
  minify: true,
  format: "iife",
  target: "es2022",
  legalComments: "eof",
  outdir: folder,
  logLevel: "warning",
});
for (const name of ["style.css", "computing.css"]) copyFileSync(name, join(folder, name));
const frame = readFileSync("page.html", "utf8");
for (const [name, title] of Object.entries(FRAMED)) {
  const parts = {
    title,
    pages: links(`${name}.html`),
    content: readFileSync(`${name}.html`, "utf8").trim(),
    script: COMPUTING.includes(name) ? `<script src="${name}.js"></script>` : "",
  };
  const page = frame.replace(/<!-- (title|pages|content|script) -->/g, (_, part) => parts[part]);
  writeFileSync(join(folder, `${name}.html`), page);
}
writeFileSync(
  join(folder, "index.html"),
  readFileSync("index.html", "utf8").replace("<!-- pages -->", links("index.html")),
);
