/** Diagnostics under the text, with the quick fixes that the language server has for them. */

import { setDiagnostics } from "@codemirror/lint";
import type { Action, Diagnostic } from "@codemirror/lint";
import { signal } from "@preact/signals";
import type { EditorView } from "@codemirror/view";
import { onNotice, request } from "../wire/language";
import type { CodeAction, LanguageDiagnostic } from "../wire/types";
import { applyEdit, current, editor, find, pathOf } from "./documents";
import type { OpenText } from "./documents";
import { positionOf, spanOf } from "./positions";

const SEVERITIES = ["error", "error", "warning", "info", "hint"] as const;

/** What is wrong with each open text, by path. */
export const problems = signal<ReadonlyMap<string, readonly LanguageDiagnostic[]>>(new Map());

let load: (path: string) => Promise<OpenText> = () => Promise.reject(new Error("nothing to open"));

/** The quick fixes for the diagnostics of a text. */
async function fixes(
  document: OpenText, diagnostics: readonly LanguageDiagnostic[],
): Promise<CodeAction[]> {
  if (diagnostics.length === 0) return [];
  const end = document.state.doc.length;
  const answer = await request<(CodeAction | null)[] | null>("textDocument/codeAction", {
    textDocument: { uri: document.uri },
    range: { start: { line: 0, character: 0 }, end: positionOf(document.state.doc, end) },
    context: { diagnostics, only: ["quickfix"] },
  }).catch(() => null);
  return (answer ?? []).filter((action): action is CodeAction => action !== null);
}

const same = (a: LanguageDiagnostic, b: LanguageDiagnostic): boolean =>
  a.message === b.message &&
  a.range.start.line === b.range.start.line &&
  a.range.start.character === b.range.start.character;

function marked(document: OpenText, all: readonly LanguageDiagnostic[], actions: CodeAction[]): Diagnostic[] {
  return all.map((diagnostic) => {
    const span = spanOf(document.state.doc, diagnostic.range);
    const offered = actions
      .filter((action) => action.diagnostics?.some((one) => same(one, diagnostic)))
      .map((action): Action => ({ name: action.title, apply: () => void apply(action) }));
    return {
      from: span.from,
      to: Math.max(span.to, span.from),
      severity: SEVERITIES[diagnostic.severity ?? 1] ?? "error",
      message: diagnostic.message,
      source: diagnostic.code === undefined ? undefined : String(diagnostic.code),
      actions: offered,
    } as Diagnostic;
  });
}

async function apply(action: CodeAction): Promise<void> {
  if (action.edit !== undefined) await applyEdit(action.edit, load);
  editor()?.focus();
}

/** Mark the diagnostics of the text on the page. */
export async function markProblems(): Promise<void> {
  const document = current.peek();
  const view = editor();
  if (document === null || view === null) return;
  const all = problems.peek().get(document.path) ?? [];
  const version = document.version;
  view.dispatch(setDiagnostics(view.state, marked(document, all, [])));
  const actions = await fixes(document, all);
  if (actions.length === 0 || current.peek() !== document || document.version !== version) return;
  if (problems.peek().get(document.path) !== all) return;
  view.dispatch(setDiagnostics(view.state, marked(document, all, actions)));
}

/** Apply the fix for what is at the cursor, or else the first there is. */
export function fixHere(view: EditorView): boolean {
  const document = current.peek();
  if (document === null) return false;
  const all = problems.peek().get(document.path) ?? [];
  const head = view.state.selection.main.head;
  const line = view.state.doc.lineAt(head).number - 1;
  void fixes(document, all).then((actions) => {
    const here = actions.find((action) =>
      action.diagnostics?.some((one) => one.range.start.line <= line && line <= one.range.end.line),
    );
    const chosen = here ?? actions[0];
    if (chosen !== undefined) void apply(chosen);
  });
  return true;
}

/** Hear what is wrong; `opening` opens a text of the project that a fix changes. */
export function watchProblems(opening: (path: string) => Promise<OpenText>): void {
  load = opening;
  onNotice<{ uri: string; version?: number; diagnostics: LanguageDiagnostic[] }>(
    "textDocument/publishDiagnostics",
    ({ uri, version, diagnostics }) => {
      const path = pathOf(uri);
      if (path === null) return;
      const document = find(path);
      if (document !== undefined && version != null && version < document.version) return;
      problems.value = new Map(problems.peek()).set(path, diagnostics);
      if (path === current.peek()?.path) void markProblems();
    },
  );
}
