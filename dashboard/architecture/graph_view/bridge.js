// Runs inside Netron's page (pinned: it uses names that Netron keeps private). Talks to the Streamlit page that hosts it.
// In:  {to: 'graph', type: 'select' | 'colors' | 'theme', …}     Out: {from: 'graph', type: 'ready' | 'selected' | 'failed', …}
(() => {
  const origin = window.location.origin;
  const say = (message) => window.parent.postMessage({ from: 'graph', ...message }, origin);
  const view = () => window.__view__;
  const target = () => (view() && view().target) || null;
  const query = new URLSearchParams(window.location.search);
  let colors = {};
  let wanted = null;
  let seen = null;
  let opened = null;
  let unnamed = [];
  let ours = false;
  let clicked = false;
  let panel = true;
  let culling = null;

  // Netron asks the browser for its colour scheme; the app's own theme decides instead, also while the page is open.
  const schemes = [];
  const collect = (sheet) => {
    try {
      for (const rule of sheet.cssRules) {
        if (rule.media && /prefers-color-scheme:\s*dark/.test(rule.media.mediaText)) schemes.push(rule);
      }
    } catch (error) {
      if (error.name !== 'SecurityError') throw error;
    }
  };
  const paintTheme = (theme) => {
    for (const rule of schemes) rule.media.mediaText = theme === 'dark' ? 'all' : 'not all';
    document.documentElement.dataset.theme = theme;
  };
  for (const sheet of document.styleSheets) collect(sheet);
  paintTheme(query.get('theme') === 'dark' ? 'dark' : 'light');

  // Opening or redrawing a graph must not pull the keyboard out of the page around it.
  const focus = HTMLElement.prototype.focus;
  HTMLElement.prototype.focus = function (...options) {
    if (document.hasFocus()) focus.apply(this, options);
  };

  // Nothing in a model's texts leads out of this page, and dropped files belong to the page around it.
  const stop = (event) => { event.preventDefault(); event.stopImmediatePropagation(); };
  const stopLinks = (event) => {
    const link = event.target instanceof Element && event.target.closest('a');
    if (link && link.href && !link.href.startsWith('javascript:') && new URL(link.href, origin).origin !== origin) stop(event);
  };
  window.addEventListener('click', stopLinks, true);
  window.addEventListener('auxclick', stopLinks, true);
  window.addEventListener('drop', stop, true);
  window.addEventListener('dragover', stop, true);
  window.open = () => null;

  const label = (value) => value.name || value.identifier || '';
  const firstOutput = (node) => {
    const output = (node.outputs || []).flatMap((one) => one.value || []).find((one) => one && one.name);
    return output ? output.name.split('\n')[0] : '';
  };
  // Nameless nodes go by type and position ("Relu_5"). Netron leaves some nodes out (constants), so the k-th nameless one
  // of a type is the k-th such name in this graph that no node has.
  const numbered = new WeakMap();
  const byPosition = (graph, prefix) => {
    if (!unnamed.length || !graph || !Array.isArray(graph.nodes)) return new Map();
    if (!numbered.has(graph) || numbered.get(graph).prefix !== prefix) {
      const own = new Set(graph.nodes.map((node) => node.name).filter(Boolean));
      const names = new Map();
      for (const path of unnamed) {
        const rest = path.startsWith(prefix) ? path.slice(prefix.length) : '';
        const [, type] = /^([^/]+?)(?:_\d+)+$/.exec(rest) || [];
        if (type && !own.has(rest)) names.set(type, [...(names.get(type) || []), rest]);
      }
      const found = new Map();
      for (const node of graph.nodes) {
        const rest = !node.name && node.type && (names.get(node.type.name) || []).shift();
        if (rest) found.set(node, rest);
      }
      numbered.set(graph, { prefix, found });
    }
    return numbered.get(graph).found;
  };
  const drawn = () => {
    const found = new Map();
    const graph = target();
    if (!graph) return found;
    const positions = byPosition(view().activeTarget, within());
    for (const isNode of [true, false]) {
      for (const [value, item] of graph._table.entries()) {
        if (!item || item.value !== value || !item.element || Boolean(value.type && value.type.name) !== isNode) continue;
        for (const key of [label(value), isNode && positions.get(value), isNode && firstOutput(value)]) {
          if (key && !found.has(key)) found.set(key, { value, item });
        }
      }
    }
    return found;
  };
  // The graphs inside a node (a nested model, a function, the body of a loop), each with what its names begin with.
  const innerGraphs = (node, name = node.name) => {
    const own = [...(node.attributes || []), ...(node.inputs || []), ...(node.blocks || [])]
      .filter((argument) => argument && /^(graph|function)(\[\])?$/.test(argument.type || ''))
      .flatMap((argument) => [argument.value].flat().map((graph) => ({ graph, prefix: `${name}/${argument.name}/` })));
    return [{ graph: node.type, prefix: `${name}/` }, ...own]
      .filter(({ graph }) => graph && Array.isArray(graph.nodes) && graph.nodes.length);
  };
  // Looks for a node in every graph of the file but the one that is drawn. Answers with Netron's stack of graphs, the
  // innermost first, and the node's name in there.
  const elsewhere = (name) => {
    const model = view().model;
    const queue = [
      ...(model.modules || []).map((graph) => ({ graph, outer: [], rest: name, exact: true })),
      ...(model.functions || []).map((graph) => ({ graph, outer: [], rest: name, exact: false })),
    ];
    const visited = new Set();
    while (queue.length) {
      const { graph, outer, rest, exact } = queue.shift();
      if (visited.has(graph) || !Array.isArray(graph.nodes)) continue;
      visited.add(graph);
      const here = { target: graph, signature: (graph.signatures || [])[0] || null };
      const positions = exact ? byPosition(graph, name.slice(0, name.length - rest.length)) : new Map();
      for (const node of graph.nodes) {
        const own = node.name || positions.get(node);
        const found = own && (own === rest || own === name);
        if (found && graph !== view().activeTarget) return { stack: [here, ...outer], leaf: own };
        for (const { graph: inner, prefix } of innerGraphs(node, own || '')) {
          const nested = own && rest.startsWith(prefix);
          const next = { graph: inner, outer: [{ ...here, through: node }, ...outer], rest: nested ? rest.slice(prefix.length) : rest, exact: exact && nested };
          if (nested) queue.unshift(next); else queue.push(next);
        }
      }
    }
    return null;
  };
  // What the names in the drawn graph begin with, seen from the outermost one. Names in TensorFlow's functions are whole.
  const within = () => {
    if (!/keras|onnx/i.test(view().model.format || '')) return '';
    const path = view()._path;
    let prefix = '';
    for (let place = path.length - 1; place > 0; place -= 1) {
      const node = path[place].through || (path[place].state && path[place].state.context);
      const name = node && (node.name || byPosition(path[place].target, prefix).get(node) || '');
      const inner = node && innerGraphs(node, name).find(({ graph }) => graph === path[place - 1].target);
      prefix += inner ? inner.prefix : '';
    }
    return prefix;
  };
  const find = (name) => {
    const all = drawn();
    const inside = within();
    const here = name.startsWith(inside) ? name.slice(inside.length) : name;
    if (all.has(here)) return all.get(here);
    const place = elsewhere(name);
    if (place) return place;
    if (opened && opened.wanted === name && all.has(opened.leaf)) return all.get(opened.leaf);
    // Nothing smaller is drawn: the closest thing around it.
    for (let path = here; path; path = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '') {
      if (all.has(path)) return all.get(path);
    }
    return null;
  };
  // An activation drawn inside its layer has no name of its own.
  const carrier = (value) => {
    const nodes = (view().activeTarget && view().activeTarget.nodes) || [];
    return nodes.find((node) => node.inner === value || (node.chain || []).includes(value)) || value;
  };
  const chosen = () => {
    const graph = target();
    const values = graph ? [...graph.selection].map((item) => item.value && carrier(item.value)).filter(Boolean) : [];
    const positions = graph ? byPosition(view().activeTarget, within()) : new Map();
    const names = values.map((value) => label(value) || positions.get(value) || firstOutput(value)).filter(Boolean);
    return names.length ? within() + names[0].split('\n')[0] : null;
  };

  // Selecting on behalf of the page around is no click.
  const quietly = (change) => {
    ours = true;
    try { change(); } finally { ours = false; }
  };
  const show = () => {
    const graph = target();
    if (!graph || wanted === null || wanted === chosen()) return;
    const hit = find(wanted);
    if (hit && hit.stack && !(opened && opened.wanted === wanted)) {
      opened = { wanted, leaf: hit.leaf };
      view()._updateActiveTarget(hit.stack);
    } else if (hit && hit.value && !graph.selection.has(hit.item)) {
      quietly(() => graph.scrollTo(panel ? graph.activate(hit.value, 'target') : graph.select([hit.value], 'sidebar')));
    }
  };
  let begun = false;
  const begin = (name) => {
    if (begun || !target()) return;
    begun = true;
    const place = drawn().has(name) ? null : elsewhere(name);
    if (place) view()._updateActiveTarget(place.stack);
  };
  // Colours are set as properties of the node, never drawn over it: nothing has to be measured, however many there are.
  const light = (color) => {
    const [red, green, blue] = [1, 3, 5].map((place) => Number.parseInt(color.slice(place, place + 2), 16) / 255);
    return 0.299 * red + 0.587 * green + 0.114 * blue > 0.55;
  };
  let painted = new Map();
  const paint = () => {
    const names = Object.keys(colors);
    document.body.classList.toggle('stethoscope-coloured', names.length > 0);
    const all = names.length ? drawn() : new Map();
    const inside = view() && view().model ? within() : '';
    const now = new Map();
    for (const name of names) {
      const hit = all.get(name.startsWith(inside) ? name.slice(inside.length) : name);
      if (hit && !now.has(hit.item.element)) now.set(hit.item.element, colors[name]);
    }
    for (const element of painted.keys()) {
      if (!now.has(element)) for (const key of ['--node', '--ink']) element.style.removeProperty(key);
    }
    for (const [element, color] of now) {
      if (painted.get(element) === color) continue;
      element.style.setProperty('--node', color);
      element.style.setProperty('--ink', light(color) ? '#10161a' : '#ffffff');
    }
    painted = now;
  };

  const tidy = () => {
    const menu = view()._menu;
    view()._host.openURL = () => {};
    const save = view().export.bind(view());
    view().export = (file) => (culling ? culling.during(() => save(file)) : save(file));
    if (!menu || !menu.items) return;
    // What these offer (opening another file, a web page) belongs to the app around us or leads outside.
    menu.items = menu.items.filter((group) => !(group.items && /Help/.test(group.label)));
    for (const group of menu.items) {
      if (!group.items) continue;
      for (const item of group.items.filter((item) => typeof item.label === 'string' && /Open/.test(item.label))) menu.unregister(item);
      group.items = group.items.filter((item) => !(typeof item.label === 'string' && /Open/.test(item.label)));
    }
  };

  let tidied = false;
  let failed = '';
  const look = () => {
    if (!view()) return;
    if (!tidied && view()._menu && view()._select) { tidied = true; tidy(); }
    const alert = document.body.classList.contains('alert');
    const text = alert ? document.getElementById('message-text').innerText : '';
    if (text && text !== failed) say({ type: 'failed', reason: text.slice(0, 500) });
    failed = text;
    const graph = target();
    if (!graph || graph === seen || !document.body.classList.contains('default')) return;
    seen = graph;
    let timer = 0;
    graph.on('selectionchange', () => {
      // Choosing a node clears the selection first: tell only where it ends.
      window.clearTimeout(timer);
      clicked = clicked || !ours;
      timer = window.setTimeout(() => {
        const byHand = clicked;
        clicked = false;
        if (graph !== target()) return;
        wanted = chosen();
        say({ type: 'selected', name: wanted, byHand });
      }, 30);
    });
    if (culling) culling.end();
    painted = new Map();
    culling = window.stethoscopeCulling.of(graph);
    say({ type: 'ready', nodes: drawn().size });
    paint();
    show();
  };
  const watcher = new MutationObserver(look);
  window.addEventListener('load', () => {
    watcher.observe(document.body, { attributes: true, attributeFilter: ['class'] });
    watcher.observe(document.getElementById('target'), { childList: true });
    watcher.observe(document.getElementById('message'), { childList: true, subtree: true, characterData: true });
    look();
  });

  window.addEventListener('message', (event) => {
    if (event.origin !== origin || event.source !== window.parent || !event.data || event.data.to !== 'graph') return;
    const { type, name, theme } = event.data;
    if (type === 'theme') paintTheme(theme === 'dark' ? 'dark' : 'light');
    if (type === 'select') {
      if (Array.isArray(event.data.unnamed) && !unnamed.length) unnamed = event.data.unnamed.filter((path) => typeof path === 'string');
      if (clicked) return; // A click that is about to be told is newer than what the page has heard of.
      if (typeof name !== 'string' || name !== wanted) opened = null;
      wanted = typeof name === 'string' ? name : null;
      panel = event.data.panel !== false;
      if (wanted === null && target() && target().selection.size) {
        quietly(() => {
          if (view()._sidebar) view()._sidebar.close();
          if (target()) target().select(null);
        });
      }
      if (wanted === null && typeof event.data.start === 'string') begin(event.data.start); else show();
    }
    if (type === 'colors') {
      const given = event.data.colors && typeof event.data.colors === 'object' ? Object.entries(event.data.colors) : [];
      colors = Object.fromEntries(given.filter(([, color]) => /^#[0-9a-f]{6}$/i.test(color)));
      paint();
    }
  });
})();
