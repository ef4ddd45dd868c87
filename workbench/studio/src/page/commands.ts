/** Everything that can be done, by name and by key. */

import { signal } from "@preact/signals";
import { addHere } from "../drawing/diagram";
import { layOut, leave } from "../drawing/state";
import { ask as decide } from "../deciding/panel";
import { creating } from "../project/creating";
import { openReport, revert, save, saveAll } from "../project/files";
import { keepRun, saveRuns, saveTable } from "../running/export";
import { nextEvent } from "../running/plots";
import { playing } from "../running/state";
import { current, editor } from "../text/documents";
import * as text from "../text/editor";
import { focusPart, toggleTheme } from "./view";

export interface Action {
  name: string;
  key?: string;
  run: () => void;
}

export const paletteOpen = signal(false);

const withText = (perform: (document: NonNullable<typeof current.value>) => void) => (): void => {
  const document = current.peek();
  if (document !== null) perform(document);
};

export const ACTIONS: readonly Action[] = [
  { name: "New model", key: "Alt+N", run: () => (creating.value = true) },
  { name: "Save", key: "Ctrl+S", run: () => void save() },
  { name: "Save all", key: "Ctrl+Shift+S", run: () => void saveAll() },
  { name: "Revert to what is saved", run: withText(revert) },
  { name: "Go to project", key: "Alt+1", run: () => focusPart("tree") },
  { name: "Go to text", key: "Alt+2", run: () => focusPart("text") },
  { name: "Go to diagram", key: "Alt+3", run: () => focusPart("diagram") },
  { name: "Go to runs", key: "Alt+4", run: () => focusPart("run") },
  { name: "Go to verdicts", key: "Alt+5", run: () => focusPart("decide") },
  { name: "Go to jobs", key: "Alt+6", run: () => focusPart("jobs") },
  { name: "Verify", key: "Alt+V", run: () => (focusPart("decide"), decide("verify")) },
  { name: "Falsify", key: "Alt+F", run: () => (focusPart("decide"), decide("falsify")) },
  { name: "Write a report", key: "Alt+R", run: () => (focusPart("decide"), decide("report")) },
  { name: "Play or pause", key: "Alt+P", run: () => (playing.value = !playing.peek()) },
  { name: "Next event of the run", key: "Alt+.", run: () => nextEvent(1) },
  { name: "Event before of the run", key: "Alt+,", run: () => nextEvent(-1) },
  { name: "Keep the run in the project", run: keepRun },
  { name: "Save the run as CSV", run: saveTable },
  { name: "Save the runs as JSON", run: saveRuns },
  { name: "Add a mode to the diagram", run: () => (focusPart("diagram"), addHere("AddMode")) },
  { name: "Add an agent to the diagram", run: () => (focusPart("diagram"), addHere("AddAgent")) },
  { name: "Add a variable to the diagram", run: () => (focusPart("diagram"), addHere("AddVariable")) },
  { name: "Add an entry to the diagram", run: () => (focusPart("diagram"), addHere("AddEntry")) },
  { name: "Add an exit to the diagram", run: () => (focusPart("diagram"), addHere("AddExit")) },
  { name: "Lay the diagram out anew", run: layOut },
  { name: "Leave this level of the diagram", run: leave },
  { name: "Apply a quick fix", key: "Ctrl+.", run: text.quickFix },
  { name: "Find in the text", key: "Ctrl+F", run: text.find },
  { name: "Go to definition", key: "F12", run: text.definition },
  { name: "Find uses", key: "Shift+F12", run: text.references },
  { name: "Rename everywhere", key: "F2", run: text.rename },
  { name: "Lay out the text", key: "Shift+Alt+F", run: text.format },
  { name: "Undo", key: "Ctrl+Z", run: () => void text.undoLast() },
  { name: "Redo", key: "Ctrl+Y", run: () => void text.redoLast() },
  { name: "Light or dark", run: toggleTheme },
  { name: "Commands", key: "Ctrl+K", run: () => (paletteOpen.value = true) },
];

/** What a key is called in the list above. */
function called(event: KeyboardEvent): string {
  const code = event.code.replace(/^Key|^Digit/, "");
  const key = code === "Period" ? "." : code === "Comma" ? "," : code;
  const parts = [
    event.ctrlKey || event.metaKey ? "Ctrl" : "", event.shiftKey ? "Shift" : "", event.altKey ? "Alt" : "", key,
  ];
  return parts.filter((part) => part !== "").join("+");
}

/** Keys that only mean something in the text, where the editor hears them itself. */
const OF_TEXT = new Set(["F2", "F12", "Shift+F12", "Shift+Alt+F", "Ctrl+.", "Ctrl+S"]);
/** Keys of the text that the whole page hears too, unless a field has the keyboard. */
const OF_PAGE = new Set(["Ctrl+Z", "Ctrl+Y"]);

/** Whether a field only says what the text says: then there is nothing in it to take back. */
const saysText = (field: HTMLElement): boolean =>
  field instanceof HTMLInputElement && field.dataset["field"] !== undefined && field.value === field.defaultValue;

export function watchKeys(): void {
  const actions = new Map(ACTIONS.map((action) => [action.key, action]));
  document.addEventListener("keydown", (event) => {
    const key = called(event);
    const action = actions.get(key);
    if (action === undefined || event.defaultPrevented) return;
    const inside = event.target as HTMLElement;
    const inText = inside.closest(".cm-editor") !== null;
    if (OF_TEXT.has(key) && (inText || key !== "Ctrl+S")) return;
    if (OF_PAGE.has(key) && (inText || (inside.matches("input, textarea") && !saysText(inside)))) return;
    if (document.querySelector("dialog[open]") !== null) return;
    event.preventDefault();
    action.run();
  });
}

/** Go back from a report to the model. */
export function closeReport(): void {
  openReport.value = null;
  editor()?.focus();
}

