/**
 * The open texts: one editor state for each, known to the language server by its address.
 *
 * The text in the editor is the only truth of a document. Whatever changes it (keys, quick fixes,
 * edits of the diagram, a file that changed on disk) is a transaction of its state, so undo is one
 * history, and every change reaches the language server as an increment.
 */

import { isolateHistory } from "@codemirror/commands";
import { EditorState, Transaction } from "@codemirror/state";
import type { ChangeSpec, Extension, Text, TransactionSpec } from "@codemirror/state";
import type { EditorView, ViewUpdate } from "@codemirror/view";
import { computed, effect, signal } from "@preact/signals";
import { capabilities, tell } from "../wire/language";
import type { WorkspaceEdit } from "../wire/types";
import { changesOf, difference, positionOf } from "./positions";

export interface OpenText {
  readonly path: string;
  readonly uri: string;
  state: EditorState;
  /** How often the text has changed since it was opened, from 1, as the protocol counts. */
  version: number;
  /** The file as it was read or written last, and the server's mark of it; null: not on disk. */
  saved: Text;
  stamp: string;
  /** What is on disk now, where it differs from what was read while there are edits here. */
  conflict: { text: string; stamp: string } | null;
  scroll: number;
}

export const folder = signal("");
export const opened = signal<readonly OpenText[]>([]);
export const currentPath = signal<string | null>(null);
/** Counts changes of any open text: who shows something about texts reads it. */
export const revision = signal(0);

export const current = computed(() => {
  const path = currentPath.value;
  return opened.value.find((document) => document.path === path) ?? null;
});

let view: EditorView | null = null;
/** The text that is in the editor. */
let onPage: OpenText | null = null;
let extensions: Extension = [];

/** The editor on the page, through which the current text is shown and changed. */
export const editor = (): EditorView | null => view;

export function uriOf(path: string): string {
  return `file://${`${folder.value}/${path}`.split("/").map(encodeURIComponent).join("/")}`;
}

export function pathOf(uri: string): string | null {
  const plain = decodeURIComponent(uri.replace(/^file:\/\//, ""));
  const inside = `${folder.value}/`;
  return plain.startsWith(inside) ? plain.slice(inside.length) : null;
}

export const isDirty = (document: OpenText): boolean => {
  void revision.value;
  return !document.state.doc.eq(document.saved);
};

export const find = (path: string): OpenText | undefined =>
  opened.value.find((document) => document.path === path);

/** Tell the language server about a text, from the beginning. */
function introduce(document: OpenText): void {
  if (!document.path.endsWith(".charon")) return;
  tell("textDocument/didOpen", {
    textDocument: {
      uri: document.uri,
      languageId: "charon",
      version: document.version,
      text: document.state.doc.toString(),
    },
  });
}

/** A new language server hears of every open text. */
effect(() => {
  if (capabilities.value === null) return;
  for (const document of opened.peek()) introduce(document);
});

/** Follow a change: the version, the language server, and everyone who watches. */
function follow(document: OpenText, before: Text, update: { changes: ViewUpdate["changes"] }): void {
  document.version += 1;
  if (document.path.endsWith(".charon")) {
    const pieces: { range: unknown; text: string }[] = [];
    update.changes.iterChanges((from, to, _fromNew, _toNew, inserted) => {
      pieces.push({
        range: { start: positionOf(before, from), end: positionOf(before, to) },
        text: inserted.toString(),
      });
    });
    // Each piece is applied to what the ones before left: from the end, places stay as they were.
    pieces.reverse();
    tell("textDocument/didChange", {
      textDocument: { uri: document.uri, version: document.version },
      contentChanges: pieces,
    });
  }
  revision.value += 1;
}

/** Called by the editor with every update of the text on the page. */
export function updated(update: ViewUpdate): void {
  const document = onPage;
  if (document === null) return;
  document.state = update.state;
  if (update.docChanged) follow(document, update.startState.doc, update);
}

/** Where the editor shows the texts from now on, and what all of them are extended by. */
export function attach(shown: EditorView, all: Extension): void {
  view = shown;
  extensions = all;
}

/** Open a text that is on disk, or go to it; `draft` is what was typed and not yet saved. */
export function open(path: string, text: string, stamp: string, draft?: string): OpenText {
  const there = find(path);
  if (there !== undefined) return there;
  const saved = EditorState.create({ doc: text }).doc;
  let state = EditorState.create({ doc: text, extensions });
  if (draft !== undefined && draft !== text) {
    state = state.update({ changes: difference(text, draft) }).state;
  }
  const document: OpenText = {
    path, uri: uriOf(path), state, version: 1, saved, stamp, conflict: null, scroll: 0,
  };
  opened.value = [...opened.value, document];
  if (capabilities.peek() !== null) introduce(document);
  return document;
}

/** Show an open text in the editor. */
export function show(path: string): void {
  const document = find(path);
  if (document === undefined || view === null || onPage === document) return;
  if (onPage !== null) onPage.scroll = view.scrollDOM.scrollTop;
  onPage = document;
  view.setState(document.state);
  document.state = view.state;
  currentPath.value = path;
  view.scrollDOM.scrollTop = document.scroll;
  revision.value += 1;
}

/** Close a text; the one beside it is shown. */
export function close(path: string): void {
  const place = opened.value.findIndex((document) => document.path === path);
  const document = opened.value[place];
  if (document === undefined) return;
  if (document.path.endsWith(".charon")) {
    tell("textDocument/didClose", { textDocument: { uri: document.uri } });
  }
  const left = opened.value.filter((other) => other !== document);
  const next = left[Math.min(place, left.length - 1)];
  const shown = currentPath.peek() === path;
  opened.value = left;
  if (!shown) return;
  onPage = null;
  if (next !== undefined) show(next.path);
  else currentPath.value = null;
}

/** Change a text, whether it is on the page or not. */
export function change(document: OpenText, spec: TransactionSpec): void {
  if (document === onPage && view !== null) {
    view.dispatch(spec);
    return;
  }
  const before = document.state.doc;
  const transaction = document.state.update(spec);
  document.state = transaction.state;
  if (transaction.docChanged) follow(document, before, transaction);
}

/** What is on disk has changed: take it over, or, where there are edits here, say so. */
export function changedOnDisk(document: OpenText, text: string, stamp: string): void {
  if (stamp === document.stamp) return;
  if (isDirty(document) && document.state.doc.toString() !== text) {
    document.conflict = { text, stamp };
    revision.value += 1;
    return;
  }
  takeOver(document, text, stamp);
}

/** Make a text what is on disk; the change can be undone like any other. */
export function takeOver(document: OpenText, text: string, stamp: string): void {
  const now = document.state.doc.toString();
  document.stamp = stamp;
  document.conflict = null;
  if (now !== text) {
    change(document, {
      changes: difference(now, text),
      annotations: [Transaction.addToHistory.of(true), Transaction.remote.of(true)],
    });
  }
  document.saved = document.state.doc;
  revision.value += 1;
}

/** The text was written. */
export function wasSaved(document: OpenText, written: Text, stamp: string): void {
  document.saved = written;
  document.stamp = stamp;
  document.conflict = null;
  if (document.path.endsWith(".charon")) {
    tell("textDocument/didSave", { textDocument: { uri: document.uri } });
  }
  revision.value += 1;
}

/** Apply an edit of the language server to every text that it names; `load` opens those that are not. */
export async function applyEdit(
  edit: WorkspaceEdit,
  load: (path: string) => Promise<OpenText>,
  userEvent = "input.language",
): Promise<number> {
  const all = new Map(Object.entries(edit.changes ?? {}));
  for (const { textDocument, edits } of edit.documentChanges ?? []) all.set(textDocument.uri, edits);
  let count = 0;
  for (const [uri, edits] of all) {
    const path = pathOf(uri);
    if (path === null || edits.length === 0) continue;
    const document = find(path) ?? (await load(path));
    const changes: ChangeSpec[] = changesOf(document.state.doc, edits);
    change(document, { changes, userEvent, annotations: isolateHistory.of("full") });
    count += edits.length;
  }
  return count;
}
