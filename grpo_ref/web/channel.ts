/** Memory that the judge and a student's interpreter share: each waits there for the other's messages. */

const WHOSE = 0, SIZE = 1, FIELDS = 2;
const HEADER = 4 * FIELDS;
const NOBODY = 0, ASKED = 1, ANSWERED = 2, ENDED = 3;
const CAPACITY = 24 * 1024 * 1024;

export class Channel {
  private readonly state: Int32Array;
  private readonly bytes: Uint8Array;

  constructor(readonly memory: SharedArrayBuffer = new SharedArrayBuffer(HEADER + CAPACITY)) {
    this.state = new Int32Array(memory, 0, FIELDS);
    this.bytes = new Uint8Array(memory, HEADER);
  }

  /** Send a request and wait for the answer; undefined after the timeout, null if the other side has ended. */
  ask(request: Uint8Array, seconds: number): Uint8Array | undefined | null {
    if (!this.write(request, NOBODY, ASKED)) return null;
    Atomics.wait(this.state, WHOSE, ASKED, 1000 * seconds);
    const found = Atomics.load(this.state, WHOSE);
    return found === ANSWERED ? this.read(NOBODY) : found === ENDED ? null : undefined;
  }

  /** Answer requests one after the other. */
  serve(answer: (request: Uint8Array) => Uint8Array): never {
    for (;;) {
      const found = Atomics.load(this.state, WHOSE);
      if (found === ASKED) this.write(answer(this.read(ASKED)), ASKED, ANSWERED);
      else Atomics.wait(this.state, WHOSE, found);
    }
  }

  /** Report that this side answers no more requests. */
  end(): void {
    Atomics.store(this.state, WHOSE, ENDED);
    Atomics.notify(this.state, WHOSE);
  }

  private write(message: Uint8Array, before: number, after: number): boolean {
    const sent = message.subarray(0, CAPACITY);
    this.bytes.set(sent);
    Atomics.store(this.state, SIZE, sent.length);
    const found = Atomics.compareExchange(this.state, WHOSE, before, after);
    Atomics.notify(this.state, WHOSE);
    return found === before;
  }

  private read(after: number): Uint8Array {
    const message = this.bytes.slice(0, Atomics.load(this.state, SIZE));
    Atomics.store(this.state, WHOSE, after);
    return message;
  }
}
