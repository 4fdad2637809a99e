// Print the results of the site's search as JSON: node search.mjs SITE < queries.json
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runInThisContext } from "node:vm";

const scripts = ["base-stemmer.js", "english-stemmer.js", "search.js", "search-index.js"];
for (const name of scripts) runInThisContext(readFileSync(join(process.argv[2], "_static", name), "utf8"), name);
const { queries = [], texts = [] } = JSON.parse(readFileSync(0, "utf8"));
const answers = Object.fromEntries(queries.map((query) => [query, globalThis.siteSearch.search(query, 8)]));
console.log(JSON.stringify({ answers, words: texts.map((text) => globalThis.siteSearch.stems(text)) }));
