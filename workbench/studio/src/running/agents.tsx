/** Which agent is run and decided about: the whole model, or one that can stand alone. */

import type { JSX } from "preact";
import { picture } from "../drawing/state";
import { current } from "../text/documents";
import { lensesOf } from "../text/meaning";
import { chooseAgent, settings } from "./state";

/** The agents of the current text that can be run alone, without the one that is the whole. */
const others = (): readonly string[] => {
  const path = current.value?.path;
  const lenses = lensesOf.value;
  if (path === undefined || lenses.path !== path) return [];
  return lenses.commands
    .filter(({ command }) => command === "charon.simulate")
    .map((one) => (one.arguments?.[0] as { agent?: string | null } | undefined)?.agent)
    .filter((name): name is string => typeof name === "string");
};

export function AgentChoice(): JSX.Element | null {
  const { agent } = settings.value;
  const names = [...new Set([...others(), ...(agent === null ? [] : [agent])])];
  if (names.length === 0) return null;
  const main = picture.value?.main;
  return (
    <label class="field agent-choice">
      <span>Agent</span>
      <select
        value={agent ?? ""} data-choice="agent"
        onChange={(event) => chooseAgent(event.currentTarget.value || null)}
      >
        <option value="">{main == null ? "the whole model" : `${main}: the whole`}</option>
        {names.map((name) => (
          <option key={name} value={name}>
            {name} alone
          </option>
        ))}
      </select>
    </label>
  );
}
