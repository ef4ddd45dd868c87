/** Runs as files: CSV of the run that is looked at, and all of them as data. */

import { replayed, run, runs, simulation } from "./state";

function hand(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

const stem = (): string =>
  (simulation.peek()?.path ?? replayed.peek()?.path ?? "run").replace(/^.*\//, "").replace(/\.\w+$/, "");

const cell = (value: unknown): string => {
  const text = value === null || value === undefined ? "" : String(value);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** The run as a table: a row for each time, a column for each variable. */
export function saveTable(): void {
  const { times, values } = run.peek();
  const names = Object.keys(values);
  const rows = times.map((time, place) => [time, ...names.map((name) => values[name]?.[place])]);
  const lines = [["time", ...names], ...rows].map((row) => row.map(cell).join(","));
  hand(`${stem()}.csv`, "text/csv", `${lines.join("\n")}\n`);
}

/** All runs that are shown, with their events and what they were asked with. */
export function saveRuns(): void {
  const asked = replayed.peek() === null ? simulation.peek()?.request : undefined;
  const { text: _text, first: _first, ...request } = asked ?? { text: "", first: 0 };
  const made = runs.peek().filter((one) => one.former !== true);
  hand(`${stem()}.runs.json`, "application/json", JSON.stringify({ request, runs: made }));
}
