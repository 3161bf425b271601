const escaped = (text) => String(text).replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`).replace(/[\x00-\x08\x0b\x0c\x0e-\x1f]/g, '');
const short1 = (value) => Math.round(value * 10) / 10;

class SvgPen {
  constructor(font) { this.parts = []; this.font = font; }
  line(xs, ys, count, { colour, width, alpha = 1, dash = null }) {
    let path = '';
    let open = false;
    for (let at = 0; at < count; at += 1) {
      if (ys[at] !== ys[at]) { open = false; continue; } // eslint-disable-line no-self-compare
      path += `${open ? 'L' : 'M'}${short1(xs[at])} ${short1(ys[at])}`;
      open = true;
    }
    if (path) this.parts.push(`<path d="${path}" fill="none" stroke="${colour}" stroke-width="${width}" stroke-linejoin="round"${alpha < 1 ? ` stroke-opacity="${alpha}"` : ''}${dash ? ` stroke-dasharray="${dash.join(' ')}"` : ''}/>`);
  }
  area(xs, low, high, count, { colour, alpha }) {
    const points = [];
    for (let at = 0; at < count; at += 1) points.push(`${short1(xs[at])},${short1(high[at])}`);
    for (let at = count - 1; at >= 0; at -= 1) points.push(`${short1(xs[at])},${short1(low[at])}`);
    if (points.length) this.parts.push(`<polygon points="${points.join(' ')}" fill="${colour}" fill-opacity="${alpha}"/>`);
  }
  dot(x, y, radius, colour) { this.parts.push(`<circle cx="${short1(x)}" cy="${short1(y)}" r="${radius}" fill="${colour}"/>`); }
  shape(points, colour, ring) { this.parts.push(`<polygon points="${points.map((point) => point.map(short1).join(',')).join(' ')}" fill="${colour}" stroke="${ring}" stroke-width="1" paint-order="stroke"/>`); }
  rectangle(x, y, width, height, colour, alpha) { this.parts.push(`<rect x="${short1(x)}" y="${short1(y)}" width="${short1(width)}" height="${short1(height)}" fill="${colour}" fill-opacity="${alpha}"/>`); }
  text(x, y, words, colour, align = 'left', halo = null, size = 11, weight = 400) {
    const anchor = { left: 'start', right: 'end', center: 'middle' }[align];
    const ring = halo ? ` stroke="${halo}" stroke-width="3" paint-order="stroke" stroke-linejoin="round"` : '';
    this.parts.push(`<text x="${short1(x)}" y="${short1(y)}" fill="${colour}" font-size="${size}" font-weight="${weight}" text-anchor="${anchor}"${ring}>${escaped(words)}</text>`);
  }
  wide(words) { return words.length * 6.2; }
}

const LEGEND = 24;

// The chart as a picture of its own: title, axes, curves, and which colour is which.
function chartSvg(chart) {
  const { app, plot } = chart;
  const [width, height] = [Math.max(640, plot.width), Math.max(360, plot.height)];
  const pen = new SvgPen(app.theme.font);
  const shown = chart.layers.flatMap((layer) => layer.series.map((series) => ({ layer, series })));
  const named = shown.slice(0, LEGEND);
  const [left, top] = [64, 40];
  const rows = Math.ceil(named.length / 2);
  const geometry = { left, top, width: width - left - 20, height: height - top - 44, ...chart.scales };
  const maps = projections(geometry);
  const bottom = top + geometry.height;
  const total = height + 18 * rows + (shown.length > LEGEND ? 18 : 0) + 10;
  const xs = xTicks(app.view.x, ...chart.scales.x, geometry.width, chart.scales.logX);
  const labels = app.view.x === 'wall' ? xs.map((value) => new Date(value * 1000).toLocaleTimeString()) : xLabels(app.view.x, xs, ...chart.scales.x);
  const ys = yTicks(...chart.scales.y, geometry.height, chart.scales.logY);
  const words = yLabels(ys, chart.scales.logY);
  pen.rectangle(0, 0, width, total, app.theme.ground, 1);
  pen.text(left, 22, chart.title, app.theme.ink, 'left', null, 14, 600);
  xs.forEach((value, at) => { const x = maps.px(value); pen.parts.push(`<path d="M${short1(x)} ${top}V${bottom}" stroke="${app.theme.grid}"/>`); pen.text(x, bottom + 16, labels[at], app.theme.faint, 'center'); });
  ys.forEach((value, at) => { const y = maps.py(value); pen.parts.push(`<path d="M${left} ${short1(y)}H${left + geometry.width}" stroke="${app.theme.grid}"/>`); pen.text(left - 8, y + 4, words[at], app.theme.faint, 'right'); });
  pen.text(left + geometry.width / 2, bottom + 34, app.axisTitle(chart.unit), app.theme.faint, 'center');
  pen.parts.push(`<clipPath id="inside"><rect x="${left}" y="${top}" width="${geometry.width}" height="${geometry.height}"/></clipPath><g clip-path="url(#inside)">`);
  paint(pen, chart.drawing(), geometry, 1);
  pen.parts.push('</g>');
  named.forEach(({ layer, series }, at) => {
    const [x, y] = [left + (at % 2) * (geometry.width / 2), height + 4 + 18 * Math.floor(at / 2)];
    pen.parts.push(`<path d="M${x} ${y - 4}h18" stroke="${app.colourOf(series)}" stroke-width="2"${layer.dash ? ` stroke-dasharray="${layer.dash.join(' ')}"` : ''}/>`);
    const name = app.nameOf(series) + (chart.layers.length > 1 ? ` · ${layer.label}` : '');
    pen.text(x + 24, y, name.length > 44 ? `…${name.slice(-43)}` : name, app.theme.ink);
  });
  if (shown.length > LEGEND) pen.text(left, height + 4 + 18 * rows, `and ${COUNT.format(shown.length - LEGEND)} more`, app.theme.faint);
  return { svg: `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${total}" viewBox="0 0 ${width} ${total}" font-family="${escaped(app.theme.font)}">${pen.parts.join('')}</svg>`, width, height: total };
}

function save(blob, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const fileName = (text) => text.replace(/[^\p{L}\p{N}._-]+/gu, '_').slice(0, 80) || 'curves';

function saveSvg(chart) { save(new Blob([chartSvg(chart).svg], { type: 'image/svg+xml' }), `${fileName(chart.title)}.svg`); }

async function savePng(chart) {
  const { svg, width, height } = chartSvg(chart);
  const picture = new Image();
  const url = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }));
  picture.src = url;
  await picture.decode();
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [2 * width, 2 * height];
  canvas.getContext('2d').drawImage(picture, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(url);
  save(await new Promise((done) => { canvas.toBlob(done, 'image/png'); }), `${fileName(chart.title)}.png`);
}

// The points themselves come from the server: all of them, not what is drawn.
function exportUrl(app, format, tags) {
  const query = new URLSearchParams({ format });
  for (const tag of tags) query.append('tag', tag);
  if (app.visible.length !== app.index.runs.length) query.set('runs', app.visible.join(','));
  return `${app.api}/export?${query}`;
}

class Menu {
  constructor(root) {
    this.element = root.querySelector('.menu');
    root.addEventListener('click', (event) => { if (!this.element.hidden && !event.composedPath().some((one) => one === this.element || one === this.owner)) this.close(); });
    this.element.onkeydown = (event) => {
      const items = [...this.element.querySelectorAll('button')];
      const at = items.indexOf(this.element.getRootNode().activeElement);
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step) items[(at + step + items.length) % items.length].focus();
      else if (event.key === 'Escape') { const { owner } = this; this.close(); owner.focus(); }
      else return;
      event.preventDefault();
      event.stopPropagation();
    };
  }
  close() { this.element.hidden = true; this.owner = null; }
  open(owner, choices) {
    if (this.owner === owner) { this.close(); return; }
    this.owner = owner;
    this.element.replaceChildren(...choices.map(([label, action]) => {
      const button = make('button', '', label);
      button.type = 'button';
      button.setAttribute('role', 'menuitem');
      button.onclick = () => { this.close(); action(); };
      return button;
    }));
    this.element.hidden = false;
    const box = owner.getBoundingClientRect();
    const { width, height } = this.element.getBoundingClientRect();
    this.element.style.left = `${Math.max(8, Math.min(box.right - width, window.innerWidth - width - 8))}px`;
    this.element.style.top = `${box.bottom + height + 8 > window.innerHeight ? box.top - height - 4 : box.bottom + 4}px`;
    this.element.querySelector('button').focus();
  }
}
