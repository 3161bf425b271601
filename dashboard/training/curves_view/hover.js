const MOST_HOVERED = 12;

function nearestPlace(series, wanted) {
  const { x } = series;
  if (!x.length) return -1;
  if (series.sorted) {
    const at = below(x, wanted);
    if (at >= x.length) return x.length - 1;
    return at > 0 && wanted - x[at - 1] < x[at] - wanted ? at - 1 : at;
  }
  let best = 0;
  for (let at = 1; at < x.length; at += 1) if (Math.abs(x[at] - wanted) < Math.abs(x[best] - wanted)) best = at;
  return best;
}

function nearestMark(series, wanted) {
  let best = null;
  for (const mark of series.marks) if (!best || Math.abs(mark[0] - wanted) < Math.abs(best[0] - wanted)) best = mark;
  return best;
}
const MARKED = { nan: 'NaN', '+inf': '∞', '-inf': `${MINUS}∞` };

// The curves nearest to the pointer: [{layer, series, at, away, y}], from the top of the picture downwards.
function hovered(layers, geometry, pointer, wanted) {
  const maps = projections(geometry);
  const found = [];
  layers.forEach((layer, which) => {
    for (const series of layer.series) {
      const at = nearestPlace(series, wanted);
      if (at < 0) continue;
      const x = maps.px(series.x[at]);
      const mark = nearestMark(series, wanted);
      if (mark && Math.abs(mark[0] - wanted) < Math.abs(series.x[at] - wanted)) {
        const y = maps.py(typeof mark[2] === 'number' ? mark[2] : 0);
        found.push({ which, series, at, away: Math.hypot(y - pointer.y, (maps.px(mark[0]) - pointer.x) / 3), x: maps.px(mark[0]), y, mark });
        continue;
      }
      // A run that ended long before says nothing about this place.
      if (Math.abs(x - pointer.x) > Math.max(40, geometry.width * 0.1)) continue;
      const y = maps.py((series.smooth || series.y)[at]);
      const away = Number.isFinite(y) ? Math.hypot(y - pointer.y, (x - pointer.x) / 3) : Infinity;
      found.push({ which, series, at, away, x, y });
    }
  });
  found.sort((a, b) => a.away - b.away);
  const kept = found.slice(0, MOST_HOVERED);
  const nearest = kept[0];
  kept.sort((a, b) => (a.y === b.y ? 0 : a.y - b.y) || 0);
  return { rows: kept, nearest, total: found.length };
}

class Tip {
  constructor(root) { this.element = root.querySelector('.tip'); this.pinned = null; }
  hide() { if (!this.pinned) this.element.hidden = true; }
  unpin() { this.pinned = null; this.element.hidden = true; this.element.classList.remove('pinned'); }
  show(chart, found, where, pin) {
    if (this.pinned && !pin) return;
    const { app } = chart;
    const { element } = this;
    const smooth = found.rows.some(({ series }) => series.smooth);
    const head = make('div', 'tip-head', found.nearest ? place(found.nearest.mark ? found.nearest.mark[0] : found.nearest.series.x[found.nearest.at], app.view.x, chart.unit) : '');
    const table = make('table');
    const titles = make('tr');
    for (const text of ['', app.averaged() ? 'Group' : 'Run', ...(smooth ? ['Smoothed', 'Value'] : ['Value']), ...(app.averaged() ? ['± deviation', 'Runs'] : []), app.view.x === 'step' ? chart.unit[0].toUpperCase() + chart.unit.slice(1) : 'Time']) titles.append(make('th', '', text));
    table.append(titles);
    for (const { which, series, at, mark } of found.rows) {
      const x = mark ? mark[0] : series.x[at];
      const row = make('tr', found.nearest && series === found.nearest.series ? 'nearest' : '');
      const dot = make('i', chart.layers[which].dash ? 'key dashed' : 'key');
      dot.style.setProperty('--mark', app.colourOf(series));
      const first = make('td');
      first.append(dot);
      const label = app.nameOf(series) + (chart.layers.length > 1 ? ` · ${chart.layers[which].label}` : '');
      const name = make('td', 'tip-name', label.length > 44 ? `${label.slice(0, 18)}…${label.slice(-25)}` : label);
      row.append(first, name);
      if (smooth) row.append(make('td', 'number', series.smooth && !mark ? figure(series.smooth[at]) : ''));
      row.append(make('td', 'number', mark ? MARKED[mark[1]] : figure(series.y[at])));
      if (app.averaged()) row.append(make('td', 'number', series.high ? figure(series.high[at] - series.y[at], 3) : ''), make('td', 'number', series.count ? whole(series.count[at]) : ''));
      row.append(make('td', 'number', app.view.x === 'step' ? whole(x) : app.view.x === 'relative' ? span(x) : moment(x)));
      table.append(row);
    }
    const rest = found.total - found.rows.length;
    element.replaceChildren(head, table);
    if (rest > 0) element.append(make('div', 'tip-rest', `and ${COUNT.format(rest)} more further away`));
    if (pin) {
      this.pinned = chart;
      element.classList.add('pinned');
      const close = make('button', 'tip-close', '×');
      close.type = 'button';
      close.setAttribute('aria-label', 'Unpin');
      close.onclick = () => { chart.unpin(); };
      head.append(close);
    }
    element.hidden = false;
    const { width, height } = element.getBoundingClientRect();
    const left = where.x + 18 + width > window.innerWidth - 8 ? where.x - width - 18 : where.x + 18;
    element.style.left = `${Math.max(8, left)}px`;
    element.style.top = `${Math.max(8, Math.min(where.y - 24, window.innerHeight - height - 8))}px`;
  }
}
