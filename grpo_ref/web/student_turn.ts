/** A turn of a student's interpreter as a message to the judge. */
import type { Turn } from "./interpreter";

/** Encode a turn as bytes: a line of JSON, then the standard output. */
export function told(turn: Turn): Uint8Array {
  const { stdout, ...rest } = turn;
  const head = new TextEncoder().encode(`${JSON.stringify(rest)}\n`);
  const all = new Uint8Array(head.length + stdout.length);
  all.set(head);
  all.set(stdout, head.length);
  return all;
}
