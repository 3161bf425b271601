// Draws maps that came as bytes: 0 … 254 between a map's own lowest and highest value, 255 for what is not a number.
function paint(canvas, bytes, start, view, low, high) {
  const context = canvas.getContext('2d');
  const image = context.createImageData(view.width, view.height);
  const colours = RAMPS[view.scale === 'around_zero' ? 'around_zero' : 'amount'];
  const most = Math.max(Math.abs(view.low), Math.abs(view.high)) || 1;
  const span = view.high - view.low || 1;
  const colour = Array.from({ length: 255 }, (_, byte) => {
    const value = low + ((high - low) * byte) / 254;
    let share = byte / 254;
    if (view.scale === 'shared') share = (value - view.low) / span;
    if (view.scale === 'around_zero') share = 0.5 + value / (2 * most);
    if (view.scale === 'own' && high === low) share = 0;
    return colours[Math.max(0, Math.min(255, Math.round(share * 255)))];
  });
  for (let place = 0; place < view.width * view.height; place += 1) {
    const byte = bytes[start + place];
    const [red, green, blue] = byte === 255 ? NOT_A_NUMBER : colour[byte];
    image.data.set([red, green, blue, 255], place * 4);
  }
  context.putImageData(image, 0, 0);
}

export default function (component) {
  const { parentElement, data, setStateValue } = component;
  const find = (selector) => parentElement.querySelector(selector);
  const [grid, scale, low, high, note] = ['.maps', '.scale', '.low', '.high', '.note'].map(find);
  const bytes = bytesOf(data.bytes);
  const area = data.width * data.height;
  grid.style.setProperty('--side', `${data.side}px`);
  grid.setAttribute('aria-label', data.title);
  const tell = (place) => setStateValue('picked', { value: place === data.picked ? null : place, at: Date.now() });
  const tiles = data.maps.map((map, place) => {
    const tile = document.createElement('button');
    tile.type = 'button';
    tile.className = 'map';
    tile.setAttribute('role', 'option');
    tile.setAttribute('aria-selected', String(map.place === data.picked));
    tile.title = `${map.name}: ${short(map.low)} to ${short(map.high)}${map.broken ? `, ${map.broken} values are not numbers` : ''}`;
    const canvas = document.createElement('canvas');
    canvas.width = data.width;
    canvas.height = data.height;
    paint(canvas, bytes, place * area, data, map.low, map.high);
    // A line of numbers is drawn high enough to be seen.
    canvas.style.aspectRatio = String(Math.min(6, Math.max(0.25, data.width / data.height)));
    const name = document.createElement('span');
    name.className = 'name';
    // Names come from a file: only ever set as text.
    for (const text of [map.name, data.scale === 'own' ? short(map.high) : '']) {
      const part = document.createElement('span');
      part.textContent = text;
      name.append(part);
    }
    tile.append(canvas, name);
    tile.onclick = () => tell(map.place);
    tile.onkeydown = (event) => {
      const across = Math.max(1, Math.round(grid.clientWidth / (tile.offsetWidth + 6)));
      const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: across, ArrowUp: -across }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      tiles[Math.max(0, Math.min(tiles.length - 1, place + step))].focus();
    };
    return tile;
  });
  grid.replaceChildren(...tiles);
  const shared = data.scale !== 'own';
  for (const part of [scale, low, high]) part.hidden = !shared;
  if (shared) {
    const most = Math.max(Math.abs(data.low), Math.abs(data.high));
    low.textContent = short(data.scale === 'around_zero' ? -most : data.low);
    high.textContent = short(data.scale === 'around_zero' ? most : data.high);
    const context = scale.getContext('2d');
    const line = context.createImageData(256, 1);
    RAMPS[data.scale === 'around_zero' ? 'around_zero' : 'amount'].forEach((one, place) => line.data.set([...one, 255], place * 4));
    context.putImageData(line, 0, 0);
  }
  note.textContent = data.note;
}
