"use strict";
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const test = require("node:test");
const { DEFAULT, commandOf } = require("../src/server");

const HOME = path.join(__dirname, "..");
const told = JSON.parse(fs.readFileSync(path.join(HOME, "package.json"), "utf8"));

test("every file that the package names is there and is JSON", () => {
  const { languages, grammars, snippets } = told.contributes;
  const files = [languages[0].configuration, grammars[0].path, snippets[0].path];
  for (const file of files) JSON.parse(fs.readFileSync(path.join(HOME, file), "utf8"));
});

test("commands of the package are those that the extension registers", () => {
  const text = fs.readFileSync(path.join(HOME, "src", "extension.js"), "utf8");
  const registered = [...text.matchAll(/registerCommand\("([^"]+)"/g)].map((m) => m[1]);
  assert.deepEqual(registered.sort(), told.contributes.commands.map((c) => c.command).sort());
});

test("the command of the server comes from the setting", () => {
  assert.deepEqual(commandOf(undefined), { command: "workbench", args: ["lsp"] });
  assert.deepEqual(commandOf(["python", "-m", "workbench", "lsp"]), { command: "python", args: ["-m", "workbench", "lsp"] });
  assert.deepEqual(told.contributes.configuration.properties["charon.command"].default, DEFAULT);
  for (const wrong of [[], "workbench", [1], [""]]) assert.throws(() => commandOf(wrong), /list of words/);
});
