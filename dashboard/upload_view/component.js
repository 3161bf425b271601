const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
function size(bytes) {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) { value /= 1024; unit += 1; }
  return `${unit ? Number(value.toPrecision(3)) : value} ${UNITS[unit]}`;
}
function duration(seconds) {
  if (!Number.isFinite(seconds)) return '';
  if (seconds < 60) return `${Math.max(1, Math.round(seconds))} s left`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s left`;
}

function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  // Names of files are somebody else's text: only ever set as text.
  if (text !== undefined) element.textContent = text;
  return element;
}

function button(text, label, action) {
  const element = make('button', 'small', text);
  element.type = 'button';
  element.setAttribute('aria-label', label);
  element.addEventListener('click', action);
  return element;
}

function build(item, sending) {
  const row = make('li', `item ${item.state}`);
  const name = make('span', 'name', item.name);
  name.title = item.name;
  const line = make('div', 'line');
  const actions = make('span', 'actions');
  line.append(name, actions);
  row.append(line);
  if (item.state === 'sending') {
    item.bar = make('progress');
    item.bar.max = 1;
    item.bar.setAttribute('aria-label', `Sending ${item.name}`);
    row.append(item.bar);
  }
  item.words = make('div', 'words');
  item.words.setAttribute('role', item.state === 'failed' || item.state === 'refused' ? 'alert' : 'presentation');
  row.append(item.words);
  if (item.state === 'failed') actions.append(button('Retry', `Send ${item.name} again`, () => sending.retry(item)));
  const closes = item.state === 'failed' || item.state === 'refused';
  actions.append(button(closes ? 'Dismiss' : 'Cancel', `${closes ? 'Dismiss' : 'Cancel'} ${item.name}`, () => sending.remove(item)));
  item.drawn = item.state;
  item.row = row;
}

function describe(item) {
  if (item.state === 'waiting') return `waiting · ${size(item.total)}`;
  if (item.state !== 'sending') return item.text;
  if (item.sent >= item.total) return `${size(item.total)} sent, being stored`;
  const share = item.total ? Math.floor((100 * item.sent) / item.total) : 0;
  const speed = item.rate ? [`${size(item.rate)}/s`, duration((item.total - item.sent) / item.rate)] : [];
  return [`${share} %`, `${size(item.sent)} of ${size(item.total)}`, ...speed].join(' · ');
}

export default function (component) {
  const { parentElement, data, setTriggerValue, key } = component;
  const zone = parentElement.querySelector('.zone');
  const list = parentElement.querySelector('.items');
  const pickFiles = parentElement.querySelector('.pick-files');
  const pickFolder = parentElement.querySelector('.pick-folder');
  parentElement.querySelector('.hint').textContent = data.hint;
  parentElement.querySelector('.title').textContent = data.title;
  parentElement.querySelector('.choose-folder').hidden = !data.folders;
  zone.setAttribute('aria-label', `${data.title}, or press Enter to choose a file`);

  window.stethoscopeUploads = window.stethoscopeUploads || new Map();
  const name = data.key;
  if (!window.stethoscopeUploads.has(name)) window.stethoscopeUploads.set(name, new Sending());
  const sending = window.stethoscopeUploads.get(name);
  sending.config = { url: data.url, token: data.token, header: data.header, expected: data.expected };

  const draw = () => {
    const rows = sending.items.map((item) => {
      if (!item.row || item.drawn !== item.state) build(item, sending);
      item.words.textContent = describe(item);
      if (item.bar && item.state === 'sending') item.bar.value = item.total ? item.sent / item.total : 0;
      return item.row;
    });
    const now = [...list.children];
    if (rows.length !== now.length || rows.some((row, place) => row !== now[place])) list.replaceChildren(...rows);
    list.hidden = !rows.length;
  };
  const listener = { changed: draw, finished: (ids) => setTriggerValue('uploaded', ids) };
  sending.listener = listener;
  const take = async (gathering) => {
    try { sending.add(await gathering()); } catch (error) { sending.refuse(error.message || 'This cannot be read. Try again.'); }
  };

  let depth = 0;
  const over = (on) => zone.classList.toggle('over', on);
  const carriesFiles = (event) => event.dataTransfer && [...event.dataTransfer.types].includes('Files');
  zone.ondragenter = (event) => { if (carriesFiles(event)) { event.preventDefault(); depth += 1; over(true); } };
  zone.ondragover = (event) => { if (carriesFiles(event)) { event.preventDefault(); event.dataTransfer.dropEffect = 'copy'; } };
  zone.ondragleave = () => { depth = Math.max(0, depth - 1); if (!depth) over(false); };
  zone.ondrop = (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    depth = 0;
    over(false);
    take(() => fromDrop(event.dataTransfer, data.together));
  };
  zone.onclick = (event) => { if (!event.target.closest('button')) pickFiles.click(); };
  zone.onkeydown = (event) => {
    if (event.target === zone && (event.key === 'Enter' || event.key === ' ')) { event.preventDefault(); pickFiles.click(); }
  };
  parentElement.querySelector('.choose-files').onclick = () => pickFiles.click();
  parentElement.querySelector('.choose-folder').onclick = () => pickFolder.click();
  pickFiles.onchange = () => { const files = [...pickFiles.files]; pickFiles.value = ''; take(async () => together(files, [], data.together)); };
  pickFolder.onchange = () => { const files = [...pickFolder.files]; pickFolder.value = ''; take(async () => fromFolderPicker(files, data.together)); };

  draw();
  sending.next();
  return () => { if (sending.listener === listener) sending.listener = null; };
}
