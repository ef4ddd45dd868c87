/** What of a picture is active at the moment looked at, and where that is written. */

import { computed, effect, signal } from "@preact/signals";
import { current, editor } from "../text/documents";
import { setLit } from "../text/marks";
import { request } from "../wire/language";
import { agentRun, cursor, run, stayAt } from "../running/state";
import type { DrawnEdge, Picture, Range, RunEvent } from "../wire/types";
import { picture, written } from "./state";

/** How long a transition stays lit, as a part of the run. */
const AFTERGLOW = 0.012;

const modes = computed<readonly (readonly string[])[]>(() => {
  const time = cursor.value;
  return time === null ? [] : (stayAt(run.value, time)?.modes ?? []);
});

const fired = computed<readonly RunEvent[]>(() => {
  const time = cursor.value;
  if (time === null) return [];
  const end = run.value.times.at(-1) ?? 0;
  return run.value.events.filter((event) => event.time <= time && time - event.time <= end * AFTERGLOW);
});

const plain = (name: string): string => name.replace(/\[.*$/, "");

/** Whether a way of names leads to something that is active, or to what is around it. */
const isActive = (names: readonly string[], active: readonly (readonly string[])[]): boolean =>
  active.some((mode) => names.every((name, place) => plain(name) === plain(mode[place] ?? "")));

/** The agent that the runs are of, as levels of the picture begin with it. */
const whole = computed<string | null>(() => agentRun.value ?? picture.value?.main ?? null);

export interface Activity {
  nodes: ReadonlySet<string>;
  edges: ReadonlySet<string>;
}

const NOTHING: Activity = { nodes: new Set(), edges: new Set() };

function lastName(place: string): string {
  return plain(place.replace(/\{[^{}]*\}/g, "").split(/[.|]/).at(-1) ?? "");
}

function hasFired(edge: DrawnEdge, shown: Picture, events: readonly RunEvent[]): boolean {
  if (edge.kind !== "transition") return false;
  const name = (id: string): string => shown.nodes.find((node) => node.id === id)?.name ?? "";
  const inside = (shown.names ?? []).map(plain);
  return events.some((event) => {
    const agent = event.agent.split(".").filter((part) => part !== "").map(plain);
    const alone = agent.length === 1 && agent[0] === plain(shown.path[0] ?? "");
    if (!alone && !agent.every((part, place) => inside[place] === part)) return false;
    if (edge.name != null && edge.name !== "") return event.label.replace(/^#/, "") === edge.name;
    const names = event.source.replace(/\{[^{}]*\}/g, "").split(/[.|]/).map(plain);
    return names.includes(name(edge.source)) && lastName(event.target) !== "" &&
      event.target.replace(/\{[^{}]*\}/g, "").split(/[.|]/).map(plain).includes(name(edge.target));
  });
}

/** The active nodes and the transitions that were just taken, of the picture that is shown. */
export const activity = computed<Activity>(() => {
  const shown = picture.value;
  if (shown === null || cursor.value === null || shown.path[0] !== whole.value) return NOTHING;
  const active = modes.value;
  const nodes = shown.nodes.filter((node) => node.names != null && isActive(node.names, active));
  const edges = shown.edges.filter((edge) => hasFired(edge, shown, fired.value));
  return {
    nodes: new Set(nodes.map((node) => node.id)),
    edges: new Set(edges.map((edge) => edge.id)),
  };
});

/* In the text: the modes that are active anywhere, found by walking the levels of the model. */

/** Where each agent and mode of a text is written, by its way of names; for one version of it. */
interface Written {
  uri: string;
  version: number;
  levels: Map<string, Promise<Picture | null>>;
}

let known: Written | null = null;

function levelOf(path: readonly string[]): Promise<Picture | null> {
  const document = current.peek();
  if (document === null) return Promise.resolve(null);
  if (known === null || known.uri !== document.uri || known.version !== document.version) {
    known = { uri: document.uri, version: document.version, levels: new Map() };
  }
  const key = path.join("\n");
  const before = known.levels.get(key);
  if (before !== undefined) return before;
  const asked = request<Picture | null>("charon/diagram", {
    textDocument: { uri: document.uri }, path,
  }).catch(() => null);
  known.levels.set(key, asked);
  return asked;
}

/** Where an active mode is written: the place of its use, found from the whole downwards. */
async function placeOf(root: string, names: readonly string[]): Promise<Range | null> {
  let path = [root];
  let range: Range | null = null;
  let left = names.map(plain);
  for (let depth = 0; depth < names.length + 4 && left.length > 0; depth += 1) {
    const level = await levelOf(path);
    if (level === null) return range;
    const next = level.nodes.find(
      (node) => (node.kind === "agent" || node.kind === "mode") && plain(node.name) === left[0],
    );
    const top = level.kind === "agent" ? level.nodes.find((node) => node.kind === "mode") : undefined;
    if (next !== undefined && !(level.kind === "agent" && next.kind === "mode")) {
      range = written(level, next);
      left = left.slice(1);
      path = [...path, next.name];
    } else if (top !== undefined) path = [...path, top.name];
    else return range;
  }
  return range;
}

const lit = signal(0);

export function watchActivity(): void {
  effect(() => {
    const shown = picture.value;
    const active = modes.value;
    const document = current.value;
    lit.value = lit.peek() + 1;
    const number = lit.peek();
    const view = editor();
    if (view === null || document === null) return;
    const root = whole.value;
    if (active.length === 0 || root === null) {
      view.dispatch({ effects: setLit({ active: [], fired: [] }) });
      return;
    }
    const taken = activity.value.edges;
    const transitions = shown === null ? [] : shown.edges.filter((edge) => taken.has(edge.id)).map((edge) => written(shown, edge));
    void Promise.all(active.map((names) => placeOf(root, names))).then((ranges) => {
      if (number !== lit.peek() || current.peek() !== document) return;
      const there = (range: Range | null): range is Range => range !== null;
      editor()?.dispatch({
        effects: setLit({ active: ranges.filter(there), fired: transitions.filter(there) }),
      });
    });
  });
}
