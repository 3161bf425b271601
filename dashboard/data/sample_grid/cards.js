// One card per sample: what it holds, drawn as what it is.
function pictureOf(sample, source, across, down, largest) {
  const [width, height] = [sample.width || 1, sample.height || 1];
  const scale = Math.min(across / width, down / height, largest);
  const holder = make('div', width * scale > 1.5 * width || scale > 1.5 ? 'picture pixels' : 'picture');
  const shown = Math.max(1, width * scale);
  holder.style.width = `${shown}px`;
  holder.style.height = `${Math.max(1, height * scale)}px`;
  if (source) {
    const image = make('img');
    image.loading = 'lazy';
    image.decoding = 'async';
    image.alt = sample.name || `Row ${sample.place}`;
    image.src = source;
    holder.append(image);
  } else holder.append(make('div', 'blank'));
  holder.shown = shown;
  return holder;
}

const PALETTE = ['#0072B2', '#E69F00', '#009E73', '#CC79A7', '#56B4E9', '#D55E00', '#8A8F98', '#F0E442'];

// A signal as the band between its lowest and highest values; `channels` is [[lows, highs], …] with null for no value.
function curveOf(channels) {
  const svg = shape('svg', { class: 'curve', viewBox: '0 0 100 100', preserveAspectRatio: 'none', role: 'img', 'aria-label': 'Signal over time' });
  const all = channels.flat(2).filter((value) => value !== null && Number.isFinite(value));
  if (!all.length) return svg;
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const y = (value) => 96 - (92 * (value - low)) / (high - low || 1);
  channels.forEach(([lows, highs], at) => {
    const x = (place) => (100 * (place + 0.5)) / lows.length;
    const colour = PALETTE[at % PALETTE.length];
    const flat = lows.every((value, place) => value === highs[place]);
    let path = '';
    let pen = 'M';
    lows.forEach((value, place) => {
      if (value === null) { pen = 'M'; return; }
      path += `${pen}${x(place).toFixed(2)} ${y(value).toFixed(2)}`;
      if (!flat) path += `L${x(place).toFixed(2)} ${y(highs[place]).toFixed(2)}`;
      pen = 'L';
    });
    svg.append(shape('path', { d: path, fill: 'none', stroke: colour, 'stroke-width': 1.4, 'vector-effect': 'non-scaling-stroke', 'stroke-linejoin': 'round' }));
  });
  return svg;
}

function valueRows(values) {
  const rows = make('div', 'rows');
  for (const value of values) {
    const key = make('span', 'key text', value.field);
    key.title = value.field;
    const said = make('span', 'value text', value.said);
    said.title = value.said;
    rows.append(key, said);
  }
  return rows;
}

// What a card shows of its values: the picture, or several; a curve; a text; else names and numbers.
function frameOf(sample, view) {
  const frame = make('div', 'frame');
  const across = view.across - 2;
  const several = sample.pictures.length > 1 && !sample.marks.length;
  if (several) {
    const pair = make('div', 'pair');
    const room = (across - 8) / Math.min(sample.pictures.length, 4);
    for (const one of sample.pictures.slice(0, 4)) pair.append(pictureOf({ ...one, name: one.field, place: sample.place }, one.source, room - 4, view.down, view.largest));
    frame.append(pair);
  } else if (sample.picture || sample.marks.length) {
    const holder = pictureOf(sample, sample.picture, across, view.down, view.largest);
    frame.append(holder);
    frame.picture = holder;
  } else if (sample.curve) frame.append(curveOf(sample.curve));
  else if (sample.text) frame.append(make('div', 'words', sample.text));
  else if (sample.rows.length) frame.append(valueRows(sample.rows));
  else frame.append(make('p', 'none', sample.problems.length ? 'could not be read' : 'nothing to show'));
  return frame;
}

function footOf(sample, look) {
  const foot = make('div', 'foot');
  // Of a path the end tells files apart.
  const name = make('span', 'name text', sample.name.split('/').pop() || `row ${sample.place.toLocaleString('en-US')}`);
  name.title = sample.name || `row ${sample.place}`;
  foot.append(name);
  if (sample.label && !sample.marks.length) {
    const label = make('span', 'label');
    if (look) { const swatch = make('span', look.dashed ? 'swatch again' : 'swatch'); swatch.style.background = look.colour; swatch.style.borderColor = look.colour; label.append(swatch); }
    const text = make('span', 'text', sample.label);
    text.title = sample.label;
    label.append(text);
    foot.append(label);
  }
  if (sample.split) foot.append(make('span', 'badge', sample.split));
  if (sample.note) { const note = make('span', 'badge', sample.note); foot.append(note); }
  if (sample.problems.length) {
    const bad = make('span', 'bad', '!');
    bad.title = sample.problems.join('\n');
    bad.setAttribute('role', 'img');
    bad.setAttribute('aria-label', `Problem: ${sample.problems.join(' ')}`);
    foot.append(bad);
  }
  return foot;
}

function cardOf(sample, view, lookOf) {
  const card = make('article', 'card');
  card.dataset.place = sample.place;
  card.setAttribute('role', 'gridcell');
  card.tabIndex = -1;
  card.setAttribute('aria-label', [sample.name || `Row ${sample.place}`, sample.label, ...sample.problems].filter(Boolean).join(', '));
  const frame = frameOf(sample, view);
  card.append(frame);
  if (frame.picture) {
    frame.picture.repaint = () => overlay(frame.picture, sample, view, lookOf, frame.picture.shown);
    frame.picture.repaint();
  }
  if (sample.sound) {
    const sound = make('audio', 'sound');
    sound.controls = true;
    sound.preload = 'none';
    sound.src = sample.sound;
    sound.onclick = (event) => event.stopPropagation();
    card.append(sound);
  }
  if (sample.fed.length) {
    const fed = make('div', 'fed');
    for (const one of sample.fed.slice(0, 4)) {
      fed.append(make('div', 'fed-title text', one.title));
      const holder = make('div', 'frame');
      if (one.source) holder.append(pictureOf({ ...one, name: one.title, place: sample.place }, one.source, view.across - 2, view.down, view.largest));
      else if (one.curve) holder.append(curveOf(one.curve));
      else { holder.append(make('div', 'words', one.said)); holder.style.height = 'auto'; }
      fed.append(holder);
    }
    card.append(fed);
  }
  if (!view.large) card.append(footOf(sample, lookOf(sample.label)));
  return card;
}
