"use strict";
// The extension as VS Code calls it, with an editor and a language client that only note what is asked.

const assert = require("node:assert/strict");
const Module = require("node:module");
const test = require("node:test");

const PICTURE = { path: ["Tank"], nodes: [], edges: [], breadcrumb: [], width: 10, height: 10 };
const RANGE = { start: { line: 4, character: 2 }, end: { line: 4, character: 9 } };

/** An editor with one text, in which the extension is at work. */
async function opened({ lenses = [], fails = null } = {}) {
  const noted = { commands: {}, events: {}, notices: {}, asked: [], shown: [], said: [], pages: [] };
  const document = { uri: { toString: () => "file:///tank.charon" }, languageId: "charon" };
  const editor = { document, decorations: {} };
  editor.setDecorations = (kind, places) => (editor.decorations[kind.overviewRulerColor] = places);
  const status = { show: () => (status.seen = true), hide: () => (status.seen = false), dispose() {} };
  const hears = (event) => (heard) => {
    noted.events[event] = heard;
    return { dispose() {} };
  };
  const vscode = {
    Uri: { parse: (text) => ({ toString: () => text }) },
    Range: class {
      constructor(...ends) {
        this.ends = ends;
      }
    },
    MarkdownString: class {
      constructor(value) {
        this.value = value;
      }
    },
    OverviewRulerLane: {},
    StatusBarAlignment: {},
    ViewColumn: { One: 1, Beside: -2 },
    commands: {
      registerCommand: (name, run) => ((noted.commands[name] = run), { dispose() {} }),
      executeCommand: (...words) => noted.asked.push(words),
    },
    workspace: {
      getConfiguration: () => ({ get: () => ["python", "-m", "workbench", "lsp"] }),
      createFileSystemWatcher: (pattern) => pattern,
      asRelativePath: () => "tank.charon",
      openTextDocument: async (uri) => ({ uri }),
      onDidCloseTextDocument: hears("closed"),
      onDidChangeTextDocument: hears("changed"),
    },
    window: {
      activeTextEditor: editor,
      visibleTextEditors: [editor],
      createTextEditorDecorationType: (kind) => ({ ...kind, dispose() {} }),
      createStatusBarItem: () => status,
      onDidChangeActiveTextEditor: hears("activated"),
      setStatusBarMessage: (text) => noted.said.push(text),
      showErrorMessage: async (text, ...choices) => (noted.said.push(text), choices[0]),
      showTextDocument: (one, how) => noted.shown.push([one, how]),
      createWebviewPanel: () => {
        const webview = {
          set html(text) {
            noted.pages.push(text);
          },
          onDidReceiveMessage: (heard) => (noted.events.message = heard),
        };
        return { webview, onDidDispose: hears("disposed"), dispose() {} };
      },
    },
  };
  class LanguageClient {
    constructor(id, name, server, options) {
      noted.server = server;
      noted.options = options;
    }
    onNotification(method, heard) {
      noted.notices[method] = heard;
    }
    async start() {
      if (fails) throw new Error(fails);
    }
    async stop() {
      noted.asked.push(["stop"]);
    }
    async sendRequest(method, params) {
      noted.asked.push([method, params]);
      if (method === "charon/diagram") return { ...PICTURE, path: params.path || PICTURE.path };
      return method === "textDocument/codeLens" ? lenses : null;
    }
  }
  const fakes = { vscode, "vscode-languageclient/node": { LanguageClient } };
  const load = Module._load;
  Module._load = (name, ...rest) => fakes[name] || load(name, ...rest);
  const path = require.resolve("../src/extension");
  delete require.cache[path];
  let extension;
  try {
    extension = require(path);
  } finally {
    Module._load = load;
  }
  await extension.activate({ subscriptions: [] });
  return { ...noted, noted, document, editor, status, extension };
}

const until = async (holds) => {
  while (!holds()) await new Promise((done) => setTimeout(done, 5));
};

const verdict = (outcome, stale = false) => ({
  outcome, stale, property: "dry", headline: "some words", range: RANGE,
});

test("the server is started by the command of the setting, for CHARON alone", async () => {
  const { noted } = await opened();
  assert.deepEqual(noted.server, { command: "python", args: ["-m", "workbench", "lsp"] });
  assert.deepEqual(noted.options.documentSelector, [{ language: "charon" }]);
});

test("verdicts are marks in the gutter at their lines, also of a text that is shown later", async () => {
  const { notices, events, editor, status } = await opened();
  const marked = () =>
    Object.values(editor.decorations).flat().map(({ range }) => range.ends[0]);
  notices["charon/verdicts"]({ uri: "file:///tank.charon", verdicts: [verdict("falsified")] });
  assert.deepEqual(marked(), [4]);
  assert.equal(status.text, "CHARON: 1 falsified");
  assert.equal(status.seen, true);
  editor.decorations = {};
  events.activated(editor);
  assert.deepEqual(marked(), [4]);
  notices["charon/verdicts"]({ uri: "file:///tank.charon", verdicts: [] });
  assert.deepEqual(marked(), []);
  assert.equal(status.seen, false);
});

test("the diagram is drawn, entered, drawn again after a change, and leads to the text", async () => {
  const { commands, events, noted, document } = await opened();
  const levels = () => noted.asked.filter(([method]) => method === "charon/diagram");
  commands["charon.openDiagram"]();
  await until(() => noted.pages.length === 1);
  assert.match(noted.pages[0], /<svg /);
  assert.equal(levels()[0][1].path, undefined);
  events.message({ path: ["Tank", "top"] });
  await until(() => noted.pages.length === 2);
  events.changed({ document });
  await until(() => noted.pages.length === 3);
  assert.deepEqual(levels().map(([, asked]) => asked.path).slice(1), [["Tank", "top"], ["Tank", "top"]]);
  events.message({ reveal: RANGE, uri: null });
  await until(() => noted.shown.length === 1);
  assert.equal(noted.shown[0][0], document);
  assert.deepEqual(noted.shown[0][1].selection.ends, [4, 2, 4, 9]);
});

test("all claims of a text are verified; one without any says so", async () => {
  const lens = (command, argument) => ({ command: { command, arguments: [argument] } });
  const some = await opened({ lenses: [lens("charon.verify", 1), lens("charon.falsify", 2), lens("charon.verify", 3)] });
  await some.commands["charon.verifyAll"]();
  const run = some.asked.filter(([method]) => method === "workspace/executeCommand");
  assert.deepEqual(run.map(([, { arguments: given }]) => given), [[1], [3]]);
  const none = await opened();
  await none.commands["charon.verifyAll"]();
  assert.match(none.said.join(), /nothing to verify/);
});

test("a server that does not start is told, with the way to the setting; it can be started again", async () => {
  const { commands, said, asked, notices, noted } = await opened({ fails: "ENOENT" });
  assert.match(said[0], /does not start: ENOENT/);
  assert.deepEqual(asked[0], ["workbench.action.openSettings", "charon.command"]);
  noted.server = null;
  await commands["charon.restart"]();
  assert.ok(noted.server);
  assert.ok(notices["charon/verdicts"]);
});
