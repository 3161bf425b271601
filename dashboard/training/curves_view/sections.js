// A tag and the same quantity on held-out data are one chart: solid and dashed.
const HELD_OUT = [
  [/^train\/(.*)$/, (rest) => [`validation/${rest}`, `val/${rest}`, `test/${rest}`, `eval/${rest}`]],
  [/^(.*[/_])train$/i, (rest, tag) => ['validation', 'val', 'valid', 'test', 'eval'].flatMap((word) => [rest + word, rest + word[0].toUpperCase() + word.slice(1)]).filter((name) => name !== tag)],
  [/^(.*)$/, (rest) => { const cut = rest.lastIndexOf('/') + 1; const [head, tail] = [rest.slice(0, cut), rest.slice(cut)]; return [`${head}val_${tail}`, `${head}validation_${tail}`, ...(tail.startsWith('train_') ? [`${head}val_${tail.slice(6)}`, `${head}valid_${tail.slice(6)}`, `${head}test_${tail.slice(6)}`] : [])]; }],
];

function chartSpecs(tags, pairs) {
  const places = new Map(tags.map((one) => [one.tag, one.index]));
  const partner = new Map();
  if (pairs) {
    for (const { tag } of tags) {
      for (const [shape, candidates] of HELD_OUT) {
        const hit = shape.exec(tag);
        const other = hit && candidates(hit[1], tag).find((name) => name !== tag && places.has(name) && ![...partner.values()].includes(name));
        if (other) { partner.set(tag, other); break; }
      }
    }
  }
  const second = new Set(partner.values());
  const specs = [];
  for (const { tag } of tags) {
    if (second.has(tag)) continue;
    const other = partner.get(tag);
    const title = other ? tag.replace(/^train\/|(?<=^|\/)train_|[/_]train$/i, '') : tag;
    const cut = title.indexOf('/');
    const layers = [{ tag, index: places.get(tag), label: other ? 'training' : '', dash: null }];
    if (other) layers.push({ tag: other, index: places.get(other), label: /test/i.test(other) ? 'test' : 'validation', dash: [5, 3.5] });
    specs.push({ key: tag, section: cut > 0 ? title.slice(0, cut) : '', title: cut > 0 ? title.slice(cut + 1) : title, layers });
  }
  const rank = (spec) => (/loss/i.test(spec.title) ? 0 : spec.layers.length > 1 ? 1 : 2);
  return specs.sort((a, b) => (a.section === b.section ? rank(a) - rank(b) || inOrder(a.title, b.title) : !a.section ? -1 : !b.section ? 1 : inOrder(a.section, b.section)));
}

// The charts by the first part of their name; a chart's element stays the same one while it is shown.
class Sections {
  constructor(app, root) {
    this.app = app;
    [this.filter, this.count, this.problem, this.holder, this.nothing] = ['.tags-filter', '.tags-count', '.tags-problem', '.sections', '.nothing'].map((selector) => root.querySelector(selector));
    this.charts = new Map();
    this.filter.oninput = () => { app.view.tags = this.filter.value; this.arrange(); app.keep(); };
    this.seen = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        const { chart } = entry.target;
        const was = chart.inView;
        chart.inView = entry.isIntersecting;
        if (!was && chart.inView) chart.ask();
        else if (was && !chart.inView && app.tip.pinned !== chart) chart.remake();
      }
    }, { rootMargin: '160px 0px' });
    this.sized = new ResizeObserver(() => { for (const chart of this.charts.values()) if (chart.inView && chart.plot && chart.body.clientWidth !== chart.plot.width) app.drawSoon(chart); });
    this.sized.observe(this.holder);
  }

  build() {
    const specs = chartSpecs(this.app.index.tags, this.app.view.pairs);
    const shapes = new Map(specs.map((spec) => [spec.key, JSON.stringify(spec)]));
    for (const [key, chart] of this.charts) {
      if (chart.shape !== shapes.get(key)) { this.seen.unobserve(chart.element); chart.destroy(); chart.element.remove(); this.charts.delete(key); }
    }
    for (const spec of specs) {
      if (this.charts.has(spec.key)) continue;
      const chart = new Chart(this.app, spec);
      chart.shape = shapes.get(spec.key);
      this.charts.set(spec.key, chart);
    }
    this.order = specs;
    this.arrange();
  }

  names() { return [...new Set(this.order.map((spec) => spec.section))]; }

  arrange() {
    const { app } = this;
    if (this.filter.value !== app.view.tags) this.filter.value = app.view.tags;
    const found = pattern(app.view.tags);
    this.problem.textContent = found.problem;
    this.problem.hidden = !found.problem;
    if (found.test) this.test = found.test;
    const wanted = this.order.filter((spec) => spec.layers.some((layer) => this.test(layer.tag)));
    const bySection = new Map();
    for (const spec of wanted) {
      if (!bySection.has(spec.section)) bySection.set(spec.section, []);
      bySection.get(spec.section).push(this.charts.get(spec.key));
    }
    const blocks = [...bySection].map(([name, charts]) => this.block(name, charts, bySection.size));
    const now = [...this.holder.children];
    for (const block of now) if (!blocks.includes(block)) block.remove();
    blocks.forEach((block, at) => { if (this.holder.children[at] !== block) this.holder.insertBefore(block, this.holder.children[at] || null); });
    this.count.textContent = wanted.length === this.order.length ? several(this.order.length, 'chart') : `${COUNT.format(wanted.length)} of ${several(this.order.length, 'chart')}`;
    this.nothing.hidden = wanted.length > 0;
    this.nothing.textContent = this.order.length ? 'No chart matches this filter.' : 'This log holds no curves.';
  }

  block(name, charts, sections) {
    this.blocks = this.blocks || new Map();
    let block = this.blocks.get(name);
    if (!block) {
      block = make('section', 'block');
      const head = make('button', 'block-head');
      head.type = 'button';
      const caret = make('span', 'caret');
      caret.append(icon('caret'));
      head.append(caret, make('span', 'block-name', name || 'Metrics'), make('span', 'block-count'));
      head.onclick = () => { const { closed } = this.app.view; if (!closed.delete(name)) closed.add(name); this.arrange(); this.app.keep(); };
      block.append(head, make('div', 'grid'));
      this.blocks.set(name, block);
    }
    const [head, grid] = block.children;
    const closed = this.app.view.closed.has(name);
    head.hidden = sections === 1 && !name;
    head.setAttribute('aria-expanded', String(!closed));
    head.querySelector('.caret').classList.toggle('open', !closed);
    head.querySelector('.block-count').textContent = COUNT.format(charts.length);
    grid.hidden = closed;
    const wanted = charts.map((chart) => chart.element);
    const kept = new Set(wanted);
    for (const child of [...grid.children]) if (!kept.has(child)) { child.remove(); this.seen.unobserve(child); child.chart.inView = false; child.chart.remake(); }
    wanted.forEach((element, at) => {
      element.classList.toggle('large', this.app.view.large === element.chart.key);
      if (grid.children[at] !== element) grid.insertBefore(element, grid.children[at] || null);
      this.seen.observe(element);
    });
    return block;
  }

  each(action) { for (const chart of this.charts.values()) action(chart); }
}
