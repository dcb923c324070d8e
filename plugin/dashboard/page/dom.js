// Functions that create elements and update existing ones. Strings become text nodes, never HTML.

// Creates an element: h('td.number', {colspan: 2}, 'text', child, [children]). Omits attributes that are null or false.
// The attribute `style` is an object, because the page's content security policy forbids styles as text.
export function h(spec, attributes, ...children) {
  const [tag, ...classes] = spec.split('.');
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(' ');
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name === 'style') {
      for (const [property, text] of Object.entries(value)) element.style.setProperty(property, text);
    } else if (value != null && value !== false) {
      element.setAttribute(name, value === true ? '' : value);
    }
  }
  append(element, children);
  return element;
}

function append(parent, children) {
  for (const child of children) {
    if (Array.isArray(child)) append(parent, child);
    else if (child != null && child !== false && child !== '') parent.append(child);
  }
}

// Makes the children of `parent` equal to `children`. If an existing element has the same tag, position and `data-key`,
// it is updated and not replaced, so that focus, selection and scroll positions stay.
export function patch(parent, ...children) {
  const wanted = document.createDocumentFragment();
  append(wanted, children);
  patchChildren(parent, wanted);
}

function patchChildren(parent, wanted) {
  let child = parent.firstChild;
  for (const next of [...wanted.childNodes]) {
    const key = next.dataset?.key;
    if (key !== undefined && child?.dataset?.key !== key) {
      const match = followingWithKey(child, key);
      while (match && child !== match) child = removeAndGetNext(child);
      if (!match) {
        parent.insertBefore(next, child);
        continue;
      }
    }
    if (child === null) {
      parent.append(next);
      continue;
    }
    const following = child.nextSibling;
    patchNode(child, next);
    child = following;
  }
  while (child !== null) child = removeAndGetNext(child);
}

function followingWithKey(node, key) {
  while (node && node.dataset?.key !== key) node = node.nextSibling;
  return node;
}

function removeAndGetNext(node) {
  const next = node.nextSibling;
  node.remove();
  return next;
}

function patchNode(node, wanted) {
  if (node.nodeName !== wanted.nodeName || node.dataset?.key !== wanted.dataset?.key) {
    node.replaceWith(wanted);
  } else if (node.nodeType === Node.TEXT_NODE) {
    if (node.data !== wanted.data) node.data = wanted.data;
  } else {
    patchAttributes(node, wanted);
    patchChildren(node, wanted);
  }
}

function patchAttributes(element, wanted) {
  for (const {name} of [...element.attributes]) {
    // Keeps the attribute `open`, because only the user opens or closes a <details>.
    if (name !== 'open' && !wanted.hasAttribute(name)) element.removeAttribute(name);
  }
  for (const {name, value} of wanted.attributes) {
    if (element.getAttribute(name) === value) continue;
    if (name === 'style') element.style.cssText = value;
    else element.setAttribute(name, value);
  }
}

// Returns "45s", "12m", "5h" or "3d".
export function duration(milliseconds) {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 2 * 3600) return `${Math.round(seconds / 60)}m`;
  if (seconds < 48 * 3600) return `${Math.round(seconds / 3600)}h`;
  return `${Math.round(seconds / 86400)}d`;
}

// Returns the local time of day. Adds the date if it is not today.
export function clock(time) {
  const date = new Date(time);
  const today = date.toDateString() === new Date().toDateString();
  const day = today ? {} : {day: 'numeric', month: 'short'};
  const second = today ? '2-digit' : undefined;
  return date.toLocaleString('en-GB', {hour: '2-digit', minute: '2-digit', second, ...day});
}

// Returns a <time> element. Kind 'age' shows "5m", 'until' shows "in 5m", and 'clock' shows the time of day. The page
// updates ages and 'until' as time passes.
export function time(value, kind = 'age') {
  if (!value) return '';
  return h('time', {datetime: value, title: value, 'data-kind': kind}, timeText(value, kind));
}

function timeText(value, kind) {
  const left = new Date(value) - Date.now();
  if (kind === 'clock') return clock(value);
  if (kind === 'age') return duration(-left);
  return left > 0 ? `in ${duration(left)}` : 'now';
}

setInterval(() => {
  for (const element of document.querySelectorAll('time:not([data-kind="clock"])')) {
    const text = timeText(element.dateTime, element.dataset.kind);
    if (element.textContent !== text) element.textContent = text;
  }
}, 1000);

// Formats the reason and the message of a condition, a pod or a YurtAppDaemon.
export const why = ({reason, message}) => [h('b', {}, reason), message && ` ${message}`];

// Returns a scrollable block of text. It can get the focus, so that users can scroll it with the keyboard.
export const block = (label, text) => h('pre', {tabindex: 0, role: 'region', 'aria-label': label}, text);

// Returns the header row of a table.
export const tableHead = (columns) =>
  h('thead', {}, h('tr', {}, columns.map((column) => h('th', {scope: 'col'}, column))));

export const plural = (number, noun) => `${number} ${noun}${number === 1 ? '' : 's'}`;
