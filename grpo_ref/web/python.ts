/** Python for a page: its files, and a worker in which functions of `grpo_ref` are called. */
import { PLACE, type Files } from "./interpreter";
import { Progress } from "./progress";
import { MORE, PROGRAM, type Late, type Rest } from "./rest";

/** The program of the interpreter, its library, the library with `grpo_ref` beside it, and the rest if it is loaded. */
export interface Loaded {
  module: WebAssembly.Module;
  library: Files;
  package: Files;
  rest?: Rest;
  tell: (text: string) => void; // shows what is loaded
}

interface Said {
  id: number;
  said: string;
  error: string;
}

const BEGIN = `
import sys
sys.path.insert(0, "/usr/local/lib/package")
sys.dont_write_bytecode = True
import json
`;
const WASM = "application/wasm";
const NEEDS_MORE = /\b(scipy|matplotlib|pylab)\b/;

/** Load Python: many megabytes, unless the browser has kept them. */
export async function load(tell: (text: string) => void): Promise<Loaded> {
  const progress = new Progress("Python", tell);
  const [module, zip, texts] = await Promise.all([
    progress.unpacked("python.wasm.gz", WASM).then((response) => WebAssembly.compileStreaming(response)),
    progress.fetched("library.zip").then((response) => response.arrayBuffer()),
    progress.unpacked("grpo_ref.json.gz", "application/json").then((response) => response.json()),
  ]);
  const library = new Map([["python315.zip", new Uint8Array(zip)]]);
  const withOurs = new Map(library);
  for (const [path, text] of Object.entries(texts as Record<string, string>)) {
    withOurs.set(`package/${path}`, new TextEncoder().encode(text));
  }
  return { module, library, package: withOurs, tell };
}

/** Load what a text needs beyond that, if it needs SciPy or draws. A worker loads by itself what is not foreseen. */
export async function loadRest(loaded: Loaded, text: string, tell: (text: string) => void): Promise<void> {
  if (loaded.rest !== undefined || !NEEDS_MORE.test(text)) return;
  const progress = new Progress("SciPy and more of Python", tell);
  try {
    const [program, library] = await Promise.all([
      progress.unpacked(PROGRAM, WASM).then((response) => WebAssembly.compileStreaming(response)),
      progress.fetched(MORE).then((response) => response.arrayBuffer()),
    ]);
    loaded.rest = { program, library: new Uint8Array(library) };
  } catch {
    throw new Error("this text needs SciPy or matplotlib, which is loaded from the network once, and the network failed");
  }
}

async function contentOf(file: File): Promise<ArrayBuffer> {
  try {
    return await file.arrayBuffer();
  } catch {
    throw new Error(`${file.name} cannot be read. Is it a folder?`);
  }
}

export class Python {
  private readonly waiting = new Map<number, (said: Said) => void>();
  private worker!: Worker;
  private asked = 0;

  /**
   * @param loaded - the result of `load`
   * @param script - the worker's program, which calls `serve`
   * @param code - runs first; the functions that it imports or defines can be called
   * @param heard - called with the worker's other messages
   */
  constructor(
    private readonly loaded: Loaded,
    private readonly script: string,
    private readonly code: string,
    private readonly heard: (said: never) => void = () => undefined,
  ) {}

  /** Resolves when functions can be called. */
  begin(): Promise<void> {
    return new Promise((ready, failed) => {
      this.worker = new Worker(this.script);
      this.worker.onerror = (event) => failed(new Error(event.message));
      this.worker.onmessage = ({ data }) => {
        if ("ready" in data) data.ready.error ? failed(new Error(data.ready.error)) : ready();
        else if ("said" in data) this.answered(data);
        else if ("late" in data) this.loaded.tell((data as Late).late);
        else this.heard(data as never);
      };
      this.worker.postMessage({ module: this.loaded.module, files: this.loaded.package, begin: BEGIN + this.code });
    });
  }

  /** Call a function and return its result. A second call waits for the first. */
  async call<Result>(name: string, ...values: unknown[]): Promise<Result> {
    const id = this.asked++;
    const given = JSON.stringify(JSON.stringify(values)); // a text that Python reads as a text of JSON
    this.worker.postMessage({ id, code: `print(json.dumps(${name}(*json.loads(${given}))))` });
    const { said, error } = await new Promise<Said>((done) => this.waiting.set(id, done));
    if (error) throw new Error(error);
    return JSON.parse(said) as Result;
  }

  /** Give files to Python, instead of those that were given before. Return their paths. */
  async give(files: File[]): Promise<string[]> {
    const names = files.map(({ name }, at) => `${at}/${name}`); // two files may have one name
    const contents = await Promise.all(files.map(contentOf));
    const given: Files = new Map(names.map((name, at) => [name, new Uint8Array(contents[at])]));
    this.worker.postMessage({ given }, contents);
    return names.map((name) => `${PLACE}/${name}`);
  }

  /** Stop the running call. Resolves when functions can be called again. */
  async stop(): Promise<void> {
    this.worker.terminate();
    const waiting = [...this.waiting];
    this.waiting.clear();
    for (const [id, done] of waiting) done({ id, said: "", error: "stopped" });
    await this.begin();
  }

  private answered(said: Said): void {
    this.waiting.get(said.id)?.(said);
    this.waiting.delete(said.id);
  }
}
