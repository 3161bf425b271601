// Hosts Netron's page in the Streamlit page and passes messages both ways.
export default function (component) {
  const { parentElement, data, setStateValue } = component;
  const frame = parentElement.querySelector('iframe');
  const notice = parentElement.querySelector('.notice');
  const origin = window.location.origin;
  frame.title = data.title;
  frame.style.height = `${data.height}px`;
  const send = (message) => frame.contentWindow && frame.contentWindow.postMessage({ to: 'graph', ...message }, origin);
  const paint = () => {
    send({ type: 'theme', theme: data.theme });
    send({ type: 'colors', colors: data.colors });
  };
  const select = () => send({ type: 'select', name: data.select, start: data.start, unnamed: data.unnamed });
  if (frame.dataset.source !== data.source) {
    frame.dataset.source = data.source;
    notice.textContent = 'Drawing the graph';
    notice.classList.remove('failed');
    notice.hidden = false;
    frame.setAttribute('src', `${data.source}&theme=${data.theme === 'dark' ? 'dark' : 'light'}`);
    frame.choices = new Choices(data.select);
  } else {
    paint();
    if (frame.choices.news(data.select)) select();
  }
  const listen = (event) => {
    if (event.origin !== origin || event.source !== frame.contentWindow || !event.data || event.data.from !== 'graph') return;
    const { type, name, byHand, reason } = event.data;
    if (type === 'ready') { notice.hidden = true; frame.dataset.ready = 'yes'; paint(); select(); }
    const selected = typeof name === 'string' ? name : null;
    if (type === 'selected' && frame.selected !== selected) {
      frame.selected = selected;
      // What the app itself selected is not told: it would undo what was chosen since. A node clicked once more is news.
      if (byHand) { frame.choices.tell(selected); setStateValue('clicked', { value: selected, at: Date.now() }); }
    }
    if (type === 'failed') { notice.textContent = `The graph could not be drawn: ${reason}`; notice.classList.add('failed'); notice.hidden = false; }
  };
  window.addEventListener('message', listen);
  return () => window.removeEventListener('message', listen);
}
