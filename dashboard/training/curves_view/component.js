export default function (component) {
  const { parentElement, data, setStateValue } = component;
  const root = parentElement.querySelector('.curves');
  if (!root.app) root.app = new Curves(root);
  root.app.update(data, (text) => setStateValue('view', text));
  return () => { root.app.stop(); root.app = null; };
}
