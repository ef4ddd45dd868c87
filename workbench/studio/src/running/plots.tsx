/** The plots of the runs: variables overlaid or stacked over time, or one against another. */

import { computed, effect, signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Bound } from "../wire/types";
import { invariantDrawn } from "./invariant";
import { Painter, colours, extent, short } from "./painting";
import type { Box, Curve, Scene, View } from "./painting";
import { chosenRun, cursor, description, endOf, playing, replayed, run, runs } from "./state";

export type Arrangement = "stacked" | "overlaid" | "phase";

export const arrangement = signal<Arrangement>("stacked");
/** The variables on the plots, by what was chosen for each set of names. */
const picked = signal<ReadonlyMap<string, readonly string[]>>(new Map());
/** The part of time that is seen; null: all of it. */
export const window_ = signal<[number, number] | null>(null);
export const phaseAxes = signal<[string, string] | null>(null);

const FIRST_SHOWN = 4;

/** Everything that varies and can be drawn. */
export const drawable = computed<readonly string[]>(() => {
  const shown = run.value;
  const names = Object.keys(shown.values);
  const numeric = names.filter((name) =>
    shown.values[name]?.some((value) => typeof value === "number" || typeof value === "boolean"),
  );
  const kinds = new Map(description.value?.variables.map((v) => [v.name, v.kind]));
  const constant = (name: string): boolean => {
    const course = shown.values[name] ?? [];
    return course.every((value) => value === course[0]);
  };
  const rank = (name: string): number =>
    (kinds.get(name) === "discrete" ? 2 : 0) + (constant(name) ? 1 : 0);
  return numeric.map((name, place) => ({ name, place }))
    .sort((a, b) => rank(a.name) - rank(b.name) || a.place - b.place)
    .map(({ name }) => name);
});

const key = computed(() => [...drawable.value].sort().join(" "));

/** The bounded quantities first: a claim is what one looks at. */
const first = computed<readonly string[]>(() => {
  const bounded = new Set(description.value?.properties.flatMap((p) => p.bounds.map((b) => b.variable)));
  const sorted = [...drawable.value].sort((a, b) => Number(bounded.has(b)) - Number(bounded.has(a)));
  return sorted.slice(0, FIRST_SHOWN);
});

export const variables = computed<readonly string[]>(() => {
  const chosen = picked.value.get(key.value) ?? first.value;
  return drawable.value.filter((name) => chosen.includes(name));
});

export function toggleVariable(name: string): void {
  const now = variables.peek();
  const next = now.includes(name) ? now.filter((other) => other !== name) : [...now, name];
  picked.value = new Map(picked.peek()).set(key.peek(), next);
}

export const colourOf = (name: string): number => Math.max(0, drawable.value.indexOf(name)) % 8;

/** A name as short as it can be told from the others. */
export function brief(name: string): string {
  const parts = name.split(".");
  for (let from = parts.length - 1; from > 0; from -= 1) {
    const short = parts.slice(from).join(".");
    if (!drawable.value.some((other) => other !== name && (other === short || other.endsWith(`.${short}`)))) {
      return short;
    }
  }
  return name;
}

export const axes = computed<[string, string] | null>(() => {
  const [a, b] = [phaseAxes.value?.[0], phaseAxes.value?.[1]];
  const names = drawable.value;
  const x = a !== undefined && names.includes(a) ? a : names[0];
  const y = b !== undefined && names.includes(b) ? b : (names[1] ?? names[0]);
  return x === undefined || y === undefined ? null : [x, y];
});

const claims = computed<readonly Bound[]>(() => description.value?.properties.flatMap((p) => p.bounds) ?? []);

const LEFT = 56;
const RIGHT = 10;
const TOP = 6;
const BOTTOM = 22;
const GAP = 6;
const LEAST = 42;
/** How high the row of an agent's clock is, and how many of them are shown. */
const CLOCK = 12;
const MOST_CLOCKS = 8;

/** The vertical ranges that were shown last: they grow at once and shrink when the model changes. */
const ranges = new Map<string, [number, number]>();
let rangesFor = "";

/** The range of a plot. While a slider is dragged the axes stay, unless the runs leave them. */
function steady(name: string, names: readonly string[], bounds: readonly Bound[]): [number, number] {
  const found = extent(runs.value, names);
  const near = bounds.flatMap((b) => [b.low, b.high]).filter((v): v is number => v != null);
  const span = found[1] - found[0];
  for (const value of near) {
    if (value > found[0] - span && value < found[1] + span) {
      found[0] = Math.min(found[0], value - span * 0.05);
      found[1] = Math.max(found[1], value + span * 0.05);
    }
  }
  const before = ranges.get(name);
  if (before !== undefined) {
    const wide = before[1] - before[0] > 3 * (found[1] - found[0]);
    if (!wide && found[0] >= before[0] && found[1] <= before[1]) return before;
  }
  ranges.set(name, found);
  return found;
}

interface Drawn {
  box: Box;
  view: View;
}

/** What the last picture looked like: places of the pointer are read with it. */
let drawn: Drawn[] = [];
/** Where the run that is looked at is on a phase plot, at each of its times. */
let path: readonly (readonly [number, number])[] = [];

function paint(canvas: HTMLCanvasElement, width: number, height: number): void {
  const ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const g = canvas.getContext("2d");
  if (g === null) return;
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, width, height);
  const colour = colours(canvas);
  const subject = `${key.value} ${replayed.value?.trace}`;
  if (rangesFor !== subject) {
    ranges.clear();
    rangesFor = subject;
  }
  const scene: Scene = {
    runs: runs.value,
    chosen: Math.min(chosenRun.value, runs.value.length - 1),
    cursor: cursor.value,
    bounds: claims.value,
    invariant: invariantDrawn.value,
  };
  const end = Math.max(...scene.runs.map(endOf), 1e-9);
  const time: [number, number] = window_.value ?? [0, end];
  drawn = [];
  path = [];
  if (arrangement.value === "phase") {
    const names = axes.value;
    if (names === null) return;
    const [x, y] = names;
    const of = (name: string): Bound[] => scene.bounds.filter((bound) => bound.variable === name);
    const view: View = { x: steady(`x ${x}`, [x], of(x)), y: steady(`y ${y}`, [y], of(y)) };
    const box = { left: LEFT, top: TOP, width: width - LEFT - RIGHT, height: height - TOP - BOTTOM };
    const painter = new Painter(g, box, view, colour);
    painter.axes(true);
    painter.bounds(of(x), "x");
    painter.bounds(of(y), "y");
    painter.phase(x, y, scene);
    painter.name(brief(y));
    painter.across(brief(x));
    path = painter.places(x, y, run.value);
    return;
  }
  const curves: Curve[] = variables.value.map((name) => ({ name, colour: colourOf(name) }));
  const rows: Curve[][] = arrangement.value === "overlaid" ? [curves] : curves.map((curve) => [curve]);
  const clocks = Object.keys(run.value.clocks ?? {}).slice(0, MOST_CLOCKS);
  const strip = clocks.length * CLOCK;
  const inner = height - TOP - BOTTOM - GAP * (rows.length - 1) - (strip > 0 ? strip + GAP : 0);
  for (const [place, row] of rows.entries()) {
    const each = inner / rows.length;
    const box: Box = {
      left: LEFT, top: TOP + place * (each + GAP), width: width - LEFT - RIGHT, height: each,
    };
    const names = row.map((curve) => curve.name);
    const bounds = scene.bounds.filter((bound) => names.includes(bound.variable));
    const single = row.length === 1 ? brief(names[0] ?? "") : "";
    const view: View = { x: time, y: steady(`t ${names.join(" ")}`, names, bounds) };
    const painter = new Painter(g, box, view, colour);
    painter.axes(place === rows.length - 1 && strip === 0);
    if (row.length === 1) for (const curve of row) painter.tube(curve, scene);
    // Where several variables share the axes, what is bad for one of them is not for the others.
    painter.bounds(bounds, "y", row.length === 1);
    for (const curve of row) painter.courses(curve, scene);
    if (single !== "") painter.name(single);
    if (place === rows.length - 1) painter.across("time");
    painter.now(row, scene);
    drawn.push({ box, view });
  }
  if (strip > 0) {
    const box = { left: LEFT, top: height - BOTTOM - strip, width: width - LEFT - RIGHT, height: strip };
    const painter = new Painter(g, box, { x: time, y: [0, 1] }, colour);
    painter.clocks(run.value, clocks);
    painter.now([], scene);
  }
}

/** The time under a place of the canvas, on a phase plot that of the nearest point of the run; null
 *  beside the plots. */
function timeAt(x: number, y: number): number | null {
  if (path.length > 0) {
    const far = path.map(([a, b]) => Math.hypot(a - x, b - y));
    return run.peek().times[far.indexOf(Math.min(...far.filter((one) => !Number.isNaN(one))))] ?? null;
  }
  const shown = drawn[0];
  if (shown === undefined) return null;
  const { box, view } = shown;
  const part = (x - box.left) / box.width;
  return view.x[0] + Math.min(1, Math.max(0, part)) * (view.x[1] - view.x[0]);
}

function zoom(at: number, factor: number): void {
  const end = Math.max(...runs.peek().map(endOf));
  const [from, to] = window_.peek() ?? [0, end];
  const next: [number, number] = [
    Math.max(0, at - (at - from) * factor), Math.min(end, at + (to - at) * factor),
  ];
  window_.value = next[1] - next[0] >= end * 0.999 ? null : next;
}

/** Look at a later part of time; an earlier one, if it is less than nothing. */
function shift(by: number): void {
  const seen = window_.peek();
  if (seen === null) return;
  const end = Math.max(...runs.peek().map(endOf));
  const moved = Math.max(-seen[0], Math.min(end - seen[1], by));
  window_.value = [seen[0] + moved, seen[1] + moved];
}

/** Keep the moment that is looked at in sight. */
export function watchSight(): void {
  effect(() => {
    const time = cursor.value;
    const seen = window_.peek();
    if (time === null || seen === null || (time >= seen[0] && time <= seen[1])) return;
    shift(time - (seen[0] + seen[1]) / 2);
  });
}

/** The moments of the transitions of the run that is looked at. */
export function nextEvent(direction: 1 | -1): void {
  const now = cursor.peek() ?? 0;
  const end = endOf(run.peek());
  const times = run.peek().events.map((event) => event.time);
  const found =
    direction > 0
      ? times.find((time) => time > now + end * 1e-6)
      : times.findLast((time) => time < now - end * 1e-6);
  cursor.value = found ?? (direction > 0 ? end : 0);
}

function onKey(event: KeyboardEvent): void {
  const end = endOf(run.peek());
  const [from, to] = window_.peek() ?? [0, end];
  const step = (to - from) / (event.shiftKey ? 20 : 200);
  const now = cursor.peek() ?? 0;
  if (event.key === "ArrowRight") cursor.value = Math.min(end, now + step);
  else if (event.key === "ArrowLeft") cursor.value = Math.max(0, now - step);
  else if (event.key === "Home") cursor.value = 0;
  else if (event.key === "End") cursor.value = end;
  else if (event.key === "PageDown") nextEvent(1);
  else if (event.key === "PageUp") nextEvent(-1);
  else if (event.key === " ") playing.value = !playing.peek();
  else if (event.key === "+") zoom(now, 0.7);
  else if (event.key === "-") zoom(now, 1.4);
  else if (event.key === "Escape") cursor.value = null;
  else return;
  event.preventDefault();
}

export function Plots(): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  const holder = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = canvas.current;
    const around = holder.current;
    if (element === null || around === null) return;
    let frame = 0;
    const size = signal<[number, number]>([around.clientWidth, around.clientHeight]);
    const dark = signal(0);
    const resized = new ResizeObserver(() => {
      size.value = [around.clientWidth, around.clientHeight];
    });
    resized.observe(around);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const recolour = (): void => {
      dark.value += 1;
    };
    scheme.addEventListener("change", recolour);
    const themed = new MutationObserver(recolour);
    themed.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    const stop = effect(() => {
      void dark.value;
      void runs.value;
      void cursor.value;
      void chosenRun.value;
      void variables.value;
      void arrangement.value;
      void axes.value;
      void window_.value;
      void invariantDrawn.value;
      void claims.value;
      const [width, height] = size.value;
      cancelAnimationFrame(frame);
      const rows = arrangement.value === "stacked" ? variables.value.length : 1;
      const clocks = Math.min(Object.keys(run.value.clocks ?? {}).length, MOST_CLOCKS);
      const tall = Math.max(height, rows * LEAST + clocks * CLOCK);
      element.style.width = `${width}px`;
      element.style.height = `${tall}px`;
      frame = requestAnimationFrame(() => paint(element, width, tall));
    });
    return () => {
      stop();
      resized.disconnect();
      themed.disconnect();
      scheme.removeEventListener("change", recolour);
      cancelAnimationFrame(frame);
    };
  }, []);
  const place = (event: PointerEvent): void => {
    const time = timeAt(event.offsetX, event.offsetY);
    if (time === null) return;
    playing.value = false;
    cursor.value = Math.min(time, endOf(run.value));
  };
  const end = endOf(run.value);
  return (
    <div class="plots" ref={holder}>
      <canvas
        ref={canvas}
        tabIndex={0}
        role="slider"
        aria-label="Plots of the runs: the moment looked at"
        aria-valuemin={0}
        aria-valuemax={end}
        aria-valuenow={cursor.value ?? 0}
        aria-valuetext={`time ${short(cursor.value ?? 0)}`}
        data-runs={runs.value.filter((one) => one.former !== true).length}
        onKeyDown={onKey}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          place(event);
        }}
        onPointerMove={(event) => {
          if (event.buttons === 1) place(event);
        }}
        onDblClick={() => (window_.value = null)}
        onWheel={(event) => {
          const [from, to] = window_.value ?? [0, end];
          if (event.ctrlKey) {
            const time = timeAt(event.offsetX, event.offsetY);
            if (time !== null) zoom(time, event.deltaY > 0 ? 1.25 : 0.8);
          } else if (event.deltaX !== 0 && window_.value !== null) {
            shift((event.deltaX / event.currentTarget.clientWidth) * (to - from));
          } else return;
          event.preventDefault();
        }}
      />
      {runs.value.length === 0 && <p class="hint over">Runs appear here as soon as the model has an agent that can run.</p>}
    </div>
  );
}
