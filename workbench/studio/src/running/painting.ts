/** Curves on a canvas: axes, runs with their jumps, bounds of claims, invariants, the cursor. */

import type { Bound, Run, Verdict } from "../wire/types";
import { moments, section, within } from "./invariant";
import { valueAt } from "./state";

export interface Colours {
  text: string;
  quiet: string;
  line: string;
  faint: string;
  wrong: string;
  good: string;
  focus: string;
  card: string;
  curves: readonly string[];
}

export interface View {
  x: [number, number];
  y: [number, number];
}

export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

export interface Curve {
  name: string;
  colour: number;
}

export interface Scene {
  runs: readonly Run[];
  chosen: number;
  cursor: number | null;
  bounds: readonly Bound[];
  invariant: Verdict | null;
}

/** How strong runs are drawn that are not looked at, and those that are about to be replaced. */
const OTHER = 0.38;
const FORMER = 0.16;

const FONT = '11px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace';

export function colours(of: Element): Colours {
  const style = getComputedStyle(of);
  const read = (name: string): string => style.getPropertyValue(name).trim();
  return {
    text: read("--text"), quiet: read("--quiet"), line: read("--line"), faint: read("--faint"),
    wrong: read("--wrong"), good: read("--good"), focus: read("--focus"), card: read("--card"),
    curves: Array.from({ length: 8 }, (_, place) => read(`--m${place}`)),
  };
}

/** Round numbers for the marks of an axis. */
export function ticks(low: number, high: number, count: number): number[] {
  const span = high - low;
  if (!(span > 0) || !Number.isFinite(span)) return [low];
  const raw = span / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((m) => m >= raw) ?? raw;
  const found: number[] = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step * 1e-9; value += step) {
    found.push(Math.abs(value) < step * 1e-9 ? 0 : value);
  }
  return found;
}

export function short(value: number): string {
  if (value === 0) return "0";
  const rounded = Number(value.toPrecision(5));
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) return rounded.toExponential().replace("e+", "e");
  return String(rounded);
}

const numberOf = (value: unknown): number =>
  typeof value === "number" ? value : typeof value === "boolean" ? Number(value) : NaN;

/** The least and greatest value of a variable in runs. */
export function extent(runs: readonly Run[], names: readonly string[]): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (const run of runs) {
    for (const name of names) {
      for (const value of run.values[name] ?? []) {
        const number = numberOf(value);
        if (number < low) low = number;
        if (number > high) high = number;
      }
    }
  }
  if (low > high) return [0, 1];
  const pad = high === low ? Math.max(1, Math.abs(high) * 0.1) : (high - low) * 0.06;
  return [low - pad, high + pad];
}

/** One picture on a canvas that is ready to be drawn on. */
export class Painter {
  constructor(
    private readonly g: CanvasRenderingContext2D,
    private readonly box: Box,
    private readonly view: View,
    private readonly colour: Colours,
  ) {}

  private x = (value: number): number =>
    this.box.left + ((value - this.view.x[0]) / (this.view.x[1] - this.view.x[0])) * this.box.width;

  private y = (value: number): number =>
    this.box.top + this.box.height -
    ((value - this.view.y[0]) / (this.view.y[1] - this.view.y[0])) * this.box.height;

  private inside(draw: () => void): void {
    const { left, top, width, height } = this.box;
    this.g.save();
    this.g.beginPath();
    this.g.rect(left, top, width, height);
    this.g.clip();
    draw();
    this.g.restore();
  }

  axes(withX: boolean): void {
    const { g, box } = this;
    g.font = FONT;
    g.lineWidth = 1;
    g.strokeStyle = this.colour.faint;
    g.fillStyle = this.colour.quiet;
    g.textBaseline = "middle";
    g.textAlign = "right";
    for (const value of ticks(this.view.y[0], this.view.y[1], Math.max(2, box.height / 34))) {
      const at = Math.round(this.y(value)) + 0.5;
      if (at < box.top - 1 || at > box.top + box.height + 1) continue;
      g.beginPath();
      g.moveTo(box.left, at);
      g.lineTo(box.left + box.width, at);
      g.stroke();
      g.fillText(short(value), box.left - 6, at);
    }
    this.timeMarks(withX);
  }

  /** The marks of the horizontal axis, with their numbers or without, and the border. */
  private timeMarks(withNumbers: boolean): void {
    const { g, box } = this;
    g.font = FONT;
    g.lineWidth = 1;
    g.strokeStyle = this.colour.faint;
    g.fillStyle = this.colour.quiet;
    g.textAlign = "center";
    g.textBaseline = "top";
    for (const value of ticks(this.view.x[0], this.view.x[1], box.width / 90)) {
      const at = Math.round(this.x(value)) + 0.5;
      g.beginPath();
      g.moveTo(at, box.top);
      g.lineTo(at, box.top + box.height);
      g.stroke();
      if (withNumbers) g.fillText(short(value), at, box.top + box.height + 5);
    }
    g.strokeStyle = this.colour.line;
    g.strokeRect(box.left + 0.5, box.top + 0.5, box.width, box.height);
  }

  /** The name of the vertical axis, over everything that is drawn. */
  name(text: string): void {
    this.label(text, this.box.left + 2, this.box.top + 2);
  }

  /** The name of the horizontal axis, over everything that is drawn. */
  across(text: string): void {
    this.g.font = FONT;
    const { left, top, width, height } = this.box;
    this.label(text, left + width - this.g.measureText(text).width - 8, top + height - 17);
  }

  private label(text: string, left: number, top: number): void {
    const { g } = this;
    g.font = FONT;
    g.textAlign = "left";
    g.textBaseline = "top";
    g.globalAlpha = 0.8;
    g.fillStyle = this.colour.card;
    g.fillRect(left, top, g.measureText(text).width + 6, 15);
    g.globalAlpha = 1;
    g.fillStyle = this.colour.quiet;
    g.fillText(text, left + 3, top + 2);
  }

  /** Bounds of claims on a quantity of the vertical or the horizontal axis: what is beyond is bad,
   *  and shaded if asked for. */
  bounds(bounds: readonly Bound[], axis: "x" | "y", shaded = true): void {
    this.inside(() => {
      for (const { low, high, not_within: within } of bounds) {
        if (low != null) this.bad(axis, -Infinity, low, shaded);
        if (high != null) this.bad(axis, high, Infinity, shaded);
        if (within !== undefined) this.bad(axis, within[0], within[1], shaded);
      }
    });
  }

  private bad(axis: "x" | "y", from: number, to: number, shaded: boolean): void {
    const { g, box } = this;
    const place = axis === "x" ? this.x : this.y;
    const ends: number[] = [from, to].filter(Number.isFinite).map(place);
    const range = axis === "x" ? [box.left, box.left + box.width] : [box.top, box.top + box.height];
    const at = (value: number, edge: number): number =>
      Number.isFinite(value) ? place(value) : (edge as number);
    const a = axis === "x" ? at(from, range[0] ?? 0) : at(from, range[1] ?? 0);
    const b = axis === "x" ? at(to, range[1] ?? 0) : at(to, range[0] ?? 0);
    g.fillStyle = this.colour.wrong;
    g.globalAlpha = shaded ? 0.09 : 0;
    if (axis === "x") g.fillRect(Math.min(a, b), box.top, Math.abs(b - a), box.height);
    else g.fillRect(box.left, Math.min(a, b), box.width, Math.abs(b - a));
    g.globalAlpha = 0.85;
    g.strokeStyle = this.colour.wrong;
    g.lineWidth = 1;
    g.setLineDash([5, 3]);
    for (const end of ends) {
      g.beginPath();
      const line = Math.round(end) + 0.5;
      if (axis === "x") {
        g.moveTo(line, box.top);
        g.lineTo(line, box.top + box.height);
      } else {
        g.moveTo(box.left, line);
        g.lineTo(box.left + box.width, line);
      }
      g.stroke();
    }
    g.setLineDash([]);
    g.globalAlpha = 1;
  }

  /** The courses of a variable over time; where two points share a time there is a jump. */
  courses(curve: Curve, scene: Scene): void {
    this.inside(() => {
      const many = scene.runs.length > 1;
      for (const [place, run] of scene.runs.entries()) {
        if (place !== scene.chosen) this.course(run, curve, run.former === true ? FORMER : OTHER, 1.1);
      }
      const chosen = scene.runs[scene.chosen];
      if (chosen !== undefined) {
        this.course(chosen, curve, 1, many ? 2 : 1.7);
        this.jumps(chosen, curve);
      }
    });
  }

  private course(run: Run, { name, colour }: Curve, alpha: number, width: number): void {
    const course = run.values[name];
    if (course === undefined) return;
    const { g } = this;
    g.strokeStyle = this.colour.curves[colour % 8] ?? this.colour.text;
    g.globalAlpha = alpha;
    g.lineWidth = width;
    g.lineJoin = "round";
    g.beginPath();
    let pen = false;
    let before = NaN;
    for (let i = 0; i < course.length; i += 1) {
      const time = run.times[i] ?? 0;
      const value = numberOf(course[i]);
      if (Number.isNaN(value)) {
        pen = false;
        continue;
      }
      if (!pen || time === before) g.moveTo(this.x(time), this.y(value));
      else g.lineTo(this.x(time), this.y(value));
      pen = true;
      before = time;
    }
    g.stroke();
    g.globalAlpha = 1;
  }

  /** Small rings where a run takes transitions or breaks a claim, dashes where a value leaps. */
  private jumps(run: Run, { name, colour }: Curve): void {
    const course = run.values[name];
    if (course === undefined) return;
    const { g } = this;
    const line = this.colour.curves[colour % 8] ?? this.colour.text;
    g.strokeStyle = line;
    g.lineWidth = 1;
    g.setLineDash([2, 3]);
    for (let i = 1; i < course.length; i += 1) {
      const time = run.times[i] ?? 0;
      const a = numberOf(course[i - 1]);
      const b = numberOf(course[i]);
      if (time !== run.times[i - 1] || !(Math.abs(a - b) > 0)) continue;
      g.beginPath();
      g.moveTo(this.x(time), this.y(a));
      g.lineTo(this.x(time), this.y(b));
      g.stroke();
    }
    g.setLineDash([]);
    g.fillStyle = this.colour.card;
    const shown = run.events.length > 400 ? [] : run.events;
    for (const event of shown) {
      const value = numberOf(valueAt(run, name, event.time));
      g.strokeStyle = event.type === "violation" ? this.colour.wrong : line;
      g.beginPath();
      g.arc(this.x(event.time), this.y(value), 2.6, 0, Math.PI * 2);
      g.fill();
      g.stroke();
    }
  }

  /** When the agents with clocks of their own took their steps: a row of ticks for each, beside its
   *  name, as high as a row of the box is. */
  clocks(run: Run, agents: readonly string[]): void {
    const { g, box } = this;
    const high = box.height / agents.length;
    this.timeMarks(true);
    g.textAlign = "right";
    g.textBaseline = "middle";
    for (const [row, agent] of agents.entries()) {
      const top = box.top + row * high;
      g.fillStyle = this.colour.quiet;
      g.fillText(agent, box.left - 6, top + high / 2, box.left - 8);
      g.fillStyle = this.colour.curves[row % 8] ?? this.colour.text;
      let last = -1;
      for (const time of run.clocks?.[agent] ?? []) {
        const at = Math.round(this.x(time));
        if (at !== last && at >= box.left && at <= box.left + box.width) g.fillRect(at, top + 2, 1, high - 4);
        last = at;
      }
    }
  }

  /** Where the invariant lets a variable be along the chosen run. */
  tube(curve: Curve, scene: Scene): void {
    const run = scene.runs[scene.chosen];
    if (scene.invariant === null || run === undefined) return;
    const { g } = this;
    this.inside(() => {
      g.fillStyle = this.colour.good;
      g.globalAlpha = 0.14;
      g.beginPath();
      const times = moments(run, 240);
      for (const [place, time] of times.entries()) {
        const between = section(scene.invariant as Verdict, run, curve.name, time);
        if (between === null) continue;
        const from = this.x(time);
        const to = this.x(times[place + 1] ?? time);
        const top = Math.max(this.box.top, this.y(between[1]));
        const bottom = Math.min(this.box.top + this.box.height, this.y(between[0]));
        if (to > from && bottom > top) g.rect(from, top, to - from, bottom - top);
      }
      g.fill();
      g.globalAlpha = 1;
    });
  }

  /** Where a run is on a phase plot, at each of its times. */
  places(x: string, y: string, run: Run): readonly (readonly [number, number])[] {
    const ys = run.values[y] ?? [];
    return (run.values[x] ?? []).map((value, at) => [this.x(numberOf(value)), this.y(numberOf(ys[at]))]);
  }

  /** One variable against another. */
  phase(x: string, y: string, scene: Scene): void {
    const { g } = this;
    this.inside(() => {
      const chosen = scene.runs[scene.chosen];
      if (scene.invariant !== null && chosen !== undefined) {
        const may = within(scene.invariant, chosen, x, y, scene.cursor ?? 0);
        if (may !== null) this.region(may);
      }
      for (const [place, run] of scene.runs.entries()) {
        const strong = place === scene.chosen;
        const xs = run.values[x] ?? [];
        const ys = run.values[y] ?? [];
        g.strokeStyle = this.colour.curves[0] ?? this.colour.text;
        g.globalAlpha = strong ? 1 : run.former === true ? FORMER : OTHER;
        g.lineWidth = strong ? 1.8 : 1;
        g.beginPath();
        for (let i = 0; i < xs.length; i += 1) {
          const a = numberOf(xs[i]);
          const b = numberOf(ys[i]);
          if (i === 0 || run.times[i] === run.times[i - 1]) g.moveTo(this.x(a), this.y(b));
          else g.lineTo(this.x(a), this.y(b));
        }
        g.stroke();
        g.globalAlpha = 1;
        if (strong) {
          g.fillStyle = this.colour.card;
          for (const event of run.events.length > 400 ? [] : run.events) {
            const a = numberOf(valueAt(run, x, event.time));
            const b = numberOf(valueAt(run, y, event.time));
            g.beginPath();
            g.arc(this.x(a), this.y(b), 2.6, 0, Math.PI * 2);
            g.fill();
            g.stroke();
          }
          if (scene.cursor !== null) {
            this.spot(
              numberOf(valueAt(run, x, scene.cursor)), numberOf(valueAt(run, y, scene.cursor)),
              this.colour.curves[0] ?? this.colour.text,
            );
          }
        }
      }
    });
  }

  /** The part of the picture where a condition holds, in small squares. */
  private region(holds: (a: number, b: number) => boolean): void {
    const { g, box, view } = this;
    const side = 4;
    g.fillStyle = this.colour.good;
    g.globalAlpha = 0.15;
    for (let top = 0; top < box.height; top += side) {
      const b = view.y[1] - ((top + side / 2) / box.height) * (view.y[1] - view.y[0]);
      let from = -1;
      for (let left = 0; left <= box.width; left += side) {
        const a = view.x[0] + ((left + side / 2) / box.width) * (view.x[1] - view.x[0]);
        const inside = left < box.width && holds(a, b);
        if (inside && from < 0) from = left;
        else if (!inside && from >= 0) {
          g.fillRect(box.left + from, box.top + top, left - from, side);
          from = -1;
        }
      }
    }
    g.globalAlpha = 1;
  }

  private spot(a: number, b: number, colour: string): void {
    const { g } = this;
    g.beginPath();
    g.arc(this.x(a), this.y(b), 4.5, 0, Math.PI * 2);
    g.fillStyle = colour;
    g.fill();
    g.strokeStyle = this.colour.card;
    g.lineWidth = 2;
    g.stroke();
  }

  /** The moment looked at, with a dot on every curve. */
  now(curves: readonly Curve[], scene: Scene): void {
    if (scene.cursor === null) return;
    const { g, box } = this;
    const time = scene.cursor;
    this.inside(() => {
      const at = Math.round(this.x(time)) + 0.5;
      g.strokeStyle = this.colour.text;
      g.globalAlpha = 0.65;
      g.lineWidth = 1;
      g.beginPath();
      g.moveTo(at, box.top);
      g.lineTo(at, box.top + box.height);
      g.stroke();
      g.globalAlpha = 1;
      const run = scene.runs[scene.chosen];
      if (run === undefined) return;
      for (const { name, colour } of curves) {
        const value = numberOf(valueAt(run, name, time));
        if (!Number.isNaN(value)) this.spot(time, value, this.colour.curves[colour % 8] ?? this.colour.text);
      }
    });
  }
}
