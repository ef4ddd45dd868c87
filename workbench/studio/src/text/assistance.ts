/** What the language server knows at a place: completion, hover, signatures, where a name is from. */

import { autocompletion, insertCompletionText } from "@codemirror/autocomplete";
import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { StateEffect, StateField } from "@codemirror/state";
import type { EditorState, Extension } from "@codemirror/state";
import { EditorView, ViewPlugin, hoverTooltip, showTooltip } from "@codemirror/view";
import type { Tooltip, ViewUpdate } from "@codemirror/view";
import { request } from "../wire/language";
import type { Location, Markup, Range, TextEdit } from "../wire/types";
import { current } from "./documents";
import { markup } from "./markup";
import { offsetOf, positionOf, spanOf } from "./positions";

/** The place of an offset of the current text, as requests want it. */
export function placeAt(state: EditorState, offset: number): Record<string, unknown> {
  return {
    textDocument: { uri: current.peek()?.uri ?? "" },
    position: positionOf(state.doc, offset),
  };
}

interface ServerItem {
  label: string;
  kind?: number;
  detail?: string;
  documentation?: string | Markup;
  insertText?: string;
  textEdit?: TextEdit & { insert?: Range; replace?: Range };
  sortText?: string;
  filterText?: string;
}

const ITEM_KINDS: Record<number, string> = {
  2: "method", 3: "function", 5: "property", 6: "variable", 7: "class", 9: "namespace", 12: "constant",
  13: "enum", 14: "keyword", 15: "text", 20: "enum", 21: "constant", 25: "type",
};

function option(item: ServerItem, state: EditorState): Completion {
  const edit = item.textEdit;
  const text = edit?.newText ?? item.insertText ?? item.label;
  const made: Completion = {
    label: item.filterText ?? item.label,
    displayLabel: item.label,
    type: ITEM_KINDS[item.kind ?? 0] ?? "text",
    apply: (view, completion, from, to) => {
      const range = edit?.replace ?? edit?.range;
      const start = range ? Math.min(offsetOf(state.doc, range.start), from) : from;
      view.dispatch({
        ...insertCompletionText(view.state, text, start, to),
        annotations: [],
        userEvent: "input.complete",
      });
      void completion;
    },
  };
  if (item.detail !== undefined) made.detail = item.detail;
  const about = item.documentation;
  if (about !== undefined && about !== "") made.info = () => markup(about);
  return made;
}

async function complete(context: CompletionContext): Promise<CompletionResult | null> {
  if (current.peek()?.path.endsWith(".charon") !== true) return null;
  const word = context.matchBefore(/[A-Za-z_]\w*/);
  if (word === null && !context.explicit && !context.matchBefore(/[.#(]$/)) return null;
  const answer = await request<ServerItem[] | { items: ServerItem[] } | null>(
    "textDocument/completion",
    placeAt(context.state, context.pos),
  ).catch(() => null);
  if (answer === null || context.aborted) return null;
  const items = Array.isArray(answer) ? answer : answer.items;
  if (items.length === 0) return null;
  const sorted = [...items].sort((a, b) => (a.sortText ?? a.label).localeCompare(b.sortText ?? b.label));
  return {
    from: word?.from ?? context.pos,
    options: sorted.map((item, place) => ({ ...option(item, context.state), boost: -place / 100 })),
    validFor: /^\w*$/,
  };
}

const hover = hoverTooltip(async (view, pos) => {
  const answer = await request<{ contents: string | Markup | (string | Markup)[]; range?: Range } | null>(
    "textDocument/hover",
    placeAt(view.state, pos),
  ).catch(() => null);
  if (answer === null) return null;
  const span = answer.range ? spanOf(view.state.doc, answer.range) : { from: pos, to: pos };
  const contents = Array.isArray(answer.contents) ? answer.contents : [answer.contents];
  return {
    pos: span.from,
    end: span.to,
    above: true,
    create: () => {
      const dom = document.createElement("div");
      dom.className = "hover-box";
      for (const content of contents) dom.append(markup(content));
      return { dom };
    },
  };
}, { hoverTime: 350 });

/* Signatures: shown while arguments are being written. */

interface Signatures {
  signatures: {
    label: string;
    documentation?: string | Markup;
    parameters?: { label: string | [number, number] }[];
    activeParameter?: number;
  }[];
  activeSignature?: number;
  activeParameter?: number;
}

const setSignature = StateEffect.define<Tooltip | null>();

const signature = StateField.define<Tooltip | null>({
  create: () => null,
  update: (shown, transaction) => {
    for (const effect of transaction.effects) if (effect.is(setSignature)) return effect.value;
    return transaction.selection && !transaction.docChanged ? null : shown;
  },
  provide: (field) => showTooltip.from(field),
});

function signatureBox(answer: Signatures): HTMLElement {
  const dom = document.createElement("div");
  dom.className = "hover-box signature-box";
  const chosen = answer.signatures[answer.activeSignature ?? 0];
  if (chosen === undefined) return dom;
  const line = document.createElement("code");
  const parameter = chosen.parameters?.[chosen.activeParameter ?? answer.activeParameter ?? -1];
  const part = parameter?.label;
  const from = Array.isArray(part) ? part[0] : part === undefined ? -1 : chosen.label.indexOf(part);
  const to = Array.isArray(part) ? part[1] : part === undefined ? -1 : from + part.length;
  if (from >= 0) {
    const active = document.createElement("b");
    active.textContent = chosen.label.slice(from, to);
    line.append(chosen.label.slice(0, from), active, chosen.label.slice(to));
  } else line.textContent = chosen.label;
  dom.append(line);
  if (chosen.documentation) dom.append(markup(chosen.documentation));
  return dom;
}

const signatures = ViewPlugin.fromClass(
  class {
    constructor(readonly view: EditorView) {}

    update(update: ViewUpdate): void {
      if (!update.docChanged || !update.transactions.some((t) => t.isUserEvent("input"))) return;
      const head = update.state.selection.main.head;
      const before = update.state.sliceDoc(Math.max(0, head - 200), head);
      const open = update.state.field(signature) !== null;
      if (!open && !/[(,]\s?$/.test(before)) return;
      request<Signatures | null>("textDocument/signatureHelp", placeAt(update.state, head)).then(
        (answer) => {
          const at = this.view.state.selection.main.head;
          const tooltip: Tooltip | null =
            answer === null || answer.signatures.length === 0
              ? null
              : { pos: at, above: true, create: () => ({ dom: signatureBox(answer) }) };
          if (tooltip === null && this.view.state.field(signature) === null) return;
          this.view.dispatch({ effects: setSignature.of(tooltip) });
        },
        () => undefined,
      );
    }
  },
);

/** Close what hangs over the text. */
export function closeSignature(view: EditorView): boolean {
  if (view.state.field(signature, false) == null) return false;
  view.dispatch({ effects: setSignature.of(null) });
  return true;
}

type Locations = Location | Location[] | { targetUri: string; targetSelectionRange: Range }[] | null;

/** The places that a request about the name at an offset answers with. */
export async function locations(
  method: "textDocument/definition" | "textDocument/references",
  state: EditorState,
  offset: number,
): Promise<Location[]> {
  const context = method === "textDocument/references" ? { context: { includeDeclaration: true } } : {};
  const answer = await request<Locations>(method, { ...placeAt(state, offset), ...context });
  if (answer === null) return [];
  const all = Array.isArray(answer) ? answer : [answer];
  return all.map((one) =>
    "targetUri" in one ? { uri: one.targetUri, range: one.targetSelectionRange } : one,
  );
}

export const assistance: Extension = [
  autocompletion({ override: [complete], activateOnTypingDelay: 60, icons: false, maxRenderedOptions: 60 }),
  hover,
  signature,
  signatures,
];
