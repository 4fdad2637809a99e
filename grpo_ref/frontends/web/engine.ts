/** What a page needs to grade: the judge's worker, and a student's worker for each answer. */
import { load, Python, type Loaded } from "./python";
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

/** A new worker is asked for, or with no memory to share none. */
interface Wanted {
  student: SharedArrayBuffer | null;
  output: number;
}

const BEGIN = `
import _host
from functools import partial
from grpo_ref.frontends.web.judge import graded as graded_behind
graded = partial(graded_behind, _host.call)
`;

export class Engine {
  private readonly judge: Python;
  private student: Worker | undefined;

  private constructor(private readonly loaded: Loaded) {
    this.judge = new Python(loaded, "judge.js", BEGIN, (wanted: Wanted) => this.replace(wanted));
  }

  /** Load everything; resolves when the judge is ready. */
  static async open(): Promise<Engine> {
    const engine = new Engine(await load());
    await engine.judge.begin();
    return engine;
  }

  /** Grade a text; a second call waits for the first. */
  grade(name: string, text: string, seed: number): Promise<Report> {
    return this.judge.call<Report>("graded", name, text, seed);
  }

  /** End what runs now, in the student's worker and in the judge's; resolves when a new judge is ready. */
  async stop(): Promise<void> {
    this.student?.terminate();
    await this.judge.stop();
  }

  /** A new worker takes the place of the student's. */
  private replace({ student, output }: Wanted): void {
    this.student?.terminate();
    this.student = undefined;
    if (student === null) return;
    this.student = new Worker("student.js");
    const { module, library } = this.loaded;
    const begin: BeginStudent = { module, files: library, memory: student, output };
    this.student.postMessage(begin);
  }
}
