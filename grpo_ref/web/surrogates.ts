/** The page of the surrogates: value and slope of every recipe at a ratio that the reader drags. */
import { Chart, legend, round, type Line } from "./chart";
import { Amount, Choice } from "./controls";
import { anchor, element, place, site } from "./elements";
import * as link from "./link";
import { kept } from "./served";
import { point, type Point } from "./surrogate_values";

/** See `surrogates.families`. */
interface Family {
  surrogate: string;
  recipes: Record<string, string>; // by name, their titles
  kernel: string;
  settings: Record<string, number>;
  notes: string[]; // what a reader of value and slope has to know
}

const RATIO = "Ratio \u03c1 = \u03c0\u03b8 / \u03c0old";
const RATIOS = { low: 0.01, high: 3, step: 0.01 };
const ADVANTAGES = { low: -2, high: 2, step: 0.05 };
const POINTS = 300;
const UP = [-3, 3] as const;
const START = { ratio: "1.25", advantage: "1", recipe: "dapo", beside: "grpo" };

class Page {
  private readonly ratio: Amount;
  private readonly advantage: Amount;
  private readonly recipe: Choice;
  private readonly beside: Choice;
  private readonly charts = { value: chartOf("value s"), slope: chartOf("slope \u2202s/\u2202log \u03c0\u03b8") };

  constructor(private readonly families: Family[]) {
    const recipes = families.flatMap(({ surrogate, recipes }) =>
      Object.entries(recipes).map(([name, title]) => ({ name, title, about: surrogate, page: pageOf(name) })),
    );
    const [settings, changed] = [place("settings"), () => this.changed()];
    this.ratio = new Amount(settings, "ratio", RATIO, RATIOS, changed);
    this.advantage = new Amount(settings, "advantage", "Advantage A", ADVANTAGES, changed);
    this.recipe = new Choice(settings, "recipe", "Recipe, solid line", recipes, changed);
    this.beside = new Choice(settings, "beside", "Recipe, dashed line", recipes, changed);
    for (const chart of Object.values(this.charts)) {
      chart.onDrag((ratio) => {
        this.ratio.value = Number(ratio.toFixed(2));
        this.changed();
      });
    }
    addEventListener("hashchange", () => this.restore());
  }

  /** Read the settings from the address. */
  restore(): void {
    const settings = { ...START, ...link.read() };
    [this.ratio.value, this.advantage.value] = [Number(settings.ratio), Number(settings.advantage)];
    for (const id of ["recipe", "beside"] as const) [this[id].value, this[id].value] = [START[id], settings[id]];
    this.show();
  }

  private changed(): void {
    const [recipe, beside] = this.chosen;
    link.write({ ratio: this.ratio.value, advantage: this.advantage.value, recipe, beside });
    this.show();
  }

  private get chosen(): [string, string] {
    return [this.recipe.value, this.beside.value];
  }

  private familyOf(recipe: string): number {
    return this.families.findIndex(({ recipes }) => recipe in recipes);
  }

  private show(): void {
    const [ratio, advantage] = [this.ratio.value, this.advantage.value];
    const points = this.families.map(({ kernel, settings }) => point(kernel, settings, ratio, advantage));
    const chosen = this.chosen.map((recipe) => this.familyOf(recipe));
    const titles = [this.recipe.title, this.beside.title];
    const words = titles.map((title, at) => `${title}: ${inWords(points[chosen[at]])}`);
    const where = element("span", `At \u03c1 = ${round(ratio)} and A = ${round(advantage)}:`);
    place("reading").replaceChildren(where, ...legend(words));
    place("notes").replaceChildren(...this.notes(chosen));
    for (const [what, chart] of Object.entries(this.charts) as ["value" | "slope", Chart][]) {
      const lines = chosen.map((family) => this.line(family, what));
      chart.draw(lines, words.join("; "), { at: ratio, values: chosen.map((family) => points[family]?.[what]) });
    }
    place("rows").replaceChildren(...this.families.map((family, at) => row(family, points[at], chosen.includes(at))));
  }

  /** Return the notes on the chosen recipes, each note once. */
  private notes(chosen: number[]): HTMLElement[] {
    const titles = new Map<string, string[]>();
    for (const [at, { title }] of [this.recipe, this.beside].entries()) {
      for (const note of this.families[chosen[at]].notes) {
        titles.set(note, [...new Set([...(titles.get(note) ?? []), title])]);
      }
    }
    return [...titles].map(([note, each]) => element("p", `${each.join(", ")}: ${note}`, "note"));
  }

  private line(family: number, what: "value" | "slope"): Line {
    const { kernel, settings } = this.families[family];
    const xs = Array.from({ length: POINTS }, (_, at) => (RATIOS.high * (at + 1)) / POINTS);
    const found = xs.map((ratio) => point(kernel, settings, ratio, this.advantage.value));
    const ys = found.flatMap((each) => (each === null ? [] : [each[what]]));
    return ys.length ? { xs, ys } : { xs: [], ys: [] };
  }
}

/** Return the address of a recipe's page from the root of the site. */
function pageOf(recipe: string): string {
  return `recipe/${recipe}.html`;
}

function chartOf(label: string): Chart {
  return new Chart(place("charts"), { x: "ratio \u03c1", y: label }, [0, RATIOS.high], UP);
}

function inWords(point: Point | null): string {
  if (point === null) return "no value of a single token";
  const pushed = point.slope > 0 ? "pushed up" : point.slope < 0 ? "pushed down" : "no push";
  return `value ${round(point.value)}, slope ${round(point.slope)}: ${pushed}`;
}

function row({ surrogate, recipes, notes }: Family, point: Point | null, isChosen: boolean): HTMLElement {
  const made = document.createElement("tr");
  const name = element("th", "");
  const named = Object.entries(recipes).flatMap(([recipe, title]) => [
    " \u00b7 ", // a title may contain a comma
    site() ? anchor(title, site() + pageOf(recipe)) : title,
  ]);
  name.append(...named.slice(1));
  name.setAttribute("scope", "row");
  name.append(element("code", surrogate), ...notes.map((note) => element("span", note, "about")));
  if (isChosen) made.className = "chosen";
  const numbers = [point?.value, point?.slope].map((value) => (value === undefined ? "\u2013" : round(value)));
  made.append(name, ...numbers.map((text) => element("td", text, "number")));
  return made;
}

/** Return links to the exercise on the clip, and to pages of the site if this page is a part of it. */
function further(): HTMLElement[] {
  const exercise = anchor("Exercise: the clipped surrogate", "index.html#ratios/clipped");
  const pages = [
    anchor("Derivation, step 4: the clip", `${site()}derivation/04_clip.html`),
    anchor("Chapter 3: ratios and surrogates", `${site()}chapters/03_ratios.html`),
  ];
  return [...(site() ? pages : []), exercise].map((link) => {
    const item = element("li", "");
    item.append(link);
    return item;
  });
}

async function begin(): Promise<void> {
  const status = place("status");
  place("further").replaceChildren(...further());
  try {
    const response = await fetch("surrogates.json");
    if (!response.ok) throw new Error(`surrogates.json: ${response.status}`);
    new Page((await response.json()) as Family[]).restore();
    status.textContent = "Ready.";
  } catch (error) {
    status.textContent = `The surrogates cannot be loaded: ${String(error)}.`;
  }
  await kept().catch(() => undefined); // without it the page works, but needs the network on the next visit
}

void begin();
