export default function (component) {
  const { parentElement, data } = component;
  const find = (selector) => parentElement.querySelector(selector);
  const [tools, opacity, scale, stage, picture, heat, tokens, tip, before, after] = ['.tools', '.opacity', '.scale', '.stage', '.picture', '.heat', '.tokens', '.tip', '.for', '.against'].map(find);
  const colours = RAMPS[data.signed ? 'around_zero' : 'amount'];
  before.textContent = data.signed ? 'against the score' : 'little';
  after.textContent = data.signed ? 'for it' : 'much';
  const line = scale.getContext('2d').createImageData(256, 1);
  colours.forEach((one, place) => line.data.set([...one, 255], place * 4));
  scale.getContext('2d').putImageData(line, 0, 0);
  const isImage = data.kind === 'image';
  stage.hidden = !isImage;
  tokens.hidden = isImage;
  opacity.closest('label').hidden = !isImage;
  tip.textContent = '';

  if (!isImage) {
    tokens.replaceChildren(...data.tokens.map((token, place) => {
      const part = document.createElement('span');
      // Tokens come from data: only ever set as text.
      part.textContent = token;
      const share = data.shares[place];
      const [red, green, blue] = colours[Math.round(data.signed ? 127.5 + 127.5 * share : 255 * share)];
      const strength = Math.min(1, 0.12 + Math.abs(share));
      part.style.background = `rgb(${red} ${green} ${blue} / ${strength})`;
      part.style.color = strength > 0.45 ? (0.299 * red + 0.587 * green + 0.114 * blue > 140 ? '#111' : '#fff') : 'inherit';
      part.title = `${token}: ${short(data.values[place])}`;
      part.onpointerenter = () => { tip.textContent = `position ${place}: ${token}, ${short(data.values[place])}`; };
      return part;
    }));
    return undefined;
  }

  const pixels = bytesOf(data.picture);
  picture.width = data.width;
  picture.height = data.height;
  const image = picture.getContext('2d').createImageData(data.width, data.height);
  for (let place = 0; place < data.width * data.height; place += 1) {
    image.data.set([pixels[place * 3], pixels[place * 3 + 1], pixels[place * 3 + 2], 255], place * 4);
  }
  picture.getContext('2d').putImageData(image, 0, 0);
  stage.style.aspectRatio = `${data.width} / ${data.height}`;

  const shares = bytesOf(data.heat);
  heat.width = data.across;
  heat.height = data.down;
  heat.style.imageRendering = data.smooth ? 'auto' : 'pixelated';
  const draw = () => {
    const made = heat.getContext('2d').createImageData(data.across, data.down);
    const most = Number(opacity.value) / 100;
    shares.forEach((byte, place) => {
      const strength = data.signed ? Math.abs(byte - 127.5) / 127.5 : byte / 255;
      const [red, green, blue] = colours[byte];
      // What says little lets the picture through.
      made.data.set([red, green, blue, Math.round(255 * most * Math.min(1, 0.15 + 1.6 * strength))], place * 4);
    });
    heat.getContext('2d').putImageData(made, 0, 0);
  };
  opacity.oninput = draw;
  heat.onpointermove = (event) => {
    const box = heat.getBoundingClientRect();
    const x = Math.min(data.across - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * data.across)));
    const y = Math.min(data.down - 1, Math.max(0, Math.floor(((event.clientY - box.top) / box.height) * data.down)));
    const byte = shares[y * data.across + x];
    const share = data.signed ? (byte - 127.5) / 127.5 : byte / 255;
    tip.textContent = `x ${Math.floor((x / data.across) * data.width)}, y ${Math.floor((y / data.down) * data.height)}: about ${short(share * data.most)}`;
  };
  heat.onpointerleave = () => { tip.textContent = ''; };
  draw();
  return undefined;
}
