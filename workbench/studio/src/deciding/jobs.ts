/** Jobs of the project: started, followed, cancelled; and where each model stands. */

import { computed, effect, signal } from "@preact/signals";
import { notify } from "../page/notices";
import { complain } from "../project/files";
import { current, isDirty, revision } from "../text/documents";
import * as http from "../wire/http";
import { connection, listen } from "../wire/socket";
import type { Job, JobKind, JobRequest, Verdict } from "../wire/types";

export const jobs = signal<ReadonlyMap<string, Job>>(new Map());

export const isOver = (job: Job): boolean =>
  job.state === "done" || job.state === "failed" || job.state === "cancelled";

/** The latest first. */
export const listed = computed(() =>
  [...jobs.value.values()].sort((a, b) => b.created - a.created),
);

export const working = computed(() => listed.value.filter((job) => !isOver(job)));

/** A verdict with the job that found it. */
export interface Found {
  verdict: Verdict;
  job: Job;
}

/** Everything found about the properties of a model, the latest first. */
export function foundAbout(path: string): Found[] {
  return listed.value
    .filter((job) => job.model === path && (job.kind === "verify" || job.kind === "falsify"))
    .flatMap((job) => (job.result?.verdicts ?? []).map((verdict) => ({ verdict, job })));
}

/** Whether a job is about the model as its text says, and not about chosen values or another agent. */
export const isAsWritten = (job: Job): boolean =>
  job.agent == null && Object.keys(job.parameters).length === 0;

/** With which agent and values a job differs from what the text says: `with gap = 4`. */
export function deviation(job: Job): string {
  const values = Object.entries(job.parameters).map(([name, value]) => `${name} = ${value}`);
  const agent = job.agent == null ? [] : [`agent ${job.agent}`];
  return isAsWritten(job) ? "" : `with ${[...agent, ...values].join(", ")}`;
}

/**
 * What counts of results by some key: what was found about the text as it is now before what is
 * stale, a decision before "unknown", the latest first.
 */
function best(all: readonly Found[], key: (found: Found) => string): Map<string, Found> {
  const chosen = new Map<string, Found>();
  const rank = ({ verdict, job }: Found): number =>
    (isStale(job) ? 0 : 2) + (verdict.outcome === "unknown" ? 0 : 1);
  for (const found of all) {
    const known = chosen.get(key(found));
    if (known === undefined || rank(found) > rank(known)) chosen.set(key(found), found);
  }
  return chosen;
}

/** What counts for each property of a model as its text says. */
export function standings(path: string): Map<string, Found> {
  return best(foundAbout(path).filter(({ job }) => isAsWritten(job)), ({ verdict }) => verdict.property);
}

/** What was found about a model with chosen values, for each property and choice. */
export function variations(path: string): Found[] {
  const others = foundAbout(path).filter(({ job }) => !isAsWritten(job));
  return [...best(others, ({ verdict, job }) => `${verdict.property}\n${deviation(job)}`).values()];
}

/** The text that each job of this page was started with: an edit makes its result stale. */
const askedAbout = new Map<string, string>();

/** Whether a result is about another text than the one in the editor. */
export function isStale(job: Job): boolean {
  void revision.value;
  const document = current.value;
  if (document === null || document.path !== job.model) return job.stale;
  const text = askedAbout.get(job.id);
  if (text !== undefined) return document.state.doc.toString() !== text;
  return job.stale || isDirty(document);
}

/** One mark for a model in the tree. */
export function standing(path: string): { kind: string; text: string } | null {
  const known = standings(path);
  const all = [...known.values()];
  if (all.length === 0) return null;
  const claims = all.find(({ job }) => !job.stale)?.verdict.claims ?? [];
  const unasked = claims.filter((name) => !known.has(name)).length;
  const count = (outcome: string): number =>
    all.filter(({ verdict, job }) => verdict.outcome === outcome && !job.stale).length;
  const stale = all.filter(({ job }) => job.stale).length;
  const parts = [
    [count("falsified"), "falsified"], [count("verified"), "verified"],
    [count("unknown"), "unknown"], [stale, "stale"], [unasked, "not asked"],
  ] as const;
  const text = parts.filter(([n]) => n > 0).map(([n, word]) => `${n} ${word}`).join(", ");
  const kind =
    count("falsified") > 0 ? "falsified"
    : stale > 0 ? "stale"
    : count("unknown") > 0 ? "unknown"
    : unasked > 0 ? "partly"
    : "verified";
  return { kind, text };
}

/** What is done when a job of this page has ended. */
const whenOver = new Map<string, (job: Job) => void>();

function put(job: Job): void {
  const before = jobs.peek().get(job.id);
  jobs.value = new Map(jobs.peek()).set(job.id, job);
  if (!isOver(job) || (before !== undefined && isOver(before))) return;
  const then = whenOver.get(job.id);
  whenOver.delete(job.id);
  then?.(job);
}

const VERBS: Record<JobKind, string> = {
  verify: "Verifying", falsify: "Falsifying", refine: "Comparing", report: "Writing the report of",
};

/** Start a job about the current text. */
export async function start(
  request: Omit<JobRequest, "model" | "text">, then?: (job: Job) => void,
): Promise<void> {
  const document = current.peek();
  if (document === null) return;
  const text = document.state.doc.toString();
  try {
    const { id } = await http.startJob({ ...request, model: document.path, text });
    askedAbout.set(id, text);
    if (then !== undefined) whenOver.set(id, then);
    put(await http.job(id));
    notify(`${VERBS[request.kind]} ${document.path}`);
  } catch (error) {
    complain(error);
  }
}

export const cancel = (job: Job): void => {
  http.cancelJob(job.id).catch(complain);
};

export function watchJobs(): void {
  listen("jobs", (frame) => put(frame["job"] as Job));
  effect(() => {
    if (connection.value === 0) return;
    http.jobs().then(
      (all) => {
        jobs.value = new Map(all.map((job) => [job.id, job]));
      },
      () => undefined,
    );
  });
}
