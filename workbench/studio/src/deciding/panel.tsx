/** Verify, falsify, compare, report: choose properties, follow what works, read the verdicts. */

import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { Field } from "../page/field";
import { files, openReport } from "../project/files";
import { AgentChoice } from "../running/agents";
import { chosenParameters, description, settings } from "../running/state";
import { current } from "../text/documents";
import * as http from "../wire/http";
import type { Job, JobKind } from "../wire/types";
import { Badge, VerdictCard, seconds } from "./card";
import { cancel, deviation, foundAbout, isOver, isStale, listed, standings, start, variations, working } from "./jobs";

/** Properties that are left out of what is asked. */
const unwanted = signal<ReadonlySet<string>>(new Set());
const method = signal("auto");
const timeLimit = signal(60);
const against = signal("");
const comparing = signal(false);
/** Whether jobs are about the parameters of the sliders or those of the text. */
const withParameters = signal(false);

const METHODS = [
  "auto", "rectangular", "simulation", "quadratic", "recurrence", "flowpipe", "nonlinear", "template",
  "history", "transient", "abstraction", "exact",
];

const NEVER_BLOCKS = "never blocks";

/** The properties of the current model, as its description or earlier verdicts name them. */
function propertyNames(): string[] {
  const path = current.value?.path ?? "";
  const described = description.value?.properties.map((property) => property.name);
  if (described !== undefined) return described;
  return [...new Set(foundAbout(path).map(({ verdict }) => verdict.property))];
}

function wanted(): string[] {
  return propertyNames().filter((name) => !unwanted.value.has(name));
}

/** Start a job with what is chosen in the panel. */
export function ask(kind: JobKind, properties: readonly string[] = wanted()): void {
  const options: Record<string, unknown> = { time_limit: timeLimit.value };
  if (kind === "verify" || kind === "report") options["method"] = method.value;
  if (kind === "refine") options["against"] = against.value;
  void start(
    {
      kind,
      options,
      properties: kind === "refine" ? [] : [...properties],
      parameters: withParameters.value ? chosenParameters() : {},
      ...(settings.peek().agent === null ? {} : { agent: settings.peek().agent ?? "" }),
    },
    (job) => {
      if (kind === "report" && job.state === "done" && job.result?.path) {
        openReport.value = job.result.path;
      }
    },
  );
}

function Choice(): JSX.Element {
  const names = propertyNames();
  const moved = Object.entries(settings.value.parameters);
  const known = standings(current.value?.path ?? "");
  const toggle = (name: string): void => {
    const next = new Set(unwanted.value);
    if (!next.delete(name)) next.add(name);
    unwanted.value = next;
  };
  return (
    <div class="choice">
      <AgentChoice />
      <h3>Properties</h3>
      {names.length === 0 && (
        <p class="hint">
          This model claims nothing yet. Write <code>assert "name" {"{ x >= 0 }"}</code> in an agent.
        </p>
      )}
      <ul class="properties">
        {names.map((name) => {
          const found = known.get(name);
          return (
            <li key={name}>
              <label>
                <input type="checkbox" checked={!unwanted.value.has(name)} onChange={() => toggle(name)} />
                <span class="name">{name}</span>
              </label>
              {found !== undefined && (
                <Badge outcome={found.verdict.outcome} stale={isStale(found.job)} />
              )}
            </li>
          );
        })}
      </ul>
      <div class="buttons left">
        <button type="button" class="primary" disabled={wanted().length === 0} onClick={() => ask("verify")}>
          Verify
        </button>
        <button type="button" disabled={wanted().length === 0} onClick={() => ask("falsify")}>
          Falsify
        </button>
        <button type="button" onClick={() => ask("report")}>
          Report
        </button>
      </div>
      {moved.length > 0 && (
        <label class="check">
          <input
            type="checkbox" checked={withParameters.value}
            onChange={(event) => (withParameters.value = event.currentTarget.checked)}
          />
          with the parameters of the sliders ({moved.map(([name, value]) => `${name} = ${value}`).join(", ")})
        </label>
      )}
      <details class="more">
        <summary>Options</summary>
        <label class="field">
          <span>Method</span>
          <select value={method.value} onChange={(event) => (method.value = event.currentTarget.value)}>
            {METHODS.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>Seconds for each</span>
          <Field
            type="number" min={1} max={3600} shown={String(timeLimit.value)}
            put={(text) => (timeLimit.value = Math.max(1, Number(text) || 60))}
          />
        </label>
        <button type="button" class="small" onClick={() => ask("verify", [NEVER_BLOCKS])}>
          Can runs always go on?
        </button>
      </details>
      <details class="more" open={comparing.value}>
        <summary>Refines another model</summary>
        <label class="field">
          <span>The simple system</span>
          <select value={against.value} onChange={(event) => (against.value = event.currentTarget.value)}>
            <option value="">choose</option>
            {files.value
              .filter((file) => file.kind === "model")
              .map((file) => (
                <option key={file.path}>{file.path}</option>
              ))}
          </select>
        </label>
        <button type="button" class="small" disabled={against.value === ""} onClick={() => ask("refine")}>
          Compare
        </button>
      </details>
    </div>
  );
}

export function JobLine({ job }: { job: Job }): JSX.Element {
  const last = job.progress.at(-1);
  // A job about several properties decides one after the other.
  const about = job.progress.filter((event) => event.property === last?.property);
  const tried = [...new Set(about.map((event) => event.method).filter((name) => name !== ""))];
  return (
    <div class={`job ${job.state}`} data-job={job.id}>
      <div class="job-head">
        <span class="state">{job.state}</span>
        <b>{job.kind}</b> <span class="quiet">{job.model}</span>
        {!isOver(job) && (
          <button type="button" class="small" onClick={() => cancel(job)}>
            Cancel
          </button>
        )}
      </div>
      {(job.properties.length > 0 || deviation(job) !== "") && (
        <div class="quiet job-what">{[job.properties.join(", "), deviation(job)].filter(Boolean).join(" ")}</div>
      )}
      {!isOver(job) && (
        <>
          <div class="methods" aria-label="Methods tried">
            {tried.map((name) => (
              <span key={name} class={name === last?.method ? "method now" : "method"}>
                {name}
              </span>
            ))}
          </div>
          <div class="progress-line" role="status">
            {last !== undefined && job.properties.length > 1 && <b>{last.property} </b>}
            {last !== undefined ? `${last.text} · ${seconds(last.seconds)}` : "waiting"}
          </div>
        </>
      )}
      {job.error && <p class="wrong-text">{job.error.message}</p>}
    </div>
  );
}

function Others({ path }: { path: string }): JSX.Element | null {
  const all = foundAbout(path);
  if (all.length < 2) return null;
  return (
    <details class="compare">
      <summary>All that was found ({all.length})</summary>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th>Property</th>
              <th>Verdict</th>
              <th>Asked</th>
              <th>Method</th>
              <th>Time</th>
              <th>Text</th>
            </tr>
          </thead>
          <tbody>
            {all.map(({ verdict, job }) => (
              <tr key={`${job.id} ${verdict.property}`} data-deviation={deviation(job)}>
                <td>{verdict.property}</td>
                <td>
                  <Badge outcome={verdict.outcome} stale={isStale(job)} />
                </td>
                <td>
                  {job.kind} {deviation(job)}
                </td>
                <td>{verdict.method}</td>
                <td class="number">{verdict.seconds === undefined ? "" : seconds(verdict.seconds)}</td>
                <td>{isStale(job) ? "another" : "this"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

const STANDING: Record<string, string> = { refines: "verified", refuted: "falsified" };

function Refinements({ path }: { path: string }): JSX.Element {
  const all = listed.value.filter((job) => job.model === path && job.kind === "refine" && job.result);
  return (
    <>
      {all.slice(0, 3).map((job) => (
        <article class={`card ${isStale(job) ? "stale" : ""}`} key={job.id}>
          <header>
            <span class={`badge ${STANDING[job.result?.outcome ?? ""] ?? "unknown"}`}>{job.result?.outcome}</span>
            <h3>{String(job.options["against"])}</h3>
            <span class="quiet">{deviation(job)}</span>
          </header>
          <pre>{job.result?.text}</pre>
          {job.result?.certificate !== undefined && (
            <footer>
              <a href={http.shown(job.result.certificate)} download="refinement.certificate.json">
                Certificate
              </a>
            </footer>
          )}
        </article>
      ))}
    </>
  );
}

export function DecidePanel(): JSX.Element {
  const path = current.value?.path ?? "";
  const known = standings(path);
  const order = propertyNames();
  const found = [...known.values(), ...variations(path)].sort(
    (a, b) => order.indexOf(a.verdict.property) - order.indexOf(b.verdict.property),
  );
  const busy = working.value.filter((job) => job.model === path);
  const failed = listed.value.find((job) => job.model === path && job.state === "failed");
  return (
    <div class="panel decide">
      <Choice />
      <div class="verdicts" aria-live="polite">
        {busy.map((job) => (
          <JobLine key={job.id} job={job} />
        ))}
        {busy.length === 0 && failed !== undefined && listed.value[0] === failed && <JobLine job={failed} />}
        {found.map((one) => (
          <VerdictCard key={`${one.verdict.property}\n${deviation(one.job)}`} found={one} />
        ))}
        <Refinements path={path} />
        {found.length === 0 && busy.length === 0 && (
          <p class="hint">
            Nothing has been decided about this model. <b>Verify</b> looks for a proof that a checker
            accepts, and for a run that breaks the claim; <b>Falsify</b> looks for such runs only.
          </p>
        )}
        <Others path={path} />
      </div>
    </div>
  );
}

export function JobsPanel(): JSX.Element {
  return (
    <div class="panel jobs">
      {listed.value.length === 0 && <p class="hint">No jobs yet.</p>}
      {listed.value.map((job) => (
        <JobLine key={job.id} job={job} />
      ))}
    </div>
  );
}
