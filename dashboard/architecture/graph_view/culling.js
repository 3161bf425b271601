// Keeps only what is near the visible part of a large graph in the browser's picture. Chromium sorts every drawn group
// into layers again at every change on the page: thousands of nodes cost a third of a second each time.
window.stethoscopeCulling = (() => {
  const LARGE = 400;
  const AROUND = 900; // in pixels of the screen, so that scrolling finds things drawn
  const box = (left, top, right, bottom, elements) => ({ left, top, right, bottom, elements, shown: true });

  class Culling {
    constructor(graph) {
      this.graph = graph;
      this.container = document.getElementById('target');
      this.canvas = document.getElementById('canvas');
      this.origin = document.getElementById('origin');
      this.items = [];
      this.byElement = new Map();
      for (const [key, { label: node }] of graph.nodes) {
        if (graph.children(key).length || !node.element || !Number.isFinite(node.x)) continue;
        const item = box(node.x - node.width / 2, node.y - node.height / 2, node.x + node.width / 2, node.y + node.height / 2, [node.element]);
        this.items.push(item);
        this.byElement.set(node.element, item);
      }
      for (const { label: edge } of graph.edges.values()) {
        if (!edge.element || !Array.isArray(edge.points) || !edge.points.length) continue;
        const xs = edge.points.map((point) => point.x);
        const ys = edge.points.map((point) => point.y);
        const elements = [edge.element, edge.hitTest, edge.labelElement].filter(Boolean);
        const item = box(Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys), elements);
        this.items.push(item);
        this.byElement.set(edge.element, item);
      }
      this.later = () => {
        if (!this.frame) this.frame = window.requestAnimationFrame(() => { this.frame = 0; this.update(); });
      };
      this.container.addEventListener('scroll', this.later, { passive: true });
      this.sizes = new ResizeObserver(this.later);
      this.sizes.observe(this.container);
      this.sizes.observe(this.canvas);
      const scrollTo = graph.scrollTo.bind(graph);
      graph.scrollTo = (selection, behavior) => {
        // What is not in the picture has no place to scroll to.
        for (const element of selection || []) this.put(this.byElement.get(element), true);
        // Gliding over thousands of nodes takes longer than finding the way again.
        return scrollTo(selection, behavior || 'instant');
      };
      this.update();
    }

    static of(graph) { return graph.nodes.size > LARGE ? new Culling(graph) : null; }

    put(item, shown) {
      if (!item || item.shown === shown) return;
      item.shown = shown;
      for (const element of item.elements) element.style.display = shown ? '' : 'none';
    }

    all() { for (const item of this.items) this.put(item, true); }

    update() {
      if (!this.canvas.isConnected || this.paused) return;
      const found = /translate\(([-\d.e]+)[, ]+([-\d.e]+)\)/.exec(this.origin.getAttribute('transform') || '');
      if (!found) return;
      const [outer, inner] = [this.container.getBoundingClientRect(), this.canvas.getBoundingClientRect()];
      const zoom = this.graph.zoom || 1;
      const left = (outer.left - inner.left - AROUND) / zoom - Number(found[1]);
      const top = (outer.top - inner.top - AROUND) / zoom - Number(found[2]);
      const right = left + (outer.width + 2 * AROUND) / zoom;
      const bottom = top + (outer.height + 2 * AROUND) / zoom;
      for (const item of this.items) {
        this.put(item, item.right >= left && item.left <= right && item.bottom >= top && item.top <= bottom);
      }
    }

    // While something reads the whole picture.
    async during(work) {
      this.paused = true;
      this.all();
      try { return await work(); } finally { this.paused = false; this.update(); }
    }

    end() {
      this.container.removeEventListener('scroll', this.later);
      this.sizes.disconnect();
    }
  }
  return Culling;
})();
