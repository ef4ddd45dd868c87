/** Runs of the current model: what was chosen for them, how they went, and the moment looked at. */

import { batch, computed, effect, signal } from "@preact/signals";
import { notify } from "../page/notices";
import { current, revision } from "../text/documents";
import { Latest } from "../wire/socket";
import type {
  Description, Job, Problem, Replay, ReplayRequest, Run, RunTold, SimulateRequest, Stay, Value,
} from "../wire/types";

export interface Settings {
  /** The agent that is run; null: the whole model. */
  agent: string | null;
  parameters: Record<string, number>;
  initial: Record<string, number | string | boolean>;
  inputs: Record<string, number | string>;
  until: number | null;
  runs: number;
  seed: number;
  ownClocks: boolean;
}

const FRESH: Settings = {
  agent: null, parameters: {}, initial: {}, inputs: {}, until: null, runs: 6, seed: 0, ownClocks: false,
};
const TYPING_REST = 300;
const DEFAULT_UNTIL = 20;

const chosen = signal<ReadonlyMap<string, Settings>>(new Map());

/** What is chosen for the current model. */
export const settings = computed<Settings>(
  () => chosen.value.get(current.value?.path ?? "") ?? FRESH,
);

/** The runs that are shown, what they were asked with, and the path of their model. */
interface Shown {
  path: string;
  request: SimulateRequest;
  description: Description;
  runs: readonly Run[];
}

const shown = signal<ReadonlyMap<string, Shown>>(new Map());

/** The last runs of the current model, also while its text is broken. */
export const simulation = computed(() => shown.value.get(current.value?.path ?? "") ?? null);
/** What there is to choose and to look at in the current model. */
export const description = computed<Description | null>(
  () => replayed.value?.description ?? simulation.value?.description ?? null,
);
export const problem = signal<Problem | null>(null);
/** Whether a newer answer is awaited. */
export const waiting = signal(false);
/** How long it took until the last answer began, in ms. */
export const answered = signal<number | null>(null);

/** A recorded run in place of the simulated ones: the counterexample of a verdict, or a trace. */
export interface Replayed {
  path: string;
  run: Run;
  /** The claim that the run breaks, or the file that it is from. */
  title: { claim: string } | { file: string };
  trace: string | null;
  description: Description | null;
  /** The job that found it; null: it is from a file. */
  job: Job | null;
  /** The agent that it is a run of; null: the whole model. */
  agent: string | null;
  /** The values that were chosen for it; null: nobody knows. */
  parameters: Record<string, Value> | null;
}

const replaying = signal<Replayed | null>(null);
export const replayed = computed(() =>
  replaying.value?.path === current.value?.path ? replaying.value : null,
);

/** The runs on the plots. */
export const runs = computed<readonly Run[]>(() =>
  replayed.value !== null ? [replayed.value.run] : (simulation.value?.runs ?? []),
);

const NO_RUN: Run = { times: [], values: {}, events: [], locations: [], end: { reason: "", text: "" } };

export const chosenRun = signal(0);
/** The run that the cursor is on. */
export const run = computed<Run>(() => runs.value[Math.min(chosenRun.value, runs.value.length - 1)] ?? NO_RUN);

/** The moment that every view shows; null: none. */
export const cursor = signal<number | null>(null);
export const playing = signal(false);

/** Which part of the page is seen: called when a replay begins. */
export const showRuns = signal(0);

export const endOf = (one: Run): number => one.times.at(-1) ?? 0;

/** Replay a recorded run through every view. */
function begin(recorded: Omit<Replayed, "path">, path: string): void {
  replaying.value = { path, ...recorded };
  chosenRun.value = 0;
  cursor.value = recorded.run.times[0] ?? 0;
  playing.value = false;
  showRuns.value += 1;
}

export function replayCounterexample(
  found: Run, claim: string, trace: string | null, job: Job,
): void {
  const about = { job, agent: job.agent ?? null, parameters: job.parameters };
  begin({ run: found, title: { claim }, trace, description: null, ...about }, current.peek()?.path ?? "");
}

/** The agent that the runs on the plots are of; null: the whole model. */
export const agentRun = computed<string | null>(() =>
  replayed.value !== null ? replayed.value.agent : settings.value.agent,
);

export function endReplay(): void {
  replaying.value = null;
  cursor.value = null;
  playing.value = false;
}

/** Where a run is at a moment: the last point that is not later. */
export function indexAt(one: Run, time: number): number {
  const { times } = one;
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) <= time) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

/** The value of a variable at a moment; numbers are taken along the line to the next point. */
export function valueAt(one: Run, name: string, time: number): Value {
  const course = one.values[name];
  if (course === undefined) return null;
  const here = indexAt(one, time);
  const value = course[here] ?? null;
  const next = course[here + 1];
  const from = one.times[here];
  const to = one.times[here + 1];
  if (typeof value !== "number" || typeof next !== "number") return value;
  if (from === undefined || to === undefined || to <= from || time <= from) return value;
  return value + ((next - value) * (time - from)) / (to - from);
}

export function stayAt(one: Run, time: number): Stay | null {
  let found: Stay | null = null;
  for (const stay of one.locations) {
    if (stay.from > time) break;
    found = stay;
  }
  return found;
}

/* Asking. */

let begun = 0;

const question = new Latest<SimulateRequest, unknown, RunTold>(
  "simulate",
  () => {
    waiting.value = question.isWaiting;
  },
  (error) => {
    waiting.value = question.isWaiting;
    problem.value = error as Problem;
  },
  (part, request) =>
    batch(() => {
      problem.value = null;
      const path = request.model ?? "";
      shown.value = new Map(shown.peek()).set(path, withRun(shown.peek().get(path), part, request));
    }),
);

const FORMER = { former: true };

/** What is shown with one more run: of an answer that begins, the other runs are former ones. */
function withRun(before: Shown | undefined, part: RunTold, request: SimulateRequest): Shown {
  const { place, run: made, ...described } = part;
  const begins = before?.request !== request;
  if (begins) answered.value = performance.now() - begun;
  const kept = begins ? before?.runs.map((one) => ({ ...one, ...FORMER })) : before?.runs;
  const all = Array.from({ length: request.runs }, (_, at) =>
    at === place ? made : (kept?.[at] ?? { ...NO_RUN, ...FORMER }),
  );
  const isNew = begins && JSON.stringify(described) !== JSON.stringify(before?.description);
  return {
    path: request.model ?? "",
    request,
    description: isNew || before === undefined ? (described as Description) : before.description,
    runs: all,
  };
}

const recorded = new Latest<ReplayRequest, Replay>(
  "replay",
  ({ model, agent, run: made, ...described }, { trace }) => {
    const about = { job: null, agent, parameters: null };
    begin({ run: made, title: { file: trace }, trace, description: described, ...about }, model);
    replayedModel.value = { path: model };
  },
  (error, { trace }) => notify(`${trace}: ${(error as Problem).message}`, "error"),
);

/** The model of the trace that was last replayed: it is to be shown. */
export const replayedModel = signal<{ path: string } | null>(null);

/** Make the run of a trace again, with the model that it is of, and replay it. */
export function replayTrace(trace: string, models: readonly string[]): void {
  const open = current.peek();
  const others = models.filter((model) => model !== open?.path);
  if (open === null || !models.includes(open.path)) recorded.ask({ models: others, trace });
  else recorded.ask({ models: [open.path, ...others], text: open.state.doc.toString(), trace });
}

/** Whether anyone looks at runs: only then are they made. */
export const watched = signal(true);

export function chosenParameters(): Record<string, number> {
  return settings.peek().parameters;
}

function request(): SimulateRequest | null {
  const document = current.peek();
  if (document === null || !document.path.endsWith(".charon")) return null;
  const text = document.state.doc.toString();
  if (text.trim() === "") return null;
  const { agent, parameters, initial, inputs, until, runs: count, seed, ownClocks } = settings.peek();
  return {
    model: document.path,
    text,
    ...(agent === null ? {} : { agent }),
    parameters,
    initial,
    inputs,
    until: until ?? description.peek()?.horizon ?? DEFAULT_UNTIL,
    runs: count,
    seed,
    ...(ownClocks ? { own_clocks: true } : {}),
    first: Math.min(chosenRun.peek(), count - 1),
  };
}

export function ask(): void {
  const asked = request();
  if (asked === null || !watched.peek()) return;
  begun = performance.now();
  waiting.value = true;
  question.ask(asked);
}

/** Choose something for the runs; they are made again at once. */
export function choose(change: Partial<Settings>): void {
  const path = current.peek()?.path;
  if (path === undefined) return;
  chosen.value = new Map(chosen.peek()).set(path, { ...settings.peek(), ...change });
  if (replayed.peek() !== null) endReplay();
  ask();
}

export const chooseOne = (
  what: "parameters" | "initial" | "inputs", name: string, value: number | string | boolean | null,
): void => {
  const next = { ...settings.peek()[what] } as Record<string, number | string | boolean>;
  if (value === null) delete next[name];
  else next[name] = value;
  choose({ [what]: next });
};

export const reset = (): void => choose({ ...FRESH, agent: settings.peek().agent, runs: settings.peek().runs });

/** Run an agent alone, or the whole model; what was chosen for another one means nothing to it. */
export function chooseAgent(agent: string | null): void {
  if (agent !== settings.peek().agent) choose({ ...FRESH, agent, runs: settings.peek().runs });
}

let timer = 0;

export function watchRuns(): void {
  effect(() => {
    void revision.value;
    void current.value;
    void watched.value;
    clearTimeout(timer);
    timer = window.setTimeout(ask, TYPING_REST);
  });
  let path: string | null = null;
  effect(() => {
    const next = current.value?.path ?? null;
    if (next === path) return;
    path = next;
    question.forget();
    problem.value = null;
    cursor.value = null;
    playing.value = false;
    chosenRun.value = 0;
  });
}

/** Let time pass at the cursor. */
export function watchPlaying(): void {
  let last = 0;
  const step = (now: number): void => {
    if (!playing.peek()) return;
    const end = endOf(run.peek());
    const passed = last === 0 ? 0 : (now - last) / 1000;
    last = now;
    const next = (cursor.peek() ?? 0) + passed * Math.max(end / 15, 0.001);
    cursor.value = Math.min(next, end);
    if (next >= end) playing.value = false;
    else requestAnimationFrame(step);
  };
  effect(() => {
    if (!playing.value) return;
    last = 0;
    if (cursor.peek() === null || (cursor.peek() ?? 0) >= endOf(run.peek())) cursor.value = 0;
    requestAnimationFrame(step);
  });
}
