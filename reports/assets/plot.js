// One plot: axes, claimed sets, bad states, runs, the selected moment; zoom, pan and hover.

const MARGIN = { left: 58, right: 14, top: 12, bottom: 40 };
const EVENT_REACH = 9; // pixels
const EVENTS_TOLD = 5;
const NAMES_TOLD = 8;
let patterns = 0;

// Where an axis has marks: at whole numbers where nothing lies between them.
function marks(name, low, high, wanted) {
  const found = ticks(low, high, wanted);
  return declaredAs(name).type === 'real' ? found : [...new Set(found.map(Math.round))].filter((n) => low <= n && n <= high);
}

class Plot {
  constructor(container, axes) {
    this.container = container;
    this.axes = axes;
    this.view = null;
    this.isNear = Boolean(chosenRun() && chosenRun().claim); // a counterexample fills the plot
    this.paper = null; // a width that does not follow the window
    this.pattern = `hatch-${(patterns += 1)}`;
    this.bar = element('div', { class: 'plot-bar' });
    this.svg = shape('svg', { class: 'plot-area', tabindex: 0, role: 'img' });
    this.tip = element('div', { class: 'tip', hidden: '' });
    this.foot = element('p', { class: 'small plot-foot' });
    container.append(this.bar, this.svg, this.tip, this.foot);
    this.addButtons();
    this.listen();
  }

  addChoice(label, axis, names) {
    const choice = element('select', { 'aria-label': label, 'data-axis': axis });
    for (const name of names) choice.append(element('option', { value: name }, name));
    choice.value = this.axes[axis];
    choice.addEventListener('change', () => {
      this.axes[axis] = choice.value;
      this.view = null;
      this.draw();
    });
    this.bar.insertBefore(element('label', {}, `${label} `, choice), this.buttons);
  }

  addButtons() {
    const button = (sign, label, act) => {
      const made = element('button', { type: 'button', title: label, 'aria-label': label }, sign);
      made.addEventListener('click', act);
      return made;
    };
    this.buttons = element('span', { class: 'plot-buttons' },
      button('+', 'Zoom in', () => this.zoom(0.7)),
      button('−', 'Zoom out', () => this.zoom(1 / 0.7)),
      button('⤢', 'Fit', () => this.fitAll()));
    this.bar.append(this.buttons);
  }

  fitAll() {
    this.isNear = false;
    this.view = null;
    this.draw();
  }

  // Extent: what the runs cover, or a counterexample and its rescue, with the bad states where
  // they are near.
  extent(axis) {
    const name = this.axes[axis];
    const rescued = this.isNear ? (name === 'time' ? rescuedTimes() : rescuedOf(name)) || [] : [];
    let low = Math.min(...rescued);
    let high = Math.max(...rescued);
    for (const run of this.isNear && chosenRun() ? [chosenRun()] : RUNS) {
      for (const stretch of run.stretches) {
        for (const value of run.column(stretch, name)) {
          if (value === null) continue;
          if (value < low) low = value;
          if (value > high) high = value;
        }
      }
    }
    if (!(low <= high)) return [-1, 1];
    const spread = high - low || Math.max(Math.abs(high), 1);
    for (const edge of this.badEdges(name)) {
      if (edge > low - 0.5 * spread && edge < high + 0.5 * spread) {
        low = Math.min(low, edge - 0.06 * spread);
        high = Math.max(high, edge + 0.06 * spread);
      }
    }
    const pad = name === 'time' ? 0.01 : 0.06;
    const room = (high - low || spread) * pad;
    return [low - room, high + room];
  }

  badEdges(name) {
    const bad = chosenClaim() ? chosenClaim().bad : null;
    const found = [];
    for (const shapes of Object.values(bad ? bad.locations : {})) {
      for (const one of shapes) if (one.axes.length === 1 && one.axes[0] === name) found.push(...one.shape.filter((end) => end !== null));
    }
    found.push(...brokenEdges(name));
    return found;
  }

  measure() {
    const width = this.paper || Math.max(260, this.container.clientWidth - 24);
    const height = clamp(width * 0.64, 240, 420);
    this.size = { width, height };
    if (!this.view) {
      const [x0, x1] = this.extent('x');
      const [y0, y1] = this.extent('y');
      this.view = { x0, x1, y0, y1 };
    }
    const inner = { w: width - MARGIN.left - MARGIN.right, h: height - MARGIN.top - MARGIN.bottom };
    const v = this.view;
    this.px = (x) => MARGIN.left + ((x - v.x0) / (v.x1 - v.x0)) * inner.w;
    this.py = (y) => MARGIN.top + inner.h - ((y - v.y0) / (v.y1 - v.y0)) * inner.h;
    this.inner = inner;
  }

  draw() {
    this.measure();
    const { width, height } = this.size;
    const clip = `${this.pattern}-clip`;
    this.svg.replaceChildren();
    fill(this.svg, {
      viewBox: `0 0 ${width} ${height}`, width, height,
      'aria-label': `${this.axes.y} over ${this.axes.x}`,
    }, []);
    this.svg.append(
      shape('defs', {},
        shape('pattern', { id: this.pattern, width: 7, height: 7, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' },
          shape('line', { x1: 0, y1: 0, x2: 0, y2: 7, class: 'hatch' })),
        shape('clipPath', { id: clip },
          shape('rect', { x: MARGIN.left, y: MARGIN.top, width: this.inner.w, height: this.inner.h }))));
    this.drawAxes();
    const inside = shape('g', { 'clip-path': `url(#${clip})` });
    this.drawBad(inside);
    this.sets = shape('g');
    inside.append(this.sets);
    this.drawSets(this.sets);
    this.drawRuns(inside);
    this.cursor = shape('g', { class: 'cursor' });
    inside.append(this.cursor);
    this.svg.append(inside);
    this.drawCursor();
    this.tell();
  }

  tell() {
    this.foot.textContent = this.isNear ? `${this.remark()} ⤢ shows all runs.` : this.remark();
  }

  drawAxes() {
    const { width, height } = this.size;
    const v = this.view;
    const axes = shape('g', { class: 'axes' });
    const bottom = height - MARGIN.bottom;
    for (const x of marks(this.axes.x, v.x0, v.x1, this.inner.w / 70)) {
      const at = this.px(x);
      axes.append(shape('line', { x1: at, x2: at, y1: MARGIN.top, y2: bottom, class: 'grid' }),
        shape('text', { x: at, y: bottom + 15, 'text-anchor': 'middle' }, symbolOf(this.axes.x, x)));
    }
    for (const y of marks(this.axes.y, v.y0, v.y1, this.inner.h / 42)) {
      const at = this.py(y);
      axes.append(shape('line', { x1: MARGIN.left, x2: width - MARGIN.right, y1: at, y2: at, class: 'grid' }),
        shape('text', { x: MARGIN.left - 6, y: at + 4, 'text-anchor': 'end' }, symbolOf(this.axes.y, y)));
    }
    axes.append(
      shape('rect', { x: MARGIN.left, y: MARGIN.top, width: this.inner.w, height: this.inner.h, class: 'frame' }),
      shape('text', { x: MARGIN.left + this.inner.w / 2, y: height - 6, 'text-anchor': 'middle', class: 'axis-name' }, this.axes.x),
      shape('text', { x: 14, y: MARGIN.top + this.inner.h / 2, 'text-anchor': 'middle', class: 'axis-name', transform: `rotate(-90 14 ${MARGIN.top + this.inner.h / 2})` }, this.axes.y));
    this.svg.append(axes);
  }

  drawRuns(inside) {
    const others = shape('g', { class: this.isNear ? 'runs faint' : 'runs' });
    const chosen = shape('g', { class: 'runs chosen' });
    for (const run of RUNS) {
      const group = run.number === selection.run ? chosen : others;
      this.drawRun(group, run, run.number === selection.run);
    }
    inside.append(others, chosen);
  }

  drawRun(group, run, marked) {
    let last = null;
    for (const stretch of run.stretches) {
      const xs = run.column(stretch, this.axes.x);
      const ys = run.column(stretch, this.axes.y);
      const points = [];
      for (let i = 0; i < xs.length; i += 1) {
        if (xs[i] !== null && ys[i] !== null) points.push([this.px(xs[i]), this.py(ys[i])]);
      }
      if (!points.length) continue;
      if (last && Math.hypot(last[0] - points[0][0], last[1] - points[0][1]) > 1.5) {
        group.append(shape('path', { d: path([last, points[0]]), class: 'leap' }));
      }
      group.append(shape('path', { d: path(points), class: `run ${colourClass(stretch.location)}` }));
      last = points[points.length - 1];
    }
    for (const event of run.events) {
      if (event.type !== 'jump' && event.type !== 'violation') continue;
      const x = run.after(this.axes.x, event);
      const y = run.after(this.axes.y, event);
      if (x === null || y === null) continue;
      const at = [this.px(x), this.py(y)];
      const big = marked ? 4.5 : 2.6;
      group.append(event.type === 'jump'
        ? shape('path', { d: `M${at[0]} ${at[1] - big}l${big} ${big}l${-big} ${big}l${-big} ${-big}Z`, class: 'jump' })
        : shape('path', { d: `M${at[0] - big} ${at[1] - big}l${2 * big} ${2 * big}m0 ${-2 * big}l${-2 * big} ${2 * big}`, class: 'violation' }));
    }
  }

  drawCursor() {
    if (!this.cursor) return;
    this.cursor.replaceChildren();
    const run = chosenRun();
    if (!run) return;
    const x = chosenValue(this.axes.x);
    const y = chosenValue(this.axes.y);
    if (this.axes.x === 'time') {
      const at = this.px(selection.t);
      this.cursor.append(shape('line', { x1: at, x2: at, y1: MARGIN.top, y2: MARGIN.top + this.inner.h, class: 'now' }));
    }
    if (x !== null && y !== null) {
      const mode = chosenLocation();
      this.cursor.append(shape('circle', { cx: this.px(x), cy: this.py(y), r: 6, class: `spot ${mode ? colourClass(mode) : ''}` }));
    }
  }

  // The selected moment moved: the cursor, and what depends on it.
  follow() {
    if (this.followsTime) {
      this.sets.replaceChildren();
      this.drawSets(this.sets);
      this.tell();
    }
    this.drawCursor();
  }

  get followsTime() { return false; }

  // Moving the view

  zoom(factor, x, y) {
    const v = this.view;
    const cx = x === undefined ? (v.x0 + v.x1) / 2 : x;
    const cy = y === undefined ? (v.y0 + v.y1) / 2 : y;
    this.view = {
      x0: cx + (v.x0 - cx) * factor, x1: cx + (v.x1 - cx) * factor,
      y0: cy + (v.y0 - cy) * factor, y1: cy + (v.y1 - cy) * factor,
    };
    this.draw();
  }

  pan(dx, dy) {
    const v = this.view;
    const sx = (dx / this.inner.w) * (v.x1 - v.x0);
    const sy = (dy / this.inner.h) * (v.y1 - v.y0);
    this.view = { x0: v.x0 - sx, x1: v.x1 - sx, y0: v.y0 + sy, y1: v.y1 + sy };
    this.draw();
  }

  place(event) {
    const box = this.svg.getBoundingClientRect();
    const scale = this.size.width / box.width;
    const at = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
    const v = this.view;
    return {
      at,
      x: v.x0 + ((at[0] - MARGIN.left) / this.inner.w) * (v.x1 - v.x0),
      y: v.y0 + ((MARGIN.top + this.inner.h - at[1]) / this.inner.h) * (v.y1 - v.y0),
    };
  }

  listen() {
    let held = null;
    this.svg.addEventListener('pointerdown', (event) => {
      held = { x: event.clientX, y: event.clientY, moved: false };
    });
    this.svg.addEventListener('pointermove', (event) => {
      if (held && event.buttons) {
        const dx = event.clientX - held.x;
        const dy = event.clientY - held.y;
        if (held.moved || Math.hypot(dx, dy) > 4) {
          if (!held.moved) this.svg.setPointerCapture(event.pointerId);
          Object.assign(held, { x: event.clientX, y: event.clientY, moved: true });
          this.tip.hidden = true;
          this.pan(dx, dy);
        }
        return;
      }
      this.hover(event);
    });
    this.svg.addEventListener('pointerup', (event) => {
      if (held && !held.moved) {
        const near = this.nearest(this.place(event).at);
        if (near) select({ run: near.run.number, t: near.t, stretch: near.run.stretches.indexOf(near.stretch) });
      }
      held = null;
    });
    this.svg.addEventListener('pointerleave', () => { this.tip.hidden = true; });
    this.svg.addEventListener('dblclick', () => this.fitAll());
    this.svg.addEventListener('wheel', (event) => {
      if (!event.ctrlKey && !event.metaKey && document.activeElement !== this.svg) return;
      event.preventDefault();
      const { x, y } = this.place(event);
      this.zoom(event.deltaY > 0 ? 1.15 : 1 / 1.15, x, y);
    }, { passive: false });
    this.svg.addEventListener('keydown', (event) => this.key(event));
  }

  key(event) {
    const moves = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] };
    if (moves[event.key]) this.pan(...moves[event.key]);
    else if (event.key === '+' || event.key === '=') this.zoom(0.8);
    else if (event.key === '-') this.zoom(1.25);
    else if (event.key === '0') this.fitAll();
    else return;
    event.preventDefault();
  }

  // The point of a run nearest to a place on the screen; the selected run wins ties.
  nearest(at) {
    let best = null;
    for (const run of RUNS) {
      const bonus = run.number === selection.run ? 0.6 : 1;
      for (const stretch of run.stretches) {
        const xs = run.column(stretch, this.axes.x);
        const ys = run.column(stretch, this.axes.y);
        for (let i = 0; i < xs.length; i += 1) {
          if (xs[i] === null || ys[i] === null) continue;
          const distance = bonus * Math.hypot(this.px(xs[i]) - at[0], this.py(ys[i]) - at[1]);
          if (!best || distance < best.distance) {
            best = { distance, run, stretch, t: stretch.t[i], x: xs[i], y: ys[i] };
          }
        }
      }
    }
    return best && best.distance < 40 ? best : null;
  }

  // The transitions and violations of a run that are drawn near a place on the screen.
  eventsNear(run, at) {
    return run.events.filter((event) => {
      if (event.type !== 'jump' && event.type !== 'violation') return false;
      const x = run.after(this.axes.x, event);
      const y = run.after(this.axes.y, event);
      return x !== null && y !== null && Math.hypot(this.px(x) - at[0], this.py(y) - at[1]) < EVENT_REACH;
    });
  }

  hover(event) {
    const { at } = this.place(event);
    const near = this.nearest(at);
    this.tip.hidden = !near;
    if (!near) return;
    const line = (name, value) => element('div', {}, element('b', {}, name), ` ${value}`);
    const names = new Set([this.axes.y, this.axes.x, ...NAMES]);
    names.delete('time');
    this.tip.replaceChildren(
      element('div', { class: 'tip-head' }, element('span', { class: `swatch ${colourClass(near.stretch.location)}` }), `${near.run.title} · ${titleOf(near.stretch.location)}`),
      ...this.told(this.eventsNear(near.run, at)),
      line('t', show(near.t)),
      ...[...names].slice(0, NAMES_TOLD).map((name) => line(name, symbolOf(name, sample(near.stretch, name, near.t)))));
    const box = this.container.getBoundingClientRect();
    const left = clamp(event.clientX - box.left + 14, 4, Math.max(4, box.width - this.tip.offsetWidth - 4));
    this.tip.style.left = `${left}px`;
    this.tip.style.top = `${event.clientY - box.top + 14}px`;
  }

  told(events) {
    const lines = events.slice(0, EVENTS_TOLD).map((e) => element('div', {}, e.type === 'jump'
      ? `◆ ${e.name}: ${e.source} → ${e.target} at ${show(e.t, 7)}`
      : `✗ ${e.name} is broken at ${show(e.t, 7)}`));
    if (events.length > EVENTS_TOLD) lines.push(element('div', {}, `and ${events.length - EVENTS_TOLD} more`));
    return lines;
  }

  drawBad() {}

  drawSets() {}

  remark() { return ''; }
}
