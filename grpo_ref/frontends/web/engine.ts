/** What a page needs to grade: Python once, the judge's worker, and a student's worker for each answer. */
import type { Files } from "./interpreter";
import type { Begin as BeginProgram, Shown } from "./program";
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

interface Said {
  id: number;
  said: string;
  error: string;
}

const DRAWS = /\b(matplotlib|pylab)\b/;
const MOST_SECONDS = 120;

const BEGIN = `
import sys
sys.path.insert(0, "/usr/local/lib/judge")
sys.dont_write_bytecode = True
import json, _host
from grpo_ref.frontends.web.judge import graded
`;

async function fetched(name: string): Promise<Response> {
  const response = await fetch(name);
  if (!response.ok) throw new Error(`${name}: ${response.status} ${response.statusText}`);
  return response;
}

async function unpacked(name: string, type: string): Promise<Response> {
  const { body } = await fetched(name);
  if (body === null) throw new Error(`${name} is empty`);
  return new Response(body.pipeThrough(new DecompressionStream("gzip")), { headers: { "Content-Type": type } });
}

export class Engine {
  private readonly waiting = new Map<number, (said: Said) => void>();
  private student: Worker | undefined;
  private program: { end: (why: string) => void } | undefined;
  private plots: Uint8Array | undefined;
  private judge!: Worker;
  private asked = 0;

  private constructor(
    private readonly module: WebAssembly.Module,
    private readonly studentFiles: Files,
    private readonly judgeFiles: Files,
  ) {}

  /** Load everything; resolves when the judge is ready. */
  static async open(): Promise<Engine> {
    const [module, zip, texts] = await Promise.all([
      unpacked("python.wasm.gz", "application/wasm").then((response) => WebAssembly.compileStreaming(response)),
      fetched("library.zip").then((response) => response.arrayBuffer()),
      unpacked("judge.json.gz", "application/json").then((response) => response.json()),
    ]);
    const studentFiles = new Map([["python315.zip", new Uint8Array(zip)]]);
    const judgeFiles = new Map(studentFiles);
    for (const [path, text] of Object.entries(texts as Record<string, string>)) {
      judgeFiles.set(`judge/${path}`, new TextEncoder().encode(text));
    }
    const engine = new Engine(module, studentFiles, judgeFiles);
    await engine.begin();
    return engine;
  }

  /** Grade a text; a second call waits for the first. */
  async grade(name: string, text: string, seed: number): Promise<Report> {
    const call = `graded(_host.call, ${JSON.stringify(name)}, ${JSON.stringify(text)}, ${seed})`;
    const said = await this.ask(`print(json.dumps(${call}))`);
    if (said.error) throw new Error(said.error);
    return JSON.parse(said.said) as Report;
  }

  /** Run a text as a program, with no judge; what draws figures is loaded when a text needs it. */
  async run(path: string, text: string): Promise<Shown> {
    if (this.plots === undefined && DRAWS.test(text)) {
      this.plots = new Uint8Array(await (await fetched("plots.zip")).arrayBuffer());
    }
    const plots = DRAWS.test(text) ? this.plots : undefined;
    const worker = new Worker("program.js");
    const limit = setTimeout(() => this.program?.end(`ended after ${MOST_SECONDS} s`), 1000 * MOST_SECONDS);
    try {
      return await new Promise<Shown>((done, failed) => {
        this.program = { end: (why) => failed(new Error(why)) };
        worker.onmessage = ({ data }) => done(data as Shown);
        worker.onerror = (event) => failed(new Error(event.message));
        worker.postMessage({ module: this.module, files: this.studentFiles, plots, path, text } satisfies BeginProgram);
      });
    } finally {
      clearTimeout(limit);
      worker.terminate();
      this.program = undefined;
    }
  }

  /** End what runs now, in the student's worker and in the judge's; resolves when a new judge is ready. */
  async stop(): Promise<void> {
    if (this.program) return this.program.end("stopped");
    this.student?.terminate();
    this.judge.terminate();
    const waiting = [...this.waiting];
    this.waiting.clear();
    for (const [id, done] of waiting) done({ id, said: "", error: "stopped" });
    await this.begin();
  }

  private begin(): Promise<void> {
    return new Promise((ready, failed) => {
      this.judge = new Worker("judge.js");
      this.judge.onerror = (event) => failed(new Error(event.message));
      this.judge.onmessage = ({ data }) => {
        if ("student" in data) this.replace(data.student, data.output);
        else if ("ready" in data) data.ready.error ? failed(new Error(data.ready.error)) : ready();
        else {
          this.waiting.get(data.id)?.(data);
          this.waiting.delete(data.id);
        }
      };
      this.judge.postMessage({ module: this.module, files: this.judgeFiles, begin: BEGIN });
    });
  }

  private ask(code: string): Promise<Said> {
    const id = this.asked++;
    this.judge.postMessage({ id, code });
    return new Promise((done) => this.waiting.set(id, done));
  }

  /** A new worker takes the place of the student's; with no memory to share there is none. */
  private replace(memory: SharedArrayBuffer | null, output: number): void {
    this.student?.terminate();
    this.student = undefined;
    if (memory === null) return;
    this.student = new Worker("student.js");
    const begin: BeginStudent = { module: this.module, files: this.studentFiles, memory, output };
    this.student.postMessage(begin);
  }
}
