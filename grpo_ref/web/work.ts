/** The student's texts and progress, stored in the browser. */

export interface Work {
  text: string;
  passed: boolean;
  points: number;
  hints: number;
}

const KEY = "grpo-ref/1/";

/** Return the work on one exercise; undefined if there is none, or if it cannot be read. */
export function read(exercise: string): Work | undefined {
  try {
    return (JSON.parse(localStorage.getItem(KEY + exercise) ?? "null") as Work | null) ?? undefined;
  } catch {
    return undefined;
  }
}

export function write(exercise: string, work: Work): void {
  localStorage.setItem(KEY + exercise, JSON.stringify(work));
}

export function forget(exercise: string): void {
  localStorage.removeItem(KEY + exercise);
}
