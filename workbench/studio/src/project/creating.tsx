/** The dialog that makes a model: from nothing, from a template, or a copy from the library. */

import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Modal } from "../page/dialogs";
import * as http from "../wire/http";
import type { LibraryModel } from "../wire/types";
import { complain, create } from "./files";

export const creating = signal(false);

const TEMPLATE = `// A heater that switches at two marks. Change it into a system of your own.

mode Heating() {
  write analog real temp;
  diff { d(temp) == 5 - temp/10; }  // degrees per minute
  inv { temp <= 22 }
}

mode Cooling() {
  write analog real temp;
  diff { d(temp) == -temp/10; }
  inv { temp >= 18 }
}

mode RoomTop(real low, real high) {
  write analog real temp;
  mode on = Heating();
  mode off = Cooling();
  trans from init to on;
  trans #enough from on to off when temp >= high;
  trans #cold from off to on when temp <= low;
}

agent Room(real low = 19, real high = 21) {
  private analog real temp;
  init { temp in [18, 20]; }
  mode top = RoomTop(low, high);
  assert "comfortable" { temp >= 17 && temp <= 23 }
}
`;

type Origin = "empty" | "template" | "library";

const WAYS: readonly (readonly [Origin, string, string])[] = [
  ["empty", "Empty", "Write it with the list of what can come next, or draw it"],
  ["template", "Template", "Two modes, one agent, one claim"],
  ["library", "Library", "A copy of a model with known verdicts"],
];

export function CreateDialog(): JSX.Element | null {
  return creating.value ? <Form /> : null;
}

function Form(): JSX.Element {
  const [name, setName] = useState("");
  const [origin, setOrigin] = useState<Origin>("empty");
  const [models, setModels] = useState<readonly LibraryModel[]>([]);
  const [chosen, setChosen] = useState("");
  const [filter, setFilter] = useState("");
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (origin === "library" && models.length === 0) http.library().then(setModels, complain);
  }, [origin]);
  const close = (): void => {
    creating.value = false;
  };
  const plain = (name.trim() || chosen).replace(/\.charon$/, "");
  const ready = plain !== "" && (origin !== "library" || chosen !== "");
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (!ready) return;
    const from =
      origin === "library" ? { library: chosen } : { text: origin === "template" ? TEMPLATE : "" };
    if (await create(`${plain}.charon`, from)) close();
  };
  const words = filter.trim().toLowerCase().split(/\s+/);
  // Those that are called so come first, the shorter name before the longer one.
  const far = ({ name }: LibraryModel): number =>
    filter.trim() !== "" && words.every((word) => name.includes(word)) ? name.length : Infinity;
  const matching = models
    .filter((model) => {
      const text = `${model.name} ${model.about} ${model.source}`.toLowerCase();
      return words.every((word) => text.includes(word));
    })
    .sort((a, b) => (far(a) === far(b) ? 0 : far(a) - far(b)));
  return (
    <Modal title="New model" close={close} wide={origin === "library"}>
      <form onSubmit={(event) => void submit(event)}>
        <label class="field">
          <span>Name</span>
          <span class="suffixed">
            <input
              ref={field} data-first value={name} spellcheck={false} placeholder={chosen || "thermostat"}
              onInput={(event) => setName(event.currentTarget.value)}
            />
            <span class="quiet">.charon</span>
          </span>
        </label>
        <fieldset class="ways">
          <legend class="quiet">Begin from</legend>
          {WAYS.map(([way, title, about]) => (
            <label key={way} class={origin === way ? "way chosen" : "way"}>
              <input
                type="radio" name="origin" value={way} checked={origin === way}
                onChange={() => setOrigin(way)}
              />
              <b>{title}</b>
              <span class="quiet">{about}</span>
            </label>
          ))}
        </fieldset>
        {origin === "library" && (
          <div class="library">
            <input
              type="search" placeholder="Filter" aria-label="Filter the library" value={filter}
              onInput={(event) => setFilter(event.currentTarget.value)}
            />
            <div class="library-list" role="radiogroup" aria-label="Library models">
              {matching.map((model) => (
                <label key={model.name} class={chosen === model.name ? "model chosen" : "model"}>
                  <input
                    type="radio" name="library" checked={chosen === model.name}
                    onChange={() => setChosen(model.name)}
                  />
                  <b>{model.name}</b> {model.about}
                  {model.expected.map((one) => (
                    <span class="quiet expect" key={one.property}>
                      “{one.property}”: {one.verdict}
                    </span>
                  ))}
                </label>
              ))}
            </div>
          </div>
        )}
        <p class="buttons">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={!ready}>
            Create
          </button>
        </p>
      </form>
    </Modal>
  );
}
