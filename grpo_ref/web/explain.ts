/** The page that explains a trainer's configuration, as `grpo-ref explain` does. */
import { said, tell, withPython } from "./computing";
import { anchor, element, place, site } from "./elements";
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
  html: string; // a typeset formula, or ""
  links: [string, string][]; // parts of the text, each with its address from the root of the site
}

type Explained = { error: string } | { pieces: Piece[]; warnings: string; trainer: string };

const TAGS: Partial<Record<Piece["kind"], string>> = {
  heading: "h2",
  part: "h3",
  trap: "h3",
};

function shown(piece: Piece): HTMLElement {
  const { kind, text, name } = piece;
  if (kind === "formula" || kind === "equation") return formula(piece);
  const made = linked(element(TAGS[kind] ?? "p", text, kind), piece.links);
  if (name) made.prepend(element("span", name, "name"), " ");
  return made;
}

/** Return a formula below its name. It is typeset, or else text that wraps. */
function formula({ kind, text, name, html }: Piece): HTMLElement {
  const made = document.createElement("div");
  made.className = kind;
  if (name) made.append(element("p", name, "name"));
  const body = element("p", html ? "" : text, "plain");
  if (html) body.innerHTML = html; // of `render.maths`
  made.append(html ? (body.firstElementChild as Element) : body);
  return made;
}

/** Turn the first occurrence of each text into a link, if this page is a part of the site. */
function linked(made: HTMLElement, links: Piece["links"]): HTMLElement {
  for (const [text, address] of site() === "" ? [] : links) {
    for (const part of [...made.childNodes]) {
      const at = part instanceof Text ? part.data.indexOf(text) : -1;
      if (!(part instanceof Text) || at < 0) continue;
      const rest = part.splitText(at);
      rest.deleteData(0, text.length);
      rest.before(anchor(text, site() + address));
      break;
    }
  }
  return made;
}

async function explain(python: Python): Promise<void> {
  const [trainer, config] = [place<HTMLSelectElement>("trainer"), place<HTMLTextAreaElement>("config").value];
  const chosen = trainer.value;
  const report = await python.call<Explained>("explained", chosen, config, place<HTMLInputElement>("skip").checked);
  if ("error" in report) {
    place("report").replaceChildren(element("p", report.error, "mistake"));
    tell("This configuration cannot be explained; see the message below.");
    return;
  }
  place("report").replaceChildren(...report.pieces.map(shown));
  trainer.value = report.trainer;
  const other = report.trainer === chosen ? "" : ` as a configuration of ${trainer.selectedOptions[0].text}`;
  tell(`Explained${other}, with ${report.warnings}.`);
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
