const ROW = 32;
const AROUND = 8;

function make(tag, className, text) {
  const element = document.createElement(tag);
  element.className = className;
  // Names come from a model file: only ever set as text.
  if (text !== undefined) element.textContent = text;
  return element;
}

function shown(column, index) {
  if (column.texts) return column.texts[index];
  const value = column.values[index];
  return value === null ? '–' : value.toLocaleString('en-US');
}

function nameCell(text, colours, index) {
  const cell = make('div', 'cell name');
  cell.title = text;
  if (colours) {
    const swatch = make('span', colours[index] ? 'swatch' : 'swatch unknown');
    if (colours[index]) swatch.style.background = colours[index];
    cell.append(swatch);
  }
  const cut = text.includes(';') ? 0 : text.lastIndexOf('/') + 1;
  if (cut > 0 && cut < text.length) cell.append(make('span', 'head-part', text.slice(0, cut)), make('span', 'tail-part', text.slice(cut)));
  else cell.append(make('span', 'tail-part', text));
  return cell;
}

function cellOf(column, index) {
  const text = shown(column, index);
  const number = column.values ? ' number' : '';
  const zero = column.values && !column.values[index] ? ' zero' : '';
  const cell = make('div', `cell${number}${column.bar ? ' share' : ''}${zero}`, text);
  if (column.bar) cell.style.backgroundSize = `${100 * (column.bar[index] || 0)}% 3px`;
  cell.title = column.bar ? `${text} ${column.about}` : text;
  return cell;
}

function line(data, index, place) {
  const element = make('div', 'row');
  element.setAttribute('role', 'row');
  element.style.top = `${place * ROW}px`;
  element.dataset.index = index;
  element.append(...data.columns.map((column, at) => (at ? cellOf(column, index) : nameCell(shown(column, index), data.colours, index))));
  for (const cell of element.children) cell.setAttribute('role', 'gridcell');
  return element;
}

// The node that stands for a row in one of the graphs beside the table, and the reverse.
function nodeOf(data, graph, index) {
  if (index === null) return null;
  if (String(index) in graph.nodes) return graph.nodes[index];
  return graph.positions ? String(index) : data.columns[0].texts[index];
}

function rowsByNode(data, graph) {
  return new Map(data.columns[0].texts.map((_, index) => [nodeOf(data, graph, index), index]).reverse());
}

export default function (component) {
  const { parentElement, setStateValue } = component;
  const [data] = component.data;
  const find = (selector) => parentElement.querySelector(selector);
  const [filter, count, table, scroll, head, space, none] = ['.filter', '.count', '.table', '.scroll', '.head', '.space', '.none'].map(find);
  const view = (table.view = table.view || { text: data.filter || '', sort: null, down: false, selected: undefined, order: [], choices: new Choices() });
  const rows = data.columns[0].texts.length;
  if (view.sorted === undefined) [view.sort, view.down] = [(data.sort || '').replace(/^-/, '') || null, /^-/.test(data.sort || '')];
  view.sorted = true;
  if (filter.value !== view.text && document.activeElement !== filter && parentElement.activeElement !== filter) filter.value = view.text;
  table.style.setProperty('--columns', data.columns.map(({ width: [least, share] }) => `minmax(${least}rem, ${share}fr)`).join(' '));
  table.style.setProperty('--least', `${data.columns.reduce((sum, { width: [least] }) => sum + least, 0)}rem`);

  const heads = data.columns.map((column) => {
    const button = make('button', column.values ? 'number' : '', column.title);
    button.type = 'button';
    button.setAttribute('role', 'columnheader');
    button.title = column.about;
    return button;
  });
  const focused = [...head.children].indexOf(parentElement.activeElement || null);
  head.replaceChildren(...heads);
  if (focused >= 0 && heads[focused]) heads[focused].focus();

  const arrange = () => {
    const wanted = view.text.toLowerCase().split(/\s+/).filter(Boolean);
    const order = [];
    for (let index = 0; index < rows; index += 1) {
      const text = data.columns.slice(0, data.searched).map((column) => shown(column, index)).join(' ').toLowerCase();
      if (wanted.every((word) => text.includes(word))) order.push(index);
    }
    const sorted = data.columns.find((column) => column.id === view.sort);
    if (sorted) {
      const values = sorted.values || sorted.texts;
      const unknown = (index) => values[index] === null || values[index] === '';
      const compare = sorted.values ? (a, b) => values[a] - values[b] : (a, b) => values[a].localeCompare(values[b], 'en', { numeric: true });
      order.sort((a, b) => unknown(a) - unknown(b) || (unknown(a) ? 0 : (view.down ? -1 : 1) * compare(a, b)) || a - b);
    }
    view.order = order;
    space.style.height = `${order.length * ROW}px`;
    scroll.style.height = `${Math.min(data.height, (Math.max(order.length, 1) + 1) * ROW + (scroll.offsetHeight - scroll.clientHeight))}px`;
    scroll.hidden = !order.length;
    none.hidden = order.length > 0;
    count.textContent = wanted.length ? `${order.length.toLocaleString('en-US')} of ${rows.toLocaleString('en-US')}` : data.summary;
    table.setAttribute('aria-rowcount', String(order.length + 1));
    heads.forEach((button, at) => button.setAttribute('aria-sort', !sorted || data.columns[at] !== sorted ? 'none' : view.down ? 'descending' : 'ascending'));
  };
  const draw = () => {
    const first = Math.max(0, Math.floor(scroll.scrollTop / ROW) - AROUND);
    const last = Math.min(view.order.length, Math.ceil((scroll.scrollTop + scroll.clientHeight) / ROW) + AROUND);
    const lines = [];
    for (let place = first; place < last; place += 1) {
      const index = view.order[place];
      const element = line(data, index, place);
      element.setAttribute('aria-rowindex', String(place + 2));
      element.setAttribute('aria-selected', String(index === view.selected));
      lines.push(element);
    }
    space.replaceChildren(...lines);
  };
  const reveal = () => {
    const place = view.order.indexOf(view.selected);
    if (place < 0) return;
    const [top, seen] = [place * ROW, scroll.clientHeight - ROW];
    if (top < scroll.scrollTop || top + ROW > scroll.scrollTop + seen) scroll.scrollTop = Math.max(0, top - (seen - ROW) / 2);
  };
  // A layer that is selected elsewhere is never hidden by the filter.
  const follow = (selected) => {
    view.selected = selected;
    if (selected !== null && view.text && !view.order.includes(selected)) { view.text = ''; filter.value = ''; arrange(); }
    reveal();
    draw();
  };
  // The graphs hear of it in the browser: the way through the app takes longer.
  const tellGraphs = (index, except) => {
    for (const graph of data.graphs.filter((one) => one.key !== except)) {
      window.dispatchEvent(new CustomEvent('stethoscope-node', { detail: { to: graph.key, node: nodeOf(data, graph, index) } }));
    }
  };
  const heard = (event) => {
    const graph = data.graphs.find((one) => one.key === event.detail.from);
    if (!graph) return;
    const found = rowsByNode(data, graph).get(event.detail.node);
    const index = found === undefined ? null : found;
    window.clearTimeout(view.timer);
    view.picking = false;
    view.choices.tell(index);
    tellGraphs(index, graph.key);
    follow(index);
  };
  // Called by the timer of a pick that may be older than this drawing of the table.
  view.tell = (index) => {
    view.picking = false;
    view.choices.tell(index);
    if (table.isConnected) setStateValue('picked', { value: index, at: Date.now() });
  };
  const pick = (index) => {
    view.selected = index;
    draw();
    reveal();
    tellGraphs(index);
    window.clearTimeout(view.timer);
    view.picking = true;
    view.timer = window.setTimeout(() => view.tell(index), 120);
  };

  filter.oninput = () => { view.text = filter.value; scroll.scrollTop = 0; arrange(); draw(); };
  filter.onchange = () => setStateValue('filter', view.text);
  heads.forEach((button, at) => {
    button.onclick = () => {
      const { id, values } = data.columns[at];
      const numeric = Boolean(values);
      if (view.sort !== id) { view.sort = id; view.down = numeric; }
      else if (view.down === numeric) view.down = !numeric;
      else { view.sort = null; view.down = false; }
      arrange();
      reveal();
      draw();
      setStateValue('sort', view.sort ? `${view.down ? '-' : ''}${view.sort}` : '');
    };
  });
  scroll.onscroll = () => window.requestAnimationFrame(draw);
  space.onclick = (event) => {
    const row = event.target.closest('.row');
    if (!row) return;
    const index = Number(row.dataset.index);
    pick(index === view.selected ? null : index);
  };
  table.onkeydown = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity }[event.key];
    if (event.target !== table || (step === undefined && event.key !== 'Escape') || !view.order.length) return;
    event.preventDefault();
    if (event.key === 'Escape') { pick(null); return; }
    const now = view.order.indexOf(view.selected);
    const next = now < 0 && Number.isFinite(step) ? 0 : Math.min(view.order.length - 1, Math.max(0, now + step));
    pick(view.order[next]);
  };

  const said = typeof data.selected === 'number' ? data.selected : null;
  const selected = view.choices.news(said, view.picking) ? said : view.selected;
  const changed = view.selected !== selected;
  view.selected = selected;
  arrange();
  if (changed) follow(selected); else draw();
  window.addEventListener('stethoscope-node', heard);
  return () => window.removeEventListener('stethoscope-node', heard);
}
