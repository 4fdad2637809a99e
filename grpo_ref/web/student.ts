/** A worker in which a student's code runs, without anything of the judge: it runs the judge's turns. */
import { Channel } from "./channel";
import { Interpreter, type Files } from "./interpreter";
import type { Rest } from "./rest";
import { told } from "./student_turn";

export interface Begin {
  module: WebAssembly.Module;
  files: Files;
  memory: SharedArrayBuffer;
  output: number;
  rest: Rest | undefined;
}

onmessage = async ({ data }: MessageEvent<Begin>) => {
  const interpreter = await Interpreter.open(data.module, data.files, data.output, data.rest);
  new Channel(data.memory).serve((code) => told(interpreter.turn(new TextDecoder().decode(code))));
};
