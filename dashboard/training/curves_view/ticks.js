// Ticks of our own for all but dates: whole steps, times in the unit that fits, and 1-2-5 on logarithmic axes.
function niceTicks(low, high, most, least = 0) {
  const rough = (high - low) / Math.max(1, most);
  if (!(rough > 0) || !Number.isFinite(rough)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(least, power * ([1, 2, 5, 10].find((digit) => digit * power >= rough * 0.7) || 10));
  const ticks = [];
  for (let count = Math.ceil(low / step - 1e-9); count * step <= high + step * 1e-9 && ticks.length < 40; count += 1) ticks.push(Number((count * step).toPrecision(12)));
  ticks.step = step;
  return ticks;
}

function logTicks(low, high, most) {
  const decades = Math.log10(high / low);
  const ticks = [];
  const digits = decades <= most / 3 ? [1, 2, 5] : [1];
  const every = Math.max(1, Math.ceil(decades / Math.max(1, most)));
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
    if (digits.length === 1 && power % every) continue;
    for (const digit of digits) {
      const value = Number((digit * 10 ** power).toPrecision(6));
      if (value >= low * 0.999 && value <= high * 1.001) ticks.push(value);
    }
  }
  return ticks.length > 1 ? ticks : niceTicks(low, high, most);
}

const UNITS_OF_TIME = [[86400, 'd'], [3600, 'h'], [60, 'min'], [1, 's']];
const unitOfTime = (low, high) => UNITS_OF_TIME.find(([size]) => Math.max(Math.abs(low), Math.abs(high)) >= 2 * size) || UNITS_OF_TIME[3];

function xTicks(axis, low, high, width, log) {
  const most = Math.max(2, Math.floor(width / 70));
  if (log) return logTicks(low, high, most);
  if (axis === 'step') return niceTicks(low, high, most, 1);
  const [size] = unitOfTime(low, high);
  return niceTicks(low / size, high / size, most).map((value) => value * size);
}

function xLabels(axis, ticks, low, high) {
  if (axis === 'step') return ticks.map((value) => (Math.abs(value) >= 1e5 ? compact(value) : figure(value, 6)));
  const [size, unit] = unitOfTime(low, high);
  return ticks.map((value, at) => `${figure(value / size, 4)}${at === ticks.length - 1 ? ` ${unit}` : ''}`);
}

function compact(value) {
  for (const [size, letter] of [[1e9, 'G'], [1e6, 'M'], [1e3, 'k']]) {
    if (Math.abs(value) >= size) return `${Number((value / size).toPrecision(5))}${letter}`.replace('-', MINUS);
  }
  return figure(value);
}

const yTicks = (low, high, height, log) => (log ? logTicks(low, high, Math.floor(height / 34)) : niceTicks(low, high, Math.max(2, Math.floor(height / 42))));

function yLabels(ticks, log) {
  if (log) return ticks.map((value) => figure(value, 3));
  const most = Math.max(...ticks.map(Math.abs), 0);
  const step = ticks.step || (ticks.length > 1 ? Math.abs(ticks[1] - ticks[0]) : most);
  if (most >= 1e6 || (most > 0 && most < 1e-3)) {
    const digits = Math.max(0, Math.min(8, Math.floor(Math.log10(most)) - Math.floor(Math.log10(step || most))));
    return ticks.map((value) => (value === 0 ? '0' : value.toExponential(digits).replace('e+', 'e').replace(/-/g, MINUS)));
  }
  const decimals = Math.min(10, Math.max(0, -Math.floor(Math.log10(step || 1) + 1e-9)));
  return ticks.map((value) => value.toLocaleString('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals }).replace(/-/g, MINUS));
}
