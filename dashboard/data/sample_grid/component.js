export default function (component) {
  const { parentElement, data, setStateValue } = component;
  const find = (selector) => parentElement.querySelector(selector);
  const [root, bar, chips, cards, marksOn, labelsOn] = ['.samples', '.bar', '.chips', '.cards', '.marks-on', '.labels-on'].map(find);
  const kept = (root.kept = root.kept || { hidden: new Set(data.hidden), marks: data.marks, labels: data.labels });
  const looks = new Map(data.classes.map(([name, colour, dashed]) => [name, { colour, dashed }]));
  const lookOf = (label) => (kept.hidden.has(label) ? null : looks.get(label) || { colour: '#8A8F98', dashed: false });
  root.classList.toggle('large', data.large);
  root.style.setProperty('--card', `${data.size}px`);
  root.style.setProperty('--frame', `${Math.round(data.size * 0.78)}px`);
  const tell = (name, value) => setStateValue(name, { value, at: Date.now() });

  const draw = () => {
    const room = cards.clientWidth || data.size;
    const columns = Math.max(1, Math.floor((room + 12) / (data.size + 12)));
    const across = data.large ? room - 18 : (room - 12 * (columns - 1)) / columns;
    const view = {
      marks: kept.marks, labels: kept.labels, large: data.large, across, down: data.large ? data.height : Math.round(data.size * 0.78),
      largest: data.large ? 24 : 16, mostTags: data.large ? 400 : 10, mostSame: data.large ? 400 : 2,
    };
    kept.across = room;
    cards.replaceChildren(...data.samples.map((sample) => cardOf(sample, view, lookOf)));
    const first = cards.querySelector(`[data-place="${kept.focused}"]`) || cards.firstElementChild;
    if (first) first.tabIndex = 0;
  };
  const legend = () => {
    bar.hidden = !data.legend.length;
    marksOn.checked = kept.marks;
    labelsOn.checked = kept.labels;
    const made = data.legend.map(([label, amount]) => {
      const look = looks.get(label) || { colour: '#8A8F98' };
      const chip = make('button', 'chip');
      chip.type = 'button';
      chip.title = label;
      chip.setAttribute('aria-pressed', String(!kept.hidden.has(label)));
      const swatch = make('span', look.dashed ? 'swatch again' : 'swatch');
      swatch.style.background = look.colour;
      swatch.style.borderColor = look.colour;
      chip.append(swatch, make('span', 'text', label || 'no class'), make('span', 'amount', amount.toLocaleString('en-US')));
      chip.onclick = (event) => {
        // With Alt or a double click, only this class.
        if (event.altKey || event.detail === 2) { kept.hidden = new Set(data.legend.map(([name]) => name).filter((name) => name !== label)); }
        else if (!kept.hidden.delete(label)) kept.hidden.add(label);
        legend();
        said();
      };
      return chip;
    });
    if (data.legend.length > 1) {
      const all = make('button', 'chip all', kept.hidden.size ? 'Show all' : 'Hide all');
      all.type = 'button';
      all.onclick = () => { kept.hidden = kept.hidden.size ? new Set() : new Set(data.legend.map(([name]) => name)); legend(); said(); };
      made.push(all);
    }
    chips.replaceChildren(...made);
  };
  const said = () => {
    // Views are small: they are redrawn, so that labels come and go with their marks.
    draw();
    window.clearTimeout(kept.timer);
    kept.timer = window.setTimeout(() => root.isConnected && tell('view', { hidden: [...kept.hidden], marks: kept.marks, labels: kept.labels }), 400);
  };
  marksOn.onchange = () => { kept.marks = marksOn.checked; said(); };
  labelsOn.onchange = () => { kept.labels = labelsOn.checked; said(); };

  const open = (card) => { if (!data.large && card) { kept.focused = card.dataset.place; tell('opened', Number(card.dataset.place)); } };
  cards.onclick = (event) => open(event.target.closest('.card'));
  cards.onkeydown = (event) => {
    const card = event.target.closest('.card');
    if (!card || event.target.tagName === 'AUDIO') return;
    if (data.large) {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (step) { event.preventDefault(); tell('opened', { step }); }
      if (event.key === 'Escape') { event.preventDefault(); tell('opened', null); }
      return;
    }
    if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); open(card); return; }
    const all = [...cards.children];
    const columns = Math.max(1, all.filter((one) => one.offsetTop === all[0].offsetTop).length);
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns, Home: -Infinity, End: Infinity }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const to = all[Math.min(all.length - 1, Math.max(0, all.indexOf(card) + step))];
    for (const one of all) one.tabIndex = one === to ? 0 : -1;
    to.focus();
  };

  legend();
  draw();
  // Arrows are meant for the sample that was just opened.
  if (data.large && kept.opened !== data.samples[0]?.place) { kept.opened = data.samples[0]?.place; cards.firstElementChild?.focus({ preventScroll: true }); }
  const sized = new ResizeObserver(() => { if (Math.abs((kept.across || 0) - cards.clientWidth) > 1) draw(); });
  sized.observe(cards);
  return () => sized.disconnect();
}
