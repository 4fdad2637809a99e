/** Controls: a number that the reader drags or types, or one of several names. */

export interface Limits {
  low: number;
  high: number;
  /** step of the slider; in powers of ten if the slider is logarithmic */
  step: number;
  isLogarithmic?: boolean;
}

/** Return a box with a label and its elements. */
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
   * @param parent - the element that the control is added to
   * @param id - id of the slider
   * @param label - label of the number
   * @param limits - the allowed range; with a step of 1 the number is whole
   * @param changed - called whenever the reader has changed the value
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

  /** Choose a name; an unknown name changes nothing. */
  set value(name: string) {
    if (this.names.includes(name)) this.select.value = name;
  }
}
