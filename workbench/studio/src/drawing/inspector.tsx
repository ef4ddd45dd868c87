/** What the selected part of the picture says, in fields; each is an edit of the text. */

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { DrawnEdge, DrawnNode, Part, Picture } from "../wire/types";
import { awaited, edit, selected, selectedEdge, selectedNode } from "./state";
import type { VisualEdit } from "./state";

/** What a line of text says of a part of the picture, and the edit that writing it anew makes. */
interface Written {
  name: string;
  label: string;
  value: string;
  hint?: string;
  make: (text: string) => VisualEdit;
  /** The identity of what is selected after the edit, where that changes. */
  then?: (text: string) => string;
}

/** A line of text that becomes an edit when it is left or confirmed; `done` is told when it is no
 *  longer written at. */
export function Field({ name, label, value, hint, make, then, done }: Written & { done?: () => void }): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  const [wrong, setWrong] = useState<string | null>(null);
  const wanted = awaited.value?.field === name && awaited.value.of === selected.value;
  useEffect(() => {
    if (!wanted || field.current === null) return;
    awaited.value = null;
    field.current.focus();
    field.current.select();
  }, [wanted]);
  useEffect(() => setWrong(null), [value]);
  const last = useRef(value.trim());
  useEffect(() => {
    last.current = value.trim();
  }, [value]);
  const commit = async (text: string): Promise<void> => {
    // A field is left once more when what it confirmed redraws it.
    if (text.trim() === last.current) return;
    last.current = text.trim();
    const refusal = await edit(make(text.trim()), then?.(text.trim()) ?? null);
    setWrong(refusal);
    if (refusal === null) done?.();
  };
  useEffect(() => {
    if (done !== undefined) field.current?.select();
  }, []);
  return (
    <label class={`line ${wrong === null ? "" : "invalid"}`} title={wrong ?? undefined}>
      <span>{label}</span>
      <input
        key={value} ref={field} defaultValue={value} placeholder={hint} spellcheck={false}
        data-field={name} aria-invalid={wrong !== null}
        onBlur={(event) => void commit(event.currentTarget.value).then(done)}
        onKeyDown={(event) => {
          if (!event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation();
          if (event.key === "Enter") void commit(event.currentTarget.value);
          else if (event.key === "Escape") {
            event.currentTarget.value = value;
            done?.();
            event.currentTarget.closest(".diagram")?.querySelector<SVGElement>("svg.picture")?.focus();
          }
        }}
      />
    </label>
  );
}

/** The control points of a mode's level from which transitions lead, or to which. */
function controlPoints(shown: Picture, side: "source" | "target"): readonly string[] {
  const own = side === "source" ? ["init", "entry"] : ["exit"];
  return shown.nodes.flatMap((node) => {
    if (own.includes(node.kind)) return [pointName(node)];
    if (node.kind !== "mode") return [];
    const inner = side === "source" ? node.exits : node.entries;
    return [node.name, ...(inner ?? []).map((point) => `${node.name}.${point}`)];
  });
}

/** What a transition calls a node at one of its ends. */
export function pointName(node: DrawnNode): string {
  return node.kind === "init" ? "init" : node.name;
}

/** The identity of a transition between two control points, besides those that are there. */
export function edgeBetween(shown: Picture, source: string, target: string, name: string | null): string {
  const plain = `${source}->${target}${name == null || name === "" ? "" : `#${name}`}`;
  const taken = shown.edges.filter((one) => one.id.replace(/~\d+$/, "") === plain).length;
  return taken === 0 ? plain : `${plain}~${taken + 1}`;
}

/** One end of a transition, which may lead from or to another point. */
function End({ edge, shown, side }: {
  edge: DrawnEdge; shown: Picture; side: "source" | "target";
}): JSX.Element {
  const written = (which: "source" | "target"): string => {
    const node = shown.nodes.find((one) => one.id === edge[which]);
    const point = edge[`${which}_point`];
    return `${node === undefined ? "" : pointName(node)}${point === "" ? "" : `.${point}`}`;
  };
  const now = written(side);
  const known = controlPoints(shown, side);
  const move = (to: string): void => {
    const [from, target] = side === "source" ? [to, written("target")] : [written("source"), to];
    void edit({ kind: "Reconnect", edge: edge.id, [side]: to }, edgeBetween(shown, from, target, edge.name ?? null));
  };
  return (
    <label class="line">
      <span>{side === "source" ? "from" : "to"}</span>
      <select data-field={side} value={now} onChange={(event) => move(event.currentTarget.value)}>
        {!known.includes(now) && <option>{now}</option>}
        {known.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}

/** What a transition says in words: its name, guard and assignments. */
function ofEdge(edge: DrawnEdge): Record<"label" | "guard" | "reset", Written> {
  const about = { edge: edge.id };
  const ends = edge.id.replace(/(#\w+)?(~\d+)?$/, "");
  return {
    label: {
      name: "label", label: "name", value: edge.name ?? "", hint: "none",
      make: (label) => ({ kind: "SetLabel", ...about, label: label.replace(/^#/, "") }),
      then: (label) => (label === "" ? ends : `${ends}#${label.replace(/^#/, "")}`),
    },
    guard: {
      name: "guard", label: "when", value: edge.guard, hint: "true",
      make: (text) => ({ kind: "SetGuard", ...about, text }),
    },
    reset: {
      name: "reset", label: "do", value: edge.reset.join("; "), hint: "nothing",
      make: (text) => ({ kind: "SetReset", ...about, text }),
    },
  };
}

function EdgeFields({ edge, shown }: { edge: DrawnEdge; shown: Picture }): JSX.Element {
  if (edge.kind !== "transition") {
    return <p class="quiet">{edge.name ?? "shared under the same name"}</p>;
  }
  const { label, guard, reset } = ofEdge(edge);
  return (
    <>
      <End edge={edge} shown={shown} side="source" />
      <End edge={edge} shown={shown} side="target" />
      <Field {...label} />
      <Field {...guard} />
      <Field {...reset} />
      <label class="check">
        <input
          type="checkbox" checked={edge.urgent}
          onChange={(event) => void edit({ kind: "SetUrgent", edge: edge.id, urgent: event.currentTarget.checked })}
        />
        urgent
      </label>
    </>
  );
}

const said = (parts: readonly Part[], kind: string): string =>
  parts.filter((part) => part.kind === kind).map((part) => part.text).join("; ");

interface Speaker {
  kind: string;
  parts: readonly Part[];
  /** The way of names that leads to it. */
  path: readonly string[];
}

/** What a mode or an agent says itself. */
function ofPart({ kind, parts, path }: Speaker): readonly Written[] {
  const field = (name: string, label: string, edited: string, hint: string): Written => ({
    name, label, hint, value: said(parts, name), make: (text) => ({ kind: edited, path, text }),
  });
  if (kind === "agent") return [field("init", "init", "SetInit", "x = 1; y in [0, 2]")];
  return [
    field("flow", "diff", "SetFlow", "d(x) == 1"),
    field("equation", "alge", "SetEquation", "y == 2*x"),
    field("invariant", "inv", "SetInvariant", "x >= 0"),
  ];
}

function OwnFields(speaker: Speaker): JSX.Element {
  return (
    <>
      {ofPart(speaker).map((written) => (
        <Field key={written.name} {...written} />
      ))}
    </>
  );
}

/** What a line of the picture says, to be written there; null where it cannot be. */
export function writtenAt(shown: Picture, id: string, line: string): Written | null {
  const start = line.replace(/…$/, "");
  const edge = shown.edges.find((one) => one.id === id);
  if (edge?.kind === "transition") {
    const { label, guard, reset } = ofEdge(edge);
    if (line === `#${edge.name}`) return label;
    return edge.guard.includes(start) ? guard : edge.reset.some((one) => one.startsWith(start)) ? reset : null;
  }
  const node = shown.nodes.find((one) => one.id === id);
  if (node?.enterable !== true) return null;
  const part = node.parts.find(({ kind, text }) => [text, `${WORDS[kind] ?? ""} ${text}`].some((one) => one.startsWith(start)));
  const speaker = { kind: node.kind, parts: node.parts, path: [...shown.path, node.name] };
  return ofPart(speaker).find(({ name }) => name === part?.kind) ?? null;
}

/** The words before what parts say, on the picture. */
const WORDS: Record<string, string> = { invariant: "inv", init: "init" };

/** What a level declares: variables and parameters, to be seen where the picture does not draw them. */
function Declared({ parts }: { parts: readonly Part[] }): JSX.Element | null {
  const said = parts.filter(({ kind }) => kind === "variable" || kind === "parameter");
  return said.length === 0 ? null : <p class="quiet declared">{said.map(({ text }) => text).join("; ")}</p>;
}

function NodeFields({ node, shown }: { node: DrawnNode; shown: Picture }): JSX.Element {
  const path = [...shown.path, node.name];
  const part = node.kind === "agent" || node.kind === "mode";
  if (!part) return <p class="quiet">{node.parts.map((one) => one.text).join("; ")}</p>;
  return (
    <>
      {shown.kind !== "file" && node.definition != null && node.arguments !== "" && (
        <Field
          name="arguments" label="values" value={node.arguments}
          make={(text) => ({ kind: "SetArguments", node: node.id, text })}
        />
      )}
      {node.enterable && <OwnFields kind={node.kind} parts={node.parts} path={path} />}
      {node.uses > 1 && shown.kind !== "file" && (
        <p class="quiet">
          {node.uses} parts are a {node.definition}: an edit is for all of them.
        </p>
      )}
    </>
  );
}

export function Inspector({ shown, children }: { shown: Picture; children?: ComponentChildren }): JSX.Element {
  const edge = selectedEdge.value;
  const node = selectedNode.value;
  const title =
    edge !== null
      ? `${edge.source.replace(/^\w+:/, "")} → ${edge.target.replace(/^\w+:/, "")}`
      : node !== null ? node.name : (shown.breadcrumb.at(-1)?.name ?? "").replace(/^.*\//, "");
  const kind = edge?.kind ?? node?.kind ?? shown.kind;
  return (
    <div class="inspector" role="group" aria-label={`${kind} ${title}`} key={edge?.id ?? node?.id ?? shown.path.join(".")}>
      <header>
        <h3>
          {title} <span class="quiet">{kind}</span>
        </h3>
        {children}
      </header>
      <div class="fields">
        {edge !== null ? (
          <EdgeFields edge={edge} shown={shown} />
        ) : node !== null ? (
          <NodeFields node={node} shown={shown} />
        ) : shown.kind === "file" ? (
          <p class="quiet">
            Select something to edit what it says; drag from one part to another to connect them; double-click
            to go inside.
          </p>
        ) : (
          <OwnFields kind={shown.kind} parts={shown.parts} path={shown.path} />
        )}
      </div>
      {edge === null && node === null && <Declared parts={shown.parts} />}
    </div>
  );
}
