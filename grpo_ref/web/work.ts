/** The student's texts and progress, stored in the browser. */

export interface Work {
  text: string;
  passed: boolean;
  points: number;
  hints: number;
}

const KEY = "grpo-ref/1/";
const COPY = "grpo-ref/1-copy/"; // of the work that was replaced last

/** Return the work on one exercise; undefined if there is none, or if it cannot be read. */
export function read(exercise: string): Work | undefined {
  return stored(KEY + exercise);
}

/** Return the copy of the work on one exercise that was replaced last; undefined if there is none. */
export function copy(exercise: string): Work | undefined {
  return stored(COPY + exercise);
}

function stored(key: string): Work | undefined {
  try {
    return (JSON.parse(localStorage.getItem(key) ?? "null") as Work | null) ?? undefined;
  } catch {
    return undefined;
  }
}

export function write(exercise: string, work: Work): void {
  localStorage.setItem(KEY + exercise, JSON.stringify(work));
}

/** Keep a copy of the work on one exercise, instead of an earlier copy. Without work, an earlier copy stays. */
export function keepCopy(exercise: string): void {
  const work = localStorage.getItem(KEY + exercise);
  if (work !== null) localStorage.setItem(COPY + exercise, work);
}

/** Exchange the work on one exercise and its copy. */
export function restore(exercise: string): void {
  const [work, copy] = [localStorage.getItem(KEY + exercise), localStorage.getItem(COPY + exercise)];
  for (const [key, text] of [[KEY, copy], [COPY, work]] as const) {
    if (text === null) localStorage.removeItem(key + exercise);
    else localStorage.setItem(key + exercise, text);
  }
}

export function forget(exercise: string): void {
  localStorage.removeItem(KEY + exercise);
}
