"use strict";
const assert = require("node:assert/strict");
const test = require("node:test");
const { breadcrumb, curve, page, svg } = require("../src/picture");

const RANGE = { start: { line: 1, character: 0 }, end: { line: 2, character: 1 } };
const DIAGRAM = {
  path: ["Room"],
  breadcrumb: [{ name: "file", path: [] }, { name: "Room", path: ["Room"] }],
  width: 200,
  height: 100,
  nodes: [
    { id: "on", kind: "mode", name: "on", title: "on", label_lines: ["t' = 5 < 6"], x: 1, y: 2, width: 80, height: 40, enterable: true, range: RANGE },
    { id: "init", kind: "init", name: "init", x: 0, y: 0, width: 14, height: 14, range: RANGE },
  ],
  edges: [
    { id: "e", kind: "transition", source: "init", target: "on", points: [[0, 0], [1, 1], [2, 2], [3, 3]], label: { x: 5, y: 6, lines: ["when t > 3"] }, range: RANGE },
  ],
};

test("edges are curves of three points each, or lines", () => {
  assert.equal(curve([[0, 0], [1, 1], [2, 2], [3, 3]]), "M0 0 C1 1 2 2 3 3");
  assert.equal(curve([[0, 0], [5, 5]]), "M0 0 L5 5");
  assert.equal(curve([]), "");
});

test("the drawing has every node and edge, and says where clicks lead", () => {
  const drawn = svg(DIAGRAM);
  assert.match(drawn, /viewBox="0 0 200 100"/);
  assert.match(drawn, /<circle /);
  assert.match(drawn, /when t &gt; 3/);
  const goes = [...drawn.matchAll(/data-go="([^"]*)"/g)].map((m) => JSON.parse(m[1].replaceAll("&quot;", '"')));
  assert.equal(goes.length, 3);
  assert.deepEqual(goes[1], { uri: null, range: RANGE, path: ["Room", "on"] });
  assert.equal(goes[2].path, null);
});

test("nothing of a model becomes part of the page's own text", () => {
  const evil = { ...DIAGRAM, nodes: [{ ...DIAGRAM.nodes[0], title: '</title><script>alert(1)</script>"' }] };
  const drawn = page(evil, "abc");
  assert.equal(drawn.match(/<script/g).length, 1);
  assert.match(drawn, /&lt;script&gt;/);
  assert.match(drawn, /script-src 'nonce-abc'/);
});

test("an old picture is told to be old", () => {
  assert.match(page({ ...DIAGRAM, stale: true }, "n"), /The text is broken/);
  assert.doesNotMatch(page(DIAGRAM, "n"), /The text is broken/);
});

test("the way back is a row of buttons", () => {
  assert.equal(breadcrumb(DIAGRAM).match(/<button/g).length, 2);
});
