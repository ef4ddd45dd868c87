/** Requests to the server of this page. */

import type { Draft, Job, JobRequest, LibraryModel, Project } from "./types";

/** An answer that is not a success, in the server's words; with the status 0 there was none. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly hint: string,
    readonly body: Record<string, unknown>,
  ) {
    super(message);
  }
}

async function ask<T>(method: string, address: string, body?: unknown): Promise<T> {
  const sent = fetch(address, {
    method,
    credentials: "same-origin",
    headers: body === undefined ? {} : { "Content-Type": "application/json" },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const answer = await sent.catch(() => {
    throw new Refused(0, "The server does not answer", "what is typed is kept", {});
  });
  const text = await answer.text();
  let value: unknown = null;
  try {
    value = text === "" ? null : JSON.parse(text);
  } catch {
    value = { error: text.slice(0, 200) };
  }
  if (answer.ok) return value as T;
  const said = (value ?? {}) as Record<string, unknown>;
  const message = typeof said["error"] === "string" ? said["error"] : `the server answered ${answer.status}`;
  const hint = typeof said["hint"] === "string" ? said["hint"] : "";
  throw new Refused(answer.status, message, hint, said);
}

const segments = (path: string): string => path.split("/").map(encodeURIComponent).join("/");
const file = (path: string): string => `/api/files/${segments(path)}`;

/** The address under which a file of the project is shown as it is. */
export const shown = (path: string): string => `/files/${segments(path)}`;

export const project = (): Promise<Project> => ask("GET", "/api/project");
export const library = (): Promise<LibraryModel[]> => ask("GET", "/api/library");

export const read = (path: string): Promise<{ path: string; text: string; stamp: string }> =>
  ask("GET", file(path));

export const write = (path: string, text: string, stamp: string): Promise<{ stamp: string }> =>
  ask("PUT", file(path), { text, stamp });

export const create = (
  path: string,
  from: { text: string } | { library: string },
): Promise<{ stamp: string }> => ask("POST", file(path), from);

export const rename = (from: string, to: string): Promise<{ stamp: string }> =>
  ask("POST", "/api/rename", { from, to });

export const remove = (path: string): Promise<null> => ask("DELETE", file(path));

export const drafts = (): Promise<Draft[]> => ask("GET", "/api/drafts");

export const keepDraft = (path: string, text: string, stamp: string): Promise<unknown> =>
  ask("PUT", `/api/drafts/${segments(path)}`, { text, stamp });

export const dropDraft = (path: string): Promise<unknown> =>
  ask("DELETE", `/api/drafts/${segments(path)}`);

export const jobs = (): Promise<Job[]> => ask("GET", "/api/jobs");
export const job = (id: string): Promise<Job> => ask("GET", `/api/jobs/${encodeURIComponent(id)}`);
export const startJob = (request: JobRequest): Promise<{ id: string }> =>
  ask("POST", "/api/jobs", request);
export const cancelJob = (id: string): Promise<unknown> =>
  ask("DELETE", `/api/jobs/${encodeURIComponent(id)}`);
