const REACH = 12;

// Drawing along an axis keeps the lines through it, dragging its title moves it, a click on it keeps all again.
class Pointer {
  constructor(picture, tip, changed) {
    Object.assign(this, { picture, tip, changed, held: null });
    const { canvas } = picture;
    canvas.onpointerdown = (event) => this.down(event);
    canvas.onpointermove = (event) => (this.held ? this.drag(event) : this.hover(event));
    canvas.onpointerup = (event) => this.up(event);
    canvas.onpointercancel = () => { this.held = null; };
    canvas.onpointerleave = () => this.point(null);
  }

  at(event) {
    const box = this.picture.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  down(event) {
    const [x, y] = this.at(event);
    const { picture } = this;
    const title = y < TOP - 8;
    const place = picture.axisAt(x, title ? 50 : REACH);
    if (place < 0 || event.button) return;
    picture.canvas.setPointerCapture(event.pointerId);
    this.held = { index: picture.order[place], title, from: y, moved: false };
    this.point(null);
  }

  drag(event) {
    const [x, y] = this.at(event);
    const { picture, held } = this;
    if (held.title) {
      const near = Math.round(((x - SIDE) / Math.max(picture.width - 2 * SIDE, 1)) * (picture.order.length - 1));
      const to = Math.min(Math.max(near, 0), picture.order.length - 1);
      const from = picture.order.indexOf(held.index);
      if (to === from) return;
      picture.order.splice(from, 1);
      picture.order.splice(to, 0, held.index);
    } else {
      if (!held.moved && Math.abs(y - held.from) < 4) return;
      held.moved = true;
      const ends = [picture.share(held.from), picture.share(y)];
      picture.kept.set(held.index, [Math.min(...ends), Math.max(...ends)]);
    }
    this.changed();
  }

  up() {
    const { held, picture } = this;
    this.held = null;
    if (held && !held.title && !held.moved && picture.kept.delete(held.index)) this.changed();
  }

  hover(event) {
    const [x, y] = this.at(event);
    const { picture } = this;
    const axis = picture.axisAt(x, y < TOP - 8 ? 50 : REACH);
    picture.canvas.style.cursor = axis < 0 ? 'default' : y < TOP - 8 ? 'grab' : 'crosshair';
    this.point(axis < 0 ? picture.runAt(x, y) : null, x, y);
  }

  point(run, x = 0, y = 0) {
    const { picture, tip } = this;
    tip.hidden = run === null;
    if (run !== null) {
      // Names come from a log: only ever set as text.
      tip.textContent = picture.data.runs[run];
      const left = x > picture.width / 2;
      tip.style.left = left ? 'auto' : `${x + 14}px`;
      tip.style.right = left ? `${picture.width - x + 14}px` : 'auto';
      tip.style.top = `${Math.max(y - 14, 0)}px`;
    }
    if (run === picture.pointed) return;
    picture.pointed = run;
    this.changed();
  }
}
