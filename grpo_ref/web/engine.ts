/** The workers of the course: the judge's, a student's for each answer, and one for each program. */
import { Programs } from "./programs";
import type { Shown } from "./program";
import { load, loadRest, Python, type Loaded } from "./python";
import type { Late } from "./rest";
import type { Begin as BeginStudent } from "./student";

export interface Test {
  name: string;
  passed: boolean;
  called: string;
  returned: string;
  raised: boolean;
  wrong: string;
  why: string;
  likely: string;
  warnings: string[];
  printed: string;
}

/** An exercise of the document that `grpo-ref grade --format json` writes. */
export interface Report {
  status: "passed" | "failed" | "not started";
  points: number;
  of: number;
  seed: number;
  diagnosis: string;
  symptom: string;
  printed: string;
  tests: Test[];
}

/** Requests a new worker, or none if no memory can be shared. */
interface Wanted {
  student: SharedArrayBuffer | null;
  output: number;
}

const BEGIN = `
import _host
from functools import partial
from grpo_ref.web.judge import graded as graded_behind
graded = partial(graded_behind, _host.call)
`;

export class Engine {
  private readonly judge: Python;
  private readonly programs: Programs;
  private student: Worker | undefined;

  private constructor(
    private readonly loaded: Loaded,
    private readonly tell: (text: string) => void,
  ) {
    this.judge = new Python(loaded, "judge.js", BEGIN, (wanted: Wanted) => this.replace(wanted));
    this.programs = new Programs(loaded, tell);
  }

  /**
   * Load Python; resolves when the judge is ready.
   *
   * @param tell - called with what is loaded, and how much of it
   */
  static async open(tell: (text: string) => void): Promise<Engine> {
    const engine = new Engine(await load(tell), tell);
    tell("Starting the judge ...");
    await engine.judge.begin();
    return engine;
  }

  /** Grade a text; a second call waits for the first. */
  async grade(name: string, text: string, seed: number): Promise<Report> {
    await loadRest(this.loaded, text, this.tell);
    return this.judge.call<Report>("graded", name, text, seed);
  }

  /** Run a text as a program, with no judge. */
  run(path: string, text: string): Promise<Shown> {
    return this.programs.run(path, text);
  }

  /** Stop the student's worker and the judge's. Resolves when a new judge is ready. */
  async stop(): Promise<void> {
    if (this.programs.stop()) return;
    this.student?.terminate();
    await this.judge.stop();
  }

  /** Replace the student's worker by a new one. */
  private replace({ student, output }: Wanted): void {
    this.student?.terminate();
    this.student = undefined;
    if (student === null) return;
    this.student = new Worker("student.js");
    this.student.onmessage = ({ data }: MessageEvent<Late>) => this.tell(data.late);
    const { module, library, rest } = this.loaded;
    const begin: BeginStudent = { module, files: library, memory: student, output, rest };
    this.student.postMessage(begin);
  }
}
