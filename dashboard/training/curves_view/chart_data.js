const HEIGHT = 236;
const LARGE = 500;
const REDUCED = 'This chart could not be drawn.';

// What a chart asks of the server, keeps of its answers, and how far its axes reach.
class ChartData {
  constructor(app, spec) {
    Object.assign(this, { app, key: spec.key, title: spec.title, section: spec.section, parts: spec.layers });
    this.layers = spec.layers.map((layer) => ({ ...layer, series: [], answer: null, full: null, asked: '' }));
    this.history = [];
    this.inView = false;
  }

  // Batch losses count steps also where a run's other curves count epochs.
  get unit() { return /batch|iteration|step/i.test(this.title) ? 'step' : this.app.unit; }
  get height() { return this.app.view.large === this.key ? LARGE : HEIGHT; }
  get logY() { return this.app.view.logY.has(this.key); }
  // Epochs and steps are different axes: a zoom into one says nothing about the other.
  get shared() { const { view } = this.app; return view.x !== 'step' || view.zoomUnit === this.unit ? view.zoomX : null; }
  get zoom() {
    const own = this.app.view.zooms.get(this.key) || {};
    return { x: this.app.view.share ? this.shared : own.x || null, y: own.y || null };
  }

  question(layer) {
    const { view } = this.app;
    const zoom = this.zoom.x;
    // Of a thousand curves in a small chart nobody sees every pixel; large, there are four times as many.
    const many = (this.app.view.large === this.key ? 200000 : 50000) / Math.max(1, this.app.averaged() ? 1 : this.app.visible.length);
    const columns = Math.max(50, Math.min(2000, Math.round(this.body.clientWidth || 400) - 60, many));
    return {
      tag: layer.index, x: view.x, low: zoom ? zoom[0] : null, high: zoom ? zoom[1] : null,
      columns: Math.ceil(columns / 50) * 50, smoothing: this.app.smoothing(), restarts: view.restarts,
    };
  }

  ask() {
    if (!this.inView) { this.stale = true; return; }
    this.stale = false;
    for (const layer of this.layers) this.askLayer(layer);
    this.app.drawSoon(this);
  }

  askLayer(layer) {
    const { app } = this;
    const all = app.visible.length === app.index.runs.length;
    const groups = app.averaged() ? app.groups() : null;
    const runs = all ? null : app.visible;
    const shape = JSON.stringify([this.question(layer), app.revision, groups]);
    if (layer.full && layer.full.shape === shape && !groups) {
      // Everything that is shown now is in an answer already: draw at once, and ask only for finer lines.
      const known = layer.full.runs;
      if (known === null || app.visible.every((run) => known.has(run))) {
        layer.answer = layer.full.answer;
        if (!layer.full.thinned || (known === null ? all : known.size === app.visible.length)) { layer.asked = ''; this.stop(layer); return; }
      }
    }
    const asked = `${shape}${groups ? '' : runs === null ? '*' : runs.join(',')}`;
    if (layer.asked === asked) return;
    layer.asked = asked;
    this.stop(layer);
    if (!app.visible.length) { layer.answer = null; return; }
    layer.abort = new AbortController();
    const { signal } = layer.abort;
    const question = { ...this.question(layer), runs: groups ? null : runs, groups };
    app.asking.add({ signal, rank: () => this.rank(), run: () => this.fetch(layer, question, signal, { shape, runs: runs === null ? null : new Set(runs), groups }) });
  }

  stop(layer) { if (layer.abort) layer.abort.abort(); layer.abort = null; }

  rank() { const box = this.element.getBoundingClientRect(); return box.bottom < 0 ? 1e6 - box.bottom : Math.max(0, box.top - window.innerHeight) + box.top / 1e4; }

  async fetch(layer, question, signal, about) {
    try {
      const answer = await askCurves(this.app.api, question, signal);
      if (signal.aborted) return;
      layer.problem = '';
      layer.answer = answer;
      const thinned = answer.series.some((series) => series.thinned);
      if (!about.groups && (!layer.full || layer.full.shape !== about.shape || about.runs === null || (layer.full.runs !== null && about.runs.size >= layer.full.runs.size))) {
        layer.full = { ...about, answer, thinned };
      }
    } catch (error) {
      if (signal.aborted) return;
      layer.problem = error instanceof TypeError ? 'The server does not answer. It will be tried again.' : error.message || REDUCED;
      layer.asked = '';
      layer.answer = null;
    }
    this.app.drawSoon(this);
  }

  gather() {
    const { app } = this;
    const averaged = app.averaged();
    for (const layer of this.layers) {
      const series = layer.answer ? layer.answer.series : [];
      layer.series = averaged ? series.filter((one) => one.group !== undefined) : series.filter((one) => one.group === undefined && app.shown.has(one.run));
    }
  }

  bounds() {
    const { view } = this.app;
    const zoom = this.zoom;
    let [x0, x1] = [Infinity, -Infinity];
    let [y0, y1] = [Infinity, -Infinity];
    if (zoom.x) [x0, x1] = zoom.x;
    else {
      for (const { series } of this.layers) {
        for (const { x, marks } of series) {
          for (let at = 0; at < x.length; at += x.length > 1 ? x.length - 1 : 1) { x0 = Math.min(x0, x[at]); x1 = Math.max(x1, x[at]); }
          for (const [at] of marks) { x0 = Math.min(x0, at); x1 = Math.max(x1, at); }
        }
      }
      if (x0 === x1) { x0 -= 0.5; x1 += 0.5; }
    }
    const logX = view.logX && view.x !== 'wall';
    if (logX && !(x0 > 0)) {
      x0 = Infinity;
      for (const { series } of this.layers) for (const { x } of series) { const at = x.findIndex((value) => value > 0); if (at >= 0) x0 = Math.min(x0, x[at]); }
      if (!Number.isFinite(x0)) x0 = 1;
    }
    if (zoom.y) [y0, y1] = zoom.y;
    else {
      const measure = (value) => { if (value < y0 && (!this.logY || value > 0)) y0 = value; if (value > y1 && value < Infinity) y1 = value; };
      const clipped = view.clip && !this.logY ? this.clipped(x0, x1) : null;
      if (clipped) [y0, y1] = clipped;
      else {
        for (const { series } of this.layers) {
          for (const one of series) {
            const [first, last] = one.sorted ? [below(one.x, x0), Math.min(one.x.length, below(one.x, x1) + 1)] : [0, one.x.length];
            for (const values of [one.y, one.smooth, one.low, one.high]) {
              if (values) for (let at = first; at < last; at += 1) if (one.x[at] <= x1) measure(values[at]);
            }
          }
        }
      }
      if (!(y0 <= y1)) { [y0, y1] = this.logY ? [0.1, 1] : [0, 1]; this.empty = true; } else this.empty = false;
      if (this.logY) { const part = Math.max(0.04, 0.05 * Math.log10(y1 / y0)); y0 /= 10 ** part; y1 *= 10 ** part; }
      else { const part = y1 > y0 ? 0.06 * (y1 - y0) : Math.abs(y1) * 0.05 || 0.5; y0 -= part; y1 += part; }
    }
    if (this.logY && !(y0 > 0)) y0 = y1 / 1e6;
    if (!(x0 < x1)) x1 = x0 + 1;
    return { x: [x0, x1], y: [y0, y1], logX, logY: this.logY };
  }

  // Without outliers: from the 5th to the 95th percentile of what is shown, widened; the whole where that hides little.
  clipped(x0, x1) {
    const values = [];
    let total = 0;
    for (const { series } of this.layers) for (const { x } of series) total += x.length;
    if (total < 20) return null;
    const every = Math.max(1, Math.floor(total / 20000));
    let [low, high] = [Infinity, -Infinity];
    for (const { series } of this.layers) {
      for (const one of series) {
        const drawn = one.smooth || one.y;
        for (let at = 0; at < one.x.length; at += 1) {
          const value = drawn[at];
          if (one.x[at] < x0 || one.x[at] > x1 || !Number.isFinite(value)) continue;
          if (value < low) low = value;
          if (value > high) high = value;
          if (at % every === 0) values.push(value);
        }
      }
    }
    if (values.length < 20) return null;
    const sorted = Float64Array.from(values).sort();
    const [from, to] = [sorted[Math.floor(0.05 * (sorted.length - 1))], sorted[Math.ceil(0.95 * (sorted.length - 1))]];
    const margin = 0.5 * (to - from);
    return [Math.max(low, from - margin), Math.min(high, to + margin)];
  }
}
