/** The language server at the other end of the socket: requests, notices, and its restarts. */

import { effect, signal, untracked } from "@preact/signals";
import { connection, listen, send } from "./socket";
import type { Frame } from "./socket";

interface Message {
  jsonrpc: "2.0";
  id?: number | string;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: { code: number; message: string };
}

/** What a client of this page can do, as the protocol wants it said. */
const CAPABILITIES = {
  general: { positionEncodings: ["utf-16"] },
  textDocument: {
    synchronization: { didSave: true },
    publishDiagnostics: { relatedInformation: true, versionSupport: true },
    completion: {
      completionItem: { snippetSupport: false, documentationFormat: ["markdown", "plaintext"] },
    },
    hover: { contentFormat: ["markdown", "plaintext"] },
    signatureHelp: { signatureInformation: { documentationFormat: ["markdown", "plaintext"] } },
    definition: {},
    references: {},
    rename: { prepareSupport: true },
    documentSymbol: { hierarchicalDocumentSymbolSupport: true },
    formatting: {},
    foldingRange: { lineFoldingOnly: false },
    codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: ["quickfix"] } } },
    codeLens: {},
    inlayHint: {},
    semanticTokens: {
      requests: { full: { delta: false }, range: true },
      tokenTypes: [],
      tokenModifiers: [],
      formats: ["relative"],
    },
  },
  workspace: {
    symbol: {},
    workspaceEdit: { documentChanges: true },
    codeLens: { refreshSupport: true },
    inlayHint: { refreshSupport: true },
    semanticTokens: { refreshSupport: true },
  },
};

/** What the server said about itself, once it is ready; null while there is none. */
export const capabilities = signal<Record<string, unknown> | null>(null);

/** An answer of the language server that is an error, in its words. */
export class LanguageError extends Error {}

const waiting = new Map<number, { done: (value: unknown) => void; failed: (why: Error) => void }>();
const notices = new Map<string, (params: unknown) => void>();
let number = 0;

/** Hear a notice or a request of the server by its method. */
export function onNotice<T>(method: string, heard: (params: T) => void): void {
  notices.set(method, heard as (params: unknown) => void);
}

/** Tell the server something. */
export function tell(method: string, params: unknown): void {
  send({ channel: "lsp", message: { jsonrpc: "2.0", method, params } });
}

function question<T>(method: string, params: unknown): Promise<T> {
  number += 1;
  const id = number;
  return new Promise<T>((done, failed) => {
    waiting.set(id, { done: done as (value: unknown) => void, failed });
    if (!send({ channel: "lsp", message: { jsonrpc: "2.0", id, method, params } })) {
      waiting.delete(id);
      failed(new LanguageError("the server is not there"));
    }
  });
}

/** Ask the server, when it is ready. */
export function request<T>(method: string, params: unknown): Promise<T> {
  if (capabilities.value === null) return Promise.reject(new LanguageError("not ready"));
  return question<T>(method, params);
}

const AGAIN_AFTER = 1500;

function hear(frame: Frame): void {
  if ("error" in frame) {
    lost("the language server has ended");
    const count = connection.peek();
    setTimeout(() => {
      if (connection.peek() === count) begin();
    }, AGAIN_AFTER);
    return;
  }
  const message = frame["message"] as Message;
  if (message.method !== undefined) {
    notices.get(message.method)?.(message.params);
    if (message.id !== undefined) {
      send({ channel: "lsp", message: { jsonrpc: "2.0", id: message.id, result: null } });
    }
    return;
  }
  const asked = waiting.get(Number(message.id));
  if (asked === undefined) return;
  waiting.delete(Number(message.id));
  if (message.error) asked.failed(new LanguageError(message.error.message));
  else asked.done(message.result);
}

/** What was asked will not be answered. */
function lost(why: string): void {
  capabilities.value = null;
  for (const asked of waiting.values()) asked.failed(new LanguageError(why));
  waiting.clear();
}

let root = (): string => "";

function begin(): void {
  question<{ capabilities: Record<string, unknown> }>("initialize", {
    processId: null,
    clientInfo: { name: "studio" },
    rootUri: root(),
    workspaceFolders: [{ uri: root(), name: "project" }],
    capabilities: CAPABILITIES,
  }).then(
    (answer) => {
      tell("initialized", {});
      capabilities.value = answer.capabilities;
    },
    () => undefined,
  );
}

/** Begin with every new connection: the server knows nothing of the one before. */
export function start(rootUri: () => string): void {
  root = rootUri;
  listen("lsp", hear);
  effect(() => {
    if (connection.value === 0) return;
    untracked(() => {
      lost("the server was restarted");
      begin();
    });
  });
}
