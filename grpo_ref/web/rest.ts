/**
 * The part of Python that few programs need: SciPy, and functions and modules that no page uses by itself. A page
 * can load it in advance, with its progress shown. Otherwise the worker that needs it loads it, and waits.
 */
import { gunzipSync } from "fflate";

/** The second half of the program, and the library that Python searches last. */
export interface Rest {
  program: WebAssembly.Module;
  library: Uint8Array;
}

export const MORE = "more.zip";
export const PROGRAM = "rest.wasm.gz";

/** Message of a worker to its page before it loads a part of Python and waits. */
export interface Late {
  late: string;
}

/** Load a file while the worker waits. */
export function fetchedNow(name: string): Uint8Array {
  postMessage({ late: "Loading SciPy and more of Python, once ..." } satisfies Late);
  const asked = new XMLHttpRequest();
  asked.open("GET", name, false);
  asked.responseType = "arraybuffer";
  try {
    asked.send();
  } catch {
    throw new Error("a part of Python that few programs need is loaded from the network once, and the network failed");
  }
  if (asked.status !== 200) throw new Error(`${name}: ${asked.status}`);
  return new Uint8Array(asked.response as ArrayBuffer);
}

/** Load the second half of the program while the worker waits. */
export function programOf(): WebAssembly.Module {
  return new WebAssembly.Module(gunzipSync(fetchedNow(PROGRAM)) as BufferSource);
}
