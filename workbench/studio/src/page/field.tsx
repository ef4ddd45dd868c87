/** Fields that are written into. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

type Choices = JSX.IntrinsicElements["input"] & {
  /** What stands there while nobody writes. */
  shown: string;
  /** Told what was written, when it is complete. */
  put(text: string): void;
};

/** A field that keeps what is being typed, however often the page around it is drawn anew meanwhile. */
export function Field({ shown, put, ...rest }: Choices): JSX.Element {
  const [typed, setTyped] = useState<string | null>(null);
  return (
    <input
      {...rest} value={typed ?? shown}
      onInput={(event) => setTyped(event.currentTarget.value)}
      onChange={(event) => {
        setTyped(null);
        put(event.currentTarget.value);
      }}
      onBlur={() => setTyped(null)}
    />
  );
}
