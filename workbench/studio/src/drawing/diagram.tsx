/** The diagram: a picture of one level that is edited with the pointer or the keyboard. */

import { computed, signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { askChoice, askConsent, askText } from "../page/dialogs";
import { current } from "../text/documents";
import type { DrawnEdge, DrawnNode, Picture } from "../wire/types";
import { activity } from "./activity";
import { Field, Inspector, edgeBetween, pointName, writtenAt } from "./inspector";
import {
  awaited, definitions, edit, enter, enterNode, failed, focusField, following, layOut, leave, picture, select, selected,
  selectedEdge, selectedNode,
} from "./state";

/* Size on the screen. */

/** Pixels for one unit of the picture; null: as large as fits. */
const chosenScale = signal<number | null>(null);
const room = signal<[number, number]>([600, 400]);

const LARGEST_FIT = 1.15;
const LEAST_FIT = 0.72;

const scale = computed(() => {
  const shown = picture.value;
  if (chosenScale.value !== null || shown === null) return chosenScale.value ?? 1;
  const [width, height] = room.value;
  const fit = Math.min((width - 8) / shown.width, (height - 8) / shown.height);
  return Math.max(LEAST_FIT, Math.min(LARGEST_FIT, fit));
});

const rescale = (factor: number): void => {
  chosenScale.value = Math.max(0.15, Math.min(4, scale.peek() * factor));
};

/* Connecting. */

interface Link {
  from: DrawnNode;
  to: [number, number];
  over: string | null;
}

/** A connection that is being drawn with the pointer. */
const link = signal<Link | null>(null);
/** The node from which a connection is being made with the keyboard. */
const connecting = signal<string | null>(null);

const END_KINDS = new Set(["mode", "init", "entry", "exit"]);

async function connect(from: DrawnNode, to: DrawnNode): Promise<void> {
  const shown = picture.peek();
  if (shown === null) return;
  if (shown.kind === "mode") {
    if (!END_KINDS.has(from.kind) || !END_KINDS.has(to.kind)) return;
    const source = pointName(from);
    const target = pointName(to);
    const id = edgeBetween(shown, source, target, null);
    if ((await edit({ kind: "Connect", source, target }, id)) === null) focusField("guard");
    return;
  }
  const part = from.kind === "variable" ? to : from;
  const variable = from.kind === "variable" ? from : to;
  if (part.kind !== "agent" && part.kind !== "mode") return;
  if (variable.kind !== "variable") return;
  const own = await askText(`The name of ${variable.name} inside ${part.name}`, variable.name, "Share");
  if (own === null || own === "") return;
  const access = from.kind === "variable" ? "read" : "write";
  await edit({ kind: "Share", part: part.id, own, variable: variable.name, access });
}

/* Adding, naming, deleting. */

interface Addition {
  kind: string;
  label: string;
  question: string;
  identity: string;
  /** The key that does it. */
  key: string;
}

const IN_MODE: readonly Addition[] = [
  { kind: "AddMode", label: "Mode", question: "Name of the new mode", identity: "mode", key: "m" },
  { kind: "AddEntry", label: "Entry", question: "Name of the new entry", identity: "entry", key: "e" },
  { kind: "AddExit", label: "Exit", question: "Name of the new exit", identity: "exit", key: "x" },
  { kind: "AddVariable", label: "Variable", question: "Name of the new variable", identity: "variable", key: "v" },
];
const IN_AGENT: readonly Addition[] = [
  { kind: "AddAgent", label: "Agent", question: "Name of the new agent", identity: "agent", key: "g" },
  { kind: "AddMode", label: "Top mode", question: "Name of the top mode", identity: "mode", key: "m" },
  { kind: "AddVariable", label: "Variable", question: "Name of the new variable", identity: "variable", key: "v" },
];
const IN_FILE: readonly Addition[] = [
  { kind: "AddAgent", label: "Agent", question: "Name of the new agent", identity: "agent", key: "g" },
  { kind: "AddMode", label: "Mode", question: "Name of the new mode", identity: "mode", key: "m" },
];

function additions(shown: Picture): readonly Addition[] {
  if (shown.kind === "mode") return IN_MODE;
  if (shown.kind === "file") return IN_FILE;
  const atomic = shown.nodes.some((node) => node.kind === "mode");
  const composed = shown.nodes.some((node) => node.kind === "agent");
  return IN_AGENT.filter(
    ({ kind }) => !(kind === "AddMode" && (atomic || composed)) && !(kind === "AddAgent" && atomic),
  );
}

async function add(addition: Addition): Promise<void> {
  const { kind, identity, question } = addition;
  const isPart = picture.peek()?.kind !== "file" && (identity === "agent" || identity === "mode");
  const known = isPart ? await definitions(identity as "agent" | "mode") : [];
  const answer = await askChoice(question, [`a new ${identity}`, ...known], "Add");
  if (answer === null || answer.value === "") return;
  const { value: name, choice } = answer;
  await edit({ kind, name, ...(choice === "" ? {} : { definition: choice }) }, `${identity}:${name}`);
}

async function rename(node: DrawnNode): Promise<void> {
  const name = await askText(`Rename ${node.name}`, node.name, "Rename");
  if (name === null || name === "" || name === node.name) return;
  await edit({ kind: "Rename", node: node.id, name }, `${node.kind}:${name}`);
}

async function remove(): Promise<void> {
  const edge = selectedEdge.peek();
  const node = selectedNode.peek();
  if (edge !== null) {
    selected.value = null;
    await edit({ kind: "Disconnect", edge: edge.id });
  } else if (node !== null && node.kind !== "init") {
    if (picture.peek()?.kind === "file" && !(await askConsent(`Delete ${node.name}?`, "Delete"))) return;
    selected.value = null;
    await edit({ kind: "Delete", node: node.id });
  }
}

export const addHere = (kind: string): void => {
  const shown = picture.peek();
  const addition = shown === null ? undefined : additions(shown).find((one) => one.kind === kind);
  if (addition !== undefined) void add(addition);
};

/* Keys. */

const DIRECTIONS: Record<string, readonly [number, number]> = {
  ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1],
};

const middle = (node: DrawnNode): [number, number] => [node.x + node.width / 2, node.y + node.height / 2];

/** The nearest node in a direction. */
function neighbour(from: DrawnNode, [dx, dy]: readonly [number, number]): DrawnNode | null {
  const [x, y] = middle(from);
  let best: DrawnNode | null = null;
  let least = Infinity;
  for (const node of picture.peek()?.nodes ?? []) {
    if (node === from) continue;
    const [a, b] = middle(node);
    const along = (a - x) * dx + (b - y) * dy;
    const aside = Math.abs((a - x) * dy) + Math.abs((b - y) * dx);
    if (along <= 0 || along < aside * 0.35) continue;
    const distance = along + aside * 2;
    if (distance < least) [best, least] = [node, distance];
  }
  return best;
}

function onKey(event: KeyboardEvent): void {
  const shown = picture.peek();
  if (shown === null || event.ctrlKey || event.metaKey || event.altKey) return;
  if (awaited.peek() !== null && event.key.length === 1) return event.preventDefault(); // it is for a field to come
  const node = selectedNode.peek();
  const direction = DIRECTIONS[event.key];
  const addition = additions(shown).find(({ key }, place) => event.key === key || (event.key === "a" && place === 0));
  if (addition !== undefined) void add(addition);
  else if (direction !== undefined) {
    const from = node ?? shown.nodes.find((one) => one.id === selectedEdge.peek()?.source) ?? null;
    const next = from === null ? shown.nodes[0] : neighbour(from, direction);
    if (next != null) select(next.id);
  } else if (event.key === "Enter") {
    const source = shown.nodes.find((one) => one.id === connecting.peek());
    if (source !== undefined && node !== null) {
      connecting.value = null;
      void connect(source, node);
    } else if (node?.enterable === true) enterNode(node);
    else if (selectedEdge.peek() !== null) focusField("guard");
  } else if (event.key === "Backspace" && node === null && selectedEdge.peek() === null) leave();
  else if (event.key === "u") leave();
  else if (event.key === "Delete" || event.key === "Backspace") void remove();
  else if (event.key === "F2") {
    if (node !== null) void rename(node);
    else if (selectedEdge.peek() !== null) focusField("label");
  } else if (event.key === "c" && node !== null) connecting.value = node.id;
  else if (event.key === "t") {
    const of = node?.id ?? selectedEdge.peek()?.source;
    const edges = shown.edges.filter((edge) => edge.source === of || edge.target === of);
    const place = edges.findIndex((edge) => edge.id === selected.peek());
    const next = edges[(place + 1) % Math.max(1, edges.length)];
    if (next !== undefined) select(next.id);
  } else if (event.key === "w" && node?.enterable === true) focusField(node.kind === "agent" ? "init" : "flow");
  else if (event.key === "+") rescale(1.2);
  else if (event.key === "-") rescale(1 / 1.2);
  else if (event.key === "0") chosenScale.value = null;
  else if (event.key === "l") layOut();
  else if (event.key === "Escape") {
    if (connecting.peek() !== null) connecting.value = null;
    else select(null);
  } else return;
  event.preventDefault();
  event.stopPropagation();
}

/* Writing in the picture. */

interface Writing {
  id: string;
  line: string;
  /** Where the line is in the canvas, in pixels. */
  left: number;
  top: number;
  width: number;
}

/** The line of the picture that is being written anew. */
const writing = signal<Writing | null>(null);

/** A click on a line of what is selected writes it, unless it was the first of a double click. */
const PATIENCE = 260;
let clicked = 0;

function writeSoon(event: MouseEvent, id: string): void {
  clearTimeout(clicked);
  const line = (event.target as Element).closest("text[data-line]");
  const canvas = line?.closest(".canvas");
  const shown = picture.peek();
  if (line == null || canvas == null || shown === null || event.detail !== 1) return;
  const text = line.textContent ?? "";
  if (writtenAt(shown, id, text) === null) return;
  clicked = window.setTimeout(() => {
    const [box, around] = [line.getBoundingClientRect(), canvas.getBoundingClientRect()];
    writing.value = {
      id, line: text, width: box.width,
      left: box.left - around.left + canvas.scrollLeft, top: box.top - around.top + canvas.scrollTop,
    };
  }, PATIENCE);
}

function InPlace({ shown }: { shown: Picture }): JSX.Element | null {
  const here = writing.value;
  useEffect(() => {
    writing.value = null;
  }, [shown]);
  if (here === null) return null;
  const written = writtenAt(shown, here.id, here.line);
  if (written === null) return null;
  return (
    <div class="in-place" style={{ left: `${here.left}px`, top: `${here.top}px`, minWidth: `${here.width}px` }}>
      <Field
        key={`${here.id} ${here.line}`} {...written}
        done={() => {
          if (writing.peek() === here) writing.value = null;
        }}
      />
    </div>
  );
}

/* The picture. */

/** Where lines stand, as the layout has measured them. */
const LINE = 16;
const TITLE = 20.5;
const FIRST_LINE = 39.5;

/** A node; its place moves smoothly when the picture changes. */
function Node({ node, active, chosen, target }: {
  node: DrawnNode; active: boolean; chosen: boolean; target: boolean;
}): JSX.Element {
  const part = node.kind === "agent" || node.kind === "mode";
  const classes = ["node", `n-${node.kind}`, active && "lit", chosen && "chosen", target && "target", node.enterable && "enterable"];
  return (
    <g
      class={classes.filter(Boolean).join(" ")}
      style={{ transform: `translate(${node.x}px, ${node.y}px)` }}
      data-node={node.id}
      id={`node ${node.id}`}
      role="option"
      aria-selected={chosen}
      aria-label={`${node.kind} ${node.title}${active ? ", active" : ""}${node.enterable ? ", can be entered" : ""}`}
    >
      {node.kind === "init" ? (
        <circle cx={node.width / 2} cy={node.height / 2} r={node.width / 2 - 1} class="start" />
      ) : (
        <rect width={node.width} height={node.height} rx={part ? 6 : node.kind === "variable" ? 3 : node.height / 2} />
      )}
      {part && (
        <>
          <text x={11} y={TITLE} class="title">
            {node.title}
            <tspan class="kind" dx={8}>
              {node.caption}
            </tspan>
          </text>
          {node.label_lines.map((line, place) => (
            <text key={place} x={11} y={FIRST_LINE + LINE * place} data-line>
              {line}
            </text>
          ))}
        </>
      )}
      {!part && node.kind !== "init" && (
        <text x={10} y={15}>
          {node.title}
        </text>
      )}
    </g>
  );
}

function curve(points: readonly [number, number][]): string {
  const [first, ...rest] = points;
  if (first === undefined) return "";
  const text = [`M${first[0]} ${first[1]}`];
  for (let i = 0; i + 2 < rest.length; i += 3) {
    const three = rest.slice(i, i + 3).map(([x, y]) => `${x} ${y}`);
    text.push(`C${three.join(" ")}`);
  }
  return text.join("");
}

function Edge({ edge, fired, chosen }: { edge: DrawnEdge; fired: boolean; chosen: boolean }): JSX.Element {
  const path = curve(edge.points);
  const classes = ["edge", `e-${edge.kind}`, fired && "fired", chosen && "chosen", edge.urgent && "urgent"];
  return (
    <g class={classes.filter(Boolean).join(" ")} data-edge={edge.id} id={`edge ${edge.id}`}
      role="option" aria-selected={chosen}
      aria-label={`${edge.kind} ${edge.name ?? ""} from ${edge.source} to ${edge.target} ${edge.guard}`}
    >
      <path d={path} class="grip" />
      <path
        d={path} class="way" marker-end="url(#arrow)" marker-start={edge.both ? "url(#arrow-back)" : undefined}
      />
      {edge.label?.lines.map((line, place) => (
        <text
          key={place} x={edge.label?.x ?? 0} y={(edge.label?.y ?? 0) + 12 + LINE * place}
          class={line.startsWith("#") ? "name" : ""} data-line
        >
          {line}
        </text>
      ))}
    </g>
  );
}

function pointOf(event: { clientX: number; clientY: number }, svg: SVGSVGElement): [number, number] {
  const box = svg.getBoundingClientRect();
  return [(event.clientX - box.left) / scale.peek(), (event.clientY - box.top) / scale.peek()];
}

const idAt = (event: Event, kind: "node" | "edge"): string | null =>
  (event.target as Element).closest(`[data-${kind}]`)?.getAttribute(`data-${kind}`) ?? null;

function nodeUnder(event: PointerEvent): string | null {
  const element = document.elementFromPoint(event.clientX, event.clientY);
  return element?.closest("[data-node]")?.getAttribute("data-node") ?? null;
}

const FAR = 6;

function Canvas({ shown }: { shown: Picture }): JSX.Element {
  const svg = useRef<SVGSVGElement>(null);
  const pressed = useRef<{ node: DrawnNode; x: number; y: number } | null>(null);
  const before = useRef<string | null>(null);
  const { nodes: lit, edges: fired } = activity.value;
  const drawing = link.value;
  const size = scale.value;
  const chosen = selected.value;
  useEffect(() => {
    if (chosen === null) return;
    const element = document.getElementById(`node ${chosen}`) ?? document.getElementById(`edge ${chosen}`);
    element?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [chosen, shown]);
  const find = (id: string | null): DrawnNode | undefined => shown.nodes.find((node) => node.id === id);
  return (
    <svg
      ref={svg}
      class={`picture ${shown.stale || failed.value ? "stale" : ""} ${connecting.value !== null ? "connecting" : ""}`}
      width={shown.width * size}
      height={shown.height * size}
      viewBox={`0 0 ${shown.width} ${shown.height}`}
      tabindex={0}
      role="listbox"
      aria-label={`Diagram of ${shown.path.join(".") || "the file"}`}
      aria-activedescendant={chosen === null ? undefined : selectedNode.value !== null ? `node ${chosen}` : `edge ${chosen}`}
      onKeyDown={onKey}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        before.current = selected.peek();
        clearTimeout(clicked);
        const node = find(idAt(event, "node"));
        if (node !== undefined) {
          const from = shown.nodes.find((one) => one.id === connecting.peek());
          if (from !== undefined) {
            connecting.value = null;
            void connect(from, node);
            return;
          }
          pressed.current = { node, x: event.clientX, y: event.clientY };
          select(node.id);
        } else {
          connecting.value = null;
          select(idAt(event, "edge"));
        }
      }}
      onPointerMove={(event) => {
        const begun = pressed.current;
        if (begun === null || svg.current === null || event.buttons !== 1) return;
        const moved = Math.hypot(event.clientX - begun.x, event.clientY - begun.y);
        if (link.peek() === null && moved < FAR) return;
        if (link.peek() === null) svg.current.setPointerCapture(event.pointerId);
        link.value = { from: begun.node, to: pointOf(event, svg.current), over: nodeUnder(event) };
      }}
      onPointerUp={(event) => {
        const made = link.peek();
        pressed.current = null;
        link.value = null;
        if (made === null) return;
        const target = find(nodeUnder(event));
        if (target !== undefined) void connect(made.from, target);
      }}
      onPointerCancel={() => {
        pressed.current = null;
        link.value = null;
      }}
      onClick={(event) => {
        const id = idAt(event, "node") ?? idAt(event, "edge");
        if (id !== null && id === before.current) writeSoon(event, id);
      }}
      onDblClick={(event) => {
        clearTimeout(clicked);
        const node = find(idAt(event, "node"));
        if (node !== undefined) {
          if (node.enterable) enterNode(node);
          else void rename(node);
        } else if (idAt(event, "edge") !== null) focusField("guard");
      }}
      onWheel={(event) => {
        if (!event.ctrlKey) return;
        event.preventDefault();
        rescale(event.deltaY > 0 ? 1 / 1.12 : 1.12);
      }}
    >
      <defs>
        <marker id="arrow" viewBox="0 0 10 8" refX="9.5" refY="4" markerUnits="userSpaceOnUse" markerWidth="11" markerHeight="9" orient="auto">
          <path d="M0 0L10 4L0 8L2.5 4Z" class="head" />
        </marker>
        <marker id="arrow-back" viewBox="0 0 10 8" refX="9.5" refY="4" markerUnits="userSpaceOnUse" markerWidth="11" markerHeight="9" orient="auto-start-reverse">
          <path d="M0 0L10 4L0 8L2.5 4Z" class="head" />
        </marker>
      </defs>
      {shown.edges.map((edge) => (
        <Edge key={edge.id} edge={edge} fired={fired.has(edge.id)} chosen={chosen === edge.id} />
      ))}
      {shown.nodes.map((node) => (
        <Node
          key={node.id} node={node} active={lit.has(node.id)} chosen={chosen === node.id}
          target={drawing !== null && drawing.over === node.id}
        />
      ))}
      {drawing !== null && (
        <path
          class="drawn-link" marker-end="url(#arrow)"
          d={`M${middle(drawing.from).join(" ")}L${drawing.to.join(" ")}`}
        />
      )}
    </svg>
  );
}

function Crumbs({ shown }: { shown: Picture }): JSX.Element {
  const row = useRef<HTMLElement>(null);
  useEffect(() => row.current?.scrollTo({ left: row.current.scrollWidth }), [shown.path.join("\n")]);
  return (
    <nav class="crumbs" aria-label="Levels" ref={row}>
      {shown.breadcrumb.map((crumb, place) => {
        const last = place === shown.breadcrumb.length - 1;
        return (
          <span key={crumb.path.join("\n")}>
            {place > 0 && (
              <span class="quiet" aria-hidden="true">
                ›
              </span>
            )}
            <button
              type="button" class="plain crumb" aria-current={last ? "location" : undefined}
              onClick={() => (last ? select(null) : enter(crumb.path))}
            >
              {crumb.name.replace(/^.*\/|\.charon$/g, "")}
            </button>
          </span>
        );
      })}
    </nav>
  );
}

/** What can be done with the selected part, whatever it is. */
function SelectionTools(): JSX.Element {
  const node = selectedNode.value;
  const hasSelection = node !== null || selectedEdge.value !== null;
  return (
    <div class="selection-tools" role="toolbar" aria-label="What is selected">
      {connecting.value !== null && <span class="quiet">Choose where it leads; Esc ends</span>}
      {node !== null && node.kind !== "init" && (
        <button type="button" class="small" onClick={() => void rename(node)}>
          Rename
        </button>
      )}
      {node !== null && connecting.value === null && (
        <button type="button" class="small" onClick={() => (connecting.value = node.id)}>
          Connect
        </button>
      )}
      {node?.enterable === true && (
        <button type="button" class="small" onClick={() => enterNode(node)}>
          Enter
        </button>
      )}
      {hasSelection && node?.kind !== "init" && (
        <button type="button" class="small" onClick={() => void remove()}>
          Delete
        </button>
      )}
    </div>
  );
}

export function Diagram(): JSX.Element {
  const holder = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = holder.current;
    if (element === null) return;
    const measure = (): void => {
      room.value = [element.clientWidth, element.clientHeight];
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const shown = picture.value;
  const isModel = current.value?.path.endsWith(".charon") === true;
  const old = shown !== null && (shown.stale || failed.value);
  return (
    <section class="diagram" aria-label="Diagram">
      <header class="bar">
        {shown === null ? <h2>Diagram</h2> : <Crumbs shown={shown} />}
        {old && (
          <span class="stale-mark" role="status">
            the last good picture
          </span>
        )}
        <span class="spacer" />
        <label class="check small" title="The diagram goes where the cursor of the text is">
          <input
            type="checkbox" checked={following.value}
            onChange={(event) => (following.value = event.currentTarget.checked)}
          />
          follow
        </label>
        <div class="segments" role="group" aria-label="Size">
          <button type="button" aria-label="Smaller" onClick={() => rescale(1 / 1.2)}>
            −
          </button>
          <button type="button" aria-label="Fit" onClick={() => (chosenScale.value = null)}>
            fit
          </button>
          <button type="button" aria-label="Larger" onClick={() => rescale(1.2)}>
            +
          </button>
        </div>
      </header>
      {shown !== null && isModel && (
        <div class="draw-tools" role="toolbar" aria-label="Draw">
          {additions(shown).map((addition) => (
            <button
              type="button" class="small" key={addition.kind} title={`${addition.question} (${addition.key})`}
              onClick={() => void add(addition)}
            >
              + {addition.label}
            </button>
          ))}
          <span class="spacer" />
          <button type="button" class="small" title="Lay the picture out anew (l)" onClick={layOut}>
            Tidy
          </button>
        </div>
      )}
      <div class="canvas" ref={holder}>
        {shown !== null && isModel && <Canvas shown={shown} />}
        {shown !== null && isModel && <InPlace shown={shown} />}
        {isModel && (shown === null || shown.nodes.length === 0) && (
          <p class="hint over">
            {shown === null ? "Nothing to draw yet." : "Empty so far: add something with the buttons above, or write it."}
          </p>
        )}
      </div>
      {shown !== null && isModel && (
        <Inspector shown={shown}>
          <SelectionTools />
        </Inspector>
      )}
    </section>
  );
}
