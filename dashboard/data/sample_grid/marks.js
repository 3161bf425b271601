// Boxes, outlines, points and areas over a picture, in the colours of their classes.
const SVG = 'http://www.w3.org/2000/svg';

function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  // Names and texts come from a data file: only ever set as text.
  if (text !== undefined) element.textContent = text;
  return element;
}

function shape(tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

const isLight = (colour) => {
  const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140;
};

function ringPath(rings, closed) {
  return rings.map((ring) => ring.map(([x, y], at) => `${at ? 'L' : 'M'}${x} ${y}`).join('') + (closed ? 'Z' : '')).join('');
}

// The same line twice: a dark one below keeps it visible on light pictures.
function outlined(svg, tag, attributes, colour, dashed, filled) {
  svg.append(shape(tag, { ...attributes, class: 'halo' }));
  svg.append(shape(tag, {
    ...attributes, class: dashed ? 'line dashed-line' : 'line', stroke: colour, fill: filled ? colour : 'none', 'fill-opacity': 0.14, 'fill-rule': 'evenodd',
  }));
}

function drawShape(svg, mark, look, unit) {
  const { colour, dashed } = look;
  if (mark.type === 'box') {
    const middle = `${mark.x + mark.width / 2} ${mark.y + mark.height / 2}`;
    const turned = mark.angle_degrees ? { transform: `rotate(${mark.angle_degrees} ${middle})` } : {};
    outlined(svg, 'rect', { x: mark.x, y: mark.y, width: Math.max(0, mark.width), height: Math.max(0, mark.height), ...turned }, colour, dashed, false);
  } else if (mark.type === 'polygon') {
    outlined(svg, 'path', { d: ringPath(mark.rings, true) }, colour, dashed, true);
  } else if (mark.type === 'points') {
    if (mark.joined) outlined(svg, 'path', { d: ringPath([mark.points], false) }, colour, dashed, false);
    else for (const [x, y] of mark.points) svg.append(shape('circle', { cx: x, cy: y, r: 3.2 * unit, fill: colour, stroke: '#000', 'stroke-opacity': 0.6, 'stroke-width': unit }));
  }
}

// The upper left corner of a mark, where its label goes.
function corner(mark) {
  if (mark.type === 'box' && !mark.angle_degrees) return [mark.x, mark.y];
  if (mark.type === 'region') return mark.pixels ? [mark.x, mark.y] : null;
  const points = mark.type === 'polygon' ? mark.rings.flat() : mark.type === 'points' ? mark.points : boxCorners(mark);
  if (!points.length) return null;
  return points.reduce((best, point) => (point[1] < best[1] ? point : best));
}

function boxCorners(mark) {
  const angle = (mark.angle_degrees * Math.PI) / 180;
  const [cx, cy] = [mark.x + mark.width / 2, mark.y + mark.height / 2];
  return [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([a, b]) => {
    const [dx, dy] = [(a * mark.width) / 2, (b * mark.height) / 2];
    return [cx + dx * Math.cos(angle) - dy * Math.sin(angle), cy + dx * Math.sin(angle) + dy * Math.cos(angle)];
  });
}

// Colours every pixel of the picture of indices; the edge of an area is drawn solid.
function paintAreas(canvas, image, marks, lookOf) {
  const [width, height] = [image.naturalWidth, image.naturalHeight];
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext('2d', { willReadFrequently: true });
  context.drawImage(image, 0, 0);
  const pixels = context.getImageData(0, 0, width, height);
  const { data } = pixels;
  const index = new Uint32Array(width * height);
  for (let at = 0; at < index.length; at += 1) index[at] = data[4 * at] + 256 * data[4 * at + 1];
  const looks = marks.map((mark) => {
    const look = lookOf(mark.label);
    return look && [1, 3, 5].map((at) => Number.parseInt(look.colour.slice(at, at + 2), 16));
  });
  for (let at = 0; at < index.length; at += 1) {
    const look = index[at] ? looks[index[at] - 1] : null;
    if (!look) { data[4 * at + 3] = 0; continue; }
    const x = at % width;
    const edge = (x > 0 && index[at - 1] !== index[at]) || (x < width - 1 && index[at + 1] !== index[at]) || index[at - width] !== index[at] || index[at + width] !== index[at];
    [data[4 * at], data[4 * at + 1], data[4 * at + 2]] = look;
    data[4 * at + 3] = edge ? 235 : 110;
  }
  context.putImageData(pixels, 0, 0);
}

// Everything that lies over a picture. `lookOf(label)` gives {colour, dashed}, or null for a class that is hidden.
function overlay(holder, sample, view, lookOf, shown) {
  for (const old of holder.querySelectorAll('.over')) old.remove();
  if (!view.marks || !sample.marks.length) return;
  if (sample.areas) {
    const canvas = make('canvas', 'over');
    holder.append(canvas);
    const paint = () => canvas.isConnected && paintAreas(canvas, holder.areas, sample.marks, lookOf);
    if (holder.areas && holder.areas.complete && holder.areas.naturalWidth) paint();
    else if (!holder.areas) { holder.areas = new Image(); holder.areas.onload = () => holder.repaint(); holder.areas.src = sample.areas; }
  }
  const svg = shape('svg', { viewBox: `0 0 ${sample.width} ${sample.height}`, preserveAspectRatio: 'none', class: 'over', 'aria-hidden': 'true' });
  holder.append(svg);
  const tagged = new Map();
  let tags = 0;
  for (const mark of sample.marks) {
    const look = lookOf(mark.label);
    if (!look) continue;
    if (mark.type !== 'region') drawShape(svg, mark, look, sample.width / shown);
    const at = view.labels && tags < view.mostTags ? corner(mark) : null;
    if (!at || !mark.label) continue;
    const same = tagged.get(mark.label) || 0;
    if (same >= view.mostSame) continue;
    tagged.set(mark.label, same + 1);
    tags += 1;
    const tag = make('span', isLight(look.colour) ? 'tag dark over' : 'tag over', mark.label);
    tag.style.background = look.colour;
    tag.style.left = `${Math.min(92, Math.max(0, (100 * at[0]) / sample.width))}%`;
    tag.style.top = `${Math.min(96, Math.max(0, (100 * at[1]) / sample.height))}%`;
    if ((at[1] / sample.height) * shown * (sample.height / sample.width) < 16) tag.classList.add('inside');
    holder.append(tag);
  }
}
