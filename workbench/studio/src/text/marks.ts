/** What is drawn into the text: lenses, hints, meaning, and the parts lit by other views. */

import { RangeSetBuilder, StateEffect, StateField } from "@codemirror/state";
import type { EditorState, Extension, Text } from "@codemirror/state";
import { Decoration, EditorView, WidgetType } from "@codemirror/view";
import type { DecorationSet } from "@codemirror/view";
import { foldService } from "@codemirror/language";
import type { CodeLens, Command, Position, Range } from "../wire/types";
import { offsetOf, spanOf } from "./positions";

/** What a click on a lens does. */
let run: (command: Command) => void = () => undefined;

export function onCommand(perform: (command: Command) => void): void {
  run = perform;
}

/** A field of decorations that moves with the text and is replaced by an effect. */
function layer<T>(
  build: (values: T, text: Text) => DecorationSet,
): { set: (values: T) => StateEffect<T>; field: StateField<DecorationSet> } {
  const effect = StateEffect.define<T>();
  const field = StateField.define<DecorationSet>({
    create: () => Decoration.none,
    update: (shown, transaction) => {
      for (const one of transaction.effects) {
        if (one.is(effect)) return build(one.value, transaction.newDoc);
      }
      return transaction.docChanged ? shown.map(transaction.changes) : shown;
    },
    provide: (self) => EditorView.decorations.from(self),
  });
  return { set: (values) => effect.of(values), field };
}

class LensLine extends WidgetType {
  constructor(readonly commands: readonly Command[], readonly indent: number) {
    super();
  }

  override eq(other: LensLine): boolean {
    return (
      this.indent === other.indent &&
      JSON.stringify(this.commands) === JSON.stringify(other.commands)
    );
  }

  override toDOM(): HTMLElement {
    const line = document.createElement("div");
    line.className = "lens";
    line.style.paddingLeft = `calc(${this.indent}ch + 6px)`;
    for (const command of this.commands) {
      const button = document.createElement("button");
      button.type = "button";
      button.tabIndex = -1;
      button.textContent = command.title;
      if (command.command === "") button.disabled = true;
      else button.addEventListener("click", () => run(command));
      line.append(button);
    }
    return line;
  }

  override get estimatedHeight(): number {
    return 18;
  }

  override ignoreEvent(): boolean {
    return true;
  }
}

const lensLayer = layer<readonly CodeLens[]>((lenses, text) => {
  const lines = new Map<number, Command[]>();
  for (const lens of lenses) {
    if (lens.command === undefined) continue;
    const line = Math.min(lens.range.start.line + 1, text.lines);
    lines.set(line, [...(lines.get(line) ?? []), lens.command]);
  }
  const builder = new RangeSetBuilder<Decoration>();
  for (const [number, commands] of [...lines].sort(([a], [b]) => a - b)) {
    const line = text.line(number);
    const indent = /^\s*/.exec(line.text)?.[0].length ?? 0;
    const widget = new LensLine(commands, indent);
    builder.add(line.from, line.from, Decoration.widget({ widget, block: true, side: -1 }));
  }
  return builder.finish();
});

class Hint extends WidgetType {
  constructor(readonly text: string, readonly tip: string, readonly kind = "") {
    super();
  }

  override eq(other: Hint): boolean {
    return this.text === other.text && this.tip === other.tip && this.kind === other.kind;
  }

  override toDOM(): HTMLElement {
    const span = document.createElement("span");
    span.className = `inlay ${this.kind}`;
    span.textContent = this.text;
    if (this.tip !== "") span.title = this.tip;
    return span;
  }
}

export interface InlayHint {
  position: Position;
  label: string | { value: string }[];
  tooltip?: string | { value: string };
  paddingLeft?: boolean;
}

const hintLayer = layer<readonly InlayHint[]>((hints, text) =>
  Decoration.set(
    hints.map((hint) => {
      const label =
        typeof hint.label === "string" ? hint.label : hint.label.map((part) => part.value).join("");
      const tip = typeof hint.tooltip === "string" ? hint.tooltip : (hint.tooltip?.value ?? "");
      return Decoration.widget({ widget: new Hint(label, tip), side: 1 }).range(
        offsetOf(text, hint.position),
      );
    }),
    true,
  ),
);

/** A word behind what stands at an offset, with its kind for the style sheet. */
export interface Remark {
  at: number;
  text: string;
  tip: string;
  kind: string;
}

const remarkLayer = layer<readonly Remark[]>((remarks) =>
  Decoration.set(
    remarks.map(({ at, text, tip, kind }) =>
      Decoration.widget({ widget: new Hint(text, tip, kind), side: 1 }).range(at),
    ),
    true,
  ),
);

export interface Meaning {
  from: number;
  to: number;
  type: string;
}

const meaningLayer = layer<readonly Meaning[]>((tokens, text) => {
  const builder = new RangeSetBuilder<Decoration>();
  const marks = new Map<string, Decoration>();
  for (const { from, to, type } of tokens) {
    if (to > text.length || to <= from) continue;
    const mark = marks.get(type) ?? Decoration.mark({ class: `s-${type}` });
    marks.set(type, mark);
    builder.add(from, to, mark);
  }
  return builder.finish();
});

const chosenLayer = layer<Range | null>((range, text) => {
  if (range === null) return Decoration.none;
  const { from, to } = spanOf(text, range);
  return lines(text, from, to, "chosen-line");
});

const litLayer = layer<{ active: readonly Range[]; fired: readonly Range[] }>(
  ({ active, fired }, text) => {
    const classes = new Map<number, string>();
    const mark = (ranges: readonly Range[], name: string): void => {
      for (const range of ranges) {
        const last = Math.min(range.end.line, text.lines - 1);
        for (let line = range.start.line; line <= last; line += 1) classes.set(line + 1, name);
      }
    };
    mark(active, "lit-line");
    mark(fired, "fired-line");
    const builder = new RangeSetBuilder<Decoration>();
    for (const [line, name] of [...classes].sort(([a], [b]) => a - b)) {
      const start = text.line(line).from;
      builder.add(start, start, Decoration.line({ class: name }));
    }
    return builder.finish();
  },
);

function lines(text: Text, from: number, to: number, name: string): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  const last = text.lineAt(Math.min(to, text.length)).number;
  for (let number = text.lineAt(Math.min(from, text.length)).number; number <= last; number += 1) {
    const start = text.line(number).from;
    builder.add(start, start, Decoration.line({ class: name }));
  }
  return builder.finish();
}

export const setLenses = lensLayer.set;
export const setHints = hintLayer.set;
export const setRemarks = remarkLayer.set;
export const setMeanings = meaningLayer.set;
export const setChosen = chosenLayer.set;
export const setLit = litLayer.set;

/* Folding: the ranges that the server knows, moved with the text. */

interface Fold {
  from: number;
  to: number;
}

const foldEffect = StateEffect.define<readonly Fold[]>();

const folds = StateField.define<readonly Fold[]>({
  create: () => [],
  update: (known, transaction) => {
    for (const effect of transaction.effects) if (effect.is(foldEffect)) return effect.value;
    if (!transaction.docChanged || known.length === 0) return known;
    return known.map(({ from, to }) => ({
      from: transaction.changes.mapPos(from, 1),
      to: transaction.changes.mapPos(to, -1),
    }));
  },
});

export interface FoldingRange {
  startLine: number;
  startCharacter?: number;
  endLine: number;
  endCharacter?: number;
}

export const setFolds = (text: Text, ranges: readonly FoldingRange[]): StateEffect<readonly Fold[]> =>
  foldEffect.of(
    ranges
      .filter((range) => range.endLine > range.startLine && range.endLine < text.lines)
      .map((range) => {
        const last = text.line(range.endLine + 1);
        const closing = /^\s*[}\])]/.test(last.text);
        const to = closing ? last.from + (/^\s*/.exec(last.text)?.[0].length ?? 0) : last.to;
        return { from: text.line(range.startLine + 1).to, to };
      }),
  );

const folding = foldService.of((state: EditorState, start: number, end: number) => {
  const found = state.field(folds).find((fold) => fold.from >= start && fold.from <= end);
  return found !== undefined && found.to > found.from ? found : null;
});

export const marks: Extension = [
  lensLayer.field,
  hintLayer.field,
  remarkLayer.field,
  meaningLayer.field,
  chosenLayer.field,
  litLayer.field,
  folds,
  folding,
];
