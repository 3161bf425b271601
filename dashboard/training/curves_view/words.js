const COUNT = new Intl.NumberFormat('en-US');
const MINUS = '−';

function figure(value, digits = 4) {
  if (value === null || value === undefined) return '—';
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : `${MINUS}∞`;
  if (value === 0) return '0';
  const size = Math.abs(value);
  let text;
  if (size >= 1e6 || size < 1e-4) {
    const [mantissa, exponent] = value.toExponential(digits - 1).split('e');
    text = `${Number(mantissa)}e${Number(exponent)}`;
  } else if (Number.isInteger(value) && size < 1e6) text = COUNT.format(value);
  else text = value.toLocaleString('en-US', { maximumSignificantDigits: digits });
  return text.replace(/-/g, MINUS);
}

const whole = (value) => (Number.isInteger(value) ? COUNT.format(value).replace(/-/g, MINUS) : figure(value));

function span(seconds) {
  const size = Math.abs(seconds);
  if (size < 60) return `${figure(seconds, 3)} s`;
  if (size < 3600) return `${Math.trunc(seconds / 60)} min ${Math.round(size % 60)} s`;
  if (size < 172800) return `${Math.trunc(seconds / 3600)} h ${Math.round((size % 3600) / 60)} min`;
  return `${figure(seconds / 86400, 3)} days`;
}

const moment = (seconds) => new Date(seconds * 1000).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

function place(value, axis, unit) {
  if (axis === 'wall') return moment(value);
  if (axis === 'relative') return span(value);
  return `${unit} ${whole(value)}`;
}

const several = (count, noun) => `${COUNT.format(count)} ${noun}${count === 1 ? '' : 's'}`;

// Names come from files: they are only ever set as text.
function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

const ICONS = {
  large: 'M9.5 2.5h4v4M13.5 2.5l-5 5M6.5 13.5h-4v-4M2.5 13.5l5-5',
  small: 'M13.5 6.5h-4v-4M9.5 6.5l4-4M2.5 9.5h4v4M6.5 9.5l-4 4',
  save: 'M8 2v8M4.5 7 8 10.5 11.5 7M2.5 13.5h11',
  back: 'M6 3 2.5 6.5 6 10M2.5 6.5h7a4 4 0 0 1 0 7H7',
  log: 'M2.5 2v11.5h11.5M5 11c0-5 2-7.5 8-7.5',
  caret: 'M6 4l4 4-4 4',
};
function icon(name) {
  const drawing = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  drawing.setAttribute('viewBox', '0 0 16 16');
  drawing.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('d', ICONS[name]);
  drawing.append(path);
  return drawing;
}
function iconButton(name, label, action) {
  const button = make('button', `icon ${name}`);
  button.type = 'button';
  button.title = label;
  button.setAttribute('aria-label', label);
  button.append(icon(name));
  button.addEventListener('click', action);
  return button;
}
