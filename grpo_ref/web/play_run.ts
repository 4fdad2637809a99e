/** One of the two runs of the playground: its settings and its measurements so far. */
import type { Line } from "./chart";
import { Amount, Choice, type Limits, type Named } from "./controls";
import { place } from "./elements";

/** See `play.Row`: mean, 10th and 90th percentile over the seeds of one update, by measure. */
export type Row = Record<string, [number, number, number] | null>;

export type Settings = Record<string, string | number | null>;

/** See `play.choices`. */
export interface Choices {
  tasks: (Named & { settings: Record<string, number> })[];
  recipes: (Named & { kl_coef: number; clip_low: number | null; clip_high: number | null })[];
  panels: Record<string, string>;
}

const CLIP = ["clip_low", "clip_high"] as const;
/** By setting: its label, limits, first value, and a sentence on it. */
const AMOUNTS: Record<string, [string, Limits, number, string]> = {
  clip_low: [
    "Clip range below 1",
    { low: 0, high: 0.99, step: 0.01 },
    0.2,
    "A bad token is no longer pushed down if its ratio is below 1 minus this number.",
  ],
  clip_high: [
    "Clip range above 1",
    { low: 0, high: 1, step: 0.01 },
    0.2,
    "A good token is no longer pushed up if its ratio is above 1 plus this number.",
  ],
  kl_coef: [
    "KL coefficient",
    { low: 0, high: 1, step: 0.01 },
    0,
    "Weight of the penalty for leaving the reference policy. 0 is no penalty.",
  ],
  group_size: [
    "Group size",
    { low: 1, high: 64, step: 1 },
    8,
    "Number of completions that are sampled for each prompt and compared with one another.",
  ],
  learning_rate: [
    "Learning rate",
    { low: 0.001, high: 10, step: 0.05, isLogarithmic: true },
    0.1,
    "Size of a gradient step. The slider is logarithmic.",
  ],
  epochs: [
    "Epochs per batch",
    { low: 1, high: 8, step: 1 },
    4,
    "Number of gradient steps on the same batch. With 1, every ratio is 1 and nothing is clipped.",
  ],
};

export class Run {
  rows: Row[] = [];
  /** Describes the run of the rows; the settings may have been changed since. */
  label = "";
  private readonly recipe: Choice;
  private readonly amounts = new Map<string, Amount>();

  /**
   * @param name - name of the run, and id of the element that its settings are added to
   * @param choices - the tasks, recipes and panels to choose from
   * @param changed - called whenever the reader has changed a setting
   */
  constructor(
    readonly name: string,
    private readonly choices: Choices,
    changed: () => void,
  ) {
    this.recipe = new Choice(place(name), `${name}-recipe`, "Recipe", choices.recipes, () => {
      this.takeRecipe();
      changed();
    });
    for (const [id, [label, limits, start, about]] of Object.entries(AMOUNTS)) {
      const amount = new Amount(place(name), `${name}-${id}`, label, limits, changed, about);
      amount.value = start;
      this.amounts.set(id, amount);
    }
    this.takeRecipe();
  }

  /** Remove the rows, and name the run after its current settings. */
  clear(): void {
    this.rows = [];
    this.label = `run ${this.name.toUpperCase()}: ${this.recipe.title}`;
  }

  get settings(): Settings {
    const amounts = [...this.amounts].map(([id, amount]) => [id, amount.isDisabled ? null : amount.value]);
    return { recipe: this.recipe.value, ...Object.fromEntries(amounts) };
  }

  /** Take the given settings. A recipe sets its own settings first, which the others may change. */
  restore(settings: Record<string, string>): void {
    if ("recipe" in settings) this.recipe.value = settings.recipe;
    this.takeRecipe();
    for (const [id, amount] of this.amounts) {
      if (id in settings && !amount.isDisabled) amount.value = Number(settings[id]);
    }
  }

  /** Take the settings of a task, as far as this run has them. */
  takeTask(task: Record<string, number>): void {
    for (const [id, value] of Object.entries(task)) {
      const amount = this.amounts.get(id);
      if (amount) amount.value = value;
    }
  }

  /** Return the curve of a measure, without the updates at which it is not finite. */
  line(measure: string): Line {
    const found = this.rows.flatMap((row, at) => (row[measure] === null ? [] : [[at + 1, ...row[measure]]]));
    const [xs, ys, low, high] = [0, 1, 2, 3].map((column) => found.map((row) => row[column]));
    return { xs, ys, low, high };
  }

  private takeRecipe(): void {
    const brought = this.choices.recipes.find(({ name }) => name === this.recipe.value);
    if (brought === undefined) return;
    this.amount("kl_coef").value = brought.kl_coef;
    for (const id of CLIP) {
      const width = brought[id];
      this.amount(id).isDisabled = width === null;
      if (width !== null) this.amount(id).value = width;
    }
  }

  private amount(id: string): Amount {
    return this.amounts.get(id) as Amount;
  }
}
