/** What the pages that compute have in common: Python for them, and a line that says what goes on. */
import { place } from "./elements";
import { load, Python } from "./python";
import { kept } from "./served";

export function tell(text: string): void {
  place("status").textContent = text;
}

/** Python with what the code imports; the page goes on with it, or says why there is none. */
export async function withPython(code: string, go: (python: Python) => Promise<void>): Promise<void> {
  tell("Loading Python, about 50 MB the first time; then it is kept here ...");
  try {
    await kept().catch(() => undefined); // without it everything works, but is loaded again on the next visit
    const python = new Python(await load(), "worker.js", code);
    await python.begin();
    await go(python);
    tell("Ready.");
  } catch (error) {
    tell(`Python could not be loaded: ${said(error)}`);
  }
}

const COLOR = /\x1b\[[0-9;]*m/g;

/** What an error says: of Python's, the last line, without its color. */
export function said(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(COLOR, "").trim().split("\n").at(-1) ?? "";
}
