/** The page that explains a trainer's configuration, as `grpo-ref explain` does. */
import { said, tell, withPython } from "./computing";
import { element, place } from "./elements";
import type { Python } from "./python";

/** See `explanation.Piece`. */
interface Piece {
  kind:
    | "heading"
    | "paragraph"
    | "note"
    | "formula"
    | "part"
    | "sentence"
    | "equation"
    | "key"
    | "trap"
    | "about"
    | "source";
  text: string;
  name: string;
}

type Explained = { error: string } | { pieces: Piece[]; warnings: string };

const TAGS: Partial<Record<Piece["kind"], string>> = {
  heading: "h2",
  formula: "pre",
  part: "h3",
  equation: "pre",
  trap: "h3",
};

function shown({ kind, text, name }: Piece): HTMLElement {
  const made = element(TAGS[kind] ?? "p", text, kind);
  if (name) made.prepend(element("span", name, "name"), " ");
  return made;
}

async function explain(python: Python): Promise<void> {
  const [trainer, config] = [place<HTMLSelectElement>("trainer").value, place<HTMLTextAreaElement>("config").value];
  const report = await python.call<Explained>("explained", trainer, config, place<HTMLInputElement>("skip").checked);
  if ("error" in report) {
    place("report").replaceChildren(element("p", report.error, "mistake"));
    tell("This configuration cannot be explained; see the message below.");
    return;
  }
  place("report").replaceChildren(...report.pieces.map(shown));
  tell(`Explained, with ${report.warnings}.`);
}

async function begin(python: Python): Promise<void> {
  const trainers = await python.call<Record<string, string>>("trainers");
  place("trainer").replaceChildren(...Object.entries(trainers).map(([name, version]) => new Option(version, name)));
  const form = place<HTMLFormElement>("form");
  form.onsubmit = (event) => {
    event.preventDefault();
    explain(python).catch((error: unknown) => tell(said(error)));
  };
  place("config").onkeydown = (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  };
  place<HTMLButtonElement>("run").disabled = false;
}

void withPython("from grpo_ref.web.explain import explained, trainers", begin);
