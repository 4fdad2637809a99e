/** The page that reports what happened in a training run, as `grpo-ref diagnose` does. */
import { said, tell, withPython } from "./computing";
import { anchor, element, place, site } from "./elements";
import type { Python } from "./python";

/** See `text.Entry`. */
interface Entry {
  mark: "!" | "~" | "=" | "";
  title: string;
  lines: string[];
  page: string;
}

interface Report {
  heading: string;
  counts: Partial<Record<keyof typeof COUNTED, number>>;
  sections: { heading: string; entries: Entry[] }[];
}

/** The files of a run. */
interface Given {
  logs: File[];
  launch: File | undefined;
}

const MOST_MEGABYTES = 64;
const LAUNCHES = /\.(sh|bash|zsh|slurm|sbatch|py|ya?ml|toml)$/i;
const COUNTED = {
  contradiction: "Differences from the launch file",
  violation: "broken relations",
  pattern: "patterns",
  remark: "right, though alarming",
};
const KINDS = { "!": "exact", "~": "pattern", "=": "right", "": "" };

const logs = place<HTMLInputElement>("logs");
const launch = place<HTMLInputElement>("launch");
const pasted = place<HTMLTextAreaElement>("text");

class Page {
  private isReading = false;
  private stopped = Promise.resolve();

  constructor(private readonly python: Python) {
    const form = place<HTMLFormElement>("form");
    form.onsubmit = (event) => {
      event.preventDefault();
      this.diagnose();
    };
    pasted.onkeydown = (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    };
    pasted.oninput = () => (logs.value = "");
    logs.onchange = () => this.chosen();
    launch.onchange = () => this.diagnose();
    place("example").onclick = () => this.example();
    place("stop").onclick = () => (this.stopped = this.python.stop());
    place("clear").onclick = () => {
      form.reset();
      place("report").replaceChildren();
      tell("");
    };
    this.letDrop();
    this.reading(false);
  }

  /** Take files that are dropped anywhere on the page. */
  private letDrop(): void {
    const over = (is: boolean) => place("drop").classList.toggle("over", is);
    document.addEventListener("dragover", (event) => {
      event.preventDefault();
      over(true);
    });
    document.addEventListener("dragleave", (event) => over(event.relatedTarget !== null));
    document.addEventListener("drop", (event) => {
      over(false);
      const dropped = event.dataTransfer ? [...event.dataTransfer.files] : [];
      if (dropped.length === 0) return; // a text goes where it was dropped
      event.preventDefault();
      const [launches, others] = [true, false].map((is) => dropped.filter(({ name }) => LAUNCHES.test(name) === is));
      if (launches.length > 0) launch.files = listed(launches.slice(-1));
      if (others.length > 0) logs.files = listed(others);
      others.length > 0 ? this.chosen() : this.diagnose();
    });
  }

  private chosen(): void {
    if (logs.files?.length) pasted.value = "";
    this.diagnose();
  }

  private example(): void {
    this.busy("Training the example ...", async () => {
      const made = await this.python.call<{ log: string; launch: string }>("example");
      logs.value = "";
      pasted.value = made.log;
      launch.files = listed([new File([made.launch], "example.py")]);
      await this.report();
    });
  }

  private diagnose(): void {
    this.busy("Reading ...", () => this.report());
  }

  /** Do one thing at a time, and tell its error. */
  private busy(doing: string, act: () => Promise<void>): void {
    if (this.isReading) return;
    tell(doing);
    this.reading(true);
    act()
      .catch(async (error: unknown) => {
        const isStopped = said(error) === "stopped";
        if (isStopped) tell("Stopping ...");
        else refuse(`${said(error)} \u2013 \`grpo-ref diagnose\` in a terminal may be able to read it.`);
        await (isStopped ? this.stopped : this.python.stop()); // Python may have run out of memory
        if (isStopped) tell("Stopped.");
      })
      .finally(() => this.reading(false));
  }

  private reading(is: boolean): void {
    this.isReading = is;
    for (const id of ["run", "example"]) place<HTMLButtonElement>(id).disabled = is;
    place<HTMLButtonElement>("stop").disabled = !is;
  }

  private async report(): Promise<void> {
    const given: Given = { logs: [...(logs.files ?? [])], launch: launch.files?.[0] };
    if (given.logs.length === 0 && pasted.value.trim()) given.logs = [pastedFile(pasted.value)];
    const files = given.launch ? [...given.logs, given.launch] : given.logs;
    const megabytes = files.reduce((sum, { size }) => sum + size, 0) / 1e6;
    if (given.logs.length === 0) tell("There is no log yet: drop a file, choose one, or paste its text.");
    else if (megabytes > MOST_MEGABYTES) {
      refuse(
        `These files have ${Math.ceil(megabytes)} MB, and this page reads at most ${MOST_MEGABYTES} MB.` +
          " `grpo-ref diagnose` in a terminal reads logs of any size.",
      );
    } else {
      const paths = await this.python.give(files);
      const launched = given.launch ? (paths.pop() as string) : "";
      const found = await this.python.call<Report | { error: string }>("diagnosed", paths, launched);
      "error" in found ? refuse(found.error) : show(found);
    }
  }
}

function refuse(why: string): void {
  place("report").replaceChildren(element("p", why, "mistake"));
  tell("This log cannot be read; see the message below.");
}

function show({ heading, counts, sections }: Report): void {
  const parts = sections.map(({ heading, entries }) => {
    const part = document.createElement("section");
    part.append(element("h2", heading[0].toUpperCase() + heading.slice(1)));
    if (entries.every(({ mark }) => mark === "")) {
      const list = document.createElement("ul");
      list.append(...entries.map(({ title }) => element("li", title)));
      part.append(list);
    } else part.append(...entries.map(statement));
    return part;
  });
  place("report").replaceChildren(element("p", heading), ...parts);
  const kinds = Object.keys(COUNTED) as (keyof typeof COUNTED)[];
  tell(`Read. ${kinds.map((kind) => `${COUNTED[kind]}: ${counts[kind] ?? 0}`).join("; ")}.`);
}

/** Return an entry of the report. Its kind is a word and a mark, not only a color. */
function statement({ mark, title, lines, page }: Entry): HTMLElement {
  const made = document.createElement("div");
  made.className = `statement ${KINDS[mark]}`;
  const head = element("h3", title);
  head.prepend(element("span", `${mark} ${KINDS[mark]}`, "mark"), " ");
  made.append(head, ...lines.map((line) => element("p", line)));
  if (page) {
    const symptoms = site() === "" ? "symptoms.html" : `${site()}howto/symptoms.html`;
    const line = document.createElement("p");
    line.append(anchor(`More on \u201c${page.replaceAll("-", " ")}\u201d`, `${symptoms}#${page}`));
    made.append(line);
  }
  return made;
}

/** Return files as a file field holds them. */
function listed(files: File[]): FileList {
  const all = new DataTransfer();
  for (const file of files) all.items.add(file);
  return all.files;
}

/** Return a pasted text as a file. Its ending tells the format, as that of a dropped file does. */
function pastedFile(text: string): File {
  return new File([text], `pasted text.${ending(text)}`);
}

function ending(text: string): string {
  try {
    const data: unknown = JSON.parse(text);
    return typeof data === "object" && data !== null && "nbformat" in data ? "ipynb" : "json";
  } catch {
    return /^[^{}:,]+(,[^{}:,]+)+$/.test(text.trim().split("\n")[0].trim()) ? "csv" : "log";
  }
}

void withPython("from grpo_ref.web.diagnose import diagnosed, example", async (python) => void new Page(python));
