/** The project folder: what is in it, what is open, what is saved, and that nothing is lost. */

import { batch, effect, signal, untracked } from "@preact/signals";
import * as http from "../wire/http";
import { connection, listen } from "../wire/socket";
import type { Draft, ProjectFile } from "../wire/types";
import { notify } from "../page/notices";
import { replayTrace, replayedModel } from "../running/state";
import {
  change, changedOnDisk, close, current, currentPath, find, folder, isDirty, open, opened, revision,
  show, takeOver, wasSaved,
} from "../text/documents";
import type { OpenText } from "../text/documents";

const DRAFT_REST = 600;
/** Larger files are shown in a tab of the browser and not as a text to edit. */
const LARGEST_TEXT = 4_000_000;

export const files = signal<readonly ProjectFile[]>([]);
export const loaded = signal(false);
/** A report that is open inside the page. */
export const openReport = signal<string | null>(null);

const said = (error: unknown): string => {
  if (error instanceof http.Refused && error.hint !== "") return `${error.message} (${error.hint})`;
  return error instanceof Error ? error.message : String(error);
};

export const complain = (error: unknown): void => notify(said(error), "error");

/** Read what is in the folder. */
export async function refresh(): Promise<void> {
  const read = await http.project();
  batch(() => {
    folder.value = read.folder;
    files.value = read.files;
    loaded.value = true;
  });
}

const opening = new Map<string, Promise<OpenText>>();

/** The open text of a path, read from disk where it is not open. */
export function load(path: string, draft?: Draft): Promise<OpenText> {
  const there = find(path);
  if (there !== undefined) return Promise.resolve(there);
  const begun = opening.get(path);
  if (begun !== undefined) return begun;
  const reading = http
    .read(path)
    .then(({ text, stamp }) => {
      const document = open(path, text, stamp, draft?.text);
      if (draft !== undefined && draft.stamp !== null && draft.stamp !== stamp) {
        document.stamp = draft.stamp;
        changedOnDisk(document, text, stamp);
      }
      return document;
    })
    .finally(() => opening.delete(path));
  opening.set(path, reading);
  return reading;
}

/** Show a file in the way of its kind. */
export async function showFile(path: string): Promise<void> {
  const known = files.peek().find((file) => file.path === path);
  if (known?.kind === "report") {
    openReport.value = path;
    return;
  }
  if (known !== undefined && known.size > LARGEST_TEXT) {
    window.open(http.shown(path), "_blank", "noopener");
    return;
  }
  try {
    if (path.endsWith(".json") && isTrace((await http.read(path)).text)) {
      replayTrace(path, files.peek().filter(({ kind }) => kind === "model").map((file) => file.path));
    } else {
      await load(path);
      show(path);
    }
  } catch (error) {
    complain(error);
  }
}

/** Whether a text is a recorded run. */
function isTrace(text: string): boolean {
  try {
    const { schema } = JSON.parse(text) as { schema?: unknown };
    return typeof schema === "string" && schema.startsWith("charon-trace/");
  } catch {
    return false;
  }
}

/** Write an open text to disk; what changed there meanwhile is not overwritten unseen. */
export async function save(document: OpenText | null = current.peek()): Promise<boolean> {
  if (document === null || (!isDirty(document) && document.conflict === null)) return true;
  const written = document.state.doc;
  try {
    const { stamp } = await http.write(document.path, written.toString(), document.stamp);
    wasSaved(document, written, stamp);
    forgetDraft(document.path);
    return true;
  } catch (error) {
    if (error instanceof http.Refused && error.status === 409) {
      const { text, stamp } = error.body as { text: string; stamp: string };
      document.conflict = { text, stamp };
      revision.value += 1;
    } else complain(error);
    return false;
  }
}

export const saveAll = async (): Promise<void> => {
  for (const document of opened.peek()) await save(document);
};

/** Where a file changed on both sides: take the one on disk. */
export function takeTheirs(document: OpenText): void {
  if (document.conflict === null) return;
  takeOver(document, document.conflict.text, document.conflict.stamp);
  forgetDraft(document.path);
}

/** Where a file changed on both sides: write the one in the editor. */
export async function keepOurs(document: OpenText): Promise<void> {
  if (document.conflict === null) return;
  document.stamp = document.conflict.stamp;
  document.conflict = null;
  await save(document);
}

/** Undo everything that is not saved; the history can bring it back. */
export function revert(document: OpenText): void {
  const text = document.saved;
  change(document, { changes: { from: 0, to: document.state.doc.length, insert: text } });
  document.saved = document.state.doc;
  revision.value += 1;
  forgetDraft(document.path);
}

export async function create(
  path: string, from: { text: string } | { library: string },
): Promise<boolean> {
  try {
    await http.create(path, from);
    await refresh();
    await showFile(path);
    return true;
  } catch (error) {
    complain(error);
    return false;
  }
}

export async function renameFile(from: string, to: string): Promise<void> {
  const document = find(from);
  try {
    if (document !== undefined && !(await save(document))) return;
    await http.rename(from, to);
    const shown = currentPath.peek() === from;
    if (document !== undefined) close(from);
    await refresh();
    if (document !== undefined) await load(to);
    if (shown) show(to);
  } catch (error) {
    complain(error);
  }
}

export async function removeFile(path: string): Promise<void> {
  try {
    await http.remove(path);
    if (find(path) !== undefined) close(path);
    if (openReport.peek() === path) openReport.value = null;
    await refresh();
  } catch (error) {
    complain(error);
  }
}

/* Drafts: what is typed and not saved is kept by the server, or, while it is away, by the browser. */

const kept = new Map<string, string>();
const timers = new Map<string, number>();
const shelf = (path: string): string => `studio draft ${folder.peek()}/${path}`;

function forgetDraft(path: string): void {
  kept.delete(path);
  clearTimeout(timers.get(path));
  localStorage.removeItem(shelf(path));
}

function keep(document: OpenText): void {
  const text = document.state.doc.toString();
  if (kept.get(document.path) === text) return;
  if (!isDirty(document)) {
    if (kept.has(document.path)) http.dropDraft(document.path).catch(() => undefined);
    forgetDraft(document.path);
    return;
  }
  kept.set(document.path, text);
  const draft: Draft = { path: document.path, text, stamp: document.stamp };
  http.keepDraft(draft.path, draft.text, draft.stamp ?? "").then(
    () => localStorage.removeItem(shelf(draft.path)),
    () => {
      kept.delete(draft.path);
      localStorage.setItem(shelf(draft.path), JSON.stringify(draft));
    },
  );
}

function watchDrafts(): void {
  effect(() => {
    void revision.value;
    void connection.value;
    for (const document of opened.peek()) {
      if (!isDirty(document) && !kept.has(document.path)) continue;
      clearTimeout(timers.get(document.path));
      timers.set(document.path, window.setTimeout(() => keep(document), DRAFT_REST));
    }
  });
  window.addEventListener("pagehide", () => {
    for (const document of opened.peek()) {
      if (!isDirty(document)) continue;
      const draft: Draft = {
        path: document.path, text: document.state.doc.toString(), stamp: document.stamp,
      };
      localStorage.setItem(shelf(document.path), JSON.stringify(draft));
    }
  });
}

/** Bring back what was typed and not saved when the page or the server went away. */
async function restoreDrafts(): Promise<void> {
  const found = new Map<string, Draft>();
  for (const draft of await http.drafts().catch(() => [])) found.set(draft.path, draft);
  const prefix = shelf("");
  for (const key of Object.keys(localStorage)) {
    if (!key.startsWith(prefix)) continue;
    try {
      const draft = JSON.parse(localStorage.getItem(key) ?? "") as Draft;
      found.set(draft.path, draft);
    } catch {
      localStorage.removeItem(key);
    }
  }
  const there = new Set(files.peek().map((file) => file.path));
  const restored: string[] = [];
  for (const draft of found.values()) {
    if (!there.has(draft.path)) continue;
    const document = await load(draft.path, draft).catch(() => null);
    if (document !== null && isDirty(document)) restored.push(draft.path);
  }
  if (restored.length > 0) {
    notify(`Unsaved changes were restored: ${restored.join(", ")}. Save them, or revert.`, "kept");
  }
}

/** Read the folder again, and these files as far as they are open: they may have changed. */
async function compare(paths: readonly string[]): Promise<void> {
  await refresh();
  const stamps = new Map(files.peek().map((file) => [file.path, file.stamp]));
  for (const path of paths) {
    const document = find(path);
    if (document === undefined || stamps.get(path) === document.stamp) continue;
    if (!stamps.has(path)) {
      notify(`${path} is no longer on disk.`);
      continue;
    }
    const { text, stamp } = await http.read(path);
    changedOnDisk(document, text, stamp);
  }
}

const LAST = "studio last file";

/** Open the project of this server and follow it. */
export async function begin(): Promise<void> {
  await refresh();
  await restoreDrafts();
  const last = localStorage.getItem(`${LAST} ${folder.peek()}`);
  const first =
    files.peek().find((file) => file.path === last) ??
    opened.peek()[0] ??
    files.peek().find((file) => file.kind === "model");
  if (first !== undefined) await showFile(first.path);
  watchDrafts();
  effect(() => {
    const shown = replayedModel.value;
    untracked(() => shown !== null && void showFile(shown.path));
  });
  effect(() => {
    if (currentPath.value !== null) localStorage.setItem(`${LAST} ${folder.peek()}`, currentPath.value);
  });
  listen("project", (frame) => {
    compare(frame["changed"] as string[]).catch(() => undefined);
  });
  let isFirst = true;
  effect(() => {
    if (connection.value === 0) return;
    if (!isFirst) {
      compare(opened.peek().map((document) => document.path)).catch(() => undefined);
    }
    isFirst = false;
  });
}
