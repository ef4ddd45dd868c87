/** Verdicts in the text: a word behind each claim that was decided. */

import { effect } from "@preact/signals";
import type { EditorState } from "@codemirror/state";
import { current, editor, revision } from "../text/documents";
import { setRemarks } from "../text/marks";
import type { Remark } from "../text/marks";
import { isStale, jobs, standings } from "./jobs";

const CLAIM = /\b(?:assert|forbid)\s*"([^"\n]*)"/g;
const SIGNS = { verified: "✓", falsified: "✗", unknown: "?" } as const;
const REST = 80;

/** The name of the claim that is written at a place. */
export function claimAt(state: EditorState, line: number, column: number): string | null {
  if (line > state.doc.lines) return null;
  const { from } = state.doc.line(line);
  CLAIM.lastIndex = Math.max(0, column - 1);
  return CLAIM.exec(state.sliceDoc(from, from + 2000))?.[1] ?? null;
}

function remarks(): Remark[] {
  const document = current.peek();
  if (document === null) return [];
  const known = standings(document.path);
  if (known.size === 0) return [];
  const text = document.state.doc.toString();
  const found: Remark[] = [];
  for (const match of text.matchAll(CLAIM)) {
    const verdict = known.get(match[1] ?? "");
    if (verdict === undefined) continue;
    const { outcome, headline } = verdict.verdict;
    const stale = isStale(verdict.job);
    found.push({
      at: (match.index ?? 0) + match[0].length,
      text: `${SIGNS[outcome]} ${outcome}${stale ? " before the last edit" : ""}`,
      tip: headline,
      kind: `${outcome} ${stale ? "stale" : ""}`,
    });
  }
  return found;
}

export function watchRemarks(): void {
  let timer = 0;
  effect(() => {
    void revision.value;
    void current.value;
    void jobs.value;
    clearTimeout(timer);
    timer = window.setTimeout(() => editor()?.dispatch({ effects: setRemarks(remarks()) }), REST);
  });
}
