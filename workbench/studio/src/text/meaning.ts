/** What the server says about a whole text (colours, lenses, hints, folds), asked when typing rests. */

import { effect, signal } from "@preact/signals";
import { capabilities, onNotice, request } from "../wire/language";
import type { CodeLens, Command } from "../wire/types";
import { current, editor, revision } from "./documents";
import type { OpenText } from "./documents";
import { setFolds, setHints, setLenses, setMeanings } from "./marks";
import type { FoldingRange, InlayHint, Meaning } from "./marks";
import { offsetOf, positionOf } from "./positions";

const REST = 180;
/** Texts longer than this are coloured where they are seen, and a little around. */
const COLOURED_WHOLE = 60_000;

/** What can be asked of the text of a path, as it was told last. */
export const lensesOf = signal<{ path: string; commands: readonly Command[] }>({ path: "", commands: [] });

let timer = 0;

/** The tokens of the protocol, which are counted from one another, as spans. */
function decoded(document: OpenText, data: readonly number[], legend: readonly string[]): Meaning[] {
  const found: Meaning[] = [];
  let line = 0;
  let character = 0;
  for (let i = 0; i + 4 < data.length; i += 5) {
    const down = data[i] ?? 0;
    line += down;
    character = (down > 0 ? 0 : character) + (data[i + 1] ?? 0);
    const from = offsetOf(document.state.doc, { line, character });
    const type = legend[data[i + 3] ?? 0];
    if (type !== undefined) found.push({ from, to: from + (data[i + 2] ?? 0), type });
  }
  return found;
}

async function colour(document: OpenText): Promise<void> {
  const provider = capabilities.peek()?.["semanticTokensProvider"] as
    | { legend: { tokenTypes: string[] }; range?: unknown; full?: unknown }
    | undefined;
  const view = editor();
  if (provider === undefined || view === null) return;
  const version = document.version;
  const text = document.state.doc;
  const whole = text.length <= COLOURED_WHOLE || !provider.range;
  const { from, to } = view.viewport;
  const range = {
    start: positionOf(text, Math.max(0, from - 4000)),
    end: positionOf(text, Math.min(text.length, to + 4000)),
  };
  const answer = await request<{ data: number[] } | null>(
    whole ? "textDocument/semanticTokens/full" : "textDocument/semanticTokens/range",
    { textDocument: { uri: document.uri }, ...(whole ? {} : { range }) },
  ).catch(() => null);
  if (answer === null || current.peek() !== document || document.version !== version) return;
  view.dispatch({ effects: setMeanings(decoded(document, answer.data, provider.legend.tokenTypes)) });
}

async function annotate(document: OpenText): Promise<void> {
  const version = document.version;
  const about = { textDocument: { uri: document.uri } };
  const end = positionOf(document.state.doc, document.state.doc.length);
  const [lenses, hints, folds] = await Promise.all([
    request<CodeLens[] | null>("textDocument/codeLens", about).catch(() => null),
    request<InlayHint[] | null>("textDocument/inlayHint", {
      ...about, range: { start: { line: 0, character: 0 }, end },
    }).catch(() => null),
    request<FoldingRange[] | null>("textDocument/foldingRange", about).catch(() => null),
  ]);
  const view = editor();
  if (view === null || current.peek() !== document || document.version !== version) return;
  const effects = [];
  if (lenses !== null) {
    effects.push(setLenses(lenses));
    const commands = lenses.flatMap(({ command }) => (command === undefined ? [] : [command]));
    lensesOf.value = { path: document.path, commands };
  }
  if (hints !== null) effects.push(setHints(hints));
  if (folds !== null) effects.push(setFolds(view.state.doc, folds));
  if (effects.length > 0) view.dispatch({ effects });
}

/** Ask again, when typing rests. */
export function refresh(): void {
  clearTimeout(timer);
  timer = window.setTimeout(() => {
    const document = current.peek();
    if (document === null || !document.path.endsWith(".charon") || capabilities.peek() === null) return;
    void colour(document);
    void annotate(document);
  }, REST);
}

/** Ask whenever a text or the server changes. */
export function watchMeaning(): void {
  effect(() => {
    void revision.value;
    void current.value;
    if (capabilities.value !== null) refresh();
  });
  for (const what of ["codeLens", "inlayHint", "semanticTokens"]) {
    onNotice(`workspace/${what}/refresh`, refresh);
  }
}
