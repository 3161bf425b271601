export default function (component) {
  const { parentElement, data } = component;
  const find = (selector) => parentElement.querySelector(selector);
  const [canvas, tip, count, all, png] = ['canvas', '.tip', '.count', '.all', '.png'].map(find);
  const picture = (canvas.picture = canvas.picture || new Picture(canvas));
  let asked = 0;
  const draw = () => {
    window.cancelAnimationFrame(asked);
    asked = window.requestAnimationFrame(() => {
      picture.draw();
      all.hidden = !picture.kept.size;
      const kept = Number(canvas.dataset.drawn || 0).toLocaleString('en-US');
      count.textContent = picture.kept.size ? `${kept} of ${data.runs.length.toLocaleString('en-US')} lines kept` : '';
    });
  };
  picture.update(data);
  canvas.setAttribute('aria-label', `Parallel coordinates of ${data.columns.map((one) => one.full).join(', ')}: one line for each of ${data.runs.length} runs`);
  canvas.pointer = new Pointer(picture, tip, draw);
  all.onclick = () => { picture.kept.clear(); draw(); };
  png.onclick = () => canvas.toBlob((file) => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(file);
    link.download = 'runs.png';
    link.click();
    window.setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }, 'image/png');
  const sized = new ResizeObserver(draw);
  sized.observe(canvas);
  draw();
  return () => { sized.disconnect(); window.cancelAnimationFrame(asked); };
}
