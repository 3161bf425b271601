// Hosts Netron's page in the Streamlit page and passes messages both ways; below it, what its colours mean.
function drawLegend(place, legend) {
  place.hidden = !legend;
  if (!legend) { place.replaceChildren(); return; }
  // Its texts are ours, never a file's; still only ever set as text.
  const make = (className, text) => Object.assign(document.createElement('span'), { className, textContent: text || '' });
  const parts = [make('title', legend.title)];
  if (legend.stops.length) {
    const scale = make('scale');
    const bar = make('bar');
    bar.style.background = `linear-gradient(to right, ${legend.stops.join(', ')})`;
    const ticks = make('ticks');
    for (const [at, text] of legend.ticks) {
      const tick = make('tick', text);
      tick.style.left = `${100 * at}%`;
      tick.style.transform = `translateX(${-100 * at}%)`;
      ticks.append(tick);
    }
    scale.append(bar, ticks);
    parts.push(scale);
  }
  for (const [colour, text] of legend.levels) {
    const level = make('level');
    const box = make('box');
    box.style.background = colour;
    level.append(box, make('', text));
    parts.push(level);
  }
  place.replaceChildren(...parts);
}

export default function (component) {
  const { parentElement, setStateValue } = component;
  const [data] = component.data;
  const frame = parentElement.querySelector('iframe');
  const notice = parentElement.querySelector('.notice');
  const origin = window.location.origin;
  frame.title = data.title;
  frame.style.height = `${data.height}px`;
  drawLegend(parentElement.querySelector('.legend'), data.legend);
  const send = (message) => frame.contentWindow && frame.contentWindow.postMessage({ to: 'graph', ...message }, origin);
  const paint = () => {
    send({ type: 'theme', theme: data.theme });
    send({ type: 'colors', colors: data.colors });
  };
  const select = (name = data.select) => send({ type: 'select', name, start: data.start, unnamed: data.unnamed, panel: data.panel });
  if (frame.dataset.source !== data.source) {
    frame.dataset.source = data.source;
    notice.textContent = 'Drawing the graph';
    notice.classList.remove('failed');
    notice.hidden = false;
    frame.setAttribute('src', `${data.source}&theme=${data.theme === 'dark' ? 'dark' : 'light'}`);
    frame.choices = new Choices(data.select);
    frame.latest = data.select;
  } else {
    if (frame.painted !== data.painted || frame.theme !== data.theme) paint();
    if (frame.choices.news(data.select)) { frame.latest = data.select; select(); }
  }
  [frame.painted, frame.theme] = [data.painted, data.theme];
  const listen = (event) => {
    if (event.origin !== origin || event.source !== frame.contentWindow || !event.data || event.data.from !== 'graph') return;
    const { type, name, byHand, reason } = event.data;
    if (type === 'ready') { notice.hidden = true; frame.dataset.ready = 'yes'; paint(); select(frame.latest); }
    const selected = typeof name === 'string' ? name : null;
    if (type === 'selected' && frame.selected !== selected) {
      frame.selected = selected;
      // What the app itself selected is not told: it would undo what was chosen since. A node clicked once more is news.
      if (byHand && selected !== null) {
        frame.latest = selected;
        frame.choices.tell(selected);
        window.dispatchEvent(new CustomEvent('stethoscope-node', { detail: { from: data.key, node: selected } }));
        setStateValue('clicked', { value: selected, at: Date.now() });
      }
    }
    if (type === 'failed') { notice.textContent = `The graph could not be drawn: ${reason}`; notice.classList.add('failed'); notice.hidden = false; }
  };
  // What is picked in a table beside the graph: the app will say the same a little later.
  const follow = (event) => {
    if (event.detail.to !== data.key) return;
    frame.latest = event.detail.node;
    frame.choices.tell(event.detail.node);
    select(event.detail.node);
  };
  window.addEventListener('message', listen);
  window.addEventListener('stethoscope-node', follow);
  return () => {
    window.removeEventListener('message', listen);
    window.removeEventListener('stethoscope-node', follow);
  };
}
