// Okabe–Ito without black; its yellow, unreadable on white, is darkened there.
const HUES = {
  light: ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#8f7d00'],
  dark: ['#3d9bd6', '#e8702a', '#1fb68c', '#d68fb8', '#e9a820', '#7cc8f2', '#f0e442'],
};

function mixed(colour, other, share) {
  const read = (hex, at) => Number.parseInt(hex.slice(1 + 2 * at, 3 + 2 * at), 16);
  const part = (at) => Math.round(read(colour, at) * (1 - share) + read(other, at) * share).toString(16).padStart(2, '0');
  return `#${part(0)}${part(1)}${part(2)}`;
}

// A name's colour comes from the name; where an earlier run has it already, the next free one is taken.
class Colours {
  constructor() { this.slots = new Map(); this.taken = new Set(); }
  learn(names) {
    const count = HUES.light.length;
    for (const name of names) {
      if (this.slots.has(name)) continue;
      const start = digest(name) % count;
      let slot = -1;
      for (let tier = 0; tier < 3 && slot < 0; tier += 1) {
        for (let step = 0; step < count && slot < 0; step += 1) {
          const tried = tier * count + ((start + step) % count);
          if (!this.taken.has(tried)) slot = tried;
        }
      }
      if (slot < 0) slot = digest(`${name}.`) % (3 * count);
      this.taken.add(slot);
      this.slots.set(name, slot);
    }
  }
  of(name, dark) {
    const hues = dark ? HUES.dark : HUES.light;
    const slot = this.slots.has(name) ? this.slots.get(name) : digest(name) % hues.length;
    const hue = hues[slot % hues.length];
    const tier = Math.floor(slot / hues.length);
    if (!tier) return hue;
    return tier === 1 ? mixed(hue, '#000000', dark ? 0.3 : 0.38) : mixed(hue, '#ffffff', dark ? 0.45 : 0.35);
  }
}
