// Values under the pointer: a line at one time through all panels over time, and what every
// variable is there; in a phase plot, the point itself. Numbers are as exact as the drawing.

const SHOWN = 12; // so many variables and runs are told
const NEAR = 14; // pixels between the pointer and what is told

for (const plot of document.querySelectorAll('svg.tp')) read(plot);

function read(plot) {
  const panels = [...plot.querySelectorAll('rect.frame')].map(panelOf);
  const curves = [...plot.querySelectorAll('path.run')].map(curveOf);
  const line = plot.appendChild(document.createElementNS(plot.namespaceURI, 'path'));
  line.setAttribute('class', 'reading-line');
  const told = document.body.appendChild(document.createElement('div'));
  told.className = 'reading';
  told.hidden = true;
  const leave = () => { told.hidden = true; line.removeAttribute('d'); };
  plot.addEventListener('pointerleave', leave);
  plot.addEventListener('pointermove', (event) => {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(plot.getScreenCTM().inverse());
    const panel = panels.find((p) => p.x <= at.x && at.x <= p.x + p.width && p.y <= at.y && at.y <= p.y + p.height);
    if (!panel) { leave(); return; }
    const lines = panel.across === 'time' ? moment(panels, curves, line, at.x) : point(panel, line, at);
    told.replaceChildren(...lines);
    told.hidden = false;
    const room = document.documentElement.clientWidth - told.offsetWidth - NEAR;
    told.style.left = `${Math.max(0, Math.min(event.clientX + NEAR, room))}px`;
    told.style.top = `${event.clientY + NEAR}px`;
  });
}

// Every variable at the time of a pixel.
function moment(panels, curves, line, x) {
  const timed = panels.filter((p) => p.across === 'time');
  line.setAttribute('d', timed.map((p) => `M${x} ${p.y}v${p.height}`).join(''));
  const found = [row(`t = ${short(timed[0].valueAcross(x))}`)];
  let more = 0;
  for (const panel of timed) {
    for (const curve of curves.filter((c) => panel.holds(c))) {
      const y = curve.at(x);
      if (y === null) continue;
      if (found.length > SHOWN) more += 1;
      else found.push(row(`${curve.name} = ${short(panel.valueUp(y))}`, curve.colour));
    }
  }
  if (more) found.push(row(`and ${more} more`));
  return found;
}

// Where the pointer is in a phase plot.
function point(panel, line, at) {
  line.setAttribute('d', `M${at.x} ${panel.y}v${panel.height}M${panel.x} ${at.y}h${panel.width}`);
  return [row(`${panel.across} = ${short(panel.valueAcross(at.x))}`), row(`${panel.up} = ${short(panel.valueUp(at.y))}`)];
}

function panelOf(frame) {
  const [x, y, width, height] = ['x', 'y', 'width', 'height'].map((name) => Number(frame.getAttribute(name)));
  const [left, right] = frame.dataset.x.split(' ').map(Number);
  const [bottom, top] = frame.dataset.y.split(' ').map(Number);
  return {
    x, y, width, height,
    across: frame.dataset.across,
    up: frame.dataset.up,
    valueAcross: (px) => left + ((px - x) / width) * (right - left),
    valueUp: (py) => bottom + ((y + height - py) / height) * (top - bottom),
    holds: (curve) => y - 1 <= curve.top && curve.top <= y + height + 1,
  };
}

// A run as the points of its path; pieces that a jump separates stay apart.
function curveOf(path) {
  const pieces = path.getAttribute('d').split('M').slice(1)
    .map((piece) => piece.split('L').map((pair) => pair.trim().split(' ').map(Number)));
  const at = (x) => {
    let found = null; // where pieces meet, the later one counts: the value after the jump
    for (const piece of pieces) {
      for (let i = 1; i < piece.length; i += 1) {
        const [[a, b], [c, d]] = [piece[i - 1], piece[i]];
        if (a <= x && x <= c) found = c > a ? b + ((x - a) / (c - a)) * (d - b) : d;
      }
    }
    return found;
  };
  return { at, name: path.dataset.name, colour: getComputedStyle(path).stroke, top: pieces[0][0][1] };
}

function row(text, colour) {
  const made = document.createElement('div');
  made.textContent = text;
  if (colour) made.style.color = colour;
  return made;
}

const short = (value) => String(Number(value.toPrecision(5)));
