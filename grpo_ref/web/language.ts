/** The language of the statements: the one in the address, else the reader's last choice, else the browser's. */

export interface Translation {
  title: string;
  about: string;
  statement: string;
  hints: string[];
}

/** Titles of chapters, and exercises, by id, and the text on grading. What is not translated is omitted. */
export interface Translations {
  chapters: Partial<Record<string, string>>;
  exercises: Partial<Record<string, Translation>>;
  grading?: string;
}

export const TAGS: Record<string, string> = { en: "en", zh: "zh-CN" };
export const ENGLISH: Translations = { chapters: {}, exercises: {} };
const KEY = "grpo-ref/language";

/** Return the language to begin with. One that the address names is kept for links that name none. */
export function preferred(): string {
  const named = new URLSearchParams(location.search).get("language");
  if (named !== null && named in TAGS) choose(named);
  const language = named ?? localStorage.getItem(KEY) ?? navigator.language.split("-")[0];
  return language in TAGS ? language : "en";
}

/** Store the reader's choice for the next visit. */
export function choose(language: string): void {
  localStorage.setItem(KEY, language);
}

/** Return the translations into a language. */
export async function translations(language: string): Promise<Translations> {
  if (language === "en") return ENGLISH;
  return (await (await fetch(`course.${language}.json`)).json()) as Translations;
}
