/** Bundle the programs for the browser into the folder that is given; the other files are copied. */
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const folder = process.argv[2];
mkdirSync(folder, { recursive: true });
await build({
  entryPoints: ["course.ts", "judge.ts", "student.ts", "program.ts", "offline.ts"],
  bundle: true,
  loader: { ".py": "text" },
  minify: true,
  format: "iife",
  target: "es2022",
  legalComments: "eof",
  outdir: folder,
  logLevel: "warning",
});
for (const name of ["index.html", "style.css"]) copyFileSync(name, join(folder, name));
