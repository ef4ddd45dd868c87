// Sets where quadratic functions are at most zero, cut by a line: intervals in closed form.
// A function is a list of terms [factor, name, name]; `value` gives all names but one.

// The function along one variable: [a, b, c] of a y^2 + b y + c; null if a value is missing.
function along(terms, name, value) {
  const found = [0, 0, 0];
  for (const [factor, ...names] of terms) {
    let size = factor;
    let power = 0;
    for (const one of names) {
      if (one === name) power += 1;
      else size *= value(one) ?? NaN;
    }
    found[2 - power] += size;
  }
  return found.every(Number.isFinite) ? found : null;
}

function atMostZero([a, b, c]) {
  const tiny = 1e-14 * (Math.abs(a) + Math.abs(b) + Math.abs(c));
  if (Math.abs(a) <= tiny) {
    if (Math.abs(b) <= tiny) return c <= 0 ? [[-Infinity, Infinity]] : [];
    return b > 0 ? [[-Infinity, -c / b]] : [[-c / b, Infinity]];
  }
  const under = b * b - 4 * a * c;
  if (under < 0) return a > 0 ? [] : [[-Infinity, Infinity]];
  const far = -0.5 * (b + (b < 0 ? -1 : 1) * Math.sqrt(under));
  const [low, high] = [far / a, far === 0 ? 0 : c / far].sort((p, q) => p - q);
  return a > 0 ? [[low, high]] : [[-Infinity, low], [high, Infinity]];
}

const shared = (some, others) => some.flatMap(([a, b]) => others
  .map(([c, d]) => [Math.max(a, c), Math.min(b, d)]).filter(([low, high]) => low <= high));

// The values of one variable that the functions allow when all others are known.
function allowed(functions, name, value) {
  let found = [[-Infinity, Infinity]];
  for (const terms of functions) {
    const one = along(terms, name, value);
    if (!one) return [];
    found = shared(found, atMostZero(one));
  }
  return found;
}

// Bands between neighbouring cuts: [place on the screen, intervals], painted as one set.
function bands(group, plot, cuts, role) {
  const low = plot.py(plot.view.y0) + 50;
  const high = plot.py(plot.view.y1) - 50;
  const onScreen = (y) => clamp(Number.isFinite(y) ? plot.py(y) : y > 0 ? high : low, high, low);
  for (let i = 0; i + 1 < cuts.length; i += 1) {
    const [left, first] = cuts[i];
    const [right, second] = cuts[i + 1];
    const ends = first.length === second.length ? second : first;
    first.forEach(([a, b], k) => {
      const corners = [[left, onScreen(a)], [right, onScreen(ends[k][0])], [right, onScreen(ends[k][1])], [left, onScreen(b)]];
      group.append(shape('path', { d: `${path(corners)}Z`, class: role }));
    });
  }
}
