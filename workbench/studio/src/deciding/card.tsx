/** The verdict on a property, with what it rests on. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { replayCounterexample } from "../running/state";
import { showInvariant, invariantShown } from "../running/invariant";
import * as http from "../wire/http";
import { deviation, isStale } from "./jobs";
import type { Found } from "./jobs";

const WORDS = { verified: "Verified", falsified: "Falsified", unknown: "Unknown" } as const;
const ROWS_SHOWN = 6;

export function Badge({ outcome, stale }: { outcome: keyof typeof WORDS; stale?: boolean }): JSX.Element {
  return <span class={`badge ${outcome} ${stale ? "stale" : ""}`}>{WORDS[outcome]}</span>;
}

export const seconds = (value: number): string =>
  value < 10 ? `${value.toFixed(1)} s` : `${Math.round(value)} s`;

function Invariant({ found }: { found: Found }): JSX.Element | null {
  const { invariant } = found.verdict;
  const [whole, setWhole] = useState(false);
  if (invariant === undefined || invariant.length === 0) return null;
  const drawn = invariantShown.value?.verdict === found.verdict;
  return (
    <details class="evidence" open>
      <summary>
        Every reachable state satisfies <span class="quiet">(numbers rounded)</span>
      </summary>
      <div class="invariant">
        {invariant.slice(0, whole ? undefined : 4).map(({ location, inequalities }) => (
          <div key={location} class="place">
            <b>{location}</b>
            {inequalities.length === 0 && <p class="quiet">every state that the mode allows</p>}
            <ul>
              {inequalities.slice(0, whole ? undefined : ROWS_SHOWN).map((row) => (
                <li key={row}>
                  <code>{row}</code>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </div>
      <p class="buttons left">
        {(invariant.length > 4 || invariant.some((one) => one.inequalities.length > ROWS_SHOWN)) && (
          <button type="button" class="small" aria-expanded={whole} onClick={() => setWhole(!whole)}>
            {whole ? "Less" : "All of it"}
          </button>
        )}
        <button
          type="button" class="small" aria-pressed={drawn}
          onClick={() => showInvariant(drawn ? null : found)}
        >
          Draw over the runs
        </button>
      </p>
    </details>
  );
}

export function VerdictCard({ found }: { found: Found }): JSX.Element {
  const { verdict, job } = found;
  const stale = isStale(job);
  return (
    <article
      class={`card verdict ${verdict.outcome} ${stale ? "stale" : ""}`}
      data-property={verdict.property} data-deviation={deviation(job)}
    >
      <header>
        <Badge outcome={verdict.outcome} stale={stale} />
        <h3>{verdict.property}</h3>
        {deviation(job) !== "" && <span class="deviation">{deviation(job)}</span>}
        {stale && <span class="stale-mark" title="The text has changed since">before the last edit</span>}
      </header>
      <p class="headline">{verdict.headline.replace(/^[A-Z]+ (?!\()/, "")}</p>
      {verdict.reason && <p>{verdict.reason}</p>}
      {(verdict.advice ?? []).filter((line) => line !== "").length > 0 && (
        <ul class="advice">
          {verdict.advice?.filter((line) => line !== "").map((line) => <li key={line}>{line}</li>)}
        </ul>
      )}
      {(verdict.known ?? []).length > 0 && (
        <details class="evidence">
          <summary>What is known so far</summary>
          <ul>
            {verdict.known?.map((line) => (
              <li key={line}>
                <code>{line}</code>
              </li>
            ))}
          </ul>
        </details>
      )}
      {(verdict.assumptions ?? []).length > 0 && (
        <ul class="assumptions">
          {verdict.assumptions?.map((line) => <li key={line}>{line}</li>)}
        </ul>
      )}
      <Invariant found={found} />
      {verdict.confirmations && verdict.confirmations.length > 0 && (
        <details class="evidence">
          <summary>
            Confirmed in {verdict.confirmations.length} {verdict.confirmations.length === 1 ? "way" : "ways"}
            {verdict.confirmations.some((one) => one.rigorous) && <span class="quiet"> with a rigorous enclosure</span>}
          </summary>
          <ul class="assumptions">
            {verdict.confirmations.map(({ how }) => (
              <li key={how}>{how}</li>
            ))}
          </ul>
        </details>
      )}
      <footer>
        {verdict.counterexample && (
          <button
            type="button" class="primary small"
            onClick={() =>
              replayCounterexample(verdict.counterexample!, verdict.property, verdict.trace ?? null, job)
            }
          >
            Replay the counterexample
          </button>
        )}
        {verdict.trace && (
          <a href={http.shown(verdict.trace)} download={`${verdict.property}.trace.json`}>
            Trace
          </a>
        )}
        {verdict.certificate && (
          <a href={http.shown(verdict.certificate)} download={`${verdict.property}.certificate.json`}>
            Certificate
          </a>
        )}
      </footer>
    </article>
  );
}
