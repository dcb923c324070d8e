// Runs in a browser for page_svg.py. Describes the visible content of an element as boxes and texts, in the order in
// which they are painted.
//
// walk(root, last) returns {width, height, light, dark}: the same shapes in the colours of the two colour schemes. The
// height ends below the element `last`. The page must set its colours with color-scheme.
const pseudos = ['::before', '::after'];
const canvas = document.createElement('canvas').getContext('2d');

// Replaces pseudo-elements with real elements, because scripts can't read the rectangles of pseudo-elements.
function materialize(root) {
  for (const element of [root, ...root.querySelectorAll('*')]) {
    for (const pseudo of pseudos) {
      const style = getComputedStyle(element, pseudo);
      if (['none', 'normal'].includes(style.content) || style.display === 'none') continue;
      const copy = document.createElement('i');
      for (const name of style) {
        if (!name.endsWith('color')) copy.style.setProperty(name, style.getPropertyValue(name));
      }
      copy.textContent = JSON.parse(style.content);
      copy.dataset.pseudo = pseudo;
      if (pseudo === '::before') element.prepend(copy);
      else element.append(copy);
    }
  }
  document.styleSheets[0].insertRule(':not(#picture)::before, :not(#picture)::after { content: none !important; }',
    document.styleSheets[0].cssRules.length);
}

// Returns the style of an element, or of the pseudo-element that it replaces.
function styleOf(element) {
  return getComputedStyle(element.dataset.pseudo ? element.parentElement : element, element.dataset.pseudo);
}

// Returns "#rrggbb", or null for a transparent colour. The page has no partly transparent colours.
function hex(color) {
  const numbers = color.match(/[\d.]+/g).map(Number);
  if (numbers[3] === 0) return null;
  const scale = color.startsWith('color(') ? 255 : 1;
  return `#${numbers.slice(0, 3).map((it) => Math.round(it * scale).toString(16).padStart(2, '0')).join('')}`;
}

class Picture {
  shapes = [];

  constructor(root) { this.origin = root.getBoundingClientRect(); }

  add(kind, rect, more) {
    const {left, top, width, height} = rect;
    this.shapes.push({kind, x: left - this.origin.left, y: top - this.origin.top, width, height, ...more});
  }

  element(element, clip) {
    const style = styleOf(element);
    if (!element.checkVisibility() || style.visibility !== 'visible' || style.clipPath !== 'none') return;
    const rects = [...element.getClientRects()].filter((it) => it.right > 0 && it.width > 0);
    for (const rect of rects) this.box(rect, style);
    if (element.localName === 'progress') return this.progress(element, style);
    if (element.localName === 'input') return this.control(element, element.placeholder, '::placeholder');
    if (element.localName === 'select') return this.select(element, style);
    if (style.overflowX !== 'visible' && rects.length) clip = inner(rects[0], style, clip, element);
    if (element.localName === 'summary') this.disclosure(element, style);
    for (const child of element.childNodes) {
      if (child.nodeType === Node.TEXT_NODE) this.text(child, element, style, clip);
      else if (child.nodeType === Node.ELEMENT_NODE) this.element(child, clip);
    }
  }

  // Adds the background, the border, an inner shadow of one colour, and the outline of an element.
  box(rect, style) {
    const sides = ['Top', 'Right', 'Bottom', 'Left'].map((side) => border(style, side));
    const same = sides.every((it) => it.size === sides[0].size && it.color === sides[0].color);
    const fill = hex(style.backgroundColor);
    const all = same && sides[0].size > 0 ? sides[0] : null;
    const radius = style.borderRadius.endsWith('%') ? rect.width / 2 : parseFloat(style.borderRadius);
    if (fill || all) this.frame(rect, radius, -(all?.size ?? 0) / 2, {fill, stroke: all});
    if (!same) sides.forEach((it, index) => it.size > 0 && this.side(rect, it, index));
    const shadow = style.boxShadow.match(/^(.*\)) 0px 0px 0px ([\d.]+)px inset$/);
    if (shadow) {
      const stroke = {color: hex(shadow[1]), size: Number(shadow[2])};
      this.frame(rect, radius, -(all?.size ?? 0) - stroke.size / 2, {stroke});
    }
    if (style.outlineStyle === 'solid') {
      const stroke = {color: hex(style.outlineColor), size: parseFloat(style.outlineWidth)};
      this.frame(rect, radius, parseFloat(style.outlineOffset) + stroke.size / 2, {stroke});
    }
  }

  frame(rect, radius, grow, more) {
    const {left, top, width, height} = rect;
    const grown = {left: left - grow, top: top - grow, width: width + 2 * grow, height: height + 2 * grow};
    this.add('rect', grown, {radius: radius && Math.max(0, radius + grow), ...more});
  }

  side({left, top, right, bottom, width, height}, {size, color, dashed}, index) {
    const [x, y] = [index === 1 ? right - size : left, index === 2 ? bottom - size : top];
    const rect = {left: x, top: y, width: index % 2 ? size : width, height: index % 2 ? height : size};
    if (!dashed) return this.add('rect', rect, {fill: color});
    const middle = {...rect, top: y + size / 2, height: 0};
    this.add('line', middle, {stroke: {color, size, dashed}});
  }

  progress(element, style) {
    const rect = element.getBoundingClientRect();
    const width = rect.width * Math.min(1, element.value / element.max);
    const fill = barColor(element);
    const radius = parseFloat(style.borderRadius);
    if (width > 0) this.add('rect', {left: rect.left, top: rect.top, width, height: rect.height}, {fill, radius});
  }

  control(element, text, pseudo) {
    const style = getComputedStyle(element, pseudo);
    const {left, top, height} = element.getBoundingClientRect();
    const {ascent, descent} = metrics(style);
    const x = left + parseFloat(getComputedStyle(element).paddingLeft) + 1;
    const y = top + (height + ascent - descent) / 2;
    this.add('text', {left: x, top: y, width: 0, height: 0}, {runs: [run(text, style)]});
  }

  select(element, style) {
    this.control(element, element.selectedOptions[0].text);
    const {right, top, height} = element.getBoundingClientRect();
    const rect = {left: right - 16, top: top + height / 2 - 2, width: 8, height: 4};
    this.add('chevron', rect, {stroke: {color: hex(style.color)}});
  }

  disclosure(element, style) {
    const {left, top, height} = element.getBoundingClientRect();
    const rect = {left: left + 1, top: top + height / 2 - 4, width: 7, height: 8};
    this.add('triangle', rect, {fill: hex(style.color), open: element.parentElement.open});
  }

  // Adds one shape for each line of the text. A text that follows another text in the same line is added to its shape.
  text(node, element, style, clip) {
    const {ascent} = metrics(style);
    for (const line of linesOf(node)) {
      if (line.bottom <= clip.top || line.top >= clip.bottom || line.left >= clip.right) continue;
      const text = fit(line, style, clip);
      if (!text.trim()) continue;
      const block = blockOf(element);
      const top = line.top + ascent;
      const before = this.shapes.at(-1);
      if (before?.block === block && Math.abs(before.top - top) < 1 && Math.abs(line.left - before.right) < 5) {
        const space = line.left - before.right > 1 && !before.runs.at(-1).text.endsWith(' ') ? ' ' : '';
        before.runs.push(run(space + text, style));
        before.right = line.right;
        continue;
      }
      const at = anchor(block, line);
      this.add('text', {left: at.x, top, width: 0, height: 0},
        {runs: [run(text, style)], anchor: at.anchor, block, top, right: line.right});
    }
  }
}

// Finds the colour of the bar in a <progress> in the rules of the page, because getComputedStyle does not report it.
function barColor(element) {
  const end = '::-webkit-progress-value';
  const rules = [...document.styleSheets[0].cssRules].filter(({selectorText}) =>
    selectorText?.endsWith(end) && element.matches(selectorText.slice(0, -end.length)));
  const probe = document.createElement('i');
  probe.style.color = rules.at(-1).style.background;
  element.after(probe);
  const color = hex(getComputedStyle(probe).color);
  probe.remove();
  return color;
}

function border(style, side) {
  const kind = style[`border${side}Style`];
  return {size: kind === 'none' ? 0 : parseFloat(style[`border${side}Width`]), dashed: kind === 'dashed',
    color: hex(style[`border${side}Color`])};
}

// Returns the part of `clip` that is inside an element with hidden overflow.
function inner({left, top, right, bottom}, style, clip, element) {
  return {left: Math.max(left, clip.left), top: Math.max(top, clip.top), right: Math.min(right, clip.right),
    bottom: Math.min(bottom, clip.bottom),
    ellipsis: style.textOverflow === 'ellipsis' && element.scrollWidth > element.clientWidth};
}

// Returns the lines of a text node after layout, with the left edge of each character.
function linesOf(node) {
  const lines = [];
  const range = document.createRange();
  for (let i = 0; i < node.data.length; ++i) {
    range.setStart(node, i);
    range.setEnd(node, i + 1);
    const rect = range.getClientRects()[0];
    if (!rect || rect.width === 0) continue;
    const {left, right, top, bottom} = rect;
    if (!lines.length || Math.abs(lines.at(-1).top - top) > 2) lines.push({text: '', left, top, bottom, ends: []});
    const line = lines.at(-1);
    line.text += node.data[i];
    line.ends.push(right);
    line.right = right;
  }
  return lines;
}

function fit(line, style, clip) {
  if (line.right <= clip.right + 0.5) return line.text;
  canvas.font = style.font;
  const end = clip.right - (clip.ellipsis ? canvas.measureText('…').width : 0);
  return line.text.slice(0, line.ends.filter((it) => it <= end).length) + (clip.ellipsis ? '…' : '');
}

function metrics(style) {
  canvas.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  const {fontBoundingBoxAscent: ascent, fontBoundingBoxDescent: descent} = canvas.measureText('x');
  return {ascent, descent};
}

function run(text, style) {
  return {text: style.whiteSpace.startsWith('pre') ? text.replaceAll(' ', '\u00a0') : text.replaceAll(/\s/g, ' '),
    fill: hex(style.color), size: parseFloat(style.fontSize), bold: Number(style.fontWeight) >= 600,
    mono: style.fontFamily.includes('mono'), underline: style.textDecorationLine === 'underline'};
}

function blockOf(element) {
  while (getComputedStyle(element).display === 'inline') element = element.parentElement;
  return element;
}

// Decides where a text is anchored, so that it stays centered or at the right end with fonts of another width.
function anchor(block, line) {
  const style = getComputedStyle(block);
  const {left, width} = block.getBoundingClientRect();
  const margins = width - (line.right - line.left) - 2 * parseFloat(style.borderLeftWidth);
  const fills = style.borderRadius !== '0px' && Math.abs(margins - 2 * parseFloat(style.paddingLeft)) < 1;
  if (fills || (style.textAlign === 'center' && !style.display.includes('flex'))) {
    return {x: left + width / 2, anchor: 'middle'};
  }
  const parent = block.parentElement;
  const right = parent.getBoundingClientRect().right - parseFloat(getComputedStyle(parent).paddingRight);
  const last = parent.lastElementChild === block && parent.children.length > 1;
  const atEnd = last && getComputedStyle(parent).display === 'flex' && Math.abs(line.right - right) < 1;
  return atEnd ? {x: line.right, anchor: 'end'} : {x: line.left};
}

function walk(rootSelector, lastSelector) {
  const root = document.querySelector(rootSelector);
  document.activeElement?.blur();
  materialize(root);
  const result = {};
  for (const scheme of ['light', 'dark']) {
    document.documentElement.style.colorScheme = scheme;
    const picture = new Picture(root);
    picture.element(root, {left: 0, top: 0, right: innerWidth, bottom: Infinity});
    result[scheme] = picture.shapes.map(({block, top, right, ...shape}) => shape);
  }
  const {top, width} = root.getBoundingClientRect();
  return {...result, width, height: document.querySelector(lastSelector).getBoundingClientRect().bottom - top + 12};
}
