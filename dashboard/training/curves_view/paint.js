// Drawn twice from the same description: on a canvas for the screen, and as SVG for a file.
class CanvasPen {
  constructor(context, ratio) { this.context = context; this.ratio = ratio; }
  line(xs, ys, count, { colour, width, alpha = 1, dash = null }) {
    const { context } = this;
    context.globalAlpha = alpha;
    context.strokeStyle = colour;
    context.lineWidth = width * this.ratio;
    context.setLineDash(dash ? dash.map((part) => part * this.ratio) : []);
    context.beginPath();
    let open = false;
    for (let at = 0; at < count; at += 1) {
      const y = ys[at];
      if (y !== y) open = false; // eslint-disable-line no-self-compare
      else if (open) context.lineTo(xs[at], y);
      else { context.moveTo(xs[at], y); open = true; }
    }
    context.stroke();
    context.globalAlpha = 1;
    context.setLineDash([]);
  }
  area(xs, low, high, count, { colour, alpha }) {
    const { context } = this;
    context.globalAlpha = alpha;
    context.fillStyle = colour;
    context.beginPath();
    for (let at = 0; at < count; at += 1) context.lineTo(xs[at], high[at]);
    for (let at = count - 1; at >= 0; at -= 1) context.lineTo(xs[at], low[at]);
    context.fill();
    context.globalAlpha = 1;
  }
  dot(x, y, radius, colour, ring) {
    const { context } = this;
    context.beginPath();
    context.arc(x, y, radius * this.ratio, 0, 2 * Math.PI);
    context.fillStyle = colour;
    context.fill();
    if (ring) { context.lineWidth = 1.5 * this.ratio; context.strokeStyle = ring; context.stroke(); }
  }
  shape(points, colour, ring) {
    const { context } = this;
    context.beginPath();
    points.forEach(([x, y]) => context.lineTo(x, y));
    context.closePath();
    context.lineWidth = 2 * this.ratio;
    context.strokeStyle = ring;
    context.stroke();
    context.fillStyle = colour;
    context.fill();
  }
  rectangle(x, y, width, height, colour, alpha) {
    this.context.globalAlpha = alpha;
    this.context.fillStyle = colour;
    this.context.fillRect(x, y, width, height);
    this.context.globalAlpha = 1;
  }
  text(x, y, words, colour, align = 'left', halo = null) {
    const { context } = this;
    context.font = `${11 * this.ratio}px ${this.font || 'sans-serif'}`;
    context.textAlign = align;
    context.textBaseline = 'alphabetic';
    if (halo) { context.lineJoin = 'round'; context.lineWidth = 3 * this.ratio; context.strokeStyle = halo; context.strokeText(words, x, y); }
    context.fillStyle = colour;
    context.fillText(words, x, y);
  }
  wide(words) { this.context.font = `${11 * this.ratio}px ${this.font || 'sans-serif'}`; return this.context.measureText(words).width; }
}

let scratchX = new Float32Array(4096);
let scratchY = new Float32Array(4096);
let scratchZ = new Float32Array(4096);
function room(count) {
  if (scratchX.length >= count) return;
  const size = 2 ** Math.ceil(Math.log2(count));
  [scratchX, scratchY, scratchZ] = [new Float32Array(size), new Float32Array(size), new Float32Array(size)];
}

// A geometry maps values to pixels: {left, top, width, height, x: [low, high], y: [low, high], logX, logY}.
function projections(geometry) {
  const { left, top, width, height, x, y, logX, logY } = geometry;
  const toX = logX ? Math.log10 : Number;
  const toY = logY ? Math.log10 : Number;
  const [x0, x1, y0, y1] = [toX(x[0]), toX(x[1]), toY(y[0]), toY(y[1])];
  const perX = width / (x1 - x0 || 1);
  const perY = height / (y1 - y0 || 1);
  const far = 20 * height;
  const bound = (value) => Math.max(top - far, Math.min(top + height + far, value));
  return {
    px: logX ? (value) => (value > 0 ? left + (Math.log10(value) - x0) * perX : NaN) : (value) => left + (value - x0) * perX,
    py: logY ? (value) => (value > 0 ? bound(top + height - (Math.log10(value) - y0) * perY) : NaN) : (value) => bound(top + height - (value - y0) * perY),
  };
}

// Only what lies in sight, and one neighbour on each side so that lines reach the edge.
function inSight(series, [low, high]) {
  const { x } = series;
  if (!series.sorted || !x.length) return [0, x.length];
  return [Math.max(0, below(x, low) - 1), Math.min(x.length, below(x, high) + 2)];
}
function below(values, wanted) {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < wanted) low = middle + 1; else high = middle;
  }
  return low;
}

function strip(pen, series, values, geometry, maps, style) {
  const [first, last] = inSight(series, geometry.x);
  room(last - first);
  let count = 0;
  for (let at = first; at < last; at += 1) {
    const x = maps.px(series.x[at]);
    if (x !== x) continue; // eslint-disable-line no-self-compare
    scratchX[count] = x;
    scratchY[count] = maps.py(values[at]);
    count += 1;
  }
  pen.line(scratchX, scratchY, count, style);
  return count;
}

function cloud(pen, series, geometry, maps, style) {
  const [first, last] = inSight(series, geometry.x);
  room(last - first);
  let count = 0;
  for (let at = first; at < last; at += 1) {
    const x = maps.px(series.x[at]);
    let [low, high] = [maps.py(series.low[at]), maps.py(series.high[at])];
    if (high !== high) continue; // eslint-disable-line no-self-compare
    if (low !== low) low = geometry.top + geometry.height; // eslint-disable-line no-self-compare
    [scratchX[count], scratchY[count], scratchZ[count]] = [x, low, high];
    count += 1;
  }
  pen.area(scratchX, scratchY, scratchZ, count, style);
}

const MOST_WORDS = 4;
const SEVERITIES = { critical: 'bad', high: 'bad', medium: 'careful', low: 'plain', info: 'plain' };

// `drawing`: {layers: [{series, dash}], colourOf, marks, ink, theme, smooth, many, focus}.
function paint(pen, drawing, geometry, ratio) {
  const maps = projections(geometry);
  const { left, top, width, height } = geometry;
  const edge = (value) => Math.max(left - 10, Math.min(left + width + 10, maps.px(value)));
  // One stretch is shaded; several would hide each other, and become strips at the foot.
  const stretches = drawing.marks.filter((mark) => mark.until > mark.at);
  stretches.forEach((mark, at) => {
    const [from, to] = [edge(mark.at), edge(mark.until)];
    const colour = drawing.theme[SEVERITIES[mark.severity] || 'plain'];
    if (stretches.length === 1) pen.rectangle(from, top, to - from, height, colour, 0.08);
    else pen.rectangle(from, top + height - (4 + 5 * (at % 5)) * ratio, to - from, 3 * ratio, drawing.runColour(mark.run), 0.75);
  });
  const { many } = drawing;
  const strong = many > 300 ? 0.35 : many > 60 ? 0.6 : 1;
  const thick = many > 60 ? 1 : many > 12 ? 1.4 : 1.8;
  for (const layer of drawing.layers) {
    for (const series of layer.series) {
      const colour = drawing.colourOf(series);
      if (series.low && series.high) cloud(pen, series, geometry, maps, { colour, alpha: many > 20 ? 0.1 : 0.2 });
      const smooth = series.smooth;
      const raw = smooth ? { colour, width: 1, alpha: 0.28, dash: null } : { colour, width: thick, alpha: strong, dash: layer.dash };
      // Behind very many curves the raw values would be a fog; where there are few they stay in sight.
      const count = smooth && many > 60 ? 2 : strip(pen, series, series.y, geometry, maps, raw);
      if (smooth) strip(pen, series, smooth, geometry, maps, { colour, width: thick, alpha: strong, dash: layer.dash });
      if (many <= 60 && count && count < width / ratio / 16 && (!smooth || count === 1)) {
        const [first, last] = inSight(series, geometry.x);
        for (let at = first; at < last; at += 1) {
          const [x, y] = [maps.px(series.x[at]), maps.py((smooth || series.y)[at])];
          if (x === x && y === y) pen.dot(x, y, layer.dash ? 1.8 : 2.3, colour, null); // eslint-disable-line no-self-compare
        }
      }
    }
  }
  for (const layer of drawing.layers) for (const series of layer.series) nonFinite(pen, series, drawing, geometry, maps, ratio);
  const visible = drawing.marks.map((mark) => ({ ...mark, x: maps.px(mark.at), colour: drawing.theme[SEVERITIES[mark.severity] || 'plain'] }))
    .filter(({ x }) => x >= left && x <= left + width);
  for (const { x, colour } of visible) {
    [scratchX[0], scratchX[1], scratchY[0], scratchY[1]] = [x, x, top, top + height];
    pen.line(scratchX, scratchY, 2, { colour, width: 1.2, dash: [2, 3] });
  }
  // Words last: no line strikes them through.
  visible.slice(0, MOST_WORDS).forEach(({ x, colour, label }, row) => {
    const words = label.length > 34 ? `${label.slice(0, 33)}…` : label;
    const fits = x + 5 * ratio + pen.wide(words) < left + width;
    pen.text(x + (fits ? 5 : -5) * ratio, top + (12 + 14 * row) * ratio, words, colour, fits ? 'left' : 'right', drawing.theme.ground);
  });
}

// NaN as a diamond, infinities as arrows at the edge that they left by.
function nonFinite(pen, series, drawing, geometry, maps, ratio) {
  const { top, height, left, width } = geometry;
  const size = (drawing.many > 60 ? 3 : 4.5) * ratio;
  let before = -Infinity;
  for (const [at, kind, hint] of series.marks) {
    const x = maps.px(at);
    if (!(x >= left - 1 && x <= left + width + 1) || x - before < size * 2.6) continue;
    before = x;
    const colour = drawing.colourOf(series);
    if (kind === 'nan') {
      let y = typeof hint === 'number' ? maps.py(hint) : NaN;
      if (!(y >= top + size && y <= top + height - size)) y = y > top + height - size ? top + height - size : top + size;
      pen.shape([[x, y - size], [x + size, y], [x, y + size], [x - size, y]], colour, drawing.theme.ground);
    } else {
      const up = kind === '+inf';
      const y = up ? top + 1 : top + height - 1;
      const to = up ? y + 1.7 * size : y - 1.7 * size;
      pen.shape([[x, y], [x + size, to], [x - size, to]], colour, drawing.theme.ground);
    }
  }
}
