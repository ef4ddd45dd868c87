"use strict";
const assert = require("node:assert/strict");
const test = require("node:test");
const { marks, summary, verifications } = require("../src/verdicts");

const verdict = (outcome, line, stale = false) => ({
  outcome,
  stale,
  property: "dry",
  headline: "some words",
  range: { start: { line, character: 2 }, end: { line, character: 9 } },
});

test("verdicts become marks of their kind at their lines", () => {
  const found = marks([verdict("verified", 3), verdict("falsified", 5), verdict("unknown", 7)]);
  assert.deepEqual(found.verified.map((m) => m.line), [3]);
  assert.deepEqual(found.falsified.map((m) => m.line), [5]);
  assert.deepEqual(found.unknown.map((m) => m.line), [7]);
  assert.match(found.verified[0].hover, /\*\*dry\*\*: some words/);
});

test("what is about an older text is marked as that and never as verified", () => {
  const found = marks([verdict("verified", 3, true)]);
  assert.equal(found.verified.length, 0);
  assert.match(found.stale[0].hover, /before the last change/);
});

test("an outcome that is not known is left out", () => {
  assert.deepEqual(marks([verdict("perhaps", 1)]), { verified: [], falsified: [], unknown: [], stale: [] });
});

test("the summary counts", () => {
  assert.equal(summary([]), "");
  assert.equal(summary([verdict("verified", 1), verdict("verified", 2), verdict("unknown", 3)]), "2 verified, 1 unknown");
});

test("verify requests are taken from the lenses", () => {
  const lenses = [
    { command: { command: "charon.verify", arguments: [{ uri: "a", place: [1, 2] }] } },
    { command: { command: "charon.falsify", arguments: [{}] } },
    {},
  ];
  assert.deepEqual(verifications(lenses), [{ uri: "a", place: [1, 2] }]);
});
