/** A proved invariant over the runs: where its inequalities let a variable be. */

import { computed, signal } from "@preact/signals";
import { isStale } from "../deciding/jobs";
import type { Found } from "../deciding/jobs";
import { currentPath } from "../text/documents";
import type { Run, Verdict } from "../wire/types";
import { agentRun, replayed, settings, stayAt, valueAt } from "./state";

const wanted = signal<Found | null>(null);

export function showInvariant(found: Found | null): void {
  wanted.value = found;
}

/** The verdict of the current model whose invariant is to be drawn. */
export const invariantShown = computed<Found | null>(() =>
  wanted.value?.job.model === currentPath.value ? wanted.value : null,
);

/** Why the invariant says nothing about the runs that are shown; empty where it does. */
export const invariantMisses = computed<string>(() => {
  const found = invariantShown.value;
  if (found === null) return "";
  if (isStale(found.job)) return "of the text before";
  if ((found.job.agent ?? null) !== agentRun.value) return "of another agent";
  const proved = found.job.parameters;
  const chosen = replayed.value === null ? settings.value.parameters : replayed.value.parameters;
  if (chosen === null) return "of the runs of this text";
  const names = new Set([...Object.keys(proved), ...Object.keys(chosen)]);
  for (const name of names) {
    if (String(proved[name]) !== String(chosen[name])) return `of another ${name}`;
  }
  return replayed.value === null && settings.value.ownClocks ? "of agents without clocks of their own" : "";
});

/** The verdict whose invariant is drawn over the runs. */
export const invariantDrawn = computed<Verdict | null>(() =>
  invariantMisses.value === "" ? (invariantShown.value?.verdict ?? null) : null,
);

/* Reading: inequalities between polynomials, as they are printed. */

type Lookup = (name: string) => number;
type Expression = (value: Lookup) => number;

/** A condition: the expression is at most zero. */
interface Row {
  names: ReadonlySet<string>;
  excess: Expression;
}

const WORD = /\s*(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|[A-Za-z_][\w.[\]]*|[-+*/^()])/y;

class Reader {
  private readonly words: string[] = [];
  private at = 0;
  readonly names = new Set<string>();

  constructor(text: string) {
    WORD.lastIndex = 0;
    const source = text.trimEnd();
    while (WORD.lastIndex < source.length) {
      const word = WORD.exec(source)?.[1];
      if (word === undefined) throw new SyntaxError(text);
      this.words.push(word);
    }
  }

  whole(): Expression {
    const found = this.sum();
    if (this.at < this.words.length) throw new SyntaxError(this.words.join(" "));
    return found;
  }

  private take(...expected: string[]): string | null {
    const word = this.words[this.at];
    if (word === undefined || !expected.includes(word)) return null;
    this.at += 1;
    return word;
  }

  private sum(): Expression {
    let left = this.product();
    for (let sign = this.take("+", "-"); sign !== null; sign = this.take("+", "-")) {
      const [a, b, factor] = [left, this.product(), sign === "-" ? -1 : 1];
      left = (value) => a(value) + factor * b(value);
    }
    return left;
  }

  private product(): Expression {
    let left = this.factor();
    for (let sign = this.take("*", "/"); sign !== null; sign = this.take("*", "/")) {
      const [a, b] = [left, this.factor()];
      left = sign === "*" ? (value) => a(value) * b(value) : (value) => a(value) / b(value);
    }
    return left;
  }

  private factor(): Expression {
    if (this.take("-") !== null) {
      const inner = this.factor();
      return (value) => -inner(value);
    }
    const base = this.atom();
    if (this.take("^") === null) return base;
    const exponent = this.factor();
    return (value) => base(value) ** exponent(value);
  }

  private atom(): Expression {
    if (this.take("(") !== null) {
      const inner = this.sum();
      if (this.take(")") === null) throw new SyntaxError("a bracket stays open");
      return inner;
    }
    const word = this.words[this.at];
    if (word === undefined) throw new SyntaxError("something is missing");
    this.at += 1;
    if (/^\d/.test(word)) {
      const number = Number(word);
      return () => number;
    }
    if (!/^[A-Za-z_]/.test(word)) throw new SyntaxError(word);
    this.names.add(word);
    return (value) => value(word);
  }
}

const parsed = new Map<string, readonly Row[]>();

/** The rows of an inequality: `a <= b`, `a <= b <= c`, `a >= b`, `a = b`. */
function rows(text: string): readonly Row[] {
  const known = parsed.get(text);
  if (known !== undefined) return known;
  const found: Row[] = [];
  const parts = text.split(/(<=|>=|==|<|>|=)/);
  for (let i = 0; i + 2 < parts.length; i += 2) {
    try {
      const left = new Reader(parts[i] ?? "");
      const right = new Reader(parts[i + 2] ?? "");
      const [a, b] = [left.whole(), right.whole()];
      const names = new Set([...left.names, ...right.names]);
      const sign = parts[i + 1] ?? "";
      if (!sign.startsWith(">")) found.push({ names, excess: (value) => a(value) - b(value) });
      if (!sign.startsWith("<")) found.push({ names, excess: (value) => b(value) - a(value) });
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  parsed.set(text, found);
  return found;
}

function rowsAt(verdict: Verdict, location: string | undefined): readonly Row[] {
  const place = verdict.invariant?.find((one) => one.location === location);
  const only = verdict.invariant?.length === 1 ? verdict.invariant[0] : undefined;
  return (place ?? only)?.conditions?.flatMap(rows) ?? [];
}

/* Drawing. */

const EXACT = 1e-6;

/** Where a*y*y + b*y + c <= 0 holds around a value at which it does. */
function around(a: number, b: number, c: number, near: number): [number, number] {
  if (a === 0) {
    if (b === 0) return [-Infinity, Infinity];
    return b > 0 ? [-Infinity, -c / b] : [-c / b, Infinity];
  }
  const root = Math.sqrt(b * b - 4 * a * c);
  if (Number.isNaN(root)) return [-Infinity, Infinity];
  const ends = [(-b - root) / (2 * a), (-b + root) / (2 * a)].sort((p, q) => p - q);
  const [low, high] = [ends[0] ?? 0, ends[1] ?? 0];
  if (a > 0) return [low, high];
  return near <= (low + high) / 2 ? [-Infinity, low] : [high, Infinity];
}

/** From where to where a variable may be at a moment, the others being as in the run. */
export function section(
  verdict: Verdict, run: Run, variable: string, time: number,
): [number, number] | null {
  let low = -Infinity;
  let high = Infinity;
  const here = valueAt(run, variable, time);
  const near = typeof here === "number" ? here : 0;
  for (const { names, excess } of rowsAt(verdict, stayAt(run, time)?.location)) {
    if (!names.has(variable)) continue;
    const at = (y: number): number =>
      excess((name) => {
        if (name === variable) return y;
        const value = valueAt(run, name, time);
        return typeof value === "number" ? value : NaN;
      });
    // A polynomial of degree two at most is known by three of its values; a fourth one tells.
    const [zero, one, minus, two] = [at(0), at(1), at(-1), at(2)];
    const square = (one + minus) / 2 - zero;
    const slope = (one - minus) / 2;
    const size = Math.abs(zero) + Math.abs(one) + Math.abs(two);
    if (!(Math.abs(4 * square + 2 * slope + zero - two) <= EXACT * size)) continue;
    const a = Math.abs(square) <= 1e-12 * size ? 0 : square;
    const [from, to] = around(a, slope, zero, near);
    low = Math.max(low, from);
    high = Math.min(high, to);
  }
  return low === -Infinity && high === Infinity ? null : [low, high];
}

/** Whether two variables may have these values at a moment, the others being as in the run. */
export function within(
  verdict: Verdict, run: Run, x: string, y: string, time: number,
): ((a: number, b: number) => boolean) | null {
  const all = rowsAt(verdict, stayAt(run, time)?.location).filter(
    ({ names }) => names.has(x) || names.has(y),
  );
  if (all.length === 0) return null;
  const known = new Map<string, number>();
  for (const { names } of all) {
    for (const name of names) {
      const value = valueAt(run, name, time);
      known.set(name, typeof value === "number" ? value : NaN);
    }
  }
  return (a, b) =>
    all.every(({ excess }) => {
      const value = excess((name) => (name === x ? a : name === y ? b : (known.get(name) ?? NaN)));
      return Number.isNaN(value) || value <= 0;
    });
}

/** The moments at which a tube is drawn: the points of the run, thinned. */
export function moments(run: Run, most: number): number[] {
  const step = Math.max(1, Math.ceil(run.times.length / most));
  const found: number[] = [];
  for (let i = 0; i < run.times.length; i += step) found.push(run.times[i] ?? 0);
  return found;
}
