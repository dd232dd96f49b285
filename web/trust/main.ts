/** Plays the recordings of known failures here. Without this script their links lead to the files. */
const player = new Audio();
let playing: HTMLAnchorElement | null = null;

function showState(link: HTMLAnchorElement | null): void {
  if (playing !== null) playing.textContent = 'Listen';
  playing = link;
  if (link !== null) link.textContent = 'Stop';
}

/** The page's policy permits media of blobs alone. */
async function play(link: HTMLAnchorElement): Promise<void> {
  const blob = await (await fetch(link.href)).blob();
  if (playing !== link) return;
  URL.revokeObjectURL(player.src);
  player.src = URL.createObjectURL(blob);
  await player.play();
}

player.addEventListener('ended', () => showState(null));

for (const link of document.querySelectorAll<HTMLAnchorElement>('a[data-recording]')) {
  link.setAttribute('role', 'button');
  link.addEventListener('click', (event) => {
    event.preventDefault();
    const stop = playing === link;
    player.pause();
    showState(stop ? null : link);
    if (stop) return;
    play(link).catch(() => {
      // Pausing rejects too.
      if (playing === link) location.assign(link.href);
    });
  });
}
