/** A Python interpreter in WebAssembly that runs code in turns, as in class grading. */
import { ConsoleStdout, Directory, File, OpenFile, PreopenDirectory, WASI, WASIProcExit } from "@bjorn3/browser_wasi_shim";
import { fetchedNow, MORE, programOf, type Rest } from "./rest";

/** The result of one turn. The interpreter may have ended with it, by itself or by a trap. */
export interface Turn {
  exit: number | null;
  trapped: string;
  ended: string;
  truncated: boolean;
  stdout: Uint8Array;
  stderr: string;
}

/** Called by the code inside with bytes; returns bytes before that code continues. */
export type Door = (frame: Uint8Array) => Uint8Array;

/** Files of the interpreter: path below /usr/local/lib -> content. */
export type Files = ReadonlyMap<string, Uint8Array>;

interface Exports extends WebAssembly.Exports {
  memory: WebAssembly.Memory;
  host_alloc(size: number): number;
  turn(start: number, size: number): number;
}

/** A file that is loaded when Python opens it. */
class LateFile extends File {
  constructor(name: string) {
    super([], { readonly: true });
    let content: Uint8Array | undefined;
    Object.defineProperty(this, "data", { get: () => (content ??= fetchedNow(name)) });
  }
}

const LIBRARY = "/usr/local/lib";
const GIVEN = "given";
/** Folder of the files that a page gives. */
export const PLACE = `${LIBRARY}/${GIVEN}`;
const NOT_THERE = 52; // ENOSYS: a call that pages do not serve
const NO_DOOR = -1;
const QUIT = 256;

/** Collects the output, up to a number of bytes. */
class Sink {
  parts: Uint8Array[] = [];
  size = 0;
  truncated = false;
  readonly fd = new ConsoleStdout((bytes) => this.take(bytes));

  constructor(private readonly most: number) {}

  take(bytes: Uint8Array): void {
    const rest = Math.max(0, this.most - this.size);
    this.truncated ||= bytes.length > rest;
    this.parts.push(bytes.slice(0, rest));
    this.size += Math.min(bytes.length, rest);
  }

  emptied(): Uint8Array {
    const all = new Uint8Array(this.size);
    let at = 0;
    for (const part of this.parts) {
      all.set(part, at);
      at += part.length;
    }
    [this.parts, this.size, this.truncated] = [[], 0, false];
    return all;
  }
}

export class Interpreter {
  private constructor(
    private readonly exports: Exports,
    private readonly out: Sink,
    private readonly err: Sink,
    private readonly folders: Map<string, File | Directory>,
  ) {}

  /**
   * Start an interpreter. The binary's memory already contains the modules that take long to import.
   *
   * @param module - the first half of the program
   * @param files - its files
   * @param output - largest output of a turn, in bytes
   * @param rest - what few programs need; if it is not given, it is loaded when it is needed
   * @param door - called by the code inside
   */
  static async open(
    module: WebAssembly.Module,
    files: Files,
    output: number,
    rest?: Rest,
    door?: Door,
  ): Promise<Interpreter> {
    const [out, err] = [new Sink(output), new Sink(output)];
    const folders = tree(files);
    folders.set(MORE, rest ? new File(rest.library, { readonly: true }) : new LateFile(MORE));
    const opened = [new OpenFile(new File([])), out.fd, err.fd, new PreopenDirectory(LIBRARY, folders)];
    const wasi = new WASI([], [], opened, { debug: false }); // left out, it writes every path to the console
    const imports: WebAssembly.Imports = { wasi_snapshot_preview1: {}, host: {} };
    for (const { module: from, name } of WebAssembly.Module.imports(module)) {
      if (from === "wasi_snapshot_preview1") imports[from][name] = wasi.wasiImport[name] ?? (() => NOT_THERE);
    }
    let exports: Exports;
    imports.host.call = (start: number, size: number, toStart: number, toSize: number): number => {
      if (toSize === 0) {
        new WebAssembly.Instance(rest?.program ?? programOf(), { ...imports, first: exports }); // it fills the table
        return 0;
      }
      if (door === undefined) return NO_DOOR;
      const answer = door(new Uint8Array(exports.memory.buffer, start >>> 0, size >>> 0).slice());
      const place = placed(exports, answer);
      const view = new DataView(exports.memory.buffer);
      view.setUint32(toStart >>> 0, place, true);
      view.setUint32(toSize >>> 0, answer.length, true);
      return 0;
    };
    const instance = await WebAssembly.instantiate(module, imports);
    exports = instance.exports as Exports;
    wasi.inst = { exports };
    return new Interpreter(exports, out, err, folders);
  }

  /** Add files below `PLACE`, instead of those that were given before. */
  give(files: Files): void {
    this.folders.set(GIVEN, new Directory(tree(files)));
  }

  turn(code: string): Turn {
    let [exit, trapped, ended]: [number | null, string, string] = [null, "", ""];
    try {
      const bytes = new TextEncoder().encode(code);
      const value = this.exports.turn(placed(this.exports, bytes), bytes.length);
      exit = value & 255;
      if (value >= QUIT) ended = "quit";
    } catch (error) {
      if (error instanceof WASIProcExit) [exit, ended] = [error.code, "exit"];
      else trapped = ended = String(error);
    }
    const truncated = this.out.truncated || this.err.truncated;
    const stderr = new TextDecoder().decode(this.err.emptied());
    return { exit, trapped, ended, truncated, stdout: this.out.emptied(), stderr };
  }
}

/** Return the position of the bytes in the interpreter's memory. */
function placed(exports: Exports, bytes: Uint8Array): number {
  const place = exports.host_alloc(bytes.length) >>> 0;
  new Uint8Array(exports.memory.buffer).set(bytes, place);
  return place;
}

/** Return the files as nested folders. */
function tree(files: Files): Map<string, File | Directory> {
  const top = new Map<string, File | Directory>();
  for (const [path, content] of files) {
    const names = path.split("/");
    const last = names.pop() as string;
    let folder = top;
    for (const name of names) {
      const next = folder.get(name) ?? new Directory(new Map());
      folder.set(name, next);
      folder = (next as Directory).contents as Map<string, File | Directory>;
    }
    folder.set(last, new File(content, { readonly: true }));
  }
  return top;
}
