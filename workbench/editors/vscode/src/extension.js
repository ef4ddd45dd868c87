"use strict";
// What VS Code calls: the language client, the marks in the gutter, and the diagram beside the text.

const crypto = require("node:crypto");
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");
const { page } = require("./picture");
const { commandOf } = require("./server");
const { marks, summary, verifications } = require("./verdicts");

const ICONS = { verified: "#1a7f4b", falsified: "#b42318", unknown: "#8a6d1a", stale: "#8a8a8a" };
const SHAPES = {
  verified: '<path d="M4 8.5 7 11.5 12 5" fill="none" stroke="COLOUR" stroke-width="2"/>',
  falsified: '<path d="M4.5 4.5 11.5 11.5M11.5 4.5 4.5 11.5" stroke="COLOUR" stroke-width="2"/>',
  unknown: '<circle cx="8" cy="8" r="3.5" fill="none" stroke="COLOUR" stroke-width="2"/>',
  stale: '<circle cx="8" cy="8" r="2.5" fill="COLOUR"/>',
};

let client;
const known = new Map(); // verdicts by the address of a document
const kinds = {};
let status;
let view; // the diagram: its panel, the document, and the level that is shown

function icon(kind) {
  const shape = SHAPES[kind].replaceAll("COLOUR", ICONS[kind]);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">${shape}</svg>`;
  return vscode.Uri.parse(`data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`);
}

function showVerdicts(editor) {
  if (!editor) return;
  const verdicts = known.get(editor.document.uri.toString()) || [];
  for (const [kind, list] of Object.entries(marks(verdicts))) {
    const places = list.map(({ line, hover }) => ({
      range: new vscode.Range(line, 0, line, 0),
      hoverMessage: new vscode.MarkdownString(hover),
    }));
    editor.setDecorations(kinds[kind], places);
  }
  const words = summary(verdicts);
  status.text = `CHARON: ${words}`;
  if (words && editor.document.languageId === "charon") status.show();
  else status.hide();
}

async function start(context) {
  try {
    const { command, args } = commandOf(vscode.workspace.getConfiguration("charon").get("command"));
    client = new LanguageClient(
      "charon",
      "CHARON",
      { command, args },
      {
        documentSelector: [{ language: "charon" }],
        synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/*.charon") },
      },
    );
    client.onNotification("charon/verdicts", ({ uri, verdicts }) => {
      const address = vscode.Uri.parse(uri).toString();
      known.set(address, verdicts);
      vscode.window.visibleTextEditors
        .filter((editor) => editor.document.uri.toString() === address)
        .forEach(showVerdicts);
    });
    await client.start();
  } catch (error) {
    client = undefined;
    const message = `The language server of CHARON does not start: ${error.message}`;
    const choice = await vscode.window.showErrorMessage(message, "Open Settings");
    if (choice) vscode.commands.executeCommand("workbench.action.openSettings", "charon.command");
  }
}

// The diagram

async function draw() {
  if (!view || !client) return;
  const shown = view;
  try {
    const diagram = await client.sendRequest("charon/diagram", {
      textDocument: { uri: shown.document.uri.toString() },
      ...(shown.path ? { path: shown.path } : {}),
    });
    if (view !== shown || !diagram) return;
    shown.path = diagram.path;
    shown.panel.webview.html = page(diagram, crypto.randomBytes(16).toString("hex"));
  } catch (error) {
    if (view === shown) vscode.window.setStatusBarMessage(`No diagram: ${error.message}`, 4000);
  }
}

function openDiagram() {
  const editor = vscode.window.activeTextEditor;
  if (!editor || editor.document.languageId !== "charon") return;
  if (view) view.panel.dispose();
  const panel = vscode.window.createWebviewPanel(
    "charon.diagram",
    `Diagram of ${vscode.workspace.asRelativePath(editor.document.uri)}`,
    { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
    { enableScripts: true, localResourceRoots: [] },
  );
  const mine = { panel, document: editor.document, path: undefined };
  view = mine;
  panel.onDidDispose(() => {
    if (view === mine) view = undefined;
  });
  panel.webview.onDidReceiveMessage((message) => {
    if (Array.isArray(message.path)) {
      mine.path = message.path;
      draw();
    } else if (message.reveal) reveal(mine, message);
  });
  draw();
}

async function reveal(shown, { reveal: range, uri }) {
  const document = uri
    ? await vscode.workspace.openTextDocument(vscode.Uri.parse(uri))
    : shown.document;
  const region = new vscode.Range(
    range.start.line,
    range.start.character,
    range.end.line,
    range.end.character,
  );
  vscode.window.showTextDocument(document, {
    viewColumn: vscode.ViewColumn.One,
    selection: region,
    preserveFocus: false,
  });
}

async function verifyAll() {
  const editor = vscode.window.activeTextEditor;
  if (!editor || !client) return;
  const textDocument = { uri: editor.document.uri.toString() };
  const lenses = (await client.sendRequest("textDocument/codeLens", { textDocument })) || [];
  const requests = verifications(lenses);
  if (requests.length === 0) vscode.window.setStatusBarMessage("This file claims nothing to verify", 4000);
  for (const request of requests) {
    await client.sendRequest("workspace/executeCommand", {
      command: "charon.verify",
      arguments: [request],
    });
  }
}

async function activate(context) {
  for (const kind of Object.keys(ICONS)) {
    kinds[kind] = vscode.window.createTextEditorDecorationType({
      gutterIconPath: icon(kind),
      gutterIconSize: "contain",
      overviewRulerColor: ICONS[kind],
      overviewRulerLane: vscode.OverviewRulerLane.Right,
    });
    context.subscriptions.push(kinds[kind]);
  }
  status = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Right);
  let waiting;
  context.subscriptions.push(
    status,
    vscode.commands.registerCommand("charon.openDiagram", openDiagram),
    vscode.commands.registerCommand("charon.verifyAll", verifyAll),
    vscode.commands.registerCommand("charon.restart", async () => {
      if (client) await client.stop();
      await start(context);
    }),
    vscode.window.onDidChangeActiveTextEditor(showVerdicts),
    vscode.workspace.onDidCloseTextDocument((document) => known.delete(document.uri.toString())),
    vscode.workspace.onDidChangeTextDocument(({ document }) => {
      if (!view || document.languageId !== "charon") return;
      clearTimeout(waiting);
      waiting = setTimeout(draw, 150);
    }),
  );
  await start(context);
}

function deactivate() {
  return client ? client.stop() : undefined;
}

module.exports = { activate, deactivate };
