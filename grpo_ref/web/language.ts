/** The language of the statements: the one in the address, else the reader's last choice, else the browser's. */

export interface Translation {
  title: string;
  about: string;
  statement: string;
  hints: string[];
}

export type Translations = Partial<Record<string, Translation>>; // by the id of the exercise

export const TAGS: Record<string, string> = { en: "en", zh: "zh-CN" };
const KEY = "grpo-ref/language";

/** Return the language to begin with. */
export function preferred(): string {
  const named = new URLSearchParams(location.search).get("language") ?? localStorage.getItem(KEY);
  const language = named ?? navigator.language.split("-")[0];
  return language in TAGS ? language : "en";
}

/** Store the reader's choice for the next visit. */
export function choose(language: string): void {
  localStorage.setItem(KEY, language);
}

/** Return the translations into a language. An exercise that has none is shown in English. */
export async function translations(language: string): Promise<Translations> {
  return language === "en" ? {} : ((await (await fetch(`course.${language}.json`)).json()) as Translations);
}
