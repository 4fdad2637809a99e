/** The page of the course: the list of exercises, and one of them with its statement, an editor and the tests. */
import { Editor } from "./editor";
import { anchor, element, place } from "./elements";
import { Engine, type Report } from "./engine";
import * as exchange from "./exchange";
import { choose, ENGLISH, preferred, TAGS, translations } from "./language";
import { output, results } from "./results";
import { isolated } from "./served";
import * as work from "./work";

interface Exercise {
  id: string;
  file: string;
  title: string;
  difficulty: string;
  points: number;
  hints: number;
  begun: string; // the code with which the editor starts
}

/** What is shown of one exercise, in the file of its chapter. */
interface Details {
  statement: string;
  head: string; // of a student's file, above the code: the statement
  hints: string[];
  answer: string;
}

interface Chapter {
  id: string;
  title: string;
  address: string; // of its page in the site, or ""
  exercises: Exercise[];
}

const SEEDS = 2 ** 32;
const AROUND = 40; // height kept visible around an item of the list, which can grow by a line, in pixels
const RESULTS = 150; // height of the results that a reader sees without scrolling, in pixels

function codeOf(file: string, head: string): string {
  return file.startsWith(head) ? file.slice(head.length).trimStart() : file;
}

class Page {
  private readonly exercises: Map<string, Exercise>;
  private readonly links = new Map<string, HTMLAnchorElement>();
  private readonly editor = new Editor(place("editor"), (text) => this.typed(text), () => void this.run());
  private exercise!: Exercise;
  private engine: Engine | undefined;
  private isFilling = false;
  private opened: Exercise[] = []; // not graded yet
  private language = "en";
  private translations = ENGLISH;
  private readonly grading = place("grading").innerHTML;
  private readonly headings = new Map<Chapter, HTMLElement>();

  constructor(private readonly chapters: Chapter[]) {
    this.exercises = new Map(chapters.flatMap(({ exercises }) => exercises.map((each) => [each.id, each] as const)));
    for (const chapter of chapters) this.list(chapter);
    this.nameChapters();
    place("run").onclick = () => void this.run();
    place("program").onclick = () => void this.program();
    place("stop").onclick = () => void this.stop();
    place("reset").onclick = () => this.reset();
    place("restore").onclick = () => this.restore();
    place("hint").onclick = () => this.hint();
    place("answer").onclick = () => void this.answer();
    place("export").onclick = () => void this.export();
    const files = place<HTMLInputElement>("import");
    files.onchange = async () => {
      if (files.files) await this.import(files.files);
      files.value = ""; // the same file can be chosen again
    };
    place("skip").onclick = () => {
      this.editor.focus();
      return false; // the address names the exercise
    };
    addEventListener("hashchange", () => void this.show());
    const languages = place<HTMLSelectElement>("language");
    languages.onchange = () => {
      choose(languages.value);
      void this.speak(languages.value);
    };
  }

  /** Show the first exercise, in the reader's language. */
  async begin(): Promise<void> {
    await this.show();
    await this.speak(preferred());
  }

  /** Show the statements in a language. */
  private async speak(language: string): Promise<void> {
    if (language === this.language) return;
    this.translations = await translations(language);
    this.language = place<HTMLSelectElement>("language").value = language;
    this.nameChapters();
    place("grading").innerHTML = this.translations.grading ?? this.grading; // of `statements.py`
    place("grading").lang = TAGS[language];
    for (const exercise of this.exercises.values()) this.mark(exercise);
    await this.show();
  }

  /** Return how an exercise is named: its title, what it is worth, and their language. */
  private shown(exercise: Exercise): { title: string; about: string; lang: string } {
    const about = `${exercise.difficulty}, ${counted(exercise.points, "point")}`;
    const translation = this.translations.exercises[exercise.id];
    return { title: exercise.title, about, ...translation, lang: TAGS[translation ? this.language : "en"] };
  }

  async start(): Promise<void> {
    this.engine = await Engine.open((text) => this.tellLoading(text));
    this.tell("Ready.");
    this.allow(true);
    await this.gradeOpened();
    for (const { id } of this.chapters) keepForLater(fileOf(id));
  }

  tell(text: string): void {
    place("status").textContent = text;
  }

  /** Show what is loaded: below the editor, and above it, where the reader of a long exercise sees it. */
  tellLoading(text: string): void {
    this.tell(text);
    place("loading").textContent = text;
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
    const heading = element("h2", "");
    const title = chapter.address ? anchor("", chapter.address) : element("span", "");
    heading.append(title);
    this.headings.set(chapter, title);
    place("chapters").append(heading, items);
  }

  private nameChapters(): void {
    for (const [chapter, heading] of this.headings) {
      const translation = this.translations.chapters[chapter.id];
      heading.textContent = translation ?? chapter.title;
      heading.lang = TAGS[translation ? this.language : "en"];
    }
  }

  /** Show the student's progress in the list. */
  private mark(exercise: Exercise): void {
    const all = [...this.exercises.values()];
    const solved = all.filter(({ id }) => work.read(id)?.passed);
    const points = (of: Exercise[]) => of.reduce((sum, each) => sum + each.points, 0);
    place("progress").textContent =
      `${solved.length} of ${all.length} solved, ${points(solved)} of ${points(all)} points`;
    const done = work.read(exercise.id);
    const state = done?.passed ? "passed" : done && done.text !== exercise.begun ? "begun" : "new";
    const link = this.links.get(exercise.id);
    if (link === undefined) return;
    const { title, lang } = this.shown(exercise);
    const name = element("span", title);
    name.lang = lang;
    link.replaceChildren(name);
    link.className = state;
    const reached = element("span", state === "new" ? `${exercise.points}` : state, "reached");
    if (state === "new") reached.setAttribute("aria-label", counted(exercise.points, "point"));
    link.append(reached);
  }

  /** Show the exercise of the address. Its statement may have to be loaded. */
  async show(): Promise<void> {
    const named = decodeURIComponent(location.hash.slice(1));
    const exercise = this.exercises.get(named) ?? this.chapters[0].exercises[0];
    this.exercise = exercise;
    for (const [id, link] of this.links) {
      if (id === exercise.id) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    scrollInside(place("exercises"), this.links.get(exercise.id));
    const { title, about, lang } = this.shown(exercise);
    document.title = `${title} - grpo_ref`;
    place("title").textContent = title;
    place("about").textContent = about;
    for (const id of ["title", "about", "statement", "hints"]) place(id).lang = lang;
    document.documentElement.lang = lang; // of the title too; what is always English says so itself
    place("results").replaceChildren();
    place("hints").replaceChildren();
    place("solution").replaceChildren();
    place("restore").hidden = work.copy(exercise.id) === undefined;
    this.tellNext();
    if (!place<HTMLButtonElement>("run").disabled) this.tell(""); // the verdict was on another text
    this.fill(work.read(exercise.id)?.text ?? exercise.begun);
    const details = await this.detailsOf(exercise).catch((error: unknown) => String(error));
    if (exercise !== this.exercise) return; // the reader has gone on
    if (typeof details === "string") return this.tell(`The statement cannot be loaded: ${details}.`);
    place("statement").innerHTML = details.statement; // of `statements.py`
    await this.tellHints(work.read(exercise.id)?.hints ?? 0);
  }

  private async detailsOf({ id }: Exercise): Promise<Details> {
    const details = (await chapterOf(id.slice(0, id.indexOf("/"))))[id];
    return { ...details, ...this.translations.exercises[id] };
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
    const exercise = this.exercise;
    await this.busy("Grading ...", async (engine, text) => {
      const report = await this.grade(engine, exercise, text);
      if (exercise === this.exercise) this.report(report);
      else this.tell(`${exercise.title}: ${report.status}.`);
    });
  }

  /** Grade a text on inputs that nobody has seen, and store the progress. */
  private async grade(engine: Engine, exercise: Exercise, text: string): Promise<Report> {
    const report = await engine.grade(exercise.id, text, Math.floor(Math.random() * SEEDS));
    this.keep({ passed: report.status === "passed", points: report.points }, exercise);
    return report;
  }

  /** Run the text in the editor as a program. */
  private async program(): Promise<void> {
    const exercise = this.exercise;
    await this.busy("Running ...", async (engine, text) => {
      const shown = await engine.run(nameOf(exercise.file), text);
      this.tell(shown.error ? "The program ended with an error." : "The program has run.");
      if (exercise !== this.exercise) return;
      place("results").replaceChildren(...output(shown, (line) => this.editor.goTo(line)));
      bringIntoView(place("status"));
    });
  }

  /** Store the text and work with it. Meanwhile nothing else can be started, but the work can be stopped. */
  private async busy(told: string, work: (engine: Engine, text: string) => Promise<void>): Promise<void> {
    if (this.engine === undefined || place<HTMLButtonElement>("run").disabled) return;
    this.allow(false);
    this.tell(told);
    this.keep({ text: this.editor.text });
    try {
      await work(this.engine, this.editor.text);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.tell(`${why[0].toUpperCase()}${why.slice(1)}.`);
    }
    this.allow(true);
  }

  /** Enable the buttons that start something, or else the one that stops it. */
  private allow(begin: boolean): void {
    place("loading").textContent = "";
    place<HTMLInputElement>("import").disabled = !begin;
    place<HTMLButtonElement>("run").disabled = place<HTMLButtonElement>("program").disabled = !begin;
    place<HTMLButtonElement>("stop").disabled = begin;
  }

  private async stop(): Promise<void> {
    place<HTMLButtonElement>("stop").disabled = true;
    await this.engine?.stop();
  }

  private report(report: Report): void {
    const passed = report.tests.filter((test) => test.passed).length;
    const verdict = report.status === "passed" ? "Passed" : "Not yet";
    const counts = `${passed} of ${counted(report.tests.length, "test")}, ${report.points} of ${counted(report.of, "point")}`;
    this.tell(report.status === "not started" ? "Not started: write your answer first." : `${verdict}: ${counts}.`);
    place("results").replaceChildren(...results(report, (line) => this.editor.goTo(line)));
    this.tellNext();
    bringIntoView(place("status"));
  }

  /** After an exercise is solved, link to the next exercise that is not. */
  private tellNext(): void {
    if (!work.read(this.exercise.id)?.passed) return place("next").replaceChildren();
    const all = [...this.exercises.values()];
    const at = all.indexOf(this.exercise);
    const next = [...all.slice(at), ...all.slice(0, at)].find(({ id }) => !work.read(id)?.passed);
    if (next === undefined) return place("next").replaceChildren("You have solved all exercises.");
    const link = anchor(`Next: ${this.shown(next).title}`, `#${next.id}`);
    link.onclick = () => place("title").focus(); // the statement is read first
    place("next").replaceChildren(link);
  }

  private reset(): void {
    if (!confirm("Start this exercise again? A copy of your text is kept.")) return;
    this.keepCopy(this.exercise);
    work.forget(this.exercise.id);
    this.mark(this.exercise);
    void this.show();
  }

  /** Keep a copy of the text, unless it is the starter. */
  private keepCopy(exercise: Exercise): void {
    if (work.read(exercise.id)?.text !== exercise.begun) work.keepCopy(exercise.id);
  }

  private restore(): void {
    work.restore(this.exercise.id);
    this.mark(this.exercise);
    void this.show();
  }

  private hint(): void {
    const shown = Math.min(place("hints").childElementCount + 1, this.exercise.hints);
    void this.tellHints(shown);
    this.keep({ hints: shown });
  }

  private async tellHints(shown: number): Promise<void> {
    const exercise = this.exercise;
    const { hints } = await this.detailsOf(exercise);
    if (exercise !== this.exercise) return;
    place("hints").replaceChildren(...hints.slice(0, shown).map((text) => element("li", text)));
    const isLast = shown >= hints.length;
    place("hint").textContent = isLast ? "No more hints" : `Hint ${shown + 1} of ${hints.length}`;
    place<HTMLButtonElement>("hint").disabled = isLast;
  }

  private async answer(): Promise<void> {
    const exercise = this.exercise;
    const hasPassed = work.read(exercise.id)?.passed;
    if (!hasPassed && !confirm("You have not passed this exercise yet. Show the model answer?")) return;
    const { answer } = await this.detailsOf(exercise);
    if (exercise === this.exercise) place("solution").replaceChildren(element("pre", answer));
  }

  /** Offer every exercise that was begun as a file to download. */
  private async export(): Promise<void> {
    const files = new Map<string, string>();
    for (const exercise of this.exercises.values()) {
      const done = work.read(exercise.id);
      if (!done || done.text === exercise.begun) continue;
      files.set(exercise.file, `${(await this.detailsOf(exercise)).head}\n\n${done.text}`);
    }
    if (files.size) exchange.offer(exchange.zipped(files), `${exchange.FOLDER}.zip`);
    this.tellMoved(`Saved: ${counted(files.size, "exercise")}.`);
  }

  /** Open files of exercises. The student's text is replaced only after a question. */
  private async import(chosen: FileList): Promise<void> {
    const files = await exchange.chosen(chosen).catch((error: unknown) => String(error));
    if (typeof files === "string") return this.tellMoved(`These files cannot be read: ${files}.`);
    const changed = new Map<Exercise, string>();
    const opened: Exercise[] = [];
    let strange = 0;
    for (const [path, file] of files) {
      const exercise = [...this.exercises.values()].find((each) => nameOf(each.file) === nameOf(path));
      if (exercise === undefined) strange += 1;
      else {
        const text = codeOf(file, (await this.detailsOf(exercise)).head);
        if (text !== (work.read(exercise.id)?.text ?? exercise.begun)) changed.set(exercise, text);
        if (text !== exercise.begun) opened.push(exercise);
      }
    }
    const lost = [...changed.keys()].filter(({ id }) => work.read(id));
    const titles = lost.map(({ title }) => title).join(", ");
    if (lost.length && !confirm(`Replace your text of these exercises: ${titles}? A copy of each is kept.`)) return;
    for (const [exercise, text] of changed) {
      this.keepCopy(exercise);
      this.keep({ text, passed: false, points: 0 }, exercise);
    }
    if (changed.size) await this.show();
    this.tellMoved(`Opened: ${counted(changed.size, "exercise")}. Not an exercise: ${counted(strange, "file")}.`);
    this.opened = opened.filter(({ id }) => !work.read(id)?.passed);
    await this.gradeOpened();
  }

  /** Grade the opened exercises: files hold texts without progress. */
  private async gradeOpened(): Promise<void> {
    if (!this.opened.length) return;
    await this.busy("Grading the opened files ...", async (engine) => {
      const all = this.opened.splice(0);
      let solved = 0;
      for (const [at, exercise] of all.entries()) {
        this.tell(`Grading the opened files: ${at + 1} of ${all.length} ...`);
        const report = await this.grade(engine, exercise, work.read(exercise.id)?.text ?? "");
        solved += Number(report.status === "passed");
      }
      this.tell(`Graded: ${counted(all.length, "opened exercise")}, ${solved} solved.`);
    });
  }

  private tellMoved(text: string): void {
    place("moved").textContent = text;
  }
}

/** Scroll a list, and nothing around it, as little as needed to show one of its items. */
function scrollInside(list: HTMLElement, item: HTMLElement | undefined): void {
  if (item === undefined) return;
  const [outer, inner] = [list.getBoundingClientRect(), item.getBoundingClientRect()];
  const [above, below] = [inner.top - outer.top - AROUND, inner.bottom - outer.bottom + AROUND];
  if (above < 0) list.scrollTop += above;
  else if (below > 0) list.scrollTop += below;
}

/** Scroll until the verdict and the beginning of the results below it are visible, unless they are already. */
function bringIntoView(verdict: HTMLElement): void {
  const { top, bottom } = verdict.getBoundingClientRect();
  if (top >= 0 && bottom + RESULTS <= innerHeight) return;
  const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  verdict.scrollIntoView({ block: "start", behavior: isCalm ? "auto" : "smooth" });
}

function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** Let the service worker keep a file that few programs need, so that they need no network either. */
function keepForLater(name: string): void {
  navigator.serviceWorker?.controller?.postMessage(name);
}

const loading = new Map<string, Promise<Record<string, Details>>>();

/** Return the exercises of a chapter by id. Each chapter is loaded once. */
function chapterOf(chapter: string): Promise<Record<string, Details>> {
  const found = loading.get(chapter) ?? fetched(fileOf(chapter)).then((response) => response.json());
  loading.set(chapter, found);
  found.catch(() => loading.delete(chapter));
  return found;
}

function fileOf(chapter: string): string {
  return `chapter-${chapter}.json`;
}

async function fetched(name: string): Promise<Response> {
  const response = await fetch(name);
  if (!response.ok) throw new Error(`${name}: ${response.status}`);
  return response;
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

async function begin(): Promise<void> {
  const page = new Page((await (await fetched("course.json")).json()) as Chapter[]);
  await page.begin();
  const isServed = await isolated().catch(() => crossOriginIsolated);
  if (!isServed) {
    page.tell("No code can run here. This browser, or the server's headers, do not allow it; try another browser.");
    return;
  }
  await page.start().catch((error: unknown) => page.tellLoading(`The judge could not be loaded: ${String(error)}`));
}

void begin();
