/** Short messages at the edge of the page, spoken by screen readers. */

import { signal } from "@preact/signals";
import type { JSX } from "preact";

interface Notice {
  id: number;
  text: string;
  kind: Kind;
}

/** A `note` goes by itself after a while; what is `kept`, and errors, stay until they are dismissed. */
type Kind = "note" | "kept" | "error";

const LASTS = 7000;
const MOST = 4;

const notices = signal<readonly Notice[]>([]);
let number = 0;

const dismiss = (id: number): void => {
  notices.value = notices.value.filter((notice) => notice.id !== id);
};

export function notify(text: string, kind: Kind = "note"): void {
  number += 1;
  const notice = { id: number, text, kind };
  const others = notices.peek().filter((other) => other.text !== text);
  notices.value = [...others.slice(1 - MOST), notice];
  if (kind === "note") setTimeout(() => dismiss(notice.id), LASTS);
}

export function Notices(): JSX.Element {
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.value.map((notice) => (
        <div class={`notice ${notice.kind}`} key={notice.id}>
          <p>{notice.text}</p>
          <button type="button" class="plain" aria-label="Dismiss" onClick={() => dismiss(notice.id)}>
            ✕
          </button>
        </div>
      ))}
    </div>
  );
}
