const VIRIDIS = ['#440154', '#482878', '#3e4989', '#31688e', '#26828e', '#1f9e89', '#35b779', '#6ece58', '#b5de2b', '#fde725'];
const AROUND_ZERO = ['#084f7d', '#0072B2', '#4c9ccb', '#99c6e2', '#f4f4f4', '#eebf9f', '#e29257', '#D55E00', '#8f3f00'];
const NOT_A_NUMBER = [204, 121, 167];

// 256 colours of a scale, as [red, green, blue] each.
function ramp(stops) {
  const parts = stops.map((one) => [1, 3, 5].map((at) => Number.parseInt(one.slice(at, at + 2), 16)));
  return Array.from({ length: 256 }, (_, place) => {
    const at = (place / 255) * (parts.length - 1);
    const low = Math.min(Math.floor(at), parts.length - 2);
    return parts[low].map((value, channel) => Math.round(value + (parts[low + 1][channel] - value) * (at - low)));
  });
}

const RAMPS = { amount: ramp(VIRIDIS), around_zero: ramp(AROUND_ZERO) };

function bytesOf(text) {
  const raw = atob(text);
  const found = new Uint8Array(raw.length);
  for (let place = 0; place < raw.length; place += 1) found[place] = raw.charCodeAt(place);
  return found;
}

function short(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return '—';
  if (value === 0) return '0';
  const size = Math.abs(value);
  const text = size >= 1e5 || size < 1e-3 ? value.toExponential(2).replace('e+', 'e') : String(Number(value.toPrecision(3)));
  return text.replace('-', '−');
}
