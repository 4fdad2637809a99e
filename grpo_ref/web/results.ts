/** The view of a report: the likely mistake, a row for each test with failed tests first, and the printed output. */
import { element } from "./elements";
import type { Report, Test } from "./engine";
import type { Shown } from "./program";

const LINE = /^(line (\d+))(?=[:,])/gm;
const FRAME = /(?<=^  File "[^"]*", )(line (\d+))/gm;

/**
 * @param goTo - called with a line number of the answer when the reader clicks on it
 */
export function results(report: Report, goTo: (line: number) => void): HTMLElement[] {
  const told = [report.diagnosis, report.symptom].filter(Boolean).map((text) => element("p", text, "mistake"));
  const printed = report.printed ? [element("h3", "Printed"), element("pre", report.printed)] : [];
  const failedFirst = [...report.tests].sort((one, other) => Number(one.passed) - Number(other.passed));
  return [...told, ...failedFirst.map((test) => row(test, goTo)), ...printed];
}

/** Return the elements that show a program's output and figures. */
export function output(shown: Shown, goTo: (line: number) => void): HTMLElement[] {
  const figures = shown.figures.map((svg, number) => {
    const image = document.createElement("img");
    image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
    image.alt = `Figure ${number + 1}, drawn by your program`;
    return image;
  });
  const printed = shown.printed ? [element("pre", shown.printed)] : [];
  return [...printed, ...figures, ...(shown.error ? [linked(shown.error, FRAME, goTo)] : [])];
}

function row(test: Test, goTo: (line: number) => void): HTMLElement {
  const made = document.createElement("details");
  made.className = test.passed ? "passed" : "failed";
  made.open = !test.passed;
  made.append(element("summary", `${test.passed ? "passed" : "failed"}: ${test.name}`));
  const lines = [test.wrong, test.why, test.likely && `Perhaps: ${test.likely}`, ...test.warnings].filter(Boolean);
  made.append(...lines.map((line) => element("p", line)));
  const called = [test.called, test.returned && `-> ${test.returned}`].filter(Boolean).join("\n");
  if (called) made.append(test.raised ? linked(called, LINE, goTo) : element("pre", called));
  if (test.printed) made.append(element("pre", test.printed));
  return made;
}

/** Return a traceback whose line numbers are links to the editor's lines. */
function linked(text: string, lines: RegExp, goTo: (line: number) => void): HTMLElement {
  const made = element("pre", "");
  let at = 0;
  for (const found of text.matchAll(lines)) {
    const link = document.createElement("button");
    link.className = "line";
    link.textContent = found[1];
    link.onclick = () => goTo(Number(found[2]));
    made.append(text.slice(at, found.index), link);
    at = found.index + found[1].length;
  }
  made.append(text.slice(at));
  return made;
}
