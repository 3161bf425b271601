// Browsers give the clipboard to secure pages only; a team's server without TLS takes the older way.
function copyTheOldWay(text, root) {
  const area = document.createElement('textarea');
  area.value = text;
  area.style.position = 'fixed';
  area.style.opacity = '0';
  root.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  return done;
}

async function copy(text) {
  if (navigator.clipboard && window.isSecureContext) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch (error) {
      if (error.name !== 'NotAllowedError') throw error;
    }
  }
  return copyTheOldWay(text, document.body);
}

export default function ({ parentElement }) {
  const button = parentElement.querySelector('button');
  const said = parentElement.querySelector('.said');
  let timer = 0;
  button.onclick = async () => {
    const done = await copy(window.location.href);
    button.textContent = done ? 'Link copied' : 'Use the address bar';
    said.textContent = done ? 'Link copied' : 'The browser refused. Copy the link from the address bar.';
    window.clearTimeout(timer);
    timer = window.setTimeout(() => { button.textContent = 'Copy link'; said.textContent = ''; }, 2500);
  };
  return () => window.clearTimeout(timer);
}
