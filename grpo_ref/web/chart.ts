/** Charts as SVG: axes with labels and round numbers, and at most two lines, one solid and one dashed. */

/** A line, and the band around it if it has one. */
export interface Line {
  xs: number[];
  ys: number[];
  low?: number[];
  high?: number[];
}

/** A position on the horizontal axis, and the value of each line there; undefined if a line has none. */
interface Mark {
  at: number;
  values: (number | undefined)[];
}

type Range = readonly [number, number];

const [WIDTH, HEIGHT] = [400, 250];
const FRAME = { left: 60, right: 384, top: 12, bottom: 208 };
const TICKS = 6;
const NAMESPACE = "http://www.w3.org/2000/svg";
const KINDS = ["first", "second"];

/** Format a number. */
export function round(value: number, digits = 6): string {
  return String(Number(value.toPrecision(digits)) + 0).replace("-", "\u2212");
}

function svg(tag: string, attributes: Record<string, string | number>, text = ""): SVGElement {
  const made = document.createElementNS(NAMESPACE, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.textContent = text;
  return made;
}

/** Return round numbers inside a range: multiples of 1, 2 or 5 times a power of ten. */
function ticks([low, high]: Range): number[] {
  const rough = (high - low) / TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.floor(high / step + 1e-9) - first + 1;
  return Array.from({ length: count }, (_, at) => Number(((first + at) * step).toPrecision(12)));
}

/** Return the range of all values with a margin; for a single value, a small range around it. */
function rangeOf(values: number[]): Range {
  const finite = values.filter(Number.isFinite);
  if (finite.length === 0) return [0, 1];
  const [low, high] = [Math.min(...finite), Math.max(...finite)];
  const room = 0.05 * (high - low) || 0.05 * Math.abs(high) || 1;
  return [low === 0 ? 0 : low - room, high + room];
}

export class Chart {
  private readonly drawing: SVGElement;
  private x: (value: number) => number = () => 0;
  private y: (value: number) => number = () => 0;

  /**
   * @param parent - the element that the chart is added to
   * @param labels - labels of the axes, with their units
   * @param across - range of the horizontal axis
   * @param up - range of the vertical axis; if omitted, the range of the lines
   */
  constructor(
    parent: HTMLElement,
    private readonly labels: { x: string; y: string },
    private readonly across: Range,
    private readonly up?: Range,
  ) {
    this.drawing = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", class: "chart" });
    parent.append(this.drawing);
  }

  /**
   * @param lines - at most two
   * @param said - description of the lines
   * @param mark - drawn as a vertical line with a point on each line
   */
  draw(lines: Line[], said: string, mark?: Mark): void {
    const up = this.up ?? rangeOf(lines.flatMap(({ ys, low = [], high = [] }) => [...ys, ...low, ...high]));
    this.x = scale(this.across, FRAME.left, FRAME.right);
    this.y = scale(up, FRAME.bottom, FRAME.top);
    this.drawing.setAttribute("aria-label", `${this.labels.y} against ${this.labels.x}: ${said}`);
    const inside = svg("svg", {
      x: FRAME.left, y: FRAME.top, width: FRAME.right - FRAME.left, height: FRAME.bottom - FRAME.top,
      viewBox: `${FRAME.left} ${FRAME.top} ${FRAME.right - FRAME.left} ${FRAME.bottom - FRAME.top}`,
    });
    lines.forEach((line, number) => inside.append(...this.band(line, KINDS[number])));
    lines.forEach((line, number) => inside.append(this.line(line, KINDS[number])));
    if (mark) inside.append(...this.mark(mark));
    this.drawing.replaceChildren(...this.axes(up), inside);
  }

  /** Call the function with the horizontal value while the reader drags with a button or finger down. */
  onDrag(dragged: (value: number) => void): void {
    this.drawing.classList.add("draggable");
    const [low, high] = this.across;
    const tell = (event: PointerEvent): void => {
      const box = this.drawing.getBoundingClientRect();
      const across = ((event.clientX - box.left) / box.width) * WIDTH;
      const share = (across - FRAME.left) / (FRAME.right - FRAME.left);
      dragged(low + Math.min(1, Math.max(0, share)) * (high - low));
    };
    this.drawing.onpointerdown = (event) => {
      this.drawing.setPointerCapture(event.pointerId);
      tell(event);
    };
    this.drawing.onpointermove = (event) => {
      if (this.drawing.hasPointerCapture(event.pointerId)) tell(event);
    };
  }

  private axes(up: Range): SVGElement[] {
    const { left, right, top, bottom } = FRAME;
    const across = ticks(this.across).map((value) =>
      svg("text", { x: this.x(value), y: bottom + 16, "text-anchor": "middle" }, round(value)),
    );
    const rows = ticks(up).flatMap((value) => [
      svg("line", { x1: left, x2: right, y1: this.y(value), y2: this.y(value), class: value === 0 ? "zero" : "grid" }),
      svg("text", { x: left - 6, y: this.y(value) + 4, "text-anchor": "end" }, round(value)),
    ]);
    const middle = (top + bottom) / 2;
    return [
      ...rows,
      ...across,
      svg("path", { d: `M${left} ${top}V${bottom}H${right}`, class: "frame" }),
      svg("text", { x: (left + right) / 2, y: bottom + 36, "text-anchor": "middle" }, this.labels.x),
      svg("text", { x: 12, y: middle, "text-anchor": "middle", transform: `rotate(-90 12 ${middle})` }, this.labels.y),
    ];
  }

  private line({ xs, ys }: Line, kind: string): SVGElement {
    return svg("path", { d: this.path(xs, ys), class: `line ${kind}` });
  }

  private band({ xs, low, high }: Line, kind: string): SVGElement[] {
    if (!low || !high || xs.length < 2) return [];
    const back = this.path([...xs].reverse(), [...low].reverse()).replace("M", "L");
    return [svg("path", { d: `${this.path(xs, high)}${back}Z`, class: `band ${kind}` })];
  }

  private mark({ at, values }: Mark): (SVGElement | string)[] {
    const line = svg("line", { x1: this.x(at), x2: this.x(at), y1: FRAME.top, y2: FRAME.bottom, class: "mark" });
    const points = values.map((value, number) =>
      value === undefined ? "" : svg("circle", { cx: this.x(at), cy: this.y(value), r: 5, class: `point ${KINDS[number]}` }),
    );
    return [line, ...points];
  }

  private path(xs: number[], ys: number[]): string {
    const points = xs.map((x, at) => `${this.x(x).toFixed(1)} ${this.y(ys[at]).toFixed(1)}`);
    return points.length > 0 ? `M${points.join("L")}` : "";
  }
}

function scale([low, high]: Range, from: number, to: number): (value: number) => number {
  return (value) => from + ((value - low) / (high - low)) * (to - from);
}

/** Return the legend of the two kinds of line, to be put below the charts. */
export function legend(labels: string[]): HTMLElement[] {
  return labels.map((label, number) => {
    const made = document.createElement("span");
    const sample = svg("svg", { viewBox: "0 0 36 10", class: "sample", "aria-hidden": "true" });
    sample.append(svg("path", { d: "M0 5H36", class: `line ${KINDS[number]}` }));
    made.append(sample, ` ${label}`);
    return made;
  });
}
