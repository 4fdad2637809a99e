/** What somebody chooses: a number that is dragged or typed, or one of several names. */

export interface Limits {
  low: number;
  high: number;
  /** of the slider; in powers of ten where that is logarithmic */
  step: number;
  isLogarithmic?: boolean;
}

/** A label and what belongs to it, in a box of their own. */
function boxed(parent: HTMLElement, id: string, label: string, ...inputs: HTMLElement[]): void {
  const [box, name] = [document.createElement("div"), document.createElement("label")];
  [name.htmlFor, name.textContent, box.className] = [id, label, "setting"];
  inputs[0].id = id;
  box.append(name, ...inputs);
  parent.append(box);
}

/** A number: a slider and a field that hold the same value. */
export class Amount {
  private readonly slider = document.createElement("input");
  private readonly field = document.createElement("input");

  /**
   * @param parent - the element that it is added to
   * @param id - of the slider
   * @param label - what the number is
   * @param limits - between which it lies; with a step of 1 it is whole
   * @param changed - is called whenever somebody has changed the value
   */
  constructor(
    parent: HTMLElement,
    id: string,
    label: string,
    private readonly limits: Limits,
    changed: () => void,
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
    boxed(parent, id, label, this.slider, this.field);
    this.value = limits.low;
  }

  get value(): number {
    return this.field.valueAsNumber;
  }

  /** What is no number, or outside the limits, becomes the nearest one inside. */
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

  /** What is disabled has no value: its field is empty. */
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

/** One of several names. */
export class Choice {
  private readonly select = document.createElement("select");

  constructor(
    parent: HTMLElement,
    id: string,
    label: string,
    private readonly names: string[],
    changed: () => void,
  ) {
    this.select.append(...names.map((name) => new Option(name)));
    this.select.onchange = changed;
    boxed(parent, id, label, this.select);
  }

  get value(): string {
    return this.select.value;
  }

  /** A name that is not there changes nothing. */
  set value(name: string) {
    if (this.names.includes(name)) this.select.value = name;
  }
}
