// The bar above the charts and the choice of groups: what they say, and what the view says of them.
class Controls {
  find(selector) { return this.root.querySelector(selector); }

  wire() {
    for (const button of this.root.querySelectorAll('.axis button')) {
      button.onclick = () => this.axisTo(button.dataset.axis);
      button.onkeydown = (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        const next = AXES[(AXES.indexOf(this.view.x) + step + 3) % 3];
        this.axisTo(next);
        this.find(`.axis [data-axis=${next}]`).focus();
        event.preventDefault();
      };
    }
    const [slider, number] = this.root.querySelectorAll('.smooth input');
    const smooth = (text) => {
      const value = Number(text);
      if (text === '' || !Number.isFinite(value)) return;
      this.view.smooth = Math.min(0.999, Math.max(0, value));
      this.dial();
      window.clearTimeout(this.smoothing_);
      this.smoothing_ = window.setTimeout(() => this.askAll(), 90);
      this.keep();
    };
    slider.oninput = () => smooth(slider.value);
    number.onchange = () => smooth(number.value);
    const flag = (selector, name, act, on = true, off = false) => { this.find(selector).onchange = (event) => { this.view[name] = event.target.checked ? on : off; act(); this.dial(); this.keep(); }; };
    flag('.clip', 'clip', () => this.drawAll());
    flag('.log-x', 'logX', () => this.remakeAll());
    flag('.share', 'share', () => { if (!this.view.share) this.view.zoomX = null; this.askAll(); });
    flag('.pairs', 'pairs', () => { this.sections.build(); });
    flag('.restarts', 'restarts', () => this.askAll(), 'all', 'latest');
    flag('.mean', 'mean', () => this.runsChanged());
    this.find('.group-by').onchange = (event) => {
      const [kind, ...by] = event.target.value.split(':');
      this.view.group = kind;
      this.view.by = kind === 'hparam' ? by.join(':') : kind === 'pattern' ? this.view.by || '^([^/]*?)[-_]?(?:seed|run)?[-_]?\\d*$' : '';
      if (kind === 'hparam' || kind === 'pattern') this.view.mean = true;
      if (kind === 'none') this.view.mean = false;
      this.dial();
      this.runsChanged();
    };
    this.find('.group-pattern').onchange = (event) => { this.view.by = event.target.value; this.runsChanged(); };
    this.find('.save-all').onclick = (event) => this.menu.open(event.currentTarget, [
      ['All charts and shown runs as CSV', () => this.download('csv', [])],
      ['All charts and shown runs as Parquet', () => this.download('parquet', [])],
    ]);
    this.find('.runs-toggle').onclick = (event) => {
      const on = this.root.classList.toggle('rail-open');
      event.currentTarget.setAttribute('aria-expanded', String(on));
      this.tree.draw();
    };
    this.root.addEventListener('keydown', (event) => { if (event.key === 'Escape' && this.tip.pinned) { this.tip.pinned.unpin(); event.stopPropagation(); } }, true);
    window.addEventListener('scroll', () => { if (this.tip.pinned) this.tip.pinned.unpin(); this.menu.close(); }, { capture: true, passive: true });
  }

  dial() {
    const { view } = this;
    for (const button of this.root.querySelectorAll('.axis button')) {
      const on = button.dataset.axis === view.x;
      button.setAttribute('aria-checked', String(on));
      button.tabIndex = on ? 0 : -1;
      if (button.dataset.axis === 'step') button.textContent = this.unit[0].toUpperCase() + this.unit.slice(1);
    }
    const [slider, number] = this.root.querySelectorAll('.smooth input');
    for (const input of [slider, number]) if (this.root.getRootNode().activeElement !== input || input === slider) input.value = String(Number(this.smoothing().toFixed(3)));
    slider.style.setProperty('--part', `${(100 * this.smoothing()) / 0.999}%`);
    const set = (selector, on) => { this.find(selector).checked = on; };
    set('.clip', view.clip); set('.log-x', view.logX); set('.share', view.share); set('.pairs', view.pairs); set('.restarts', view.restarts === 'all'); set('.mean', this.averaged());
    this.find('.raw').hidden = !this.index.runs.some((run) => run.health && run.health.restarts && (run.health.restarts.length || run.health.restarts > 0));
    const select = this.find('.group-by');
    const options = [['none', 'No groups'], ['folder', 'Group by folder'], ['pattern', 'Group by name pattern'], ...(this.parameters || []).slice(0, 60).map((name) => [`hparam:${name}`, `Group by ${name.length > 40 ? `${name.slice(0, 39)}…` : name}`])];
    const drawn = JSON.stringify(options);
    if (select.dataset.drawn !== drawn) {
      select.dataset.drawn = drawn;
      select.replaceChildren(...options.map(([value, text]) => { const option = make('option', '', text); option.value = value; return option; }));
    }
    select.value = view.group === 'hparam' ? `hparam:${view.by}` : view.group || 'none';
    const box = this.find('.group-pattern');
    box.hidden = view.group !== 'pattern';
    if (this.root.getRootNode().activeElement !== box) box.value = view.group === 'pattern' ? view.by : '';
    this.find('.mean').disabled = view.group === 'none' || !view.group;
  }

  dress() {
    const style = getComputedStyle(this.root);
    const read = (name, other) => style.getPropertyValue(name).trim() || other;
    const ground = read('--st-background-color', '#ffffff');
    const ink = read('--st-text-color', '#1c2329');
    const key = `${ground}${ink}`;
    if (this.theme && this.theme.key === key) return;
    const [red, green, blue] = (/^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})/i.exec(ground) || ['', 'ff', 'ff', 'ff']).slice(1).map((part) => Number.parseInt(part, 16));
    const dark = 0.299 * red + 0.587 * green + 0.114 * blue < 128;
    this.theme = {
      key, ground, ink, dark, font: read('--st-font', 'sans-serif'),
      faint: dark ? '#a9b4bc' : '#4d565e', grid: dark ? '#2a3239' : '#e8ecef',
      bad: dark ? '#f08a5d' : '#b94700', careful: dark ? '#e9a820' : '#8a6100', plain: dark ? '#8fb8d4' : '#39607c',
    };
    if (this.index.runs.length) { this.tree.draw(); this.remakeAll(); }
  }
}
