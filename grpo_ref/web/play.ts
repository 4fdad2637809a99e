/** The playground: two runs with their own settings on one task, trained in turns and drawn as they train. */
import { Chart, legend, round } from "./chart";
import { said, tell, withPython } from "./computing";
import { Amount, Choice, type Limits } from "./controls";
import { element, place } from "./elements";
import * as link from "./link";
import { Run, type Choices, type Row } from "./play_run";
import type { Python } from "./python";

type Begun = { error: string } | { notes: string[] };

/** By setting: its label, limits, first value, and a sentence on it. */
const SHARED: Record<string, [string, Limits, number, string]> = {
  updates: ["Updates", { low: 1, high: 500, step: 1 }, 100, "Number of batches that are sampled and trained on."],
  seeds: ["Number of seeds", { low: 1, high: 32, step: 1 }, 4, "Number of independent runs behind each curve."],
  seed: ["Base seed", { low: 0, high: 999, step: 1 }, 0, "Another number gives other random completions."],
};
const START = { task: "names", "b.recipe": "dapo" };
const PIECE = matchMedia("(prefers-reduced-motion: reduce)").matches ? 2 : 0.2; // seconds between two drawings

class Page {
  private readonly task: Choice;
  private readonly shared = new Map<string, Amount>();
  private readonly runs: Run[];
  private charts = new Map<string, Chart>();
  private isTraining = false;

  constructor(
    private readonly python: Python,
    private readonly choices: Choices,
  ) {
    this.task = new Choice(place("shared"), "task", "Task", choices.tasks, () => {
      this.takeTask();
      this.changed();
    });
    for (const [id, [label, limits, start, about]] of Object.entries(SHARED)) {
      const amount = new Amount(place("shared"), id, label, limits, () => this.changed(), about);
      amount.value = start;
      this.shared.set(id, amount);
    }
    this.runs = ["a", "b"].map((name) => new Run(name, choices, () => this.changed()));
    place("train").onclick = () => void this.train();
    place("stop").onclick = () => (this.isTraining = false);
    place("copy").onclick = () => void this.copy();
    addEventListener("hashchange", () => location.reload());
    this.restore();
    place<HTMLButtonElement>("train").disabled = false;
  }

  /** Read the settings from the address, and draw empty charts. */
  private restore(): void {
    const settings: Record<string, string> = { ...START, ...link.read() };
    this.task.value = settings.task;
    this.takeTask();
    for (const [id, amount] of this.shared) {
      if (id in settings) amount.value = Number(settings[id]);
    }
    for (const run of this.runs) {
      run.restore(within(settings, `${run.name}.`));
      run.clear();
    }
    this.clear();
  }

  private takeTask(): void {
    const settings = this.choices.tasks.find(({ name }) => name === this.task.value)?.settings ?? {};
    (this.shared.get("updates") as Amount).value = settings.updates;
    for (const run of this.runs) run.takeTask(settings);
  }

  private get settings(): Record<string, string | number> {
    const shared = [...this.shared].map(([id, amount]) => [id, amount.value]);
    return { task: this.task.value, ...Object.fromEntries(shared) };
  }

  private changed(): void {
    const own = this.runs.flatMap(({ name, settings }) =>
      Object.entries(settings).flatMap(([id, value]) => (value === null ? [] : [[`${name}.${id}`, value]])),
    );
    link.write({ ...this.settings, ...Object.fromEntries(own) });
  }

  private async copy(): Promise<void> {
    this.changed();
    await navigator.clipboard.writeText(location.href).then(
      () => tell("The link has been copied."),
      () => tell("This browser does not let the page copy the link. Copy it from the address bar."),
    );
  }

  /** Train both runs to the end, or until the reader stops them. */
  async train(): Promise<void> {
    if (this.isTraining) return;
    this.changed();
    this.setTraining(true);
    try {
      if (await this.begin()) await this.advance();
    } catch (error) {
      tell(said(error));
    }
    this.setTraining(false);
  }

  private setTraining(isTraining: boolean): void {
    this.isTraining = isTraining;
    for (const id of ["shared", "a", "b"]) place<HTMLFieldSetElement>(id).disabled = isTraining;
    const [on, off] = isTraining ? ["stop", "train"] : ["train", "stop"];
    const hasFocus = document.activeElement === place(off);
    place<HTMLButtonElement>(on).disabled = false;
    place<HTMLButtonElement>(off).disabled = true;
    if (hasFocus) place(on).focus();
  }

  /** Begin both runs. Return false if the settings of a run are refused. */
  private async begin(): Promise<boolean> {
    const notes: HTMLElement[] = [];
    for (const run of this.runs) {
      run.clear();
      const begun = await this.python.call<Begun>("runs.begin", run.name, { ...this.settings, ...run.settings });
      if ("error" in begun) {
        tell(`${run.label}: ${begun.error}`);
        return false;
      }
      notes.push(...begun.notes.map((note) => element("p", `${run.label}. ${note}`, "note")));
    }
    place("notes").replaceChildren(...notes);
    this.clear();
    return true;
  }

  private async advance(): Promise<void> {
    const updates = Number(this.settings.updates);
    tell("Training ...");
    while (this.isTraining && this.runs.some((run) => run.rows.length < updates)) {
      for (const { name, rows } of this.runs.filter((run) => run.rows.length < updates)) {
        rows.push(...(await this.python.call<Row[]>("runs.advance", name, PIECE)));
      }
      this.draw();
    }
    const done = Math.min(...this.runs.map((run) => run.rows.length));
    tell(done < updates ? `Stopped after ${done} of ${updates} updates.` : `Trained: ${updates} updates of each run.`);
  }

  /** Make new charts, as wide as the number of updates. */
  private clear(): void {
    place("charts").replaceChildren();
    place("legend").replaceChildren(...legend(this.runs.map((run) => run.label)));
    const across = [0, Number(this.settings.updates)] as const;
    const panels = Object.entries(this.choices.panels);
    this.charts = new Map(panels.map(([name, y]) => [name, new Chart(place("charts"), { x: "update", y }, across)]));
    this.draw();
  }

  private draw(): void {
    for (const [name, chart] of this.charts) {
      const words = this.runs.map((run) => `${run.label}, ${inWords(run.rows.at(-1)?.[name])}`);
      chart.draw(this.runs.map((run) => run.line(name)), words.join("; "));
    }
    place("rows").replaceChildren(...Object.entries(this.choices.panels).map(([name, y]) => this.row(name, y)));
  }

  private row(name: string, label: string): HTMLElement {
    const [made, head] = [document.createElement("tr"), element("th", label)];
    head.setAttribute("scope", "row");
    made.append(head, ...this.runs.map((run) => cell(run.rows.at(-1)?.[name])));
    return made;
  }
}

/** Return the settings whose names have this beginning, by the rest of their names. */
function within(settings: Record<string, string>, beginning: string): Record<string, string> {
  const found = Object.entries(settings).filter(([name]) => name.startsWith(beginning));
  return Object.fromEntries(found.map(([name, value]) => [name.slice(beginning.length), value]));
}

function inWords(measured: Row[string] | undefined): string {
  if (measured === undefined) return "not trained yet";
  return measured === null ? "not finite" : `now ${round(measured[0], 4)}`;
}

/** Return a cell of the table; its data element has the number with all digits. */
function cell(measured: Row[string] | undefined): HTMLElement {
  if (!measured) return element("td", measured === null ? "not finite" : "\u2013", "number");
  const [made, data] = [element("td", "", "number"), document.createElement("data")];
  const [mean, low, high] = measured.map((value) => round(value, 4));
  [data.value, data.textContent] = [String(measured[0]), mean];
  made.append(data, element("span", `${low} to ${high}`, "spread"));
  return made;
}

async function begin(python: Python): Promise<void> {
  const isShared = Object.keys(link.read()).length > 0;
  const page = new Page(python, await python.call<Choices>("choices"));
  if (isShared) setTimeout(() => void page.train()); // a shared link shows its curves without a click
}

void withPython("from grpo_ref.web.play import Runs, choices\nruns = Runs()", begin);
