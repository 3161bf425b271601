class Chart extends ChartPointer {
  constructor(app, spec) {
    super(app, spec);
    this.build();
  }

  build() {
    const card = make('article', 'chart');
    card.tabIndex = 0;
    card.setAttribute('aria-label', `Chart of ${this.title}`);
    const head = make('header', 'chart-head');
    const words = make('div', 'chart-words');
    this.name = make('h4', 'chart-title', this.title);
    const line = make('div', 'chart-line');
    line.append(this.name);
    if (this.parts.length > 1) for (const part of this.parts) line.append(make('span', part.dash ? 'stroke dashed' : 'stroke'), make('span', 'layer-name', part.label));
    this.name.title = this.parts.map((part) => part.tag).join('\n');
    this.best = make('div', 'chart-best');
    words.append(line, this.best);
    const tools = make('div', 'chart-tools');
    this.backButton = iconButton('back', 'Back to the view before (double click: whole)', () => this.back());
    this.logButton = iconButton('log', 'Logarithmic values', () => this.app.flip('logY', this.key));
    this.saveButton = iconButton('save', 'Download this chart', (event) => this.app.offer(this, event.currentTarget));
    this.largeButton = iconButton('large', 'Large', () => this.app.enlarge(this.app.view.large === this.key ? '' : this.key));
    tools.append(this.backButton, this.logButton, this.saveButton, this.largeButton);
    head.append(words, tools);
    this.body = make('div', 'chart-body');
    this.note = make('p', 'chart-note');
    this.note.hidden = true;
    this.body.append(this.note);
    card.append(head, this.body);
    card.chart = this;
    card.onkeydown = (event) => {
      if (event.target !== card) return;
      if (event.key === 'Enter') this.app.enlarge(this.app.view.large === this.key ? '' : this.key);
      else if (event.key === 'Backspace') this.back();
      else if (event.key === 'Escape') { if (this.app.tip.pinned) this.app.tip.pinned.unpin(); else if (this.app.view.large === this.key) this.app.enlarge(''); else this.whole(); }
      else return;
      event.preventDefault();
    };
    this.element = card;
  }

  draw() {
    if (!this.inView || !this.element.isConnected) return;
    this.gather();
    const width = this.body.clientWidth;
    if (!width) return;
    const { height } = this;
    this.body.style.height = `${height}px`;
    const waiting = this.layers.some((layer) => layer.asked && !layer.answer && !layer.problem);
    const problem = this.layers.map((layer) => layer.problem).find(Boolean);
    const nothing = this.layers.every((layer) => !layer.series.length);
    const said = problem || (!nothing ? '' : waiting ? '' : this.app.visible.length ? 'None of the runs that are shown has this tag.' : 'No run is shown. Tick one in the list.');
    this.note.hidden = !said;
    this.note.textContent = said;
    this.element.classList.toggle('waiting', nothing && waiting);
    this.element.classList.toggle('large', this.app.view.large === this.key);
    this.scales = this.bounds();
    this.tell(nothing);
    const picture = [width, height, this.app.theme.key, JSON.stringify(this.scales), this.app.marks.length, ...this.layers.map((layer) => layer.series.length)].join();
    const same = this.plot && this.picture === picture && this.layers.every((layer, at) => layer.answer === this.answers[at]) && this.shownThen === this.app.shown;
    if (same) return;
    this.picture = picture;
    this.answers = this.layers.map((layer) => layer.answer);
    this.shownThen = this.app.shown;
    if (!this.plot) this.plot = this.makePlot(width, height);
    else if (this.plot.width !== width || this.plot.height !== height) this.plot.setSize({ width, height });
    this.plot.root.style.visibility = nothing ? 'hidden' : '';
    this.plot.setData([this.scales.x, this.scales.y]);
    this.element.dataset.drawn = nothing ? '' : String(this.layers.reduce((sum, layer) => sum + layer.series.length, 0));
  }

  tell(nothing) {
    const zoomed = this.zoom.x || this.zoom.y;
    this.backButton.hidden = !zoomed;
    this.logButton.setAttribute('aria-pressed', String(this.logY));
    const large = this.app.view.large === this.key;
    if (this.largeDrawn !== large) {
      this.largeDrawn = large;
      this.largeButton.replaceChildren(icon(large ? 'small' : 'large'));
      this.largeButton.title = large ? 'As before' : 'Large';
      this.largeButton.setAttribute('aria-label', this.largeButton.title);
    }
    const layer = [...this.layers].reverse().find((one) => one.series.some((series) => series.best)) || null;
    const found = nothing ? null : layer;
    this.best.replaceChildren();
    if (!found) { this.best.append(make('span', '', ' ')); return; }
    const facts = this.app.index.tags.find((one) => one.tag === layer.tag) || {};
    const way = facts.low_is_best ? 'min' : 'max';
    const side = way === 'max' ? 'highest' : 'lowest';
    const top = layer.series.filter((series) => series.best).reduce((a, b) => ((way === 'max' ? b.best[1] > a.best[1] : b.best[1] < a.best[1]) ? b : a));
    const dot = make('i', 'key');
    dot.style.setProperty('--mark', this.app.colourOf(top));
    const name = make('span', 'best-run', this.app.nameOf(top));
    const words = `${this.layers.length > 1 ? `${layer.label}: ` : ''}${facts.score ? 'best' : side} ${figure(top.best[1])} at ${place(top.best[0], this.app.view.x, this.unit)}`;
    this.best.append(make('span', 'best-words', words), dot, name);
    this.best.title = `${words}, ${this.app.nameOf(top)} (${side} of ${several(layer.series.length, this.app.averaged() ? 'group' : 'run')})`;
  }

  drawing(focus = null) {
    const { app } = this;
    const tags = new Set(this.parts.map((part) => part.tag));
    const marks = app.view.x !== 'step' ? [] : app.marks.filter((mark) => (!mark.tag || tags.has(mark.tag)) && app.shownNames.has(mark.run)).slice(0, 12);
    return {
      layers: this.layers, marks, theme: app.theme, focus,
      many: this.layers.reduce((sum, layer) => sum + layer.series.length, 0) / this.layers.length,
      colourOf: (series) => app.colourOf(series),
      runColour: (name) => app.colours.of(name, app.theme.dark),
    };
  }

  geometry(plot) {
    const { left, top, width, height } = plot.bbox;
    return { left, top, width, height, ...this.scales };
  }

  makePlot(width, height) {
    const { app } = this;
    const axis = (more) => ({ stroke: () => app.theme.faint, font: `11px ${app.theme.font}`, grid: { stroke: () => app.theme.grid, width: 1 }, ticks: { show: false }, gap: 6, ...more });
    const inside = (plot) => plot.bbox.width / uPlot.pxRatio;
    const isWall = app.view.x === 'wall';
    this.axis = app.view.x;
    const horizontal = axis({
      size: isWall ? 42 : 26,
      ...(isWall ? { values: undefined } : {
        splits: (plot, _at, low, high) => xTicks(app.view.x, low, high, inside(plot) || width - 60, this.scales.logX),
        values: (_plot, splits) => xLabels(app.view.x, splits, ...this.scales.x),
      }),
    });
    if (isWall) delete horizontal.values;
    const options = {
      width, height, padding: [8, 14, 0, 0], legend: { show: false },
      scales: {
        x: { time: isWall, distr: this.scales.logX ? 3 : 1, range: () => this.scales.x },
        y: { distr: this.scales.logY ? 3 : 1, range: () => this.scales.y },
      },
      series: [{}, { paths: () => null, points: { show: false } }],
      axes: [
        horizontal,
        axis({
          size: (_plot, values) => 16 + 6.4 * Math.max(3, ...(values || []).map((text) => text.length)),
          splits: (plot, _at, low, high) => yTicks(low, high, plot.bbox.height / uPlot.pxRatio || height - 40, this.scales.logY),
          values: (_plot, splits) => yLabels(splits, this.scales.logY),
        }),
      ],
      cursor: { x: true, y: false, points: { show: false }, drag: { x: true, y: true, uni: 24, dist: 4, setScale: false }, bind: { dblclick: () => () => null } },
      hooks: {
        draw: [(plot) => {
          const { ctx, bbox } = plot;
          ctx.save();
          ctx.beginPath();
          ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
          ctx.clip();
          const pen = new CanvasPen(ctx, uPlot.pxRatio);
          pen.font = app.theme.font;
          paint(pen, this.drawing(), this.geometry(plot), uPlot.pxRatio);
          ctx.restore();
          this.paintOver();
        }],
        setSelect: [(plot) => this.selected(plot)],
        setCursor: [(plot) => this.moved(plot)],
      },
    };
    this.logsDrawn = `${this.scales.logX}${this.scales.logY}`;
    const plot = new uPlot(options, [this.scales.x, this.scales.y], this.body);
    this.overlay = make('canvas', 'overlay');
    plot.over.append(this.overlay);
    let down = null;
    plot.over.addEventListener('mousedown', (event) => { down = [event.clientX, event.clientY]; });
    plot.over.addEventListener('click', (event) => {
      if (down && Math.hypot(event.clientX - down[0], event.clientY - down[1]) < 4 && event.detail === 1) this.pin(event);
    });
    plot.over.addEventListener('dblclick', () => { this.unpin(); this.whole(); });
    plot.over.addEventListener('mouseleave', () => this.left());
    return plot;
  }

  remake() {
    if (this.plot) { this.plot.destroy(); this.plot = null; }
    this.found = null;
  }

  destroy() {
    for (const layer of this.layers) this.stop(layer);
    if (this.app.tip.pinned === this) this.app.tip.unpin();
    this.remake();
  }
}
