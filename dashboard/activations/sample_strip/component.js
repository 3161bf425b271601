export default function (component) {
  const { parentElement, data, setStateValue } = component;
  const strip = parentElement.querySelector('.strip');
  const tell = (place, also) => setStateValue('picked', { value: { place, also }, at: Date.now() });
  const cards = data.samples.map((sample, at) => {
    const card = document.createElement('button');
    card.type = 'button';
    card.className = 'one';
    card.setAttribute('role', 'option');
    const chosen = data.chosen.indexOf(sample.place);
    card.setAttribute('aria-selected', String(chosen >= 0));
    // Names and labels come from files: only ever set as text.
    card.title = [sample.name, sample.label, data.hint].filter(Boolean).join(' · ');
    const face = document.createElement('div');
    face.className = 'face';
    if (sample.picture) {
      const image = document.createElement('img');
      image.src = `data:image/png;base64,${sample.picture}`;
      image.alt = sample.label || sample.name || `row ${sample.place}`;
      image.className = sample.small ? 'small' : '';
      face.append(image);
    } else {
      const words = document.createElement('div');
      words.className = 'words';
      words.textContent = sample.words;
      face.append(words);
    }
    const name = document.createElement('div');
    name.className = 'name';
    const parts = [['label', sample.label], [chosen >= 0 && data.chosen.length > 1 ? 'mark' : 'row', chosen >= 0 && data.chosen.length > 1 ? 'ABCDEFGH'[chosen] : String(sample.place)]];
    for (const [kind, text] of parts) {
      const part = document.createElement('span');
      part.className = kind;
      part.textContent = text;
      name.append(part);
    }
    card.append(face, name);
    card.onclick = (event) => tell(sample.place, event.shiftKey || event.ctrlKey || event.metaKey);
    card.onkeydown = (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      cards[Math.max(0, Math.min(cards.length - 1, at + step))].focus();
    };
    return card;
  });
  strip.replaceChildren(...cards);
}
