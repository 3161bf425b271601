// Cividis: told apart by people who see no red or green too.
const SCALE = [[0, 34, 78], [53, 69, 108], [102, 105, 112], [148, 142, 119], [200, 184, 102], [254, 232, 56]];
const SHADES = 64;
const HEIGHT = 420;
const TOP = 46;
const BOTTOM = 18;
const SIDE = 64;

function shade(share) {
  const at = Math.min(Math.max(share, 0), 1) * (SCALE.length - 1);
  const low = Math.min(Math.floor(at), SCALE.length - 2);
  const mixed = SCALE[low].map((from, channel) => Math.round(from + (SCALE[low + 1][channel] - from) * (at - low)));
  return `rgb(${mixed.join(',')})`;
}

class Picture {
  constructor(canvas) {
    this.canvas = canvas;
    this.order = [];
    this.kept = new Map();
    this.pointed = null;
  }

  update(data) {
    const titles = data.columns.map((one) => one.full).join('\n');
    if (titles !== this.titles) {
      this.titles = titles;
      this.order = data.columns.map((_, index) => index);
      this.kept.clear();
    }
    this.data = data;
    this.pointed = null;
    // Runs with good results are drawn last, over the others.
    const result = data.columns.at(-1).shares;
    this.lines = data.runs.map((_, run) => run).sort((a, b) => (data.lowIsGood ? result[b] - result[a] : result[a] - result[b]));
  }

  get width() { return this.canvas.clientWidth; }

  x(place) { return SIDE + (place * (this.width - 2 * SIDE)) / Math.max(this.order.length - 1, 1); }

  y(share) { return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM); }

  share(y) { return Math.min(Math.max((HEIGHT - BOTTOM - y) / (HEIGHT - TOP - BOTTOM), 0), 1); }

  // The place of the axis whose lines or title are within reach, or -1.
  axisAt(x, reach) {
    const found = this.order.findIndex((_, place) => Math.abs(this.x(place) - x) <= reach);
    return found;
  }

  isKept(run) {
    for (const [index, [low, high]] of this.kept) {
      const share = this.data.columns[index].shares[run];
      if (share < low || share > high) return false;
    }
    return true;
  }

  // The run whose line is nearest to a point, within six pixels.
  runAt(x, y) {
    const left = this.order.findIndex((_, place) => place + 1 < this.order.length && x >= this.x(place) && x <= this.x(place + 1));
    if (left < 0) return null;
    const part = (x - this.x(left)) / (this.x(left + 1) - this.x(left));
    const [from, to] = [this.data.columns[this.order[left]].shares, this.data.columns[this.order[left + 1]].shares];
    let best = null;
    let least = 6;
    for (const run of this.lines) {
      const apart = Math.abs(this.y(from[run] + (to[run] - from[run]) * part) - y);
      if (apart <= least && this.isKept(run)) [best, least] = [run, apart];
    }
    return best;
  }

  draw() {
    const { canvas, data } = this;
    if (!data || !this.width) return;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(this.width * ratio);
    canvas.height = Math.round(HEIGHT * ratio);
    const pen = canvas.getContext('2d');
    pen.scale(ratio, ratio);
    const style = getComputedStyle(canvas);
    this.ink = style.color;
    this.paper = style.getPropertyValue('--st-background-color').trim() || '#fff';
    const dark = this.isDark();
    const shades = Array.from({ length: SHADES + 1 }, (_, at) => shade(dark === data.lowIsGood ? 1 - at / SHADES : at / SHADES));
    const result = data.columns.at(-1).shares;
    const kept = this.lines.filter((run) => this.isKept(run));
    if (kept.length < this.lines.length) {
      pen.globalAlpha = 0.05;
      pen.strokeStyle = this.ink;
      this.path(pen, this.lines);
    }
    pen.globalAlpha = Math.min(0.9, Math.max(0.3, 40 / Math.sqrt(kept.length) / 4));
    pen.lineWidth = kept.length > 300 ? 1 : 1.5;
    // Neighbours of one colour are one path: a thousand paths would take ten times as long.
    let group = [];
    let colour = '';
    for (const run of kept) {
      const own = shades[Math.round(result[run] * SHADES)];
      if (own !== colour && group.length) { pen.strokeStyle = colour; this.path(pen, group); group = []; }
      colour = own;
      group.push(run);
    }
    if (group.length) { pen.strokeStyle = colour; this.path(pen, group); }
    pen.globalAlpha = 1;
    if (this.pointed !== null) {
      pen.lineWidth = 6;
      pen.strokeStyle = this.paper;
      this.path(pen, [this.pointed]);
      pen.lineWidth = 3;
      pen.strokeStyle = this.ink;
      this.path(pen, [this.pointed]);
    }
    this.order.forEach((index, place) => this.axis(pen, data.columns[index], place, index, shades));
    canvas.dataset.drawn = String(kept.length);
  }

  isDark() {
    const probe = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    probe.fillStyle = this.paper;
    probe.fillRect(0, 0, 1, 1);
    const [red, green, blue] = probe.getImageData(0, 0, 1, 1).data;
    return red + green + blue < 384;
  }

  path(pen, runs) {
    const shares = this.order.map((index) => this.data.columns[index].shares);
    pen.beginPath();
    for (const run of runs) {
      shares.forEach((one, place) => (place ? pen.lineTo(this.x(place), this.y(one[run])) : pen.moveTo(this.x(0), this.y(one[run]))));
    }
    pen.stroke();
  }

  axis(pen, column, place, index, shades) {
    const x = this.x(place);
    const last = index === this.data.columns.length - 1;
    pen.lineWidth = last ? 6 : 1;
    if (last) {
      const blend = pen.createLinearGradient(0, this.y(0), 0, this.y(1));
      shades.forEach((one, at) => blend.addColorStop(at / SHADES, one));
      pen.strokeStyle = blend;
    } else pen.strokeStyle = this.ink;
    pen.beginPath();
    pen.moveTo(x, this.y(0));
    pen.lineTo(x, this.y(1));
    pen.stroke();
    const range = this.kept.get(index);
    if (range) {
      pen.lineWidth = 1.5;
      pen.strokeStyle = this.ink;
      pen.fillStyle = this.paper;
      pen.globalAlpha = 0.55;
      pen.fillRect(x - 7, this.y(range[1]), 14, this.y(range[0]) - this.y(range[1]));
      pen.globalAlpha = 1;
      pen.strokeRect(x - 7, this.y(range[1]), 14, this.y(range[0]) - this.y(range[1]));
    }
    const family = getComputedStyle(this.canvas).fontFamily;
    pen.lineWidth = 3;
    pen.lineJoin = 'round';
    pen.strokeStyle = this.paper;
    pen.fillStyle = this.ink;
    pen.textBaseline = 'middle';
    pen.textAlign = place === this.order.length - 1 ? 'right' : 'left';
    pen.font = `12px ${family}`;
    const aside = pen.textAlign === 'right' ? -9 : 9;
    let above = Infinity;
    for (const [share, text] of column.ticks) {
      const y = this.y(share);
      if (above - y < 13) continue;
      above = y;
      pen.strokeText(text, x + aside, y);
      pen.fillText(text, x + aside, y);
    }
    pen.font = `600 13px ${family}`;
    pen.textAlign = 'center';
    const room = (this.width - 2 * SIDE) / Math.max(this.order.length - 1, 1);
    // Where axes are close, every second title stands higher.
    this.words(pen, column.title, x, room < 110 && place % 2 ? 12 : 28, room < 110 ? 2 * room - 8 : Math.min(room - 8, 220));
  }

  words(pen, text, x, y, room) {
    let shown = text;
    const wide = Math.min(room, 2 * Math.min(x, this.width - x) - 2);
    while (shown.length > 1 && pen.measureText(shown === text ? text : `${shown}…`).width > wide) shown = shown.slice(0, -1);
    pen.fillText(shown === text ? text : `${shown}…`, x, y);
  }
}
