// Everything beside the plots that follows the selection: picture, source, state, log, tables.

const KEYWORDS = new Set(('agent mode private read write readwrite analog discrete real int bool enum init '
  + 'trans from to when do inv diff alge assert forbid assume predicate const import extern system until '
  + 'table linear where in d entry exit interaction between urgent unilateral bilateral crossing let forall '
  + 'sum local input output hide true false default').split(' '));
const TOKEN = /(\/\/[^\n]*|\/\*[\s\S]*?\*\/)|("(?:[^"\\\n]|\\.)*")|(\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b)|([A-Za-z_]\w*)/g;

const LONG_INSIDE = 1200;
let shownSource = 0;
let unfolded = false;

// The text in numbered lines, coloured; every piece is a text node.
function showSource(index) {
  shownSource = index;
  const pre = byId('source');
  const source = DATA.model.sources[index];
  if (!pre || !source) return;
  pre.replaceChildren();
  const charon = source.file.endsWith('.charon');
  source.text.split('\n').forEach((text, i) => {
    const line = element('span', { class: 'line', 'data-line': i + 1 });
    if (charon) colour(line, text);
    else line.append(text);
    line.append('\n');
    pre.append(line);
  });
  document.querySelectorAll('[data-source]').forEach((tab) => {
    tab.setAttribute('aria-pressed', String(Number(tab.dataset.source) === index));
  });
}

function colour(line, text) {
  let last = 0;
  for (const found of text.matchAll(TOKEN)) {
    const word = found[0];
    const role = found[1] ? 'comment' : found[2] ? 'string' : found[3] ? 'digits' : KEYWORDS.has(word) ? 'keyword' : '';
    if (!role) continue;
    line.append(text.slice(last, found.index), element('span', { class: role }, word));
    last = found.index + word.length;
  }
  line.append(text.slice(last));
}

// Lines to light: those of the active modes, and of the transition that was just taken.
function litLines() {
  const lit = new Map();
  const place = DATA.locations[chosenLocation()];
  for (const [file, from, to] of place ? place.lines : []) {
    for (let n = from; n <= to; n += 1) lit.set(`${file}:${n}`, 'active');
  }
  const event = eventNow();
  if (event && event.line) lit.set(`${event.line[0]}:${event.line[1]}`, 'fired');
  return lit;
}

function eventNow() {
  const run = chosenRun();
  const step = run && run.steps[selection.step];
  return step && step.event && Math.abs(step.t - selection.t) <= 1e-9 * (1 + Math.abs(step.t)) ? step.event : null;
}

function followSource() {
  const lit = litLines();
  const event = eventNow();
  const source = DATA.model.sources[shownSource];
  if (!source) return;
  const files = new Set([...lit.keys()].map((key) => key.slice(0, key.lastIndexOf(':'))));
  const wanted = event && event.line ? event.line[0] : null;
  if (wanted && wanted !== source.file) {
    const other = DATA.model.sources.findIndex((s) => s.file === wanted);
    if (other >= 0) { showSource(other); followSource(); return; }
  } else if (!wanted && files.size && !files.has(source.file)) {
    const other = DATA.model.sources.findIndex((s) => files.has(s.file));
    if (other >= 0) { showSource(other); followSource(); return; }
  }
  let target = null;
  for (const line of byId('source').children) {
    const role = lit.get(`${source.file}:${line.dataset.line}`);
    line.classList.toggle('lit', role === 'active');
    line.classList.toggle('fired', role === 'fired');
    if (role === 'fired' || (role && !target)) target = line;
  }
  if (target) {
    const pre = byId('source');
    const top = target.offsetTop - pre.offsetTop;
    if (top < pre.scrollTop || top > pre.scrollTop + pre.clientHeight - 30) {
      pre.scrollTop = Math.max(0, top - pre.clientHeight / 3);
    }
  }
}

function followDiagram() {
  const place = DATA.locations[chosenLocation()];
  const active = new Set(place ? place.active : []);
  const around = new Set(place ? place.around : []);
  const event = eventNow();
  const line = event && event.line ? `${encodeURIComponent(event.line[0])}%3A${event.line[1]}%3A` : null;
  document.querySelectorAll('#diagram [data-part]').forEach((part) => {
    const tags = part.dataset.part.split(' ');
    part.classList.toggle('lit', tags.some((t) => active.has(t)));
    part.classList.toggle('around', tags.some((t) => around.has(t)));
    part.classList.toggle('fired', Boolean(line) && tags.some((t) => t.includes(line) && componentOf(t, event)));
  });
}

function followGraph() {
  const here = `state:${chosenLocation()}`;
  document.querySelectorAll('#graph [data-part]').forEach((part) => {
    part.classList.toggle('lit', decodeURIComponent(part.dataset.part) === here);
  });
}

// `agent@file:line:column` belongs to the event of that agent; single agents give no name.
function componentOf(tag, event) {
  const agent = decodeURIComponent(tag.split('%40')[0]);
  const named = event.name.includes(': ') ? event.name.slice(0, event.name.lastIndexOf(': ')) : null;
  return named === null || named === agent;
}

const range = ([low, high]) => `${low === null ? '−∞' : show(low, 4)} … ${high === null ? '∞' : show(high, 4)}`;

const SAID = { input: ['input'], parameter: ['parameter'] };

// What is claimed of a variable now: intervals, or those values that have names.
function claimedText(name) {
  const claimed = claimedNow(name);
  const symbols = symbolsOf(name);
  if (!symbols.length) return claimed.map(range).join(' or ');
  const isClaimed = (value) => claimed.some(([low, high]) => (low === null || low <= value) && (high === null || value <= high));
  return symbols.filter((_, value) => isClaimed(value)).join(' or ');
}

function followState() {
  const run = chosenRun();
  if (!run) return;
  const location = chosenLocation();
  const set = chosenClaim() ? chosenClaim().set : null;
  const rows = NAMES.map((name) => {
    return element('tr', {},
      element('td', {}, name, ...(SAID[declaredAs(name).kind] || []).map((kind) => element('span', { class: 'kind' }, kind))),
      element('td', { class: 'number' }, symbolOf(name, chosenValue(name))),
      ...(set ? [element('td', { class: 'number soft' }, claimedText(name))] : []));
  });
  byId('state').replaceChildren(element('table', {},
    element('thead', {}, element('tr', {}, element('th', {}, 'variable'), element('th', {}, 'value'), ...(set ? [element('th', {}, set.functions ? 'claimed, given the others' : 'claimed here')] : []))),
    element('tbody', {}, ...rows)));
  byId('replay-head').replaceChildren(
    element('strong', {}, run.title), ` ${run.raw.how} · t = ${show(selection.t, 7)} · `,
    element('span', { class: 'chip' }, element('span', { class: `swatch ${location ? colourClass(location) : ''}` }), titleOf(location)));
  byId('happening').replaceChildren(...happening(run));
}

const SENTENCES = {
  jump: (e) => `Jump ${e.name}: ${e.source} → ${e.target}.`,
  violation: (e) => `The property “${e.name}” is broken.`,
  boundary: (e) => `The border of the invariant is reached: ${e.name}.`,
  held: (e) => `An inclusion gives way: ${e.name}.`,
  released: (e) => `Free again: ${e.name}.`,
  grazing: (e) => `The guard of ${e.name} is touched, not crossed.`,
};

function happening(run) {
  const event = eventNow();
  const place = DATA.locations[chosenLocation()];
  const lines = [];
  if (event) {
    lines.push(element('p', { class: `event ${event.type}` }, SENTENCES[event.type](event)));
    if (event.guard) lines.push(element('p', {}, 'guard ', element('code', {}, event.guard)));
    if (event.resets && event.resets.length) lines.push(element('p', {}, 'resets ', element('code', {}, event.resets.join('; '))));
  } else if (selection.step === run.steps.length - 1) {
    lines.push(element('p', { class: 'event' }, run.raw.outcome.sentence));
  } else {
    lines.push(element('p', { class: 'event' }, selection.t === run.start ? 'The run starts.' : 'Time passes.'));
  }
  if (place) lines.push(inside(place.inside.join('\n')));
  return lines;
}

// The flows and the invariant of a mode; folded where there are very many.
function inside(text) {
  const pre = element('pre', { class: 'inside' }, text);
  if (text.length <= LONG_INSIDE) return pre;
  const folded = element('details', {}, element('summary', {}, `${text.slice(0, 80)} …`), pre);
  folded.open = unfolded;
  folded.addEventListener('toggle', () => { unfolded = folded.open; });
  return folded;
}

function makeLog() {
  const log = byId('log');
  const run = chosenRun();
  if (!log || !run) return;
  log.replaceChildren(...run.steps.map((step, i) => {
    const text = step.event ? `${step.event.type} ${step.event.name}` : i === 0 ? 'start' : `end: ${run.raw.outcome.ending}`;
    const button = element('button', { type: 'button', class: 'pick', 'data-step': i }, element('span', { class: 'when' }, show(step.t, 6)), ` ${text}`);
    button.addEventListener('click', () => select({ step: i }));
    return element('li', { class: step.event ? step.event.type : 'end' }, button);
  }));
  if (run.raw.events_left_out) log.append(element('li', {}, `${run.raw.events_left_out} more events`));
}

function followLog() {
  const log = byId('log');
  [...log.children].forEach((item, i) => item.classList.toggle('current', i === selection.step));
  const current = log.children[selection.step];
  if (current) {
    const top = current.offsetTop - log.offsetTop;
    if (top < log.scrollTop || top > log.scrollTop + log.clientHeight - 24) log.scrollTop = top - log.clientHeight / 2;
  }
}

function followTables() {
  document.querySelectorAll('#crosscheck tr[data-run]').forEach((row) => {
    row.classList.toggle('current', Number(row.dataset.run) === selection.run);
  });
  const location = chosenLocation();
  const place = DATA.locations[location];
  document.querySelectorAll('.mode-card').forEach((card) => {
    card.classList.toggle('current', card.dataset.location === location);
  });
  const active = new Set(place ? place.active : []);
  document.querySelectorAll('#coverage tr[data-tag]').forEach((row) => {
    row.classList.toggle('current', active.has(row.dataset.tag));
  });
  document.querySelectorAll('.card[data-claim]').forEach((card) => {
    card.classList.toggle('chosen', Number(card.dataset.claim) === selection.claim && DATA.properties.length > 1);
  });
}

// A file as it is embedded: as text, or compressed and in base 64.
async function unpacked(stored) {
  if (typeof stored === 'string') return stored;
  const bytes = Uint8Array.from(atob(stored.gzip), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).text();
}

function save(name, text, type) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = element('a', { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

// A shade at the lower edge of a box says that there is more behind it.
function makeShades() {
  const boxes = document.querySelectorAll('.scroll.tall, .diagram, #source');
  const shade = (box) => box.classList.toggle('more', box.scrollTop + box.clientHeight < box.scrollHeight - 4);
  const all = new ResizeObserver(() => boxes.forEach(shade));
  boxes.forEach((box) => {
    box.addEventListener('scroll', () => shade(box), { passive: true });
    all.observe(box);
  });
}

// Buttons that save the files of one block of the page, by the number of the property.
function makeSaving(block, key, name) {
  const files = JSON.parse(byId(block).textContent);
  document.querySelectorAll(`button.save[data-${key}]`).forEach((button) => button.addEventListener('click', (event) => {
    event.stopPropagation();
    unpacked(files[DATA.properties[Number(button.dataset[key])].name]).then((text) => save(name, text, 'application/json'));
  }));
}

function makePanels() {
  showSource(0);
  makeLog();
  document.querySelectorAll('[data-source]').forEach((tab) => tab.addEventListener('click', () => showSource(Number(tab.dataset.source))));
  document.querySelectorAll('button.pick[data-run]').forEach((button) => button.addEventListener('click', () => {
    const run = Number(button.dataset.run);
    select({ run, t: button.dataset.time === undefined ? RUNS[run].start : Number(button.dataset.time) });
  }));
  document.querySelectorAll('.card[data-claim]').forEach((card) => {
    const choose = () => select({ claim: Number(card.dataset.claim) });
    card.addEventListener('click', choose);
    card.addEventListener('keydown', (event) => { if (event.key === 'Enter') choose(); });
  });
  document.querySelectorAll('.mode-card').forEach((card) => {
    card.querySelector('.swatch').classList.add(colourClass(card.dataset.location));
    card.querySelector('.mode-name').textContent = titleOf(card.dataset.location);
  });
  makeShades();
  makeSaving('certificates', 'claim', 'certificate.json');
  makeSaving('documents', 'proof', 'proof.json');
  makeSaving('recordings', 'trace', 'counterexample.json');
  const all = byId('save-data');
  if (all) all.addEventListener('click', () => save('report.json', JSON.stringify(DATA, null, 1), 'application/json'));
  views.push((changed) => {
    if (changed.run) makeLog();
    followSource();
    followDiagram();
    followGraph();
    if (RUNS.length) {
      followState();
      followLog();
    }
    followTables();
  });
}
