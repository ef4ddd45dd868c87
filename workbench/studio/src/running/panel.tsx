/** The simulator: what can be chosen on the left, plots in the middle, the moment on the right. */

import type { JSX } from "preact";
import { isStale } from "../deciding/jobs";
import { Field } from "../page/field";
import { current } from "../text/documents";
import type { Quantity, Run, RunEvent, Value } from "../wire/types";
import { AgentChoice } from "./agents";
import { keepRun, saveRuns, saveTable } from "./export";
import { invariantMisses, invariantShown, showInvariant } from "./invariant";
import { short } from "./painting";
import {
  Plots, arrangement, axes, brief, colourOf, drawable, nextEvent, phaseAxes, toggleVariable, variables, window_,
} from "./plots";
import type { Arrangement } from "./plots";
import {
  answered, choose, chooseOne, chosenRun, cursor, description, endOf, endReplay, playing, problem, replayed,
  reset, run, runs, settings, simulation, stayAt, valueAt, waiting,
} from "./state";
import { WhyList } from "./why";

type Kind = "parameters" | "initial" | "inputs";

/** Where a slider may go: the declared range, or around the value. */
function reach(quantity: Quantity, base: number): [number, number] {
  const { low, high } = quantity;
  if (low != null && high != null && high > low) return [low, high];
  const size = Math.abs(base) || 1;
  return [low ?? (base > 0 ? 0 : base - size * 2), high ?? base + size];
}

function base(quantity: Quantity): number | null {
  if (typeof quantity.value === "number") return quantity.value;
  const { low, high } = quantity;
  if (low != null && high != null) return (low + high) / 2;
  return low ?? high ?? null;
}

/** The number that was written into a field; null: it is none. */
function written(text: string): number | null {
  const number = Number(text);
  return text.trim() !== "" && Number.isFinite(number) ? number : null;
}

function Slider({ kind, quantity }: { kind: Kind; quantity: Quantity }): JSX.Element {
  const set = settings.value[kind][quantity.name];
  const start = base(quantity);
  const value = set ?? (kind === "parameters" ? quantity.value : null) ?? null;
  const name = quantity.name;
  const id = `q-${kind}-${name}`;
  const put = (text: string): void => chooseOne(kind, name, written(text));
  if (quantity.type === "bool" || (quantity.values?.length ?? 0) > 0) {
    const options = quantity.values ?? ["true", "false"];
    const chosen = (text: string): void => {
      if (text === "") chooseOne(kind, name, null);
      else chooseOne(kind, name, quantity.type === "bool" && kind === "initial" ? text === "true" : text);
    };
    return (
      <div class="quantity">
        <label for={id}>{name}</label>
        <select id={id} value={set === undefined ? "" : String(set)} onChange={(event) => chosen(event.currentTarget.value)}>
          <option value="">{quantity.value != null ? String(quantity.value) : "any"}</option>
          {options.map((option) => (
            <option key={option}>{option}</option>
          ))}
        </select>
      </div>
    );
  }
  if (kind === "initial" && quantity.low != null && quantity.low === quantity.high) {
    return (
      <div class="quantity fixed">
        <span class="name" title={name}>
          {brief(name)}
        </span>
        <span class="number">{short(quantity.low)}</span>
      </div>
    );
  }
  const [low, high] = reach(quantity, start ?? 0);
  const whole = quantity.type === "int";
  const step = whole ? 1 : Number(((high - low) / 200).toPrecision(1)) || 0.01;
  const at = typeof value === "number" ? value : (start ?? 0);
  return (
    <div class={`quantity ${set !== undefined ? "set" : ""}`}>
      <label for={id} title={name}>
        {brief(name)}
      </label>
      <input
        type="range" id={id} min={low} max={high} step={step} value={at}
        class={set === undefined && kind !== "parameters" ? "free" : ""}
        onInput={(event) => put(event.currentTarget.value)}
      />
      <Field
        type="text" inputMode="decimal" aria-label={`${name}, value`} class="value" put={put}
        shown={value === null ? "" : typeof value === "number" && set === undefined ? short(value) : String(value)}
        placeholder={
          quantity.low != null && quantity.high != null
            ? `${short(quantity.low)}…${short(quantity.high)}`
            : "any"
        }
      />
      {set !== undefined && (
        <button
          type="button" class="plain undo" title={`Back to the model's ${name}`} aria-label={`Back to the model's ${name}`}
          onClick={() => chooseOne(kind, name, null)}
        >
          ↺
        </button>
      )}
    </div>
  );
}

const HEADS: readonly (readonly [Kind, string])[] = [
  ["parameters", "Parameters"], ["initial", "First values"], ["inputs", "Inputs"],
];

function Choices(): JSX.Element {
  const known = description.value;
  const { until, runs: count, seed, ownClocks } = settings.value;
  const number = (text: string, least: number): number => Math.max(least, written(text) ?? least);
  return (
    <div class="choices">
      <AgentChoice />
      {HEADS.map(([kind, head]) => {
        const all = (known?.[kind] ?? []).filter((quantity) => quantity.given !== true);
        if (all.length === 0) return null;
        return (
          <details key={kind} open={kind === "parameters" || all.length <= 8}>
            <summary>{head}</summary>
            {all.map((quantity) => (
              <Slider key={quantity.name} kind={kind} quantity={quantity} />
            ))}
          </details>
        );
      })}
      <details open>
        <summary>Runs</summary>
        <div class="quantity pair">
          <label for="q-until">until</label>
          <Field
            id="q-until" type="text" inputMode="decimal" class="value"
            shown={until === null ? "" : String(until)}
            placeholder={short(simulation.value?.request.until ?? 20)}
            put={(text) => {
              const given = written(text);
              choose({ until: given !== null && given > 0 ? given : null });
            }}
          />
          <label for="q-runs">runs</label>
          <Field
            id="q-runs" type="number" min={1} max={100} class="value" shown={String(count)}
            put={(text) => choose({ runs: Math.min(100, number(text, 1)) })}
          />
          <label for="q-seed">seed</label>
          <Field
            id="q-seed" type="number" min={0} class="value" shown={String(seed)}
            put={(text) => choose({ seed: Math.round(number(text, 0)) })}
          />
        </div>
        <label class="check">
          <input
            type="checkbox" checked={ownClocks}
            onChange={(event) => choose({ ownClocks: event.currentTarget.checked })}
          />
          agents on their own clocks
        </label>
        <button type="button" class="small" onClick={reset}>
          Back to the model's values
        </button>
      </details>
    </div>
  );
}

const ARRANGEMENTS: readonly (readonly [Arrangement, string])[] = [
  ["stacked", "Stacked"], ["overlaid", "Overlaid"], ["phase", "Phase"],
];

function Tools(): JSX.Element {
  const names = drawable.value;
  const pair = axes.value;
  return (
    <div class="plot-tools">
      <div class="segments" role="group" aria-label="Arrangement">
        {ARRANGEMENTS.map(([kind, label]) => (
          <button
            key={kind} type="button" aria-pressed={arrangement.value === kind}
            onClick={() => (arrangement.value = kind)}
          >
            {label}
          </button>
        ))}
      </div>
      {window_.value !== null && (
        <button type="button" class="small" onClick={() => (window_.value = null)}>
          All of the time
        </button>
      )}
      <span class="spacer" />
      {invariantShown.value !== null && (
        <button
          type="button" class={`small ${invariantMisses.value === "" ? "pressed" : "missed"}`}
          title={invariantMisses.value === "" ? "" : "What is shown are runs of something else: it is not drawn over them"}
          onClick={() => showInvariant(null)}
        >
          Invariant of “{invariantShown.value.verdict.property}”{invariantMisses.value && `, ${invariantMisses.value}`} ✕
        </button>
      )}
      <button type="button" class="small" onClick={saveTable} title="The run that is looked at, as a table">
        CSV
      </button>
      <button type="button" class="small" onClick={saveRuns} title="All runs with their events, as data">
        JSON
      </button>
      <button
        type="button" class="small" disabled={replayed.value !== null} onClick={keepRun}
        title="Keep the run that is looked at in the project, to be replayed"
      >
        Keep
      </button>
      {arrangement.value === "phase" && pair !== null ? (
        <span class="axes">
          {([1, 0] as const).map((side) => (
            <select
              key={side} aria-label={side === 0 ? "Horizontal axis" : "Vertical axis"} value={pair[side]}
              onChange={(event) => {
                const next: [string, string] = [...pair];
                next[side] = event.currentTarget.value;
                phaseAxes.value = next;
              }}
            >
              {names.map((name) => (
                <option key={name} value={name}>
                  {brief(name)}
                </option>
              ))}
            </select>
          ))}
        </span>
      ) : (
        <div class="legend" role="group" aria-label="Variables">
          {names.map((name) => (
            <button
              key={name} type="button" class={`key m${colourOf(name)}`}
              aria-pressed={variables.value.includes(name)} title={name} onClick={() => toggleVariable(name)}
            >
              <span class="swatch" aria-hidden="true" />
              {brief(name)}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

/** How large the step is that each agent with a clock of its own takes at a moment. */
function stepsAt(one: Run, time: number): readonly { agent: string; size: number }[] {
  return Object.entries(one.clocks ?? {}).flatMap(([agent, times]) => {
    const next = times.findIndex((tick) => tick > time);
    const from = times[next < 0 ? times.length - 2 : next - 1];
    const to = times[next < 0 ? times.length - 1 : next];
    return from === undefined || to === undefined ? [] : [{ agent, size: to - from }];
  });
}

/** Whether an event is a transition, and not that a claim is broken. */
const isTaken = ({ type }: RunEvent): boolean => type === undefined || type === "jump";

const shownValue = (value: Value): string =>
  value === null ? "–" : typeof value === "number" ? short(value) : String(value);

function Moment(): JSX.Element {
  const time = cursor.value;
  const one = run.value;
  const all = runs.value;
  const stay = time === null ? null : stayAt(one, time);
  const recorded = replayed.value;
  const last = time === null ? undefined : one.events.findLast((event) => isTaken(event) && event.time <= time + 1e-9);
  return (
    <div class="moment">
      <div class="bar">
        {all.length > 1 ? (
          <select
            aria-label="The run looked at" value={String(chosenRun.value)}
            onChange={(event) => (chosenRun.value = Number(event.currentTarget.value))}
          >
            {all.map((other, place) => (
              <option key={place} value={String(place)}>
                run {place + 1}
                {(other.violated?.length ?? 0) > 0 ? " (violates)" : ""}
              </option>
            ))}
          </select>
        ) : (
          <b>{recorded === null ? "Run" : "claim" in recorded.title ? "Counterexample" : "Trace"}</b>
        )}
        <output class="time">{time === null ? "" : `t = ${short(time)}`}</output>
      </div>
      {time === null && <p class="quiet">Press in the plots to see values and modes at a moment.</p>}
      {stay !== null && (
        <ul class="active-modes" aria-label="Active modes">
          {stay.modes.map((mode) => (
            <li key={mode.join(".")}>
              <span class="quiet">{mode.slice(0, -1).map((name) => `${name}.`)}</span>
              <b>{mode.at(-1)}</b>
            </li>
          ))}
        </ul>
      )}
      {last !== undefined && (
        <p class="last-event">
          <span class="quiet">last: </span>
          {last.label} <span class="quiet">at {short(last.time)}</span>
        </p>
      )}
      {time !== null && (
        <table class="values">
          <tbody>
            {Object.keys(one.values).map((name) => (
              <tr key={name}>
                <th scope="row" class={`m${colourOf(name)}`} title={name}>
                  {brief(name)}
                </th>
                <td class="number">{shownValue(valueAt(one, name, time))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {time !== null && Object.keys(one.clocks ?? {}).length > 0 && (
        <table class="values steps">
          <caption>Steps by their own clocks</caption>
          <tbody>
            {stepsAt(one, time).map(({ agent, size }, row) => (
              <tr key={agent}>
                <th scope="row" class={`m${row % 8}`}>
                  {agent}
                </th>
                <td class="number">{short(size)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <p class="quiet end-text">{one.end.text}</p>
      <WhyList />
    </div>
  );
}

function Transport(): JSX.Element {
  const end = endOf(run.value);
  return (
    <div class="transport" role="group" aria-label="Time">
      <button type="button" class="small" aria-label="Event before" onClick={() => nextEvent(-1)}>
        ‹
      </button>
      <button
        type="button" class="small play" aria-label={playing.value ? "Pause" : "Play"}
        onClick={() => (playing.value = !playing.value)}
      >
        {playing.value ? "❚❚" : "▶"}
      </button>
      <button type="button" class="small" aria-label="Next event" onClick={() => nextEvent(1)}>
        ›
      </button>
      <input
        type="range" aria-label="Moment" min={0} max={end || 1} step={(end || 1) / 1000}
        value={cursor.value ?? 0}
        onInput={(event) => {
          playing.value = false;
          cursor.value = Number(event.currentTarget.value);
        }}
      />
    </div>
  );
}

export function RunPanel(): JSX.Element {
  const wrong = problem.value;
  const recorded = replayed.value;
  const empty = current.value === null || !current.value.path.endsWith(".charon");
  if (empty) return <p class="hint padded">Open a model to see its runs.</p>;
  return (
    <div class="panel run">
      <Choices />
      <div class="centre">
        <Tools />
        {recorded !== null && (
          <div class={`banner ${"claim" in recorded.title ? "falsified" : "recorded"}`} role="status">
            {"claim" in recorded.title ? (
              <span>
                Replaying the counterexample of <b>“{recorded.title.claim}”</b>
                {recorded.job !== null && isStale(recorded.job) && (
                  <>
                    {" "}
                    <span class="stale-mark" title="The text has changed since">
                      before the last edit
                    </span>
                  </>
                )}
              </span>
            ) : (
              <span>
                Replaying <b>{recorded.title.file}</b>
                {(recorded.run.violated?.length ?? 0) > 0 && `: it breaks “${recorded.run.violated?.join("”, “")}”`}
              </span>
            )}
            <button type="button" class="small" onClick={endReplay}>
              Back to the simulated runs
            </button>
          </div>
        )}
        {wrong !== null && recorded === null && (
          <div class="banner stale" role="status">
            {runs.value.length > 0 ? "These runs are of the text before: " : ""}
            {(wrong.diagnostics?.[0]?.message ?? wrong.message).split("\n")[0]}
            {wrong.diagnostics?.[0]?.hint && <span class="quiet"> {wrong.diagnostics[0].hint}</span>}
          </div>
        )}
        <Plots />
        <Transport />
      </div>
      <Moment />
      <span class="sr-only" data-answered={answered.value ?? ""} data-waiting={String(waiting.value)} />
    </div>
  );
}
