// What pages need besides htmx: what was printed stays bounded and at its end, and a broken stream says so.
(() => {
  'use strict';
  const by = (id) => document.getElementById(id);
  const most = 3000; // pieces of what was printed
  const output = by('output'), live = by('live-state');
  let gone = false;

  const atEnd = () => output.scrollHeight - output.scrollTop - output.clientHeight < 40;
  const say = (word, mood) => { if (live) { live.textContent = word; live.dataset.mood = mood; } };

  if (output) {
    let follow = true;
    output.scrollTop = output.scrollHeight;
    output.addEventListener('scroll', () => { follow = atEnd(); }, { passive: true });
    new MutationObserver(() => {
      while (output.children.length > most) output.firstElementChild.remove();
      if (by('no-output')) by('no-output').hidden = output.children.length > 0;
      if (follow) output.scrollTop = output.scrollHeight;
    }).observe(output, { childList: true });
  }

  document.addEventListener('htmx:sse:after:connection', () => say('Live', 'good'));
  document.addEventListener('htmx:sse:error', (e) => {
    if (e.detail && e.detail.status === 404) {
      gone = true;
      say('No longer live: sign in again or load the page again', 'bad');
      return;
    }
    say('Connection lost, trying again', 'warn');
  });
  document.addEventListener('over', () => { gone = true; say('ralph has ended; this page stays as it is', 'wait'); });
  document.addEventListener('htmx:sse:before:connection', (e) => { if (gone) e.preventDefault(); });

  // An iteration that the address names is open.
  const openNamed = () => {
    const target = location.hash.length > 1 && by(decodeURIComponent(location.hash.slice(1)));
    if (target && target.tagName === 'DETAILS') { target.open = true; target.scrollIntoView(); }
  };
  addEventListener('hashchange', openNamed);
  openNamed();
})();
