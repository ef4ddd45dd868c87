// The check of a proof by the reader's own browser: the kernel of this page, in a worker, on the
// problem and the evidence of this page. Where workers are not allowed, the page does the work.

const WORK = 'onmessage = (event) => postMessage(KERNEL.judged(event.data));';

// Gives what the kernel says of a document, to whom it may concern; returns what calls it off.
function recheck(text, tell) {
  const address = URL.createObjectURL(new Blob([byId('kernel').textContent, '\n', WORK]));
  const worker = new Worker(address);
  const end = () => { worker.terminate(); URL.revokeObjectURL(address); };
  worker.addEventListener('message', (event) => { end(); tell(event.data); });
  worker.addEventListener('error', (event) => {
    end();
    const isAllowed = event instanceof ErrorEvent; // it ran, and failed
    tell(isAllowed ? { why: `it is too much: ${event.message}` } : KERNEL.judged(text));
  });
  worker.postMessage(text);
  return end;
}

// Whether a text is the one of this fingerprint; a page that came over a network in the clear is not
// told, and takes it for that.
async function isOf(sha256, text) {
  if (!window.crypto.subtle) return true;
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return sha256 === [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

function makeRechecking() {
  document.querySelectorAll('button.recheck').forEach((button) => {
    const { name, certificate_check: check } = DATA.properties[Number(button.dataset.proof)];
    const told = button.parentElement.querySelector('.told');
    const title = button.textContent;
    let end = null;
    const say = (text, outcome) => {
      end = null;
      button.textContent = title;
      told.textContent = text;
      told.className = `told basis ${outcome}`;
    };
    const start = async () => {
      button.textContent = 'Stop';
      told.textContent = 'checking …';
      told.className = 'told';
      let stopped = false;
      end = () => { stopped = true; };
      const text = await unpacked(JSON.parse(byId('documents').textContent)[name]);
      const isOwn = await isOf(check.document_sha256, text);
      if (!stopped) end = recheck(text, (word) => say(...inWords(word, isOwn)));
    };
    button.hidden = false;
    button.addEventListener('click', () => {
      if (end) {
        end();
        say('stopped', '');
      } else {
        start().catch((error) => say(`✗ refused: it cannot be unpacked (${error.message})`, 'unproved'));
      }
    });
  });
}

function inWords({ why, numbers, milliseconds }, isOwn) {
  if (why !== null) return [`✗ refused: ${why}`, 'unproved'];
  if (!isOwn) return ['✗ refused: it proves something, but it is not the proof of this report: its SHA-256 is another', 'unproved'];
  return [`✓ accepted by the kernel in this browser: ${numbers} numbers in ${Math.ceil(milliseconds)} ms`, 'proved'];
}
