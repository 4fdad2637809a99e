/** Programs that a page runs, one at a time: a worker for each, and the plotting library if needed. */
import type { Begin, Shown } from "./program";
import { Progress } from "./progress";
import { loadRest, type Loaded } from "./python";
import type { Late } from "./rest";

const DRAWS = /\b(matplotlib|pylab)\b/;
const MOST_SECONDS = 120;

export class Programs {
  private plots: Uint8Array | undefined;
  private end: ((why: string) => void) | undefined;

  constructor(
    private readonly loaded: Loaded,
    private readonly tell: (text: string) => void,
  ) {}

  /** Run a text as a program. It is stopped after two minutes. */
  async run(path: string, text: string): Promise<Shown> {
    await loadRest(this.loaded, text, this.tell);
    const plots = DRAWS.test(text) ? await this.library() : undefined;
    const { module, library, rest } = this.loaded;
    const worker = new Worker("program.js");
    const limit = setTimeout(() => this.end?.(`ended after ${MOST_SECONDS} s`), 1000 * MOST_SECONDS);
    try {
      return await new Promise<Shown>((done, failed) => {
        this.end = (why) => failed(new Error(why));
        worker.onmessage = ({ data }: MessageEvent<Late | Shown>) => ("late" in data ? this.tell(data.late) : done(data));
        worker.onerror = (event) => failed(new Error(event.message));
        worker.postMessage({ module, files: library, plots, rest, path, text } satisfies Begin);
      });
    } finally {
      clearTimeout(limit);
      worker.terminate();
      this.end = undefined;
    }
  }

  /** Stop the running program. Return whether there was one. */
  stop(): boolean {
    const was = this.end !== undefined;
    this.end?.("stopped");
    return was;
  }

  private async library(): Promise<Uint8Array> {
    if (this.plots) return this.plots;
    const progress = new Progress("matplotlib", this.tell);
    const failed = "matplotlib is loaded from the network once, and the network failed";
    const content = progress.fetched("plots.zip").then((response) => response.arrayBuffer());
    const found = await content.catch((): never => {
      throw new Error(failed);
    });
    this.plots = new Uint8Array(found);
    return this.plots;
  }
}
