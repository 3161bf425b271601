const RUN_ROW = 28;

function pattern(text) {
  if (!text) return { test: () => true, problem: '' };
  try {
    const found = new RegExp(text, 'i');
    return { test: (name) => found.test(name), found, problem: '' };
  } catch (error) {
    return { test: null, problem: `No regular expression: ${String(error.message).replace(/^Invalid regular expression: /, '')}` };
  }
}

const folderOf = (run) => run.group || (run.run.includes('/') ? run.run.slice(0, run.run.lastIndexOf('/')) : '');

// Which group each run is in, by the way of grouping that was chosen; '' is none.
function grouper(view) {
  if (view.group === 'folder') return folderOf;
  if (view.group === 'hparam') return (run) => (run.parameters && view.by in run.parameters ? `${view.by} = ${run.parameters[view.by]}` : `without ${view.by}`);
  if (view.group === 'pattern') {
    const { found } = pattern(view.by);
    if (!found) return () => '';
    return (run) => { const hit = found.exec(run.run); return hit ? hit.slice(1).filter((part) => part !== undefined).join(' ') || hit[0] : 'others'; };
  }
  return () => '';
}

const inOrder = new Intl.Collator('en', { numeric: true }).compare;

class RunsTree {
  constructor(app, root) {
    this.app = app;
    const find = (selector) => root.querySelector(selector);
    [this.filter, this.problem, this.count, this.scroll, this.space, this.tree, this.none] =
      ['.runs-filter', '.runs-problem', '.runs-count', '.runs-scroll', '.runs-space', '.runs-tree', '.runs-none'].map(find);
    this.at = null;
    this.rows = [];
    this.filter.oninput = () => { app.view.runs = this.filter.value; app.runsChanged(); };
    find('.runs-all').onclick = () => this.setAll(true);
    find('.runs-clear').onclick = () => this.setAll(false);
    this.scroll.onscroll = () => window.requestAnimationFrame(() => this.draw());
    this.space.onclick = (event) => this.clicked(event);
    this.space.onmouseover = (event) => { const row = this.rowOf(event); app.highlight(row && row.run !== undefined ? row.run : null); };
    this.space.onmouseleave = () => app.highlight(null);
    this.tree.onkeydown = (event) => this.key(event);
  }

  // Which runs pass the filter; a filter that is no regular expression leaves the last one in force.
  match() {
    const { app } = this;
    if (this.filter.value !== app.view.runs) this.filter.value = app.view.runs;
    const found = pattern(app.view.runs);
    this.problem.textContent = found.problem;
    this.problem.hidden = !found.problem;
    this.filter.setAttribute('aria-invalid', String(Boolean(found.problem)));
    if (found.test) this.test = found.test;
    const test = this.test || (() => true);
    return app.index.runs.map((run) => test(run.run));
  }

  arrange() {
    const { app } = this;
    const group = grouper(app.view);
    const byName = new Map();
    app.index.runs.forEach((run, at) => {
      if (!app.matches[at]) return;
      const name = group(run);
      if (!byName.has(name)) byName.set(name, []);
      byName.get(name).push(at);
    });
    const headed = byName.size > 1 || (byName.size === 1 && !byName.has(''));
    this.rows = [];
    for (const [name, runs] of [...byName].sort(([a], [b]) => inOrder(a, b))) {
      runs.sort((a, b) => inOrder(app.index.runs[a].run, app.index.runs[b].run));
      if (headed) this.rows.push({ group: name, runs });
      if (!headed || !app.view.folded.has(name)) for (const run of runs) this.rows.push({ run, deep: headed, under: name });
    }
    this.space.style.height = `${this.rows.length * RUN_ROW}px`;
    this.none.hidden = this.rows.length > 0;
    const matching = app.matches.filter(Boolean).length;
    const shown = app.visible.length;
    this.count.textContent = matching === app.index.runs.length
      ? `${COUNT.format(shown)} of ${several(matching, 'run')} shown`
      : `${COUNT.format(matching)} of ${several(app.index.runs.length, 'run')} match, ${COUNT.format(shown)} shown`;
    this.at = this.at === null ? null : Math.min(this.at, this.rows.length - 1);
    this.draw();
  }

  draw() {
    const first = Math.max(0, Math.floor(this.scroll.scrollTop / RUN_ROW) - 6);
    const last = Math.min(this.rows.length, Math.ceil((this.scroll.scrollTop + (this.scroll.clientHeight || 600)) / RUN_ROW) + 6);
    const lines = [];
    for (let at = first; at < last; at += 1) lines.push(this.line(this.rows[at], at));
    this.space.replaceChildren(...lines);
    const here = this.space.querySelector('.here');
    if (here) this.tree.setAttribute('aria-activedescendant', here.id); else this.tree.removeAttribute('aria-activedescendant');
  }

  line(row, at) {
    const { app } = this;
    const element = make('div', row.run === undefined ? 'run-row group-row' : 'run-row');
    element.dataset.at = at;
    element.id = `run-row-${at}`;
    element.style.top = `${at * RUN_ROW}px`;
    element.setAttribute('role', 'treeitem');
    if (at === this.at) element.classList.add('here');
    const box = make('span', 'box');
    if (row.run === undefined) {
      const on = row.runs.filter((run) => app.isOn(run)).length;
      const state = on === row.runs.length ? 'true' : on ? 'mixed' : 'false';
      element.setAttribute('aria-checked', state);
      const open_ = !app.view.folded.has(row.group);
      element.setAttribute('aria-expanded', String(open_));
      const caret = make('span', open_ ? 'caret open' : 'caret');
      caret.append(icon('caret'));
      if (app.averaged()) box.style.setProperty('--mark', app.groupColour(row.group));
      const name = row.group || '(top folder)';
      element.append(caret, box, make('span', 'run-name', name), make('span', 'run-note', COUNT.format(row.runs.length)));
      element.title = name;
      return element;
    }
    const run = app.index.runs[row.run];
    const on = app.isOn(row.run);
    element.setAttribute('aria-checked', String(on));
    element.setAttribute('aria-level', row.deep ? '2' : '1');
    if (row.deep) element.classList.add('deep');
    box.style.setProperty('--mark', app.averaged() ? app.groupColour(row.under) : app.runColour(row.run));
    const prefix = `${row.under}/`;
    const text = row.deep && app.view.group === 'folder' && run.run.startsWith(prefix) ? run.run.slice(prefix.length) : run.run || '(this folder)';
    element.append(box, this.name(text));
    const worst = app.worst.get(run.run);
    if (worst) {
      const dot = make('span', `finding ${worst.severity}`);
      dot.title = `${worst.severity}: ${worst.label}`;
      dot.setAttribute('aria-label', dot.title);
      element.append(dot);
    }
    const wrong = [run.health && run.health.problem, run.gone && 'its files are gone'].filter(Boolean).join('; ');
    if (wrong) {
      const mark = make('span', 'damaged', '!');
      mark.title = wrong;
      element.append(mark);
    }
    element.title = [run.run, ...Object.entries(run.parameters || {}).slice(0, 12).map(([key, value]) => `${key} = ${value}`)].join('\n');
    return element;
  }

  // The end of a long path says most: it is never cut off.
  name(text) {
    const cell = make('span', 'run-name');
    const cut = text.length > 26 ? Math.max(text.lastIndexOf('/') + 1, text.length - 14) : 0;
    if (cut > 0 && cut < text.length) cell.append(make('span', 'start', text.slice(0, cut)), make('span', 'end', text.slice(cut)));
    else cell.append(make('span', 'start', text));
    return cell;
  }

  rowOf(event) {
    const line = event.target.closest('.run-row');
    return line ? this.rows[Number(line.dataset.at)] : null;
  }

  clicked(event) {
    const row = this.rowOf(event);
    if (!row) return;
    this.at = Number(event.target.closest('.run-row').dataset.at);
    if (row.run === undefined && event.target.closest('.caret')) { this.fold(row); return; }
    const { view } = this.app;
    if (event.detail >= 2 && this.before) {
      // A double click shows one run alone; what its first click has switched is taken back.
      [view.only, view.hidden] = this.before;
      this.before = null;
      this.app.choose();
      this.solo(row);
      return;
    }
    this.before = [view.only && new Set(view.only), new Set(view.hidden)];
    this.toggle(row);
  }

  fold(row, want) {
    const folded = this.app.view.folded;
    if (want === undefined ? folded.has(row.group) : want) folded.delete(row.group); else folded.add(row.group);
    this.arrange();
  }

  toggle(row) {
    const { app } = this;
    const runs = row.run === undefined ? row.runs : [row.run];
    app.turn(runs, !runs.every((run) => app.isOn(run)));
  }

  solo(row) {
    const { app } = this;
    const runs = row.run === undefined ? row.runs : [row.run];
    const alone = app.visible.length === runs.length && runs.every((run) => app.isOn(run));
    app.only(alone ? null : runs);
  }

  setAll(on) {
    const { app } = this;
    app.turn(app.index.runs.map((_, at) => at).filter((at) => app.matches[at]), on);
  }

  key(event) {
    if (event.target !== this.tree || !this.rows.length || event.ctrlKey || event.metaKey || event.altKey) return;
    const row = this.at === null ? null : this.rows[this.at];
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity }[event.key];
    if (step !== undefined) {
      this.at = this.at === null ? 0 : Math.min(this.rows.length - 1, Math.max(0, this.at + step));
      const top = this.at * RUN_ROW;
      if (top < this.scroll.scrollTop) this.scroll.scrollTop = top;
      else if (top + RUN_ROW > this.scroll.scrollTop + this.scroll.clientHeight) this.scroll.scrollTop = top + RUN_ROW - this.scroll.clientHeight;
      const now = this.rows[this.at];
      this.app.highlight(now.run === undefined ? null : now.run);
      this.draw();
    } else if (event.key === ' ' && row) this.toggle(row);
    else if (event.key === 'Enter' && row) this.solo(row);
    else if ((event.key === 'ArrowLeft' || event.key === 'ArrowRight') && row && row.run === undefined) this.fold(row, event.key === 'ArrowRight');
    else if (event.key === 'Escape') { if (this.app.view.runs) { this.app.view.runs = ''; this.app.runsChanged(); } else if (this.app.view.only) this.app.only(null); else return; }
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
