/** The whole page: project, text, diagram, and below them runs, verdicts and jobs. */

import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { JobsPanel, DecidePanel } from "../deciding/panel";
import { listed, working } from "../deciding/jobs";
import { Diagram } from "../drawing/diagram";
import { CreateDialog, creating } from "../project/creating";
import {
  complain, files, keepOurs, load, loaded, openReport, revert, save, showFile, takeTheirs,
} from "../project/files";
import { ProjectTree } from "../project/tree";
import { RunPanel } from "../running/panel";
import { current, currentPath, isDirty, opened, show, close as closeText, folder } from "../text/documents";
import { goTo, mount } from "../text/editor";
import { ExpectedList } from "../text/expected";
import { PlaceList } from "../text/places";
import { problems } from "../text/problems";
import { capabilities } from "../wire/language";
import { connected } from "../wire/socket";
import { shown } from "../wire/http";
import { closeReport, paletteOpen } from "./commands";
import { Questions, askConsent, askText } from "./dialogs";
import { Notices, notify } from "./notices";
import { Palette } from "./palette";
import { arrange, dockTall, drawer, shownDock, sizes, toggleTheme, upper } from "./view";
import type { Dock } from "./view";

/** A border that can be moved with the pointer or the arrow keys. */
function Splitter({ label, vertical, value, low, high, move }: {
  label: string; vertical: boolean; value: number; low: number; high: number;
  move: (value: number, event?: PointerEvent) => void;
}): JSX.Element {
  return (
    <div
      class={`splitter ${vertical ? "vertical" : "horizontal"}`}
      role="separator" tabIndex={0} aria-label={label} aria-orientation={vertical ? "vertical" : "horizontal"}
      aria-valuemin={Math.round(low * 100)} aria-valuemax={Math.round(high * 100)} aria-valuenow={Math.round(value * 100)}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={(event) => {
        if (event.buttons === 1) move(value, event);
      }}
      onKeyDown={(event) => {
        const step = (high - low) / 25;
        const back = vertical ? "ArrowLeft" : "ArrowUp";
        const on = vertical ? "ArrowRight" : "ArrowDown";
        if (event.key === back) move(Math.max(low, value - step));
        else if (event.key === on) move(Math.min(high, value + step));
        else return;
        event.preventDefault();
      }}
    />
  );
}

const within = (value: number, low: number, high: number): number => Math.max(low, Math.min(high, value));

async function close(path: string): Promise<void> {
  const document = opened.peek().find((one) => one.path === path);
  if (document === undefined) return;
  if (isDirty(document) && !(await askConsent(`Close ${path} without saving?`, "Close"))) return;
  if (isDirty(document)) revert(document);
  closeText(path);
}

function Tabs(): JSX.Element {
  return (
    <div class="file-tabs" role="tablist" aria-label="Open texts">
      {opened.value.map((document) => (
        <span class={`file-tab ${document.path === currentPath.value ? "chosen" : ""}`} key={document.path}>
          <button
            type="button" role="tab" aria-selected={document.path === currentPath.value}
            onClick={() => show(document.path)}
          >
            {document.path}
            {isDirty(document) && <span class="dot dirty" title="not saved" />}
          </button>
          <button type="button" class="plain" aria-label={`Close ${document.path}`} onClick={() => void close(document.path)}>
            ✕
          </button>
        </span>
      ))}
    </div>
  );
}

function Conflict(): JSX.Element | null {
  const document = current.value;
  if (document === null || !isDirty(document) || document.conflict === null) return null;
  return (
    <div class="banner stale" role="alert">
      <span>{document.path} was changed on disk, and here.</span>
      <button type="button" class="small" onClick={() => takeTheirs(document)}>
        Take the one on disk
      </button>
      <button type="button" class="small" onClick={() => void keepOurs(document)}>
        Keep this one
      </button>
    </div>
  );
}

function TextPart(): JSX.Element {
  const holder = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (holder.current === null) return;
    mount(holder.current, {
      save: () => void save(),
      load,
      show: showFile,
      askName: (question, value) => askText(question, value, "Rename"),
      say: (message, kind) => notify(message, kind),
    });
  }, []);
  const empty = current.value === null;
  const isModel = current.value?.path.endsWith(".charon") === true;
  return (
    <section class="text-part" aria-label="Text">
      <header class="bar">
        <Tabs />
        <span class="spacer" />
        {isModel && (
          <button
            type="button" class="small" aria-pressed={sizes.value.expected}
            title="The list of what can come next" onClick={() => arrange({ expected: !sizes.value.expected })}
          >
            next
          </button>
        )}
      </header>
      <Conflict />
      <div class="text-body">
        <div class="editor" ref={holder} hidden={empty} />
        {empty && loaded.value && (
          <div class="welcome">
            <h2>{files.value.some((file) => file.kind === "model") ? "Open a model" : "An empty project"}</h2>
            <p class="quiet">
              Write a model with the list of what can come next, draw it, copy one from the library; run it as
              you drag its parameters; have its claims proved or broken.
            </p>
            <button type="button" class="primary" onClick={() => (creating.value = true)}>
              New model
            </button>
          </div>
        )}
        {isModel && sizes.value.expected && <ExpectedList />}
      </div>
      <PlaceList go={(place) => void goTo(place.path, place.range).catch(complain)} />
    </section>
  );
}

const DOCKS: readonly (readonly [Dock, string])[] = [
  ["run", "Simulate"], ["decide", "Verify"], ["jobs", "Jobs"],
];

function DockPart(): JSX.Element {
  const chosen = shownDock.value;
  const busy = working.value.length;
  return (
    <section class="dock" aria-label="Runs and verdicts">
      <header class="bar">
        <div class="dock-tabs" role="tablist" aria-label="Runs, verdicts, jobs">
          {DOCKS.map(([dock, label]) => (
            <button
              key={dock} type="button" role="tab" id={`tab-${dock}`} aria-controls={`dock-${dock}`}
              aria-selected={chosen === dock} tabIndex={chosen === dock ? 0 : -1}
              onClick={() => (shownDock.value = dock)}
              onKeyDown={(event) => {
                const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
                if (step === 0) return;
                const place = DOCKS.findIndex(([other]) => other === dock);
                const next = DOCKS[(place + step + DOCKS.length) % DOCKS.length]?.[0] ?? "run";
                shownDock.value = next;
                document.getElementById(`tab-${next}`)?.focus();
              }}
            >
              {label}
              {dock === "jobs" && listed.value.length > 0 && (
                <span class={`count ${busy > 0 ? "busy" : ""}`}>{busy > 0 ? busy : listed.value.length}</span>
              )}
            </button>
          ))}
        </div>
        <span class="spacer" />
        <button
          type="button" class="plain" aria-pressed={dockTall.value} title="All of the height"
          aria-label="All of the height" onClick={() => (dockTall.value = !dockTall.value)}
        >
          {dockTall.value ? "▾" : "▴"}
        </button>
      </header>
      <div class="dock-body" id={`dock-${chosen}`} role="tabpanel" aria-labelledby={`tab-${chosen}`}>
        {chosen === "run" && <RunPanel />}
        {chosen === "decide" && <DecidePanel />}
        {chosen === "jobs" && <JobsPanel />}
      </div>
    </section>
  );
}

function Report(): JSX.Element | null {
  const path = openReport.value;
  const back = useRef<HTMLButtonElement>(null);
  useEffect(() => back.current?.focus(), [path]);
  if (path === null) return null;
  return (
    <section class="report" aria-label={`Report ${path}`} onKeyDown={(event) => event.key === "Escape" && closeReport()}>
      <header class="bar">
        <button ref={back} type="button" class="small" onClick={closeReport}>
          ← Back to the model
        </button>
        <h2>{path}</h2>
        <span class="spacer" />
        <a href={shown(path)} target="_blank" rel="noopener">
          In a tab of its own
        </a>
      </header>
      <iframe title={`Report ${path}`} src={shown(path)} />
    </section>
  );
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

function Status(): JSX.Element {
  const document = current.value;
  const all = document === null ? [] : (problems.value.get(document.path) ?? []);
  const errors = all.filter((one) => (one.severity ?? 1) === 1).length;
  const warnings = all.filter((one) => one.severity === 2).length;
  const first = all[0];
  return (
    <footer class="status" role="contentinfo">
      <span class={connected.value ? "server on" : "server off"}>
        {connected.value ? (capabilities.value === null ? "starting" : "connected") : "no server: it is tried again"}
      </span>
      <button
        type="button" class="plain" disabled={first === undefined}
        onClick={() => document !== null && first !== undefined && void goTo(document.path, first.range)}
      >
        <span class={errors > 0 ? "wrong-text" : ""}>{counted(errors, "error")}</span>, {counted(warnings, "warning")}
      </button>
      {first !== undefined && <span class="first-problem">{first.message.split("\n")[0]}</span>}
      <span class="spacer" />
      <span class="quiet" title={folder.value}>{folder.value.replace(/^.*\//, "")}</span>
    </footer>
  );
}

export function Shell(): JSX.Element {
  const main = useRef<HTMLElement>(null);
  const { tree, split, dock } = sizes.value;
  const document = current.value;
  const box = (): DOMRect => main.current?.getBoundingClientRect() ?? new DOMRect();
  return (
    <div
      class={`shell ${drawer.value ? "with-drawer" : ""} ${dockTall.value ? "tall-dock" : ""} upper-${upper.value}`}
      style={{ "--tree": `${tree}rem`, "--split": `${split}fr`, "--rest": `${1 - split}fr`, "--dock": `${dock}fr`, "--above": `${1 - dock}fr` }}
    >
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), main.current?.querySelector<HTMLElement>(".cm-content")?.focus())}>
        To the text
      </a>
      <header class="top">
        <button
          type="button" class="small only-narrow" aria-expanded={drawer.value} onClick={() => (drawer.value = !drawer.value)}
        >
          Project
        </button>
        <h1>
          <svg viewBox="0 0 32 32" aria-hidden="true">
            <path d="M3 22C8 22 8 9 13 9L13 22C17 22 18 13 21 13L21 22C25 22 26 17 29 17" />
          </svg>
          Charon studio
        </h1>
        <div class="segments only-narrow" role="group" aria-label="Shown above">
          {(["text", "diagram"] as const).map((part) => (
            <button key={part} type="button" aria-pressed={upper.value === part} onClick={() => (upper.value = part)}>
              {part === "text" ? "Text" : "Diagram"}
            </button>
          ))}
        </div>
        <span class="spacer" />
        <button
          type="button" class="small" disabled={document === null || !isDirty(document)} onClick={() => void save()}
          title="Save (Ctrl+S)"
        >
          {document !== null && isDirty(document) ? "Save" : "Saved"}
        </button>
        <button type="button" class="small" onClick={() => (paletteOpen.value = true)} title="Commands, files, names">
          Commands <kbd>Ctrl K</kbd>
        </button>
        <button type="button" class="small theme" aria-label="Light or dark" title="Light or dark" onClick={toggleTheme}>
          ◐
        </button>
      </header>
      <ProjectTree />
      <Splitter
        label="Width of the project" vertical value={tree / 40} low={0.2} high={0.75}
        move={(value, event) => arrange({ tree: event === undefined ? value * 40 : within(event.clientX / 16, 8, 30) })}
      />
      <main id="main" ref={main}>
        <TextPart />
        <Splitter
          label="Width of the text" vertical value={split} low={0.2} high={0.8}
          move={(value, event) =>
            arrange({ split: event === undefined ? value : within((event.clientX - box().left) / box().width, 0.2, 0.8) })
          }
        />
        <Diagram />
        <Splitter
          label="Height of text and diagram" vertical={false} value={1 - dock} low={0.2} high={0.85}
          move={(value, event) =>
            arrange({ dock: 1 - (event === undefined ? value : within((event.clientY - box().top) / box().height, 0.2, 0.85)) })
          }
        />
        <DockPart />
        <Report />
      </main>
      <Status />
      <Notices />
      <CreateDialog />
      <Questions />
      <Palette />
    </div>
  );
}
