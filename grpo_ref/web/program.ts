/** The worker in which a student's text runs as a program, with the plotting library if needed. */
import { unzipSync } from "fflate";
import { Interpreter, type Files } from "./interpreter";
import type { Rest } from "./rest";
import PROGRAM from "./program.py";

export interface Begin {
  module: WebAssembly.Module;
  files: Files;
  plots: Uint8Array | undefined;
  rest: Rest | undefined;
  path: string;
  text: string;
}

/** The output of a program, its error, and its figures as SVG. */
export interface Shown {
  printed: string;
  error: string;
  figures: string[];
}

const OUTPUT = 16 * 1024 * 1024;

onmessage = async ({ data }: MessageEvent<Begin>) => {
  const files = new Map(data.files);
  const plots = data.plots ? unzipSync(data.plots) : {};
  for (const [path, content] of Object.entries(plots)) files.set(`plots/${path}`, content);
  const interpreter = await Interpreter.open(data.module, files, OUTPUT, data.rest);
  interpreter.turn(`${PROGRAM}\nprepare()`);
  const done = interpreter.turn(`run(${JSON.stringify(data.path)}, ${JSON.stringify(data.text)})`);
  const printed = new TextDecoder().decode(done.stdout);
  const drawn = done.ended ? undefined : interpreter.turn("print(figures())");
  const figures = drawn?.exit === 0 ? (JSON.parse(new TextDecoder().decode(drawn.stdout)) as string[]) : [];
  const error = [done.stderr, done.trapped, drawn?.stderr].filter(Boolean).join("\n");
  postMessage({ printed, error, figures } satisfies Shown);
};
