const AXES = ['step', 'relative', 'wall'];
const MOST_NAMED = 80;

// FNV-1a: short, stable names for runs in links, and the same colour for the same name everywhere.
function digest(text) {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
const short = (text) => digest(text).toString(36);

function freshView() {
  return {
    runs: '', tags: '', x: 'step', smooth: null, logX: false, logY: new Set(), clip: true, share: true, restarts: 'latest', pairs: true,
    group: '', by: '', mean: false, hidden: new Set(), only: null, closed: new Set(), folded: new Set(), zoomX: null, zoomUnit: 'step', zooms: new Map(), large: '',
  };
}

const protect = (text) => encodeURIComponent(text).replace(/~/g, '%7E');
function plain(text) { try { return decodeURIComponent(text); } catch { return ''; } }
const range = (text) => { const found = text.split('_').map(Number); return found.length >= 2 && found.every(Number.isFinite) ? found : null; };
const brief = (value) => String(Number(value.toPrecision(10)));

// One compact text for the address: parts joined by "~", each a letter and its value; what is as at first is left out.
function writeView(view) {
  const parts = [];
  const add = (letter, value) => { if (value) parts.push(letter + value); };
  add('f', protect(view.runs));
  add('t', protect(view.tags));
  add('x', view.x === 'step' ? '' : view.x[0]);
  if (view.smooth !== null) add('s', brief(view.smooth) || '0');
  add('o', [view.logX && 'x', !view.clip && 'c', !view.share && 's', view.restarts === 'all' && 'r', !view.pairs && 'p', view.mean && 'm'].filter(Boolean).join(''));
  add('y', [...view.logY].map(short).join('.'));
  add('g', view.group && `${view.group[0]}${protect(view.by)}`);
  if (view.only) add('v', [...view.only].slice(0, MOST_NAMED).map(short).join('.') || '-');
  else if (view.hidden.size <= MOST_NAMED) add('h', [...view.hidden].map(short).join('.'));
  add('c', [...view.closed].map(short).join('.'));
  add(view.zoomUnit === 'epoch' ? 'e' : 'z', view.zoomX && view.zoomX.map(brief).join('_'));
  for (const [key, zoom] of [...view.zooms].slice(0, 6)) {
    add('q', [short(key), zoom.x ? zoom.x.map(brief).join('_') : '', zoom.y ? zoom.y.map(brief).join('_') : ''].join('!'));
  }
  add('l', view.large && short(view.large));
  return parts.join('~');
}

// Names are only known when the index is: what the link says of runs and tags by their digests is settled in `settle`.
function readView(text) {
  const view = freshView();
  const later = { hidden: [], only: null, logY: [], closed: [], zooms: [], large: '' };
  for (const part of (text || '').slice(0, 4000).split('~')) {
    const value = part.slice(1);
    switch (part[0]) {
      case 'f': view.runs = plain(value); break;
      case 't': view.tags = plain(value); break;
      case 'x': view.x = AXES.find((axis) => axis[0] === value) || 'step'; break;
      case 's': if (value !== '' && Number.isFinite(Number(value))) view.smooth = Math.min(0.999, Math.max(0, Number(value))); break;
      case 'o':
        view.logX = value.includes('x'); view.clip = !value.includes('c'); view.share = !value.includes('s');
        view.restarts = value.includes('r') ? 'all' : 'latest'; view.pairs = !value.includes('p'); view.mean = value.includes('m');
        break;
      case 'y': later.logY = value.split('.'); break;
      case 'g': view.group = { n: 'none', f: 'folder', p: 'pattern', h: 'hparam' }[value[0]] || ''; view.by = plain(value.slice(1)); break;
      case 'v': later.only = value.split('.'); break;
      case 'h': later.hidden = value.split('.'); break;
      case 'c': later.closed = value.split('.'); break;
      case 'z': case 'e': view.zoomX = range(value); view.zoomUnit = part[0] === 'e' ? 'epoch' : 'step'; break;
      case 'q': later.zooms.push(value); break;
      case 'l': later.large = value; break;
      default:
    }
  }
  view.later = later;
  return view;
}

function settle(view, names, tags, sections) {
  const later = view.later;
  if (!later) return;
  view.later = null;
  const among = (list, from) => { const wanted = new Set(list); return from.filter((name) => wanted.has(short(name))); };
  view.hidden = new Set(among(later.hidden, names));
  if (later.only) view.only = new Set(among(later.only, names));
  view.logY = new Set(among(later.logY, tags));
  view.closed = new Set(among(later.closed, sections));
  view.large = tags.find((tag) => short(tag) === later.large) || '';
  for (const text of later.zooms) {
    const [code, x, y] = text.split('!');
    const key = tags.find((tag) => short(tag) === code);
    if (key) view.zooms.set(key, { x: x ? range(x) : null, y: y ? range(y) : null });
  }
}
