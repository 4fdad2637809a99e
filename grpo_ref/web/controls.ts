/** Controls: a number that the reader drags or types, or one of several names. */
import { anchor, site } from "./elements";

export interface Limits {
  low: number;
  high: number;
  /** step of the slider; in powers of ten if the slider is logarithmic */
  step: number;
  isLogarithmic?: boolean;
}

/** Add a box with a label and its elements. `about` is shown when the pointer rests on the label. */
function boxed(parent: HTMLElement, id: string, label: string, about: string, ...inputs: HTMLElement[]): void {
  const [box, name] = [document.createElement("div"), document.createElement("label")];
  [name.htmlFor, name.textContent, name.title, box.className] = [id, label, about, "setting"];
  inputs[0].id = id;
  if (about) inputs[0].setAttribute("aria-description", about);
  box.append(name, ...inputs);
  parent.append(box);
}

/** A number: a slider and a field that hold the same value. */
export class Amount {
  private readonly slider = document.createElement("input");
  private readonly field = document.createElement("input");

  /**
   * @param parent - the element that the control is added to
   * @param id - id of the slider
   * @param label - label of the number
   * @param limits - the allowed range; with a step of 1 the number is whole
   * @param changed - called whenever the reader has changed the value
   * @param about - a sentence on the number
   */
  constructor(
    parent: HTMLElement,
    id: string,
    label: string,
    private readonly limits: Limits,
    changed: () => void,
    about = "",
  ) {
    [this.slider.type, this.slider.step] = ["range", String(limits.step)];
    [this.slider.min, this.slider.max] = [limits.low, limits.high].map((limit) => String(this.onSlider(limit)));
    [this.field.type, this.field.step] = ["number", "any"];
    this.field.setAttribute("aria-label", `${label}, as a number`);
    this.slider.oninput = () => {
      this.value = this.dragged;
      changed();
    };
    this.field.onchange = () => {
      this.value = this.field.valueAsNumber;
      changed();
    };
    boxed(parent, id, label, about, this.slider, this.field);
    this.value = limits.low;
  }

  get value(): number {
    return this.field.valueAsNumber;
  }

  /** Set the value; an invalid one becomes the nearest one inside the limits. */
  set value(value: number) {
    const { low, high, step } = this.limits;
    const inside = Number.isNaN(value) ? low : Math.min(high, Math.max(low, step === 1 ? Math.round(value) : value));
    this.field.value = String(inside);
    this.slider.value = String(this.onSlider(inside));
    this.slider.setAttribute("aria-valuetext", String(inside));
  }

  get isDisabled(): boolean {
    return this.slider.disabled;
  }

  /** Disable the control, which empties its field, or enable it. */
  set isDisabled(isDisabled: boolean) {
    this.slider.disabled = this.field.disabled = isDisabled;
    if (isDisabled) this.field.value = "";
  }

  private get dragged(): number {
    const value = this.slider.valueAsNumber;
    return this.limits.isLogarithmic ? Number((10 ** value).toPrecision(2)) : value;
  }

  private onSlider(value: number): number {
    return this.limits.isLogarithmic ? Math.log10(value) : value;
  }
}

/** A name to choose, with the text that the reader sees, a sentence on it, and the address of its page in the site. */
export interface Named {
  name: string;
  title: string;
  about: string;
  page?: string;
}

/** One of several names. The sentence on the chosen one stands below. */
export class Choice {
  private readonly select = document.createElement("select");
  private readonly about = document.createElement("p");

  constructor(
    parent: HTMLElement,
    id: string,
    label: string,
    private readonly choices: Named[],
    changed: () => void,
  ) {
    for (const { name, title, about } of choices) {
      const option = new Option(title, name);
      option.title = about;
      this.select.append(option);
    }
    this.select.onchange = () => {
      this.describe();
      changed();
    };
    this.about.className = "about";
    boxed(parent, id, label, "", this.select, this.about);
    this.describe();
  }

  get value(): string {
    return this.select.value;
  }

  /** Choose a name; an unknown name changes nothing. */
  set value(name: string) {
    if (this.choices.some((each) => each.name === name)) this.select.value = name;
    this.describe();
  }

  /** The text that the reader sees for the chosen name. */
  get title(): string {
    return this.chosen?.title ?? "";
  }

  private get chosen(): Named | undefined {
    return this.choices.find(({ name }) => name === this.select.value);
  }

  private describe(): void {
    const { title, about, page } = this.chosen ?? { title: "", about: "", page: undefined };
    this.about.replaceChildren(about);
    if (page && site()) this.about.append(" ", anchor(`Page of ${title}`, site() + page));
  }
}
