/** Questions that the page asks in a dialog: a name, a confirmation. */

import { signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface Question {
  title: string;
  value: string | null;
  /** What may be chosen beside the line of text; the first is no choice. */
  choices?: readonly string[];
  confirm: string;
  danger: boolean;
  answer: (value: string | null, choice?: string) => void;
}

const question = signal<Question | null>(null);

function ask(asked: Omit<Question, "answer">): Promise<{ value: string; choice: string } | null> {
  return new Promise((answer) => {
    question.value = {
      ...asked,
      answer: (value, choice = "") => {
        question.value = null;
        answer(value === null ? null : { value, choice });
      },
    };
  });
}

/** Ask for a line of text; null: never mind. */
export const askText = async (title: string, value: string, confirm = "OK"): Promise<string | null> =>
  (await ask({ title, value, confirm, danger: false }))?.value ?? null;

/** Ask for a name and one of some choices, empty for the first; null: never mind. */
export const askChoice = (
  title: string, choices: readonly string[], confirm: string,
): Promise<{ value: string; choice: string } | null> => ask({ title, value: "", choices, confirm, danger: false });

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
  const choice = useRef<HTMLSelectElement>(null);
  useEffect(() => field.current?.select(), [asked]);
  if (asked === null) return null;
  return (
    <Modal title={asked.title} close={() => asked.answer(null)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const chosen = choice.current?.selectedIndex ?? 0;
          asked.answer(
            asked.value === null ? "" : (field.current?.value.trim() ?? ""),
            chosen > 0 ? choice.current?.value : "",
          );
        }}
      >
        {asked.value !== null && (
          <input ref={field} data-first aria-label={asked.title} value={asked.value} spellcheck={false} />
        )}
        {(asked.choices?.length ?? 0) > 1 && (
          <label class="field">
            <span>It is</span>
            <select ref={choice}>
              {asked.choices?.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </label>
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
