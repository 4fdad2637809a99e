/** The program of a worker in which a page runs Python: open an interpreter and run the code sent to it. */
import { Interpreter, type Door, type Files, type Turn } from "./interpreter";

interface Begin {
  module: WebAssembly.Module;
  files: Files;
  begin: string;
}

const OUTPUT = 4 * 1024 * 1024;

/** Answer the page's messages. The code inside can call `door`, if there is one. */
export function serve(door?: Door): void {
  let interpreter: Interpreter;
  onmessage = async ({ data }: MessageEvent<Begin | { given: Files } | { id: number; code: string }>) => {
    if ("module" in data) {
      interpreter = await Interpreter.open(data.module, data.files, OUTPUT, undefined, door);
      postMessage({ ready: text(interpreter.turn(data.begin)) });
    } else if ("given" in data) {
      interpreter.give(data.given);
    } else {
      postMessage({ id: data.id, ...text(interpreter.turn(data.code)) });
    }
  };
}

function text(turn: Turn): { said: string; error: string } {
  const error = turn.exit === 0 && turn.ended === "" ? "" : turn.stderr || turn.ended;
  return { said: new TextDecoder().decode(turn.stdout), error };
}
