const POLL_MS = 2500;
const KEEP_MS = 500;
const AHEAD = 16;
const FEW_POINTS = 60;
const RANK = ['info', 'low', 'medium', 'high', 'critical'];

class Curves extends Controls {
  constructor(root) {
    super();
    this.root = root;
    this.view = null;
    this.index = { runs: [], tags: [], media: [] };
    this.visible = [];
    this.shown = new Set();
    this.matches = [];
    this.pointed = null;
    this.colours = new Colours();
    this.asking = new Asking(2);
    this.asking.rest = () => this.lookAhead();
    this.tip = new Tip(root);
    this.menu = new Menu(root);
    this.tree = new RunsTree(this, root);
    this.sections = new Sections(this, root);
    this.waiting = new Set();
    this.marks = [];
    this.unit = 'step';
    this.worst = new Map();
    this.wire();
    root.addEventListener('pointerenter', () => this.dress());
    window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => window.setTimeout(() => this.dress(), 300));
  }

  // ---- what Python says -----------------------------------------------------------------------------------------
  update(data, tell) {
    this.tell = tell;
    const fresh = this.api !== data.api;
    this.api = data.api;
    this.marks = data.marks || [];
    this.worst = new Map();
    for (const mark of this.marks) {
      const known = this.worst.get(mark.run);
      if (!known || RANK.indexOf(mark.severity) > RANK.indexOf(known.severity)) this.worst.set(mark.run, mark);
    }
    if (fresh) {
      this.view = readView(data.view);
      this.revision = undefined;
      this.load();
    } else if (this.index.runs.length) { this.tree.draw(); this.drawAll(); }
    this.dress();
  }

  async load() {
    window.clearTimeout(this.polling);
    const { api } = this;
    try {
      const index = await askIndex(api, this.revision);
      if (api !== this.api || !this.root.isConnected) return;
      if (index) this.take(index);
      this.failing = false;
    } catch (error) {
      if (api !== this.api) return;
      this.failing = true;
      if (!this.index.runs.length) this.say(error instanceof TypeError ? 'The server does not answer. Reload the page to try again.' : error.message);
    }
    this.live();
    if ((this.index.live || this.failing) && this.root.isConnected) this.polling = window.setTimeout(() => this.load(), this.index.runs.length || this.failing ? POLL_MS : 700);
  }

  take(index) {
    const before = this.index;
    const first = Boolean(this.view.later) && index.runs.length > 0;
    this.index = index;
    // A tag's index is its name in questions; those without numbers (images, texts) are not charts.
    index.tags.forEach((tag, at) => { tag.index = at; });
    index.tags = index.tags.filter((tag) => tag.points > 0);
    this.revision = index.revision;
    this.names = index.runs.map((run) => run.run);
    this.colours.learn(this.names);
    this.parameters = [...new Set(index.runs.flatMap((run) => Object.keys(run.parameters || {})))].sort();
    this.unit = index.unit || (index.runs[0] && index.runs.every((run) => run.unit === 'epoch') ? 'epoch' : 'step');
    // Curves of a few epochs are not smoothed unless somebody asks for it.
    const sizes = index.tags.map((tag) => tag.points / Math.max(1, tag.runs)).sort((a, b) => a - b);
    this.short = (sizes[sizes.length >> 1] || 0) <= FEW_POINTS;
    if (first) {
      const specs = chartSpecs(index.tags, this.view.pairs);
      settle(this.view, this.names, specs.map((spec) => spec.key), [...new Set(specs.map((spec) => spec.section))]);
      if (!this.view.group) this.view.group = index.runs.some(folderOf) ? 'folder' : 'none';
    }
    this.health();
    this.dial();
    this.choose();
    if (first || !this.sections.order || JSON.stringify(before.tags.map((tag) => tag.tag)) !== JSON.stringify(index.tags.map((tag) => tag.tag))) this.sections.build();
    if (!index.runs.length) this.say(index.problem || (index.live ? 'Looking for runs in this folder' : 'This log holds no runs.'));
    this.tree.arrange();
    this.askAll();
  }

  say(text) { if (text) { this.find('.nothing').hidden = false; this.find('.nothing').textContent = text; } }

  live() {
    const mark = this.find('.live');
    mark.hidden = !this.index.live;
    mark.classList.toggle('failing', Boolean(this.failing));
    mark.lastElementChild.textContent = this.failing ? 'Not connected' : 'Live';
    mark.title = this.failing ? 'The server did not answer; it is asked again.' : 'What is appended to this log appears by itself.';
  }

  // What was wrong with the files, in plain words, at most three lines at first.
  health() {
    const strip_ = this.find('.health');
    const lines = this.index.runs.filter((run) => run.health && run.health.problem).map((run) => [run.run, run.health.problem]);
    if (this.index.problem) lines.unshift(['', this.index.problem]);
    strip_.hidden = !lines.length;
    const shown = this.allHealth ? lines : lines.slice(0, 3);
    strip_.replaceChildren(...shown.map(([run, text]) => {
      const line = make('p', '');
      if (run) line.append(make('b', '', run), document.createTextNode(' '));
      line.append(document.createTextNode(text));
      return line;
    }));
    if (lines.length > shown.length) {
      const more = make('button', 'plain', `and ${several(lines.length - shown.length, 'more run')}`);
      more.type = 'button';
      more.onclick = () => { this.allHealth = true; this.health(); };
      strip_.append(more);
    }
  }

  // ---- which runs -----------------------------------------------------------------------------------------------
  isOn(run) {
    const name = this.index.runs[run].run;
    return this.view.only ? this.view.only.has(name) : !this.view.hidden.has(name);
  }

  turn(runs, on) {
    const { view } = this;
    for (const run of runs) {
      const name = this.index.runs[run].run;
      if (view.only) { if (on) view.only.add(name); else view.only.delete(name); } else if (on) view.hidden.delete(name); else view.hidden.add(name);
    }
    // The link keeps whichever list is shorter.
    if (!view.only && view.hidden.size > this.names.length / 2) { view.only = new Set(this.names.filter((name) => !view.hidden.has(name))); view.hidden = new Set(); }
    if (view.only && view.only.size > this.names.length / 2) { view.hidden = new Set(this.names.filter((name) => !view.only.has(name))); view.only = null; }
    this.runsChanged();
  }

  only(runs) {
    this.view.only = runs ? new Set(runs.map((run) => this.index.runs[run].run)) : null;
    this.view.hidden = new Set();
    this.runsChanged();
  }

  choose() {
    this.matches = this.tree.match();
    this.visible = [];
    this.index.runs.forEach((_, run) => { if (this.matches[run] && this.isOn(run)) this.visible.push(run); });
    this.shown = new Set(this.visible);
    this.shownNames = new Set(this.visible.map((run) => this.index.runs[run].run));
    this.groupOf = null;
  }

  runsChanged() {
    this.choose();
    this.tree.arrange();
    this.drawAll();
    window.clearTimeout(this.asking_);
    this.asking_ = window.setTimeout(() => this.askAll(), 60);
    this.keep();
  }

  averaged() { return this.view.mean && this.view.group !== 'none' && this.view.group !== ''; }

  groups() {
    if (!this.groupOf) {
      const group = grouper(this.view);
      const found = new Map();
      for (const run of this.visible) {
        const name = group(this.index.runs[run]);
        if (!found.has(name)) found.set(name, []);
        found.get(name).push(run);
      }
      this.groupOf = [...found];
      this.colours.learn(this.groupOf.map(([name]) => `group ${name}`));
    }
    return this.groupOf;
  }

  runColour(run) { return this.colours.of(this.index.runs[run].run, this.theme.dark); }
  groupColour(name) { this.groups(); return this.colours.of(`group ${name}`, this.theme.dark); }
  colourOf(series) { return series.group !== undefined ? this.groupColour(series.group) : this.runColour(series.run); }
  nameOf(series) { return series.group !== undefined ? series.group || '(top folder)' : this.index.runs[series.run].run || '(this folder)'; }

  highlight(run) {
    if (run === this.pointed) return;
    this.pointed = run !== null && this.shown.has(run) ? run : null;
    this.sections.each((chart) => { if (chart.inView) chart.paintOver(); });
  }

  // ---- how it is drawn ------------------------------------------------------------------------------------------
  smoothing() { return this.view.smooth === null ? (this.short ? 0 : 0.6) : this.view.smooth; }

  axisTitle(unit) { return { step: unit[0].toUpperCase() + unit.slice(1), relative: 'Time since the start of the run', wall: 'Time of day' }[this.view.x]; }

  axisTo(axis) {
    if (axis === this.view.x) return;
    this.view.x = axis;
    this.view.zoomX = null;
    for (const zoom of this.view.zooms.values()) zoom.x = null;
    this.sections.each((chart) => { chart.remake(); chart.history = []; for (const layer of chart.layers) layer.answer = null; });
    this.dial();
    this.askAll();
    this.keep();
  }

  flip(name, key) {
    if (!this.view[name].delete(key)) this.view[name].add(key);
    const chart = this.sections.charts.get(key);
    this.view.zooms.delete(key);
    chart.remake();
    chart.draw();
    this.keep();
  }

  enlarge(key) {
    this.view.large = key;
    this.sections.arrange();
    this.sections.each((chart) => { if (chart.inView) { chart.draw(); chart.ask(); } });
    if (key) this.sections.charts.get(key).element.scrollIntoView({ block: 'nearest' });
    this.keep();
  }

  // ---- doing it -------------------------------------------------------------------------------------------------
  drawSoon(chart) {
    this.waiting.add(chart);
    if (this.frame) return;
    this.frame = window.requestAnimationFrame(() => {
      this.frame = null;
      const charts = [...this.waiting].sort((a, b) => a.rank() - b.rank());
      this.waiting.clear();
      for (const one of charts) one.draw();
    });
  }

  drawAll() { this.sections.each((chart) => { if (chart.inView) this.drawSoon(chart); }); }
  remakeAll() { this.sections.each((chart) => { if (chart.inView) { chart.remake(); this.drawSoon(chart); } }); }
  askAll() { this.sections.each((chart) => chart.ask()); }

  // While nothing else is asked, what comes next in the page is fetched, so that it is there when it is scrolled to.
  lookAhead() {
    window.clearTimeout(this.ahead);
    this.ahead = window.setTimeout(() => {
      if (!this.asking.idle || !this.root.isConnected) return;
      const next = [...this.root.querySelectorAll('.chart')].map((element) => element.chart);
      const seen = next.findIndex((chart) => chart.inView);
      const chart = next.slice(Math.max(0, seen), Math.max(0, seen) + AHEAD).find((one) => !one.inView && one.stale !== false && one.element.offsetParent);
      if (chart) { chart.stale = false; for (const layer of chart.layers) chart.askLayer(layer); }
    }, 250);
  }

  offer(chart, owner) {
    const tags = chart.parts.map((part) => part.index);
    this.menu.open(owner, [
      ['Picture as PNG', () => savePng(chart)], ['Picture as SVG', () => saveSvg(chart)],
      ['All points as CSV', () => this.download('csv', tags)], ['All points as Parquet', () => this.download('parquet', tags)],
    ]);
  }

  download(format, tags) {
    const link = document.createElement('a');
    link.href = exportUrl(this, format, tags);
    link.download = '';
    link.click();
  }

  // The address follows a moment after the last change.
  keep() {
    window.clearTimeout(this.keeping);
    this.keeping = window.setTimeout(() => {
      const text = writeView(this.view);
      if (text !== this.kept && this.root.isConnected) { this.kept = text; this.tell(text); }
    }, KEEP_MS);
  }

  stop() { window.clearTimeout(this.polling); window.clearTimeout(this.keeping); this.tip.unpin(); this.sections.each((chart) => chart.destroy()); }
}
