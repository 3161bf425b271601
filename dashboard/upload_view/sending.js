// Sends things one after another and tells what happens. Lives longer than the widget: a page switch does not stop it.
class Sending {
  constructor() {
    this.items = [];
    this.done = [];
    this.listener = null;
    this.current = null;
    window.addEventListener('beforeunload', (event) => { if (this.current) event.preventDefault(); });
  }

  add(things) {
    for (const { name, blob } of things) {
      this.items.push({ name, blob, state: 'waiting', sent: 0, total: blob.size, rate: 0, text: '' });
    }
    this.changed();
    this.next();
  }

  refuse(text) {
    this.items.push({ name: '', state: 'refused', text, sent: 0, total: 0, rate: 0 });
    this.changed();
  }

  retry(item) { Object.assign(item, { state: 'waiting', sent: 0, text: '' }); this.changed(); this.next(); }

  remove(item) {
    this.items = this.items.filter((other) => other !== item);
    if (item === this.current && item.request) item.request.abort();
    this.changed();
    this.next();
  }

  async next() {
    if (this.current) return;
    const item = this.items.find((other) => other.state === 'waiting');
    if (!item) {
      if (this.done.length && this.listener) { const ids = this.done; this.done = []; this.listener.finished(ids); }
      return;
    }
    this.current = item;
    item.state = 'sending';
    this.changed();
    try {
      const answer = await this.send(item);
      this.done.push(answer.id);
      this.items = this.items.filter((other) => other !== item);
    } catch (error) {
      item.state = 'failed';
      item.text = error.message;
    }
    item.request = null;
    this.current = null;
    this.changed();
    this.next();
  }

  async send(item) {
    const headers = { [this.config.header]: this.config.token };
    if (!item.blob.size) throw new Error(`${item.name}: expected a file with content, got 0 bytes. Save it again.`);
    const asked = await fetch(`${this.config.url}?size_bytes=${item.blob.size}`, { headers, credentials: 'same-origin' })
      .catch(() => { throw new Error('The server cannot be reached. Check the connection and try again.'); });
    const reply = await asked.json().catch(() => ({}));
    if (!asked.ok) throw new Error(reply.error || `The server refused (${asked.status}). Try again.`);
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      item.request = request;
      const marks = [[performance.now(), 0]];
      request.upload.onprogress = (event) => {
        const now = performance.now();
        marks.push([now, event.loaded]);
        while (marks.length > 2 && now - marks[0][0] > 5000) marks.shift();
        const [since, before] = marks[0];
        item.sent = event.loaded;
        item.rate = now > since ? ((event.loaded - before) * 1000) / (now - since) : 0;
        this.changed();
      };
      request.onload = () => {
        let answer = {};
        try { answer = JSON.parse(request.responseText); } catch (error) { if (!(error instanceof SyntaxError)) throw error; }
        if (request.status === 200 && answer.id) resolve(answer);
        else reject(new Error(answer.error || `The server refused (${request.status}). Try again.`));
      };
      request.onerror = () => reject(new Error('The connection broke off, or the file changed while it was sent. Try again.'));
      request.onabort = () => reject(new Error('Cancelled.'));
      request.open('PUT', `${this.config.url}?name=${encodeURIComponent(item.name)}&expected=${this.config.expected}`);
      for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
      request.setRequestHeader('Content-Type', 'application/octet-stream');
      request.send(item.blob);
    });
  }

  changed() { if (this.listener) this.listener.changed(); }
}
