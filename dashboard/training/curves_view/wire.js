const decoder = new TextDecoder();

async function sentence(reply) {
  try { return (await reply.json()).error || `The server answered ${reply.status}.`; } catch { return `The server answered ${reply.status}.`; }
}

// The answer is one buffer: the length of a JSON header, the header, then float64 arrays that the header points into.
async function askCurves(api, question, signal) {
  const reply = await fetch(`${api}/curves`, {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(question), signal,
  });
  if (!reply.ok) throw new Error(await sentence(reply));
  const buffer = await reply.arrayBuffer();
  const size = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(decoder.decode(new Uint8Array(buffer, 4, size)));
  const cut = (place) => (place ? new Float64Array(buffer, 4 + size + 8 * place[0], place[1]) : null);
  for (const one of header.series) {
    for (const name of ['x', 'y', 'smooth', 'low', 'high', 'count']) if (Array.isArray(one[name])) one[name] = cut(one[name]);
    one.marks = one.marks || [];
    one.sorted = ascending(one.x);
  }
  return header;
}

function ascending(values) {
  for (let at = 1; at < values.length; at += 1) if (values[at] < values[at - 1]) return false;
  return true;
}

async function askIndex(api, revision, signal) {
  const reply = await fetch(`${api}/index${revision === undefined ? '' : `?revision=${encodeURIComponent(revision)}`}`, { signal });
  if (reply.status === 204) return null;
  if (!reply.ok) throw new Error(await sentence(reply));
  return reply.json();
}

// At most a few questions at a time: the charts in sight come first, and what is out of date is never sent.
class Asking {
  constructor(most) { this.most = most; this.waiting = []; this.busy = 0; }
  add(job) { this.waiting.push(job); this.next(); }
  next() {
    // The first answer has the server for itself, so that something is there soon.
    while (this.busy < (this.answered ? this.most : 1) && this.waiting.length) {
      this.waiting.sort((a, b) => a.rank() - b.rank());
      const job = this.waiting.shift();
      if (job.signal.aborted) continue;
      this.busy += 1;
      job.run().finally(() => { this.busy -= 1; this.answered = true; this.next(); });
    }
    if (this.idle && this.rest) this.rest();
  }
  get idle() { return !this.busy && !this.waiting.length; }
}
