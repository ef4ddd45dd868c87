/** Places of the protocol (line and character from 0) and offsets of the editor. */

import type { ChangeSpec, Text } from "@codemirror/state";
import type { Position, Range, TextEdit } from "../wire/types";

export function offsetOf(text: Text, position: Position): number {
  if (position.line >= text.lines) return text.length;
  const line = text.line(position.line + 1);
  return Math.min(line.from + position.character, line.to);
}

export function positionOf(text: Text, offset: number): Position {
  const line = text.lineAt(offset);
  return { line: line.number - 1, character: offset - line.from };
}

export function spanOf(text: Text, range: Range): { from: number; to: number } {
  return { from: offsetOf(text, range.start), to: offsetOf(text, range.end) };
}

/** Edits of the protocol as changes of the editor. */
export function changesOf(text: Text, edits: readonly TextEdit[]): ChangeSpec[] {
  return edits.map((edit) => ({ ...spanOf(text, edit.range), insert: edit.newText }));
}

/** The smallest single change that turns one text into another. */
export function difference(before: string, after: string): { from: number; to: number; insert: string } {
  const shorter = Math.min(before.length, after.length);
  let same = 0;
  while (same < shorter && before[same] === after[same]) same += 1;
  let end = 0;
  while (
    end < shorter - same &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  ) {
    end += 1;
  }
  return { from: same, to: before.length - end, insert: after.slice(same, after.length - end) };
}
