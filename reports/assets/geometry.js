// Elements, numbers and axes: the small things that every view uses.

const SVG = 'http://www.w3.org/2000/svg';

function element(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function shape(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

// Text enters the page as text nodes only, so nothing in the data can become markup.
function fill(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value);
  }
  for (const child of children) {
    made.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return made;
}

const byId = (id) => document.getElementById(id);
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

// A number for people: few digits, no long tails, a true minus sign.
function show(value, digits = 5) {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  if (value === 0 || Math.abs(value) < 1e-12) return '0';
  const size = Math.abs(value);
  const text = size >= 1e6 || size < 1e-4
    ? value.toExponential(2)
    : String(Number(value.toPrecision(digits)));
  return text.replace('-', '−');
}

// Round steps of 1, 2 or 5 times a power of ten, about `wanted` of them.
function ticks(low, high, wanted) {
  const span = high - low;
  if (!(span > 0) || !Number.isFinite(span)) return [];
  const rough = span / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= rough);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high + step * 1e-9; k += 1) found.push(k * step);
  return found;
}

// The largest index with list[index] <= value; at least 0.
function before(list, value) {
  let low = 0;
  let high = list.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (list[middle] <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

const path = (points) => points.map((p, i) => `${i ? 'L' : 'M'}${p[0].toFixed(1)} ${p[1].toFixed(1)}`).join('');
