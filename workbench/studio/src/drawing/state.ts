/**
 * The picture of one level of the current model, and what is selected in it.
 *
 * The language server draws; this page asks again at every change of the text and shows the last
 * good picture, marked, while the text cannot be read.
 */

import { computed, effect, signal } from "@preact/signals";
import type { StateEffect } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { notify } from "../page/notices";
import { load } from "../project/files";
import { applyEdit, current, editor, revision } from "../text/documents";
import { cursorPut } from "../text/expected";
import { setChosen } from "../text/marks";
import { positionOf, spanOf } from "../text/positions";
import { capabilities, request } from "../wire/language";
import type { DrawnEdge, DrawnNode, Picture, Range, WorkspaceEdit } from "../wire/types";

const REST = 60;
const LONGEST_REST = 1500;
const FOLLOW_REST = 140;

const pictures = signal<ReadonlyMap<string, Picture>>(new Map());
const paths = signal<ReadonlyMap<string, readonly string[]>>(new Map());
/** Whether the last text could not be drawn at all. */
export const failed = signal(false);
/** Whether the diagram goes where the cursor of the text is. */
export const following = signal(true);

export const picture = computed<Picture | null>(() => pictures.value.get(current.value?.path ?? "") ?? null);
/** The level that is wanted; null: the one that shows most. */
export const level = computed<readonly string[] | null>(
  () => paths.value.get(current.value?.path ?? "") ?? null,
);

/** The identity of the node or edge that is selected; null: the level itself. */
export const selected = signal<string | null>(null);

export const selectedNode = computed<DrawnNode | null>(
  () => picture.value?.nodes.find((node) => node.id === selected.value) ?? null,
);
export const selectedEdge = computed<DrawnEdge | null>(
  () => picture.value?.edges.find((edge) => edge.id === selected.value) ?? null,
);

/** The field that takes the keyboard as soon as what it is about is selected and drawn. */
export const awaited = signal<{ field: string; of: string | null } | null>(null);

/** Give the keyboard to a field of what is selected, or of what is about to be. */
export function focusField(field: string): void {
  awaited.value = { field, of: selected.peek() };
}

/* Looking. */

let asked = 0;
let timer = 0;
/** How long the last picture took, in ms: a large one waits for a rest that is as long. */
let took = 0;

async function draw(fresh = false): Promise<void> {
  const document = current.peek();
  if (document === null || !document.path.endsWith(".charon") || capabilities.peek() === null) return;
  asked += 1;
  const number = asked;
  const path = level.peek() ?? picture.peek()?.path ?? null;
  const begun = performance.now();
  try {
    const drawn = await request<Picture | null>("charon/diagram", {
      textDocument: { uri: document.uri },
      ...(path === null ? {} : { path }),
      ...(fresh ? { fresh } : {}),
    });
    if (number !== asked || current.peek() !== document || drawn === null) return;
    failed.value = false;
    took = performance.now() - begun;
    pictures.value = new Map(pictures.peek()).set(document.path, drawn);
    // Where the level is gone, the nearest one around it has come.
    if (path !== null) paths.value = new Map(paths.peek()).set(document.path, drawn.path);
    for (const next of [wanted, null]) {
      if (selected.peek() !== null && (selectedNode.peek() ?? selectedEdge.peek()) === null) selected.value = next;
    }
    wanted = null;
    if (drawnNow) showInText(written(drawn, selectedNode.peek() ?? selectedEdge.peek()), true);
    drawnNow = false;
  } catch {
    if (number === asked) failed.value = true;
  }
}

/** The agents or modes that the current file defines. */
export async function definitions(kind: "agent" | "mode"): Promise<readonly string[]> {
  const document = current.peek();
  if (document === null) return [];
  const file = await request<Picture | null>("charon/diagram", {
    textDocument: { uri: document.uri }, path: [],
  }).catch(() => null);
  return (file?.nodes ?? []).filter((node) => node.kind === kind).map((node) => node.name);
}

/** Lay the level out anew, wherever its parts have been so far. */
export function layOut(): void {
  void draw(true);
}

function soon(rest: number): void {
  clearTimeout(timer);
  timer = window.setTimeout(() => void draw(), rest);
}

function setLevel(path: readonly string[]): void {
  const document = current.peek();
  if (document === null) return;
  paths.value = new Map(paths.peek()).set(document.path, path);
  soon(0);
}

/** What is selected in the picture that comes next. */
let wanted: string | null = null;
/** Whether that was drawn just now: then the text shows it. */
let drawnNow = false;

/** Show a level, with something selected in it. */
export function enter(path: readonly string[], select: string | null = null): void {
  wanted = select;
  selected.value = select;
  setLevel(path);
}

/** Show the inside of a node. */
export function enterNode(node: DrawnNode): void {
  const shown = picture.peek();
  if (shown !== null && node.enterable) enter([...shown.path, node.name]);
}

/** Show what is around the level, the level itself selected. */
export function leave(): void {
  const shown = picture.peek();
  if (shown === null || shown.path.length === 0) return;
  const name = shown.path.at(-1) ?? "";
  enter(shown.path.slice(0, -1), `${shown.kind}:${name}`);
}

/** Where something of a picture is written in the text that is drawn; null: in another file. */
export function written(shown: Picture, part: DrawnNode | DrawnEdge | null): Range | null {
  const own = part !== null && "uri" in part ? part.uri : undefined;
  const file = own ?? shown.nodes.find((node) => node.uri != null)?.uri ?? shown.uri;
  return file === shown.uri ? ((part ?? shown).range ?? null) : null;
}

/** Select something of the picture; the text shows where it is written. */
export function select(id: string | null): void {
  awaited.value = null;
  selected.value = id;
  const shown = picture.peek();
  if (shown === null) return;
  showInText(written(shown, selectedNode.peek() ?? selectedEdge.peek()), id !== null);
}

export function showInText(range: Range | null, scroll: boolean): void {
  const view = editor();
  if (view === null) return;
  const effects: StateEffect<unknown>[] = [setChosen(range)];
  if (range !== null && scroll) {
    const { from } = spanOf(view.state.doc, range);
    effects.push(EditorView.scrollIntoView(from, { y: "nearest", yMargin: 60 }));
  }
  view.dispatch({ effects });
}

/* Editing. */

/** An edit of the picture, by the name of its kind, with its fields. */
export type VisualEdit = { kind: string } & Record<string, unknown>;

/** Make an edit of the picture one of the text; what went wrong is said and given back. */
export async function edit(made: VisualEdit, then: string | null = null): Promise<string | null> {
  const document = current.peek();
  const shown = picture.peek();
  if (document === null || shown === null) return "there is nothing to edit";
  const { version } = document;
  try {
    const answer = await request<WorkspaceEdit>("charon/visualEdit", {
      textDocument: { uri: document.uri },
      version,
      edit: { path: shown.path, ...made },
    });
    if (document.version !== version) return "the text has changed meanwhile";
    await applyEdit(answer, load, "input.draw");
    if (then !== null) {
      wanted = then;
      selected.value = then;
      drawnNow = true;
    }
    soon(0);
    return null;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    notify(message, "error");
    return message;
  }
}

/* Following. */

let locating = 0;

async function locate(): Promise<void> {
  const document = current.peek();
  const view = editor();
  if (document === null || view === null || !following.peek() || !view.hasFocus) return;
  locating += 1;
  const number = locating;
  const { version } = document;
  const head = view.state.selection.main.head;
  try {
    const found = await request<{ path: string[]; id?: string | null } | null>("charon/locate", {
      textDocument: { uri: document.uri },
      position: positionOf(view.state.doc, head),
      path: picture.peek()?.path ?? [],
    });
    if (number !== locating || found === null || document.version !== version) return;
    if (found.path.length === 0 && found.id == null) return; // nowhere in the picture
    const shown = picture.peek();
    if (shown !== null && shown.path.join("\n") === found.path.join("\n")) {
      selected.value = found.id ?? null;
    } else enter(found.path, found.id ?? null);
  } catch {
    // A text that cannot be read is nowhere.
  }
}

export function watchPicture(): void {
  effect(() => {
    void revision.value;
    void current.value;
    if (capabilities.value !== null) soon(Math.max(REST, Math.min(took, LONGEST_REST)));
  });
  let path: string | null = null;
  effect(() => {
    const next = current.value?.path ?? null;
    if (next === path) return;
    path = next;
    selected.value = null;
    failed.value = false;
  });
  let follow = 0;
  effect(() => {
    void cursorPut.value;
    clearTimeout(follow);
    if (following.value) follow = window.setTimeout(() => void locate(), FOLLOW_REST);
  });
}
