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

/** What an error says: of Python's, the last line. */
export function said(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.trim().split("\n").at(-1) ?? "";
}
