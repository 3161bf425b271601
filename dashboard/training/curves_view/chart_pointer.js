// What the pointer does in a chart: zoom, hover, pin.
class ChartPointer extends ChartData {
  selected(plot) {
    const { left, top, width, height } = plot.select;
    if (!(width > 0 || height > 0)) return;
    const over = plot.over.getBoundingClientRect();
    const wide = width >= 4 && width < over.width - 1;
    const high = height >= 4 && height < over.height - 1;
    const x = wide ? [plot.posToVal(left, 'x'), plot.posToVal(left + width, 'x')] : null;
    const y = high ? [plot.posToVal(top + height, 'y'), plot.posToVal(top, 'y')] : null;
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    if (x || y) this.zoomTo({ x: x || this.zoom.x, y: y || (x ? null : this.zoom.y) });
  }

  zoomTo(zoom, remember = true) {
    const { app } = this;
    if (remember) this.history.push(this.zoom);
    const own = { x: app.view.share ? null : zoom.x, y: zoom.y };
    if (own.x || own.y) app.view.zooms.set(this.key, own); else app.view.zooms.delete(this.key);
    const shared = app.view.share && JSON.stringify(this.zoom.x) !== JSON.stringify(zoom.x);
    if (shared) { app.view.zoomX = zoom.x; app.view.zoomUnit = this.unit; }
    this.draw();
    if (shared) app.askAll(); else this.ask();
    app.keep();
  }

  back() { this.zoomTo(this.history.pop() || { x: null, y: null }, false); }

  whole() {
    if (!this.zoom.x && !this.zoom.y) return;
    this.history = [];
    this.zoomTo({ x: null, y: null }, false);
  }

  moved(plot) {
    const { left, top } = plot.cursor;
    if (left === null || left < 0 || !this.layers.some((layer) => layer.series.length)) { this.left(); return; }
    const geometry = { left: 0, top: 0, width: plot.over.clientWidth, height: plot.over.clientHeight, ...this.scales };
    this.found = hovered(this.layers, geometry, { x: left, y: top }, plot.posToVal(left, 'x'));
    const box = plot.over.getBoundingClientRect();
    this.where = { x: box.left + left, y: box.top + top };
    if (!this.app.tip.pinned) {
      if (this.found.rows.length) this.app.tip.show(this, this.found, this.where, false); else this.app.tip.hide();
      this.paintOver();
    }
  }

  left() {
    if (this.app.tip.pinned === this) return;
    this.found = null;
    this.app.tip.hide();
    this.paintOver();
  }

  pin() {
    const was = this.app.tip.pinned;
    if (was) { was.unpin(); return; }
    if (this.found && this.found.rows.length) this.app.tip.show(this, this.found, this.where, true);
  }

  unpin() {
    this.app.tip.unpin();
    this.found = null;
    this.paintOver();
  }

  // The nearest curve, or the run that the list points at, in bold over the others.
  paintOver() {
    const { plot, overlay } = this;
    if (!plot || !overlay) return;
    const ratio = uPlot.pxRatio;
    const [width, height] = [plot.over.clientWidth, plot.over.clientHeight];
    const wanted = this.app.pointed;
    if (!this.found && wanted === null) { if (this.overDrawn) { overlay.width = 0; this.overDrawn = false; } return; }
    this.overDrawn = true;
    overlay.width = Math.round(width * ratio);
    overlay.height = Math.round(height * ratio);
    const pen = new CanvasPen(overlay.getContext('2d'), ratio);
    const geometry = { left: 0, top: 0, width: overlay.width, height: overlay.height, ...this.scales };
    const maps = projections(geometry);
    const bold = [];
    if (wanted !== null) for (const layer of this.layers) for (const series of layer.series) if (series.run === wanted) bold.push([layer, series]);
    if (this.found && this.found.nearest) bold.push([this.layers[this.found.nearest.which], this.found.nearest.series]);
    for (const [layer, series] of bold) {
      const colour = this.app.colourOf(series);
      const values = series.smooth || series.y;
      strip(pen, series, values, geometry, maps, { colour: this.app.theme.ground, width: 5, alpha: 0.8 });
      strip(pen, series, values, geometry, maps, { colour, width: 2.6, dash: layer.dash });
    }
    if (this.found) for (const { series, at, mark } of this.found.rows) {
      if (mark) continue;
      const [x, y] = [maps.px(series.x[at]), maps.py((series.smooth || series.y)[at])];
      if (Number.isFinite(y)) pen.dot(x, y, series === this.found.nearest.series ? 4.2 : 3, this.app.colourOf(series), this.app.theme.ground);
    }
  }
}
