/** What goes over the wire between the page and the server: values as JSON has them. */

export type FileKind = "model" | "report" | "trace" | "certificate" | "project" | "other";

export interface ProjectFile {
  path: string;
  kind: FileKind;
  size: number;
  modified: number | string;
  stamp: string;
}

export interface Project {
  folder: string;
  files: ProjectFile[];
}

export interface LibraryModel {
  name: string;
  about: string;
  source: string;
  expected: { property: string; verdict: string }[];
}

export interface Draft {
  path: string;
  text: string;
  stamp: string | null;
}

export type JobKind = "verify" | "falsify" | "refine" | "report";
export type JobState = "queued" | "running" | "done" | "failed" | "cancelled";

/** A value of a variable or a parameter; null where there is no finite one. */
export type Value = number | string | boolean | null;

export interface Progress {
  property?: string;
  method: string;
  text: string;
  seconds: number;
}

export interface Verdict {
  property: string;
  /** The names of all that the model claims. */
  claims?: string[];
  outcome: "verified" | "falsified" | "unknown";
  headline: string;
  scope?: string;
  method?: string;
  seconds?: number;
  reason?: string;
  advice?: string[];
  known?: string[];
  /** The inequalities of each place to read, rounded, and exactly, to draw. */
  invariant?: { location: string; inequalities: string[]; conditions?: string[] }[];
  certificate?: string;
  assumptions?: string[];
  confirmations?: { how: string; rigorous: boolean }[];
  trace?: string;
  counterexample?: Run;
}

/** What a job has found: verdicts as they come, a report, or how a refinement went. */
export interface JobResult {
  verdicts?: Verdict[];
  path?: string;
  contradictions?: string[];
  outcome?: string;
  text?: string;
  certificate?: string;
}

export interface Problem {
  message: string;
  diagnostics?: ModelDiagnostic[];
}

export interface ModelDiagnostic {
  code: string;
  severity: string;
  message: string;
  hint?: string | null;
  span: { file: string; line: number; column: number; end_line: number; end_column: number } | null;
}

export interface Job {
  id: string;
  kind: JobKind;
  model: string;
  agent?: string | null;
  properties: string[];
  parameters: Record<string, Value>;
  options: Record<string, unknown>;
  state: JobState;
  progress: Progress[];
  hash: string;
  stale: boolean;
  created: number;
  finished: number | null;
  result?: JobResult;
  error?: Problem;
}

export interface JobRequest {
  kind: JobKind;
  model: string;
  text?: string;
  agent?: string;
  properties?: string[];
  parameters?: Record<string, number | string>;
  options?: Record<string, unknown>;
}

export interface RunEvent {
  time: number;
  type?: string;
  label: string;
  source: string;
  target: string;
  agent: string;
}

export interface Stay {
  from: number;
  to: number;
  location?: string;
  /** Each active mode by the names that lead to it from the whole: of agents, then of modes. */
  modes: string[][];
}

export interface Run {
  seed?: number;
  times: number[];
  values: Record<string, Value[]>;
  events: RunEvent[];
  events_left_out?: number;
  locations: Stay[];
  violated?: string[];
  end: { reason: string; time?: number; text: string };
  clocks?: Record<string, number[]>;
  /** Whether it answers an earlier question than the others: it is about to be replaced. */
  former?: boolean;
}

/** Something that can be chosen: a parameter, a first value, an input. */
export interface Quantity {
  name: string;
  type?: string;
  value?: Value;
  values?: string[];
  low?: number | null;
  high?: number | null;
  /** Whether an equation gives it: then there is nothing to choose. */
  given?: boolean;
}

export interface VariableInfo {
  name: string;
  type?: string;
  kind: string;
  unit?: string | null;
}

export interface Bound {
  variable: string;
  low?: number | null;
  high?: number | null;
  not_within?: [number, number];
}

export interface PropertyBounds {
  name: string;
  kind?: string;
  bounds: Bound[];
}

export interface SimulateRequest {
  model?: string;
  text?: string;
  agent?: string;
  parameters: Record<string, number | string>;
  initial: Record<string, number | string | boolean>;
  inputs: Record<string, number | string>;
  until?: number;
  runs: number;
  seed: number;
  own_clocks?: boolean;
  /** The run that is told first. */
  first: number;
}

/** A recorded run that is made again, with the first of these models that it is of; the text is
 *  that of the first one as it is in the editor. */
export interface ReplayRequest {
  models: string[];
  text?: string;
  trace: string;
}

/** What there is to choose and to look at in a model. */
export interface Description {
  name?: string;
  horizon?: number | null;
  variables: VariableInfo[];
  parameters: Quantity[];
  initial: Quantity[];
  inputs: Quantity[];
  properties: PropertyBounds[];
}

/** One of the runs of a simulation; the first that is told has the description. */
export interface RunTold extends Partial<Description> {
  place: number;
  run: Run;
}

export interface Replay extends Description {
  model: string;
  /** The agent that is run, where that is not the whole model. */
  agent: string | null;
  run: Run;
}

export interface WhyAtom {
  text: string;
  holds: boolean;
  value: number | string | null;
  lacking: number | string | null;
}

export interface WhyEdge {
  name: string;
  source: string;
  target: string;
  enabled: boolean;
  atoms: WhyAtom[];
  /** Why it cannot be taken though its guard holds; empty where that is not so. */
  blocked: string;
  /** What its target demands in vain. */
  missed: WhyAtom[];
}

export interface Why {
  location: string;
  edges: WhyEdge[];
}

/* The language server's values that the studio uses. */

export interface Position {
  line: number;
  character: number;
}

export interface Range {
  start: Position;
  end: Position;
}

export interface TextEdit {
  range: Range;
  newText: string;
}

export interface Location {
  uri: string;
  range: Range;
}

export interface WorkspaceEdit {
  changes?: Record<string, TextEdit[]>;
  documentChanges?: { textDocument: { uri: string }; edits: TextEdit[] }[];
}

export interface LanguageDiagnostic {
  range: Range;
  severity?: number;
  code?: string | number;
  source?: string;
  message: string;
  data?: unknown;
}

export interface CodeAction {
  title: string;
  kind?: string;
  diagnostics?: LanguageDiagnostic[];
  edit?: WorkspaceEdit;
  isPreferred?: boolean;
}

export interface Command {
  title: string;
  command: string;
  arguments?: unknown[];
}

export interface CodeLens {
  range: Range;
  command?: Command;
}

export interface Markup {
  kind: "markdown" | "plaintext";
  value: string;
}

export interface Expected {
  text: string;
  label: string;
  /** `new`: its author alone knows it, so there is no text. */
  kind: string;
  /** Whether it comes behind the word at the cursor instead of continuing it. */
  behind: boolean;
}

/* Pictures. */

export interface Crumb {
  name: string;
  path: string[];
}

/** Something that an agent or mode says: `invariant`, `flow`, `equation`, `init`, `assert`, ... */
export interface Part {
  kind: string;
  text: string;
  range: Range | null;
}

export interface DrawnNode {
  id: string;
  kind: string;
  /** What ways of names and transitions call it. */
  name: string;
  /** Its name as drawn: `car[i in 1..n]`. */
  title: string;
  /** What it is one of, as small print behind the title. */
  caption: string;
  definition?: string | null;
  /** Its way of names as runs have it, where it is a part of the main agent. */
  names?: string[] | null;
  arguments: string;
  uses: number;
  label_lines: string[];
  x: number;
  y: number;
  width: number;
  height: number;
  enterable: boolean;
  entries: string[];
  exits: string[];
  parts: Part[];
  /** Where it is written, and in which file. */
  range: Range | null;
  uri?: string | null;
}

export interface DrawnEdge {
  id: string;
  kind: string;
  name?: string | null;
  source: string;
  target: string;
  /** The named points of submodes that are meant there; empty for the usual ones. */
  source_point: string;
  target_point: string;
  guard: string;
  reset: string[];
  urgent: boolean;
  both: boolean;
  /** A start, then three points for each cubic curve. */
  points: [number, number][];
  label: { x: number; y: number; lines: string[] } | null;
  range: Range | null;
}

export interface Picture {
  version: number;
  uri: string;
  stale: boolean;
  path: string[];
  names?: string[] | null;
  /** The agent that is the whole model. */
  main?: string | null;
  kind: "file" | "agent" | "mode";
  definition: string;
  uses: number;
  breadcrumb: Crumb[];
  nodes: DrawnNode[];
  edges: DrawnEdge[];
  parts: Part[];
  range?: Range | null;
  width: number;
  height: number;
}
