/** Shared parts of the pages that compute: Python, and a line with the current status. */
import { place } from "./elements";
import { load, Python } from "./python";
import { kept } from "./served";

export function tell(text: string): void {
  place("status").textContent = text;
}

/** Load Python with the imports of the code, then call the page's function with it, or show the error. */
export async function withPython(code: string, go: (python: Python) => Promise<void>): Promise<void> {
  tell("Loading Python ...");
  try {
    await kept().catch(() => undefined); // without it everything works, but is loaded again on the next visit
    const python = new Python(await load(tell), "worker.js", code);
    await python.begin();
    await go(python);
    tell("Ready.");
  } catch (error) {
    tell(`Python could not be loaded: ${said(error)}`);
  }
}

const COLOR = /\x1b\[[0-9;]*m/g;

/** Return the message of an error; of a Python error the last line, without color. */
export function said(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(COLOR, "").trim().split("\n").at(-1) ?? "";
}
