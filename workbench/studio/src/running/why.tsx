/** Why it did (not) jump: the transitions at the cursor, and what each guard lacks. */

import { effect, signal } from "@preact/signals";
import type { JSX } from "preact";
import { Latest, connection } from "../wire/socket";
import type { SimulateRequest, Why, WhyAtom, WhyEdge } from "../wire/types";
import { short } from "./painting";
import { chosenRun, cursor, playing, replayed, simulation } from "./state";

type Question = Omit<SimulateRequest, "first"> & { time: number; run?: number; trace?: string };

const answer = signal<Why | null>(null);
const refusal = signal<string | null>(null);
/** Whether the reasons are looked at. */
export const asking = signal(false);

const REST = 60;

const latest = new Latest<Question, Why>(
  "why",
  (found) => {
    answer.value = found;
    refusal.value = null;
  },
  (error) => {
    answer.value = null;
    refusal.value = (error as { message?: string }).message ?? "no answer";
  },
);

export function watchWhy(): void {
  let timer = 0;
  effect(() => {
    const time = cursor.value;
    const shown = simulation.value;
    const recorded = replayed.value;
    const place = chosenRun.value;
    void connection.value;
    clearTimeout(timer);
    if (!asking.value || playing.value || time === null || shown === null) return;
    const { first: _first, ...request } = shown.request;
    timer = window.setTimeout(() => {
      if (recorded === null) latest.ask({ ...request, run: place, time });
      else if (recorded.trace !== null) {
        const { agent: _agent, ...chosen } = request;
        const of = recorded.agent === null ? {} : { agent: recorded.agent };
        latest.ask({ ...chosen, ...of, trace: recorded.trace, time });
      }
    }, REST);
  });
}

const said = (value: number | string | null): string =>
  value === null ? "" : typeof value === "number" ? short(value) : value;

function Atom({ atom }: { atom: WhyAtom }): JSX.Element {
  return (
    <li class={atom.holds ? "holds" : "lacks"}>
      <span class="mark" aria-label={atom.holds ? "holds" : "does not hold"}>
        {atom.holds ? "✓" : "✗"}
      </span>
      <code>{atom.text}</code>
      {!atom.holds && atom.lacking !== null && <span class="lacking">lacks {said(atom.lacking)}</span>}
    </li>
  );
}

/** Whether a transition has a name of its own, and not only that of where it leads. */
const isNamed = ({ name, source, target }: WhyEdge): boolean => name !== `${source} -> ${target}`;

export function WhyList(): JSX.Element {
  const found = answer.value;
  return (
    <details
      class="why" open={asking.value}
      onToggle={(event) => (asking.value = event.currentTarget.open)}
    >
      <summary>Why did it (not) jump?</summary>
      {cursor.value === null && <p class="quiet">Choose a moment in the plots.</p>}
      {refusal.value !== null && <p class="quiet">{refusal.value}</p>}
      {cursor.value !== null && found !== null && (
        <ul class="edges">
          {found.edges.length === 0 && <li class="quiet">No transition leaves here.</li>}
          {found.edges.map((edge) => (
            <li key={`${edge.name} ${edge.source} ${edge.target}`} class={edge.enabled ? "edge enabled" : "edge"}>
              {isNamed(edge) && <b>{edge.name} </b>}
              <span class={isNamed(edge) ? "quiet" : ""}>
                {edge.source} → {edge.target}
              </span>
              {edge.enabled && <span class="can">may be taken</span>}
              <ul class="atoms">
                {edge.atoms.map((atom) => (
                  <Atom key={atom.text} atom={atom} />
                ))}
              </ul>
              {edge.blocked !== "" && <p class="blocked">but {edge.blocked}</p>}
              {edge.missed.length > 0 && (
                <ul class="atoms">
                  {edge.missed.map((atom) => (
                    <Atom key={atom.text} atom={atom} />
                  ))}
                </ul>
              )}
            </li>
          ))}
        </ul>
      )}
    </details>
  );
}
