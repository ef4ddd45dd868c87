/** Where a name is used: a list of places that can be gone to. */

import { signal } from "@preact/signals";
import type { JSX } from "preact";
import type { Range } from "../wire/types";

export interface Place {
  path: string;
  range: Range;
  line: string;
}

export const places = signal<{ name: string; lines: readonly Place[] } | null>(null);

export function PlaceList({ go }: { go: (place: Place) => void }): JSX.Element | null {
  const shown = places.value;
  if (shown === null) return null;
  return (
    <section class="places" aria-label="Uses">
      <header class="bar">
        <h3>
          Uses of <code>{shown.name}</code> <span class="count">{shown.lines.length}</span>
        </h3>
        <button type="button" class="plain" aria-label="Close" onClick={() => (places.value = null)}>
          ✕
        </button>
      </header>
      <ul>
        {shown.lines.map((place) => (
          <li key={`${place.path}:${place.range.start.line}:${place.range.start.character}`}>
            <button type="button" class="row" onClick={() => go(place)}>
              <span class="quiet">
                {place.path}:{place.range.start.line + 1}
              </span>
              <code>{place.line.trim()}</code>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
