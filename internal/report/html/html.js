
(() => {
  'use strict';
  const by = (id) => document.getElementById(id);
  const query = by('query'), found = by('found'), fold = by('fold'), main = document.querySelector('main');
  const before = by('before'), after = by('after');
  const iterations = [...document.querySelectorAll('details.iteration')];
  const folds = [...document.querySelectorAll('details')];
  const most = 500; // marks; a word that is everywhere need not be painted everywhere
  let marks = [], at = -1, asLeft = null, timer = 0;

  const count = (n, one, many) => n + ' ' + (n === 1 ? one : many);
  const remember = () => { asLeft = asLeft || folds.map((d) => d.open); };
  const restore = () => { if (asLeft) { folds.forEach((d, i) => { d.open = asLeft[i]; }); asLeft = null; } };

  function unmark() {
    const parents = new Set(marks.map((m) => m.parentNode));
    for (const m of marks) m.replaceWith(m.textContent);
    for (const p of parents) p.normalize();
    marks = [];
    at = -1;
  }

  // mark paints the matches in one text, the last first so that the places of the others stay true.
  function mark(node, places) {
    const made = [];
    for (const [from, length] of places.reverse()) {
      const part = node.splitText(from);
      part.splitText(length);
      const m = document.createElement('mark');
      part.replaceWith(m);
      m.append(part);
      made.unshift(m);
    }
    marks.push(...made);
  }

  function reveal(node) {
    for (let d = node.parentElement.closest('details'); d; d = d.parentElement.closest('details')) d.open = true;
  }

  function search() {
    timer = 0;
    look(query.value.trim());
    before.hidden = after.hidden = !marks.length;
  }

  function look(words) {
    unmark();
    if (words.length < 2) {
      restore();
      for (const i of iterations) i.hidden = false;
      found.textContent = words ? 'Type one more letter.' : '';
      return;
    }
    remember();
    const pattern = new RegExp(words.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'giu');
    const texts = [], inside = new Set();
    for (const walk = document.createTreeWalker(main, NodeFilter.SHOW_TEXT); walk.nextNode();) texts.push(walk.currentNode);
    let total = 0;
    for (const text of texts) {
      const places = [];
      for (const m of text.data.matchAll(pattern)) places.push([m.index, m[0].length]);
      if (!places.length) continue;
      total += places.length;
      const iteration = text.parentElement.closest('details.iteration');
      if (iteration) inside.add(iteration);
      if (marks.length < most) {
        mark(text, places.slice(0, most - marks.length));
        reveal(text);
      }
    }
    for (const i of iterations) i.hidden = !inside.has(i);
    found.textContent = !total ? 'No matches.' :
      count(total, 'match', 'matches') + ', in ' + inside.size + ' of ' + count(iterations.length, 'iteration', 'iterations') + '.' +
      (total > most ? ' The first ' + most + ' are marked.' : '');
  }

  function step(way) {
    if (!marks.length) return;
    if (marks[at]) marks[at].classList.remove('now');
    at = (at + way + marks.length + (at < 0 && way < 0 ? 1 : 0)) % marks.length;
    marks[at].classList.add('now');
    marks[at].scrollIntoView({ block: 'center', inline: 'nearest' });
    found.textContent = 'Match ' + (at + 1) + ' of ' + marks.length + '.';
  }

  function openNamed() {
    const target = by(location.hash.slice(1));
    if (target && target.tagName === 'DETAILS') { target.open = true; target.scrollIntoView(); }
  }

  query.addEventListener('input', () => { clearTimeout(timer); timer = setTimeout(search, 120); });

  // What was typed last is searched for before anybody is led to a match of what was typed before.
  function searchNow() {
    clearTimeout(timer);
    if (timer) search();
  }

  query.addEventListener('keydown', (e) => {
    if (e.key === 'Enter') { e.preventDefault(); searchNow(); step(e.shiftKey ? -1 : 1); }
    if (e.key === 'Escape') { e.preventDefault(); query.value = ''; clearTimeout(timer); search(); }
  });
  document.addEventListener('keydown', (e) => {
    if (e.key === '/' && document.activeElement !== query) { e.preventDefault(); query.focus(); }
  });
  before.addEventListener('click', () => step(-1));
  after.addEventListener('click', () => step(1));
  fold.addEventListener('click', () => {
    const open = fold.textContent === 'Open all';
    for (const d of folds) d.open = open;
    fold.textContent = open ? 'Fold all' : 'Open all';
  });
  addEventListener('hashchange', openNamed);
  addEventListener('beforeprint', () => { remember(); for (const d of folds) d.open = true; });
  addEventListener('afterprint', restore);
  by('find').hidden = false;
  openNamed();
})();
