const ROW = 32;
const AROUND = 8;

function make(tag, className, text) {
  const element = document.createElement(tag);
  element.className = className;
  // Names come from a model file: only ever set as text.
  if (text !== undefined) element.textContent = text;
  return element;
}

function nameCell(text) {
  const cell = make('div', 'cell name');
  cell.title = text;
  const cut = text.includes(';') ? 0 : text.lastIndexOf('/') + 1;
  if (cut > 0 && cut < text.length) cell.append(make('span', 'head-part', text.slice(0, cut)), make('span', 'tail-part', text.slice(cut)));
  else cell.append(make('span', 'tail-part', text));
  return cell;
}

function line(row, index, place) {
  const element = make('div', 'row');
  element.setAttribute('role', 'row');
  element.style.top = `${place * ROW}px`;
  element.dataset.index = index;
  const [name, type, shape, parameters, share] = row;
  const kind = make('div', 'cell', type);
  kind.title = type;
  const size = make('div', 'cell', shape);
  size.title = shape;
  const number = make('div', parameters ? 'cell number' : 'cell number zero', parameters.toLocaleString('en-US'));
  const part = make('div', parameters ? 'cell number share' : 'cell number share zero', share);
  part.style.backgroundSize = `${Number.parseFloat(share) || 0}% 3px`;
  part.title = `${share} of the model's parameters`;
  element.append(nameCell(name), kind, size, number, part);
  for (const cell of element.children) cell.setAttribute('role', 'gridcell');
  return element;
}

export default function (component) {
  const { parentElement, data, setStateValue } = component;
  const find = (selector) => parentElement.querySelector(selector);
  const [filter, count, table, scroll, space, none] = ['.filter', '.count', '.table', '.scroll', '.space', '.none'].map(find);
  const heads = [...parentElement.querySelectorAll('.head button')];
  const view = (table.view = table.view || { text: data.filter || '', sort: null, down: false, selected: undefined, order: [], choices: new Choices() });
  if (filter.value !== view.text && document.activeElement !== filter && parentElement.activeElement !== filter) filter.value = view.text;

  const arrange = () => {
    const wanted = view.text.toLowerCase().split(/\s+/).filter(Boolean);
    const order = [];
    data.rows.forEach((row, index) => {
      const text = `${row[0]} ${row[1]}`.toLowerCase();
      if (wanted.every((word) => text.includes(word))) order.push(index);
    });
    if (view.sort !== null) {
      const at = Math.min(view.sort, 3); // shares sort as the parameters they come from
      const compare = (a, b) => (typeof a === 'number' ? a - b : a.localeCompare(b, 'en', { numeric: true }));
      order.sort((a, b) => (view.down ? -1 : 1) * compare(data.rows[a][at], data.rows[b][at]) || a - b);
    }
    view.order = order;
    space.style.height = `${order.length * ROW}px`;
    scroll.style.height = `${Math.min(data.height, Math.max(order.length, 1) * ROW)}px`;
    scroll.hidden = !order.length;
    none.hidden = order.length > 0;
    count.textContent = wanted.length ? `${order.length.toLocaleString('en-US')} of ${data.summary.split(',')[0] && data.rows.length.toLocaleString('en-US')}` : data.summary;
    table.setAttribute('aria-rowcount', String(order.length + 1));
    heads.forEach((head, at) => head.setAttribute('aria-sort', view.sort !== at ? 'none' : view.down ? 'descending' : 'ascending'));
  };
  const draw = () => {
    const first = Math.max(0, Math.floor(scroll.scrollTop / ROW) - AROUND);
    const last = Math.min(view.order.length, Math.ceil((scroll.scrollTop + scroll.clientHeight) / ROW) + AROUND);
    const lines = [];
    for (let place = first; place < last; place += 1) {
      const index = view.order[place];
      const element = line(data.rows[index], index, place);
      element.setAttribute('aria-rowindex', String(place + 2));
      element.setAttribute('aria-selected', String(index === view.selected));
      lines.push(element);
    }
    space.replaceChildren(...lines);
  };
  const reveal = () => {
    const place = view.order.indexOf(view.selected);
    if (place < 0) return;
    const top = place * ROW;
    if (top < scroll.scrollTop || top + ROW > scroll.scrollTop + scroll.clientHeight) {
      scroll.scrollTop = Math.max(0, top - (scroll.clientHeight - ROW) / 2);
    }
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
    window.clearTimeout(view.timer);
    view.picking = true;
    view.timer = window.setTimeout(() => view.tell(index), 120);
  };

  filter.oninput = () => { view.text = filter.value; scroll.scrollTop = 0; arrange(); draw(); };
  filter.onchange = () => setStateValue('filter', view.text);
  heads.forEach((head, at) => {
    head.onclick = () => {
      const numeric = at >= 3;
      if (view.sort !== at) { view.sort = at; view.down = numeric; }
      else if (view.down === numeric) view.down = !numeric;
      else { view.sort = null; view.down = false; }
      arrange();
      reveal();
      draw();
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
  // A layer that is selected elsewhere is never hidden by the filter.
  if (changed && selected !== null && view.text && !view.order.includes(selected)) { view.text = ''; filter.value = ''; arrange(); }
  if (changed) reveal();
  draw();
}
