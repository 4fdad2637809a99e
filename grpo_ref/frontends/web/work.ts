/** What a student has typed and reached, kept in the browser. */

export interface Work {
  text: string;
  passed: boolean;
  points: number;
  hints: number;
}

const KEY = "grpo-ref/1/";

/** Of one exercise; undefined if nothing was done yet. */
export function read(exercise: string): Work | undefined {
  const stored = localStorage.getItem(KEY + exercise);
  return stored === null ? undefined : (JSON.parse(stored) as Work);
}

export function write(exercise: string, work: Work): void {
  localStorage.setItem(KEY + exercise, JSON.stringify(work));
}

export function forget(exercise: string): void {
  localStorage.removeItem(KEY + exercise);
}
