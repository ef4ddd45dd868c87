"use strict";
// How the language server is started.

const DEFAULT = ["workbench", "lsp"];

/** The command and its arguments from the setting; what makes no sense is an error with a hint. */
function commandOf(setting) {
  const words = setting === undefined || setting === null ? DEFAULT : setting;
  if (!Array.isArray(words) || words.length === 0 || !words.every((w) => typeof w === "string" && w)) {
    throw new Error('The setting "charon.command" is a list of words, such as ["workbench", "lsp"].');
  }
  const [command, ...args] = words;
  return { command, args };
}

module.exports = { DEFAULT, commandOf };
