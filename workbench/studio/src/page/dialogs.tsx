/** Questions that the page asks in a dialog: a name, a confirmation. */

import { signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface Question {
  title: string;
  value: string | null;
  confirm: string;
  danger: boolean;
  answer: (value: string | null) => void;
}

const question = signal<Question | null>(null);

function ask(asked: Omit<Question, "answer">): Promise<string | null> {
  return new Promise((answer) => {
    question.value = {
      ...asked,
      answer: (value) => {
        question.value = null;
        answer(value);
      },
    };
  });
}

/** Ask for a line of text; null: never mind. */
export const askText = (title: string, value: string, confirm = "OK"): Promise<string | null> =>
  ask({ title, value, confirm, danger: false });

/** Ask whether to go on with what cannot be undone. */
export const askConsent = async (title: string, confirm: string): Promise<boolean> =>
  (await ask({ title, value: null, confirm, danger: true })) !== null;

/** A modal dialog with what is in it; closing it by any way calls `close`. */
export function Modal(
  { title, close, children, wide }: {
    title: string; close: () => void; children: ComponentChildren; wide?: boolean;
  },
): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    dialog.current?.querySelector<HTMLElement>("[data-first]")?.focus();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={wide ? "wide" : ""}
      aria-label={title}
      onClose={close}
      onClick={(event) => {
        if (event.target === dialog.current) close();
      }}
    >
      <div class="dialog-body">
        <header class="bar">
          <h2>{title}</h2>
          <button type="button" class="plain" aria-label="Close" onClick={close}>
            ✕
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}

export function Questions(): JSX.Element | null {
  const asked = question.value;
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.select(), [asked]);
  if (asked === null) return null;
  return (
    <Modal title={asked.title} close={() => asked.answer(null)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          asked.answer(asked.value === null ? "" : (field.current?.value.trim() ?? ""));
        }}
      >
        {asked.value !== null && (
          <input ref={field} data-first aria-label={asked.title} value={asked.value} spellcheck={false} />
        )}
        <p class="buttons">
          <button type="button" onClick={() => asked.answer(null)}>
            Cancel
          </button>
          <button type="submit" class={asked.danger ? "danger" : "primary"} data-first={asked.value === null}>
            {asked.confirm}
          </button>
        </p>
      </form>
    </Modal>
  );
}
