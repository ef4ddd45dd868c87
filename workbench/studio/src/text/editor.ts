/** The editor on the page: CodeMirror with the language server behind it. */

import { acceptCompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab, redo, undo } from "@codemirror/commands";
import { bracketMatching, codeFolding, foldGutter, foldKeymap, indentUnit } from "@codemirror/language";
import { lintGutter, lintKeymap } from "@codemirror/lint";
import { highlightSelectionMatches, openSearchPanel, search, searchKeymap } from "@codemirror/search";
import type { Extension, Transaction } from "@codemirror/state";
import {
  EditorView, crosshairCursor, drawSelection, dropCursor, highlightActiveLine,
  highlightActiveLineGutter, keymap, lineNumbers, rectangularSelection,
} from "@codemirror/view";
import { request } from "../wire/language";
import type { Range, TextEdit, WorkspaceEdit } from "../wire/types";
import { assistance, closeSignature, locations, placeAt } from "./assistance";
import { applyEdit, attach, current, editor, pathOf, updated } from "./documents";
import type { OpenText } from "./documents";
import { cursorMoved, cursorPut } from "./expected";
import { highlighting } from "./highlighting";
import { marks } from "./marks";
import { fixHere } from "./problems";
import { changesOf, spanOf } from "./positions";
import { places } from "./places";

/** What the editor cannot do by itself. */
export interface Surroundings {
  save(): void;
  load(path: string): Promise<OpenText>;
  show(path: string): Promise<void>;
  /** Ask for one word, for instance a new name; null: never mind. */
  askName(question: string, value: string): Promise<string | null>;
  say(message: string, kind?: "error"): void;
}

let around: Surroundings;

/** Go to a place of the project. */
export async function goTo(path: string, range: Range): Promise<void> {
  await around.show(path);
  const view = editor();
  if (view === null) return;
  const { from, to } = spanOf(view.state.doc, range);
  view.dispatch({
    selection: { anchor: from, head: to },
    effects: EditorView.scrollIntoView(from, { y: "center" }),
  });
  view.focus();
}

async function goToDefinition(view: EditorView): Promise<void> {
  const found = await locations("textDocument/definition", view.state, view.state.selection.main.head);
  const first = found[0];
  const path = first === undefined ? null : pathOf(first.uri);
  if (first === undefined || path === null) around.say("Nothing is declared under the cursor.");
  else await goTo(path, first.range);
}

async function findReferences(view: EditorView): Promise<void> {
  const found = await locations("textDocument/references", view.state, view.state.selection.main.head);
  const document = current.peek();
  if (document === null) return;
  const word = view.state.wordAt(view.state.selection.main.head);
  const name = word === null ? "" : view.state.sliceDoc(word.from, word.to);
  const lines = await Promise.all(
    found.map(async (location) => {
      const path = pathOf(location.uri) ?? "";
      const text = (await around.load(path)).state.doc;
      const line = text.line(Math.min(location.range.start.line + 1, text.lines)).text;
      return { path, range: location.range, line };
    }),
  );
  places.value = { name, lines };
  if (lines.length === 0) around.say("No uses are known of what is under the cursor.");
}

async function renameHere(view: EditorView): Promise<void> {
  const at = placeAt(view.state, view.state.selection.main.head);
  try {
    const answer = await request<Range | { range: Range; placeholder: string } | null>(
      "textDocument/prepareRename", at,
    );
    if (answer === null) {
      around.say("What is under the cursor has no name to change.");
      return;
    }
    const range = "range" in answer ? answer.range : answer;
    const { from, to } = spanOf(view.state.doc, range);
    const newName = await around.askName("Rename everywhere", view.state.sliceDoc(from, to));
    if (newName === null) return;
    const edit = await request<WorkspaceEdit | null>("textDocument/rename", { ...at, newName });
    if (edit !== null) await applyEdit(edit, around.load);
  } catch (error) {
    around.say(error instanceof Error ? error.message : String(error), "error");
  }
  view.focus();
}

async function layOut(view: EditorView): Promise<void> {
  const document = current.peek();
  if (document === null) return;
  const { version } = document;
  const edits = await request<TextEdit[] | null>("textDocument/formatting", {
    textDocument: { uri: document.uri },
    options: { tabSize: 2, insertSpaces: true },
  }).catch(() => null);
  if (edits === null || document.version !== version) return;
  view.dispatch({ changes: changesOf(view.state.doc, edits), userEvent: "input.format" });
}

export const definition = (): void => void (editor() && goToDefinition(editor() as EditorView));
export const references = (): void => void (editor() && findReferences(editor() as EditorView));
export const rename = (): void => void (editor() && renameHere(editor() as EditorView));
export const format = (): void => void (editor() && layOut(editor() as EditorView));
export const find = (): void => void (editor() && openSearchPanel(editor() as EditorView));
export const quickFix = (): void => void (editor() && fixHere(editor() as EditorView));

/** Undo and redo what was done last to the text, wherever it was done. */
export const undoLast = (): boolean => {
  const view = editor();
  return view !== null && undo(view);
};
export const redoLast = (): boolean => {
  const view = editor();
  return view !== null && redo(view);
};

const done = (perform: (view: EditorView) => Promise<void>) => (view: EditorView): boolean => {
  void perform(view);
  return true;
};

function extensions(nonce: string): Extension {
  return [
    nonce === "" ? [] : EditorView.cspNonce.of(nonce),
    lineNumbers(),
    foldGutter(),
    codeFolding(),
    lintGutter(),
    history(),
    drawSelection(),
    dropCursor(),
    rectangularSelection(),
    crosshairCursor(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    highlightSelectionMatches({ minSelectionLength: 2 }),
    bracketMatching(),
    closeBrackets(),
    indentUnit.of("  "),
    search({ top: true }),
    highlighting,
    assistance,
    marks,
    EditorView.contentAttributes.of({ "aria-label": "Model text", spellcheck: "false" }),
    keymap.of([
      { key: "Escape", run: closeSignature },
      { key: "Mod-s", preventDefault: true, run: () => (around.save(), true) },
      { key: "F12", run: done(goToDefinition) },
      { key: "Shift-F12", run: done(findReferences) },
      { key: "F2", run: done(renameHere) },
      { key: "Shift-Alt-f", run: done(layOut) },
      { key: "Mod-.", run: fixHere },
      ...closeBracketsKeymap,
      ...completionKeymap,
      ...searchKeymap,
      ...foldKeymap,
      ...lintKeymap,
      ...historyKeymap,
      ...defaultKeymap,
      { key: "Tab", run: acceptCompletion },
      indentWithTab,
    ]),
    EditorView.domEventHandlers({
      mousedown: (event, view) => {
        if (!(event.ctrlKey || event.metaKey) || event.button !== 0) return false;
        const at = view.posAtCoords({ x: event.clientX, y: event.clientY });
        if (at === null) return false;
        view.dispatch({ selection: { anchor: at } });
        void goToDefinition(view);
        return true;
      },
    }),
    EditorView.updateListener.of((update) => {
      updated(update);
      if (update.selectionSet || update.docChanged) cursorMoved.value += 1;
      const put = (one: Transaction): boolean =>
        one.isUserEvent("select") || one.isUserEvent("input.type") || one.isUserEvent("input.complete");
      if (update.transactions.some(put)) cursorPut.value += 1;
    }),
  ];
}

/** Put the editor into an element of the page. */
export function mount(parent: HTMLElement, surroundings: Surroundings): void {
  around = surroundings;
  const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";
  const all = extensions(nonce);
  attach(new EditorView({ parent, extensions: all }), all);
}
