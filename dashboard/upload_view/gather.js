// What was dropped or picked, as things to send: single files, and folders or sets of files that belong together.
const IGNORED = new Set(['.DS_Store', 'Thumbs.db', 'desktop.ini']);
const MAX_FILES = 200000;
const MODEL_SUFFIX = /\.(keras|h5|hdf5|hdf|tflite|pb|pbtxt|onnx|zip|tar|tgz|gz|bz2|xz|npz|npy|csv|json)$/i;

const asFile = (entry) => new Promise((resolve, reject) => entry.file(resolve, reject));
const someEntries = (reader) => new Promise((resolve, reject) => reader.readEntries(resolve, reject));

async function walk(folder, prefix, files) {
  const reader = folder.createReader();
  // Browsers give a folder in portions of 100 entries, the last one empty.
  for (let some = await someEntries(reader); some.length; some = await someEntries(reader)) {
    for (const entry of some) {
      if (IGNORED.has(entry.name)) continue;
      if (entry.isDirectory) await walk(entry, `${prefix}${entry.name}/`, files);
      else files.push({ path: `${prefix}${entry.name}`, file: await asFile(entry) });
      if (files.length > MAX_FILES) throw new Error(`The folder holds more than ${MAX_FILES.toLocaleString('en-US')} files. Choose the folder of one model or log.`);
    }
  }
  return files;
}

async function fromDrop(transfer, one) {
  // Entries must be taken before the first await: the list empties when the event ends.
  const entries = [...transfer.items].filter((item) => item.kind === 'file').map((item) => item.webkitGetAsEntry && item.webkitGetAsEntry());
  const loose = [...transfer.files];
  const folders = [];
  const files = [];
  for (const [index, entry] of entries.entries()) {
    if (!entry) { if (loose[index]) files.push(loose[index]); continue; }
    if (entry.isDirectory) folders.push({ name: entry.name, files: await walk(entry, '', []) });
    else if (!IGNORED.has(entry.name)) files.push(await asFile(entry));
  }
  return together(files, folders, one);
}

function fromFolderPicker(list, one) {
  const tops = new Map();
  for (const file of list) {
    const [top, ...rest] = file.webkitRelativePath.split('/');
    if (IGNORED.has(file.name)) continue;
    if (!tops.has(top)) tops.set(top, { name: top, files: [] });
    tops.get(top).files.push({ path: rest.join('/'), file });
  }
  if (list.length > MAX_FILES) throw new Error(`The folder holds more than ${MAX_FILES.toLocaleString('en-US')} files. Choose the folder of one model or log.`);
  return together([], [...tops.values()], one);
}

// Decides what belongs together: the parts of a SavedModel, a checkpoint's files beside it, an ONNX file and its data.
// `one`: whatever came at once is one thing.
function together(files, folders, one) {
  const things = [];
  const single = (file) => things.push({ name: file.name, blob: file });
  const pack = (name, members) => {
    if (!members.length) throw new Error(`The folder ${name} is empty. Choose the folder that holds saved_model.pb.`);
    things.push({ name: `${name}.tar`, blob: tarOf(name, members) });
  };
  if (one && files.length + folders.length > 1) {
    const inner = folders.flatMap((folder) => folder.files.map(({ path, file }) => ({ path: `${folder.name}/${path}`, file })));
    pack('files', [...files.map((file) => ({ path: file.name, file })), ...inner]);
    return things;
  }
  if (files.some((file) => /^saved_model\.pb(txt)?$/.test(file.name)) && (folders.length || files.length > 1)) {
    const inner = folders.flatMap((folder) => folder.files.map(({ path, file }) => ({ path: `${folder.name}/${path}`, file })));
    pack('saved_model', [...files.map((file) => ({ path: file.name, file })), ...inner]);
    return things;
  }
  for (const folder of folders) pack(folder.name, folder.files);
  const graphs = files.filter((file) => /\.onnx$/i.test(file.name));
  const data = files.filter((file) => !MODEL_SUFFIX.test(file.name));
  const left = new Set(files);
  for (const graph of graphs) {
    const stem = graph.name.replace(/\.onnx$/i, '');
    const mine = data.filter((file) => left.has(file) && (graphs.length === 1 || file.name.startsWith(stem)));
    if (!mine.length) continue;
    for (const file of [graph, ...mine]) left.delete(file);
    pack(stem, [graph, ...mine].map((file) => ({ path: file.name, file })));
  }
  for (const file of left) single(file);
  return things;
}
