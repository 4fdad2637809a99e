/** Numbers that can be dragged or typed: a slider and a field that hold the same value. */
import { place } from "./elements";

export interface Limits {
  low: number;
  high: number;
  /** of the slider; in powers of ten where that is logarithmic */
  step: number;
  isLogarithmic?: boolean;
}

export class Control {
  private readonly slider = document.createElement("input");
  private readonly field = document.createElement("input");

  /**
   * @param id - of the slider; the element `id-place` is filled
   * @param label - what the number is
   * @param limits - between which it lies
   * @param changed - is called whenever somebody has changed the value
   */
  constructor(
    id: string,
    label: string,
    private readonly limits: Limits,
    changed: () => void,
  ) {
    const name = document.createElement("label");
    [name.htmlFor, name.textContent] = [id, label];
    [this.slider.type, this.slider.id, this.slider.step] = ["range", id, String(limits.step)];
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
    place(`${id}-place`).replaceChildren(name, this.slider, this.field);
    this.value = limits.low;
  }

  get value(): number {
    return this.field.valueAsNumber;
  }

  /** What is no number, or outside the limits, becomes the nearest one inside. */
  set value(value: number) {
    const { low, high } = this.limits;
    const inside = Number.isNaN(value) ? low : Math.min(high, Math.max(low, value));
    this.field.value = String(inside);
    this.slider.value = String(this.onSlider(inside));
    this.slider.setAttribute("aria-valuetext", String(inside));
  }

  set isDisabled(isDisabled: boolean) {
    this.slider.disabled = this.field.disabled = isDisabled;
  }

  private get dragged(): number {
    const value = this.slider.valueAsNumber;
    return this.limits.isLogarithmic ? Number((10 ** value).toPrecision(2)) : value;
  }

  private onSlider(value: number): number {
    return this.limits.isLogarithmic ? Math.log10(value) : value;
  }
}
