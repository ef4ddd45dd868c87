/** The list beside the text of what can be written at the cursor; a click inserts it. */

import { effect, signal } from "@preact/signals";
import type { JSX } from "preact";
import { capabilities, request } from "../wire/language";
import type { Expected } from "../wire/types";
import { placeAt } from "./assistance";
import { current, editor, revision } from "./documents";

const REST = 50;

const suggestions = signal<readonly Expected[]>([]);
/** Counts movements of the cursor. */
export const cursorMoved = signal(0);
/** Counts the times that the cursor was put somewhere, or something was typed at it. */
export const cursorPut = signal(0);

let timer = 0;

/** The word that is being typed at the cursor: what is chosen takes its place. */
function typedWord(text: string): string {
  return /[A-Za-z_]\w*$/.exec(text)?.[0] ?? "";
}

/** Signs that stand between spaces when something stands before them. */
const SPACED = /^(?:==|!=|<=|>=|<|>|=|\+|-|&&|\|\||\?|:=|\{)$/;

export function insert(suggestion: Expected): void {
  const view = editor();
  if (view === null) return;
  const { from, to, head } = view.state.selection.main;
  const line = view.state.doc.lineAt(head);
  const word = from === to && !suggestion.behind ? typedWord(line.text.slice(0, head - line.from)) : "";
  const start = from - word.length;
  const before = view.state.sliceDoc(Math.max(0, start - 1), start);
  const after = view.state.sliceDoc(to, to + 1);
  const worded = /^\w/.test(suggestion.text);
  const indent = /^\s*/.exec(line.text)?.[0] ?? "";
  const body = suggestion.text.replaceAll("\n", `\n${indent}`);
  const spaced = SPACED.test(suggestion.text) && /[\w)\]]/.test(before);
  const lead = spaced || (worded && /\w|[=,)\]]/.test(before)) ? " " : "";
  const trail = (spaced || suggestion.kind === "keyword") && !/\s/.test(after) ? " " : "";
  const text = lead + body + trail;
  view.dispatch({
    changes: { from: start, to, insert: text },
    selection: { anchor: start + text.length },
    userEvent: "input.complete",
    scrollIntoView: true,
  });
  view.focus();
}

/** Ask what can come whenever the cursor or the text is elsewhere. */
export function watchExpected(): void {
  effect(() => {
    void revision.value;
    void cursorMoved.value;
    const document = current.value;
    if (capabilities.value === null || document === null || !document.path.endsWith(".charon")) {
      suggestions.value = [];
      return;
    }
    clearTimeout(timer);
    timer = window.setTimeout(() => {
      const view = editor();
      if (view === null || current.peek() !== document) return;
      const { version } = document;
      const head = view.state.selection.main.head;
      request<Expected[] | null>("charon/expected", placeAt(view.state, head)).then(
        (answer) => {
          const here = editor()?.state.selection.main.head;
          if (document.version === version && here === head) suggestions.value = answer ?? [];
        },
        () => undefined,
      );
    }, REST);
  });
}

const HEADS: Record<string, string> = { keyword: "Words", template: "Templates", sign: "Signs" };
const ORDER = ["Words", "Names", "Templates", "Signs"];
const NEW = "new";

export function ExpectedList(): JSX.Element {
  const groups = new Map<string, Expected[]>();
  const unsaid = suggestions.value.filter(({ kind }) => kind === NEW).map(({ label }) => label);
  for (const suggestion of suggestions.value.filter(({ kind }) => kind !== NEW)) {
    const head = HEADS[suggestion.kind] ?? "Names";
    groups.set(head, [...(groups.get(head) ?? []), suggestion]);
  }
  const shown = ORDER.filter((head) => groups.has(head));
  return (
    <aside class="expected" aria-label="What can come next">
      <h3>What can come next</h3>
      {unsaid.length > 0 && <p class="quiet unsaid">{unsaid.join(", ")}</p>}
      {shown.length === 0 && unsaid.length === 0 && <p class="quiet">Nothing is known here.</p>}
      {shown.map((head) => (
        <div class={`expected-group g-${head.toLowerCase()}`} key={head}>
          <h4>{head}</h4>
          <div class="chips">
            {groups.get(head)?.slice(0, 60).map((suggestion) => (
              <button
                type="button"
                key={suggestion.label}
                class={`chip k-${suggestion.kind}`}
                title={suggestion.label}
                onMouseDown={(event) => event.preventDefault()}
                onClick={() => insert(suggestion)}
              >
                {suggestion.label}
              </button>
            ))}
          </div>
        </div>
      ))}
    </aside>
  );
}
