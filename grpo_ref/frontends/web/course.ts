/** The page of the course: the list of exercises, and one of them with its statement, an editor and the tests. */
import { Editor } from "./editor";
import { Engine, type Report, type Test } from "./engine";
import { element, place } from "./elements";
import { isolated } from "./served";
import * as work from "./work";

interface Exercise {
  id: string;
  file: string;
  title: string;
  difficulty: string;
  points: number;
  statement: string;
  starter: string;
  hints: string[];
  answer: string;
}

interface Chapter {
  id: string;
  title: string;
  exercises: Exercise[];
}

const SEEDS = 2 ** 32;

/** A starter's code, without the statement that stands above it. */
function codeOf(starter: string): string {
  return starter.slice(starter.indexOf('"""', 3) + 3).trimStart();
}

class Page {
  private readonly exercises: Map<string, Exercise>;
  private readonly links = new Map<string, HTMLAnchorElement>();
  private readonly editor = new Editor(place("editor"), (text) => this.typed(text), () => void this.run());
  private exercise!: Exercise;
  private engine: Engine | undefined;
  private isFilling = false;

  constructor(
    private readonly chapters: Chapter[],
    private readonly megabytes: number,
  ) {
    this.exercises = new Map(chapters.flatMap(({ exercises }) => exercises.map((each) => [each.id, each] as const)));
    for (const chapter of chapters) this.list(chapter);
    place("run").onclick = () => void this.run();
    place("stop").onclick = () => void this.stop();
    place("reset").onclick = () => this.reset();
    place("hint").onclick = () => this.hint();
    place("answer").onclick = () => this.answer();
    addEventListener("hashchange", () => this.show());
    this.show();
  }

  async start(): Promise<void> {
    this.tell(`Loading Python and the judge: ${this.megabytes} MB the first time, then they are kept here ...`);
    this.engine = await Engine.open();
    this.tell("Ready.");
    place<HTMLButtonElement>("run").disabled = false;
  }

  tell(text: string): void {
    place("status").textContent = text;
  }

  private list(chapter: Chapter): void {
    const items = document.createElement("ul");
    for (const exercise of chapter.exercises) {
      const link = document.createElement("a");
      link.href = `#${exercise.id}`;
      this.links.set(exercise.id, link);
      items.append(document.createElement("li"));
      items.lastElementChild?.append(link);
      this.mark(exercise);
    }
    place("chapters").append(element("h2", chapter.title), items);
  }

  /** Show in the list what was reached. */
  private mark(exercise: Exercise): void {
    const all = [...this.exercises.values()];
    const solved = all.filter(({ id }) => work.read(id)?.passed);
    const points = (of: Exercise[]) => of.reduce((sum, each) => sum + each.points, 0);
    place("progress").textContent =
      `${solved.length} of ${all.length} solved, ${points(solved)} of ${points(all)} points`;
    const done = work.read(exercise.id);
    const state = done?.passed ? "passed" : done ? "begun" : "new";
    const link = this.links.get(exercise.id);
    if (link === undefined) return;
    link.textContent = exercise.title;
    link.className = state;
    const reached = element("span", state === "new" ? `${exercise.points}` : state, "reached");
    if (state === "new") reached.setAttribute("aria-label", `${exercise.points} points`);
    link.append(reached);
  }

  private show(): void {
    const named = decodeURIComponent(location.hash.slice(1));
    const exercise = this.exercises.get(named) ?? this.chapters[0].exercises[0];
    this.exercise = exercise;
    for (const [id, link] of this.links) {
      if (id === exercise.id) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    document.title = `${exercise.title} - grpo_ref`;
    place("title").textContent = exercise.title;
    place("about").textContent = `${exercise.difficulty}, ${exercise.points} points`;
    place("statement").replaceChildren(...paragraphs(exercise.statement));
    place("results").replaceChildren();
    this.tellHints(work.read(exercise.id)?.hints ?? 0);
    place("solution").replaceChildren();
    this.fill(work.read(exercise.id)?.text ?? codeOf(exercise.starter));
  }

  private fill(text: string): void {
    this.isFilling = true;
    this.editor.text = text;
    this.isFilling = false;
  }

  private typed(text: string): void {
    if (!this.isFilling) this.keep({ text });
  }

  private keep(change: Partial<work.Work>, exercise = this.exercise): void {
    const before = work.read(exercise.id) ?? { text: this.editor.text, passed: false, points: 0, hints: 0 };
    work.write(exercise.id, { ...before, ...change });
    this.mark(exercise);
  }

  private async run(): Promise<void> {
    const button = place<HTMLButtonElement>("run");
    if (this.engine === undefined || button.disabled) return;
    button.disabled = true;
    place<HTMLButtonElement>("stop").disabled = false;
    this.tell("Grading ...");
    const exercise = this.exercise;
    const text = this.editor.text;
    this.keep({ text });
    try {
      const seed = Math.floor(Math.random() * SEEDS);
      const report = await this.engine.grade(exercise.id, text, seed);
      this.keep({ passed: report.status === "passed", points: report.points }, exercise);
      if (exercise === this.exercise) this.report(report);
      else this.tell(`${exercise.title}: ${report.status}.`);
    } catch (error) {
      this.tell(error instanceof Error && error.message === "stopped" ? "Stopped." : String(error));
    }
    button.disabled = false;
    place<HTMLButtonElement>("stop").disabled = true;
  }

  private async stop(): Promise<void> {
    place<HTMLButtonElement>("stop").disabled = true;
    await this.engine?.stop();
  }

  private report(report: Report): void {
    const passed = report.tests.filter((test) => test.passed).length;
    const verdict = { passed: "Passed", failed: "Not yet", "not started": "Not started" }[report.status];
    this.tell(`${verdict}: ${passed} of ${report.tests.length} tests, ${report.points} of ${report.of} points.`);
    const told = [report.diagnosis, report.symptom].filter(Boolean).map((text) => element("p", text, "mistake"));
    const printed = report.printed ? [element("h3", "Printed"), element("pre", report.printed)] : [];
    place("results").replaceChildren(...told, ...report.tests.map(row), ...printed);
  }

  private reset(): void {
    if (!confirm("Start this exercise again? What you have typed is lost.")) return;
    work.forget(this.exercise.id);
    this.mark(this.exercise);
    this.show();
  }

  private hint(): void {
    const shown = Math.min(place("hints").childElementCount + 1, this.exercise.hints.length);
    this.tellHints(shown);
    this.keep({ hints: shown });
  }

  private tellHints(shown: number): void {
    const hints = this.exercise.hints.slice(0, shown);
    place("hints").replaceChildren(...hints.map((text) => element("li", text)));
  }

  private answer(): void {
    if (!work.read(this.exercise.id)?.passed && !confirm("You have not passed yet. Show the model answer?")) return;
    place("solution").replaceChildren(element("pre", codeOf(this.exercise.answer)));
  }
}

/** A test's row: its name, and what was wrong. */
function row(test: Test): HTMLElement {
  const made = document.createElement("details");
  made.className = test.passed ? "passed" : "failed";
  made.open = !test.passed;
  made.append(element("summary", `${test.passed ? "passed" : "failed"}: ${test.name}`));
  const lines = [test.wrong, test.why, test.likely && `Perhaps: ${test.likely}`].filter(Boolean);
  made.append(...lines.map((line) => element("p", line)));
  if (test.called) made.append(element("pre", test.returned ? `${test.called}\n-> ${test.returned}` : test.called));
  if (test.printed) made.append(element("pre", test.printed));
  return made;
}

/** A statement without its first and last line: headings, lists, what is indented, and text. */
function paragraphs(statement: string): HTMLElement[] {
  const blocks = statement.split(/\n\n+/).slice(1).filter((block) => !block.startsWith("Check me:"));
  return blocks.map((block) => {
    if (block.startsWith("## ")) return element("h2", block.slice(3));
    if (block.startsWith("    ")) return element("pre", block.replace(/^ {4}/gm, ""));
    if (!block.startsWith("- ")) return element("p", block.replace(/\n/g, " "));
    const list = document.createElement("ul");
    list.append(...block.slice(2).split("\n- ").map((item) => element("li", item.replace(/\s*\n\s*/g, " "))));
    return list;
  });
}

async function begin(): Promise<void> {
  const course = (await (await fetch("course.json")).json()) as { chapters: Chapter[]; megabytes: number };
  const page = new Page(course.chapters, course.megabytes);
  const isServed = await isolated().catch(() => crossOriginIsolated);
  if (!isServed) {
    page.tell("No code can run here: this browser, or the way in which the page is served, forbids it.");
    return;
  }
  await page.start().catch((error: unknown) => page.tell(`The judge could not be loaded: ${String(error)}`));
}

void begin();
