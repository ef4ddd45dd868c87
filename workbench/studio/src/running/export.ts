/** Runs as files: CSV of the run that is looked at, all of them as data, and one to be replayed. */

import { notify } from "../page/notices";
import { Latest } from "../wire/socket";
import type { Problem, SimulateRequest } from "../wire/types";
import { chosenRun, replayed, run, runs, simulation } from "./state";

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

const recording = new Latest<Omit<SimulateRequest, "first"> & { run: number }, { path: string }>(
  "record",
  ({ path }) => notify(`${path} keeps the run: open it to replay it`),
  (error) => notify((error as Problem).message, "error"),
);

/** Keep the run that is looked at in the project, as a trace that is replayed. */
export function keepRun(): void {
  const asked = simulation.peek()?.request;
  if (asked === undefined || replayed.peek() !== null) return;
  const { first: _first, ...request } = asked;
  recording.ask({ ...request, run: Math.min(chosenRun.peek(), request.runs - 1) });
}
