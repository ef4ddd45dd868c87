/** The project tree: models, reports, traces, certificates; new, rename, delete. */

import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { askConsent, askText } from "../page/dialogs";
import { drawer, focusPart } from "../page/view";
import { find, currentPath, isDirty } from "../text/documents";
import { problems } from "../text/problems";
import type { FileKind, ProjectFile } from "../wire/types";
import { standing } from "../deciding/jobs";
import { replayed } from "../running/state";
import { creating } from "./creating";
import { files, openReport, removeFile, renameFile, showFile } from "./files";

const GROUPS: readonly (readonly [string, readonly FileKind[]])[] = [
  ["Models", ["model"]],
  ["Reports", ["report"]],
  ["Traces", ["trace"]],
  ["Certificates", ["certificate"]],
  ["Other", ["project", "other"]],
];

const closed = signal<ReadonlySet<string>>(new Set(["Other"]));
/** The row that the arrow keys are at. */
const at = signal<string | null>(null);

function toggle(head: string): void {
  const next = new Set(closed.value);
  if (!next.delete(head)) next.add(head);
  closed.value = next;
}

async function rename(path: string): Promise<void> {
  const to = await askText(`Rename ${path}`, path, "Rename");
  if (to !== null && to !== "" && to !== path) await renameFile(path, to);
}

async function remove(path: string): Promise<void> {
  if (await askConsent(`Delete ${path}?`, "Delete")) await removeFile(path);
}

/** Show a file; where the tree lies over the page, it makes room. */
async function openFile(path: string): Promise<void> {
  await showFile(path);
  if (!drawer.peek()) return;
  if (openReport.peek() === null) focusPart("text");
  else drawer.value = false;
}

function onKey(event: KeyboardEvent, path: string): void {
  const rows = [...document.querySelectorAll<HTMLElement>(".tree [role=treeitem]")];
  const here = rows.indexOf(event.currentTarget as HTMLElement);
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (step !== 0) rows[here + step]?.focus();
  else if (event.key === "Escape" && drawer.peek()) focusPart("text");
  else if (event.key === "Home") rows[0]?.focus();
  else if (event.key === "End") rows.at(-1)?.focus();
  else if (event.key === "Enter" || event.key === " ") {
    (event.currentTarget as HTMLElement).click();
  } else if (event.key === "F2" && path !== "") void rename(path);
  else if (event.key === "Delete" && path !== "") void remove(path);
  else return;
  event.preventDefault();
}

function Row({ file }: { file: ProjectFile }): JSX.Element {
  const { path } = file;
  const slash = path.lastIndexOf("/");
  const open = find(path);
  const dirty = open !== undefined && isDirty(open);
  const wrong = problems.value.get(path)?.some((one) => (one.severity ?? 1) === 1) === true;
  const shown = file.kind === "report" ? openReport.value : currentPath.value;
  const chosen = shown === path || replayed.value?.trace === path;
  const stands = file.kind === "model" ? standing(path) : null;
  return (
    <div
      role="treeitem"
      aria-level={2}
      aria-selected={chosen}
      tabIndex={chosen || at.value === path ? 0 : -1}
      class={`file ${chosen ? "chosen" : ""}`}
      data-path={path}
      title={path}
      onClick={() => void openFile(path)}
      onFocus={() => (at.value = path)}
      onKeyDown={(event) => onKey(event, path)}
    >
      <span class={`glyph g-${file.kind}`} aria-hidden="true" />
      <span class="name">
        {slash >= 0 && <span class="quiet">{path.slice(0, slash + 1)}</span>}
        {path.slice(slash + 1)}
      </span>
      {wrong && <span class="dot wrong" title="has errors" />}
      {stands !== null && <span class={`dot ${stands.kind}`} title={stands.text} />}
      {dirty && <span class="dot dirty" title="not saved" />}
      <span class="row-tools">
        <button
          type="button" tabIndex={-1} class="plain" title="Rename (F2)" aria-label={`Rename ${path}`}
          onClick={(event) => (event.stopPropagation(), void rename(path))}
        >
          ✎
        </button>
        <button
          type="button" tabIndex={-1} class="plain" title="Delete (Del)" aria-label={`Delete ${path}`}
          onClick={(event) => (event.stopPropagation(), void remove(path))}
        >
          ✕
        </button>
      </span>
    </div>
  );
}

export function ProjectTree(): JSX.Element {
  const all = files.value;
  return (
    <section class="project" aria-label="Project">
      <header class="bar">
        <h2>Project</h2>
        <button
          type="button" class="small" onClick={() => (creating.value = true)} title="New model (Alt+N)"
        >
          + New
        </button>
      </header>
      <div class="tree" role="tree" aria-label="Files">
        {GROUPS.map(([head, kinds]) => {
          const inside = all.filter((file) => kinds.includes(file.kind));
          if (inside.length === 0 && head !== "Models") return null;
          const open = !closed.value.has(head);
          return (
            <div role="group" key={head} aria-label={head}>
              <div
                role="treeitem" aria-level={1} aria-expanded={open} aria-selected={false}
                class="group-head" tabIndex={head === "Models" ? 0 : -1}
                onClick={() => toggle(head)} onKeyDown={(event) => onKey(event, "")}
              >
                <span class={`twist ${open ? "open" : ""}`} aria-hidden="true" />
                {head}
                <span class="count">{inside.length}</span>
              </div>
              {open && inside.map((file) => <Row key={file.path} file={file} />)}
            </div>
          );
        })}
        {all.every((file) => file.kind !== "model") && (
          <p class="hint">No models yet. Make one from nothing, from a template, or from the library.</p>
        )}
      </div>
    </section>
  );
}
