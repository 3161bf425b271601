// A folder as an uncompressed tar, made lazily: the Blob refers to the files, nothing is read into memory.
// Members sorted, times and owners zero: the same files always give the same bytes.
const encoder = new TextEncoder();

const field = (header, at, length, text) => header.set(encoder.encode(text).subarray(0, length), at);
const octal = (value, length) => `${value.toString(8).padStart(length - 1, '0')}\0`;
const pad = (size) => new Uint8Array((512 - (size % 512)) % 512);

function header(name, size, type) {
  const block = new Uint8Array(512);
  field(block, 0, 100, name);
  field(block, 100, 8, octal(0o644, 8));
  field(block, 108, 8, octal(0, 8));
  field(block, 116, 8, octal(0, 8));
  field(block, 124, 12, octal(size, 12));
  field(block, 136, 12, octal(0, 12));
  field(block, 148, 8, '        ');
  field(block, 156, 1, type);
  field(block, 257, 8, 'ustar\x0000');
  const sum = block.reduce((total, byte) => total + byte, 0);
  field(block, 148, 8, `${sum.toString(8).padStart(6, '0')}\0 `);
  return block;
}

function record(key, value) {
  const body = encoder.encode(` ${key}=${value}\n`).length;
  let length = body + 1;
  while (body + String(length).length !== length) length = body + String(length).length;
  return encoder.encode(`${length} ${key}=${value}\n`);
}

const MAX_OCTAL = 8 ** 11 - 1;

function member(path, file) {
  const extra = [];
  const bytes = encoder.encode(path);
  if (bytes.length > 100 || bytes.length !== path.length) extra.push(record('path', path));
  if (file.size > MAX_OCTAL) extra.push(record('size', String(file.size)));
  const parts = [];
  if (extra.length) {
    const size = extra.reduce((total, part) => total + part.length, 0);
    parts.push(header('PaxHeader', size, 'x'), ...extra, pad(size));
  }
  parts.push(header(path.replace(/[^\x20-\x7e]/g, '_').slice(-100), Math.min(file.size, MAX_OCTAL), '0'), file, pad(file.size));
  return parts;
}

// files: [{path, file}], paths relative to the top folder.
function tarOf(top, files) {
  const compare = (a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0);
  const parts = [...files].sort(compare).flatMap(({ path, file }) => member(`${top}/${path}`, file));
  return new Blob([...parts, new Uint8Array(1024)], { type: 'application/x-tar' });
}
