/** Settings in the address of a page, so that a link restores them. They follow the #, which is never sent. */

/** Return the settings of the address, as text. */
export function read(): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

/** Replace the settings of the address. */
export function write(settings: Record<string, string | number>): void {
  const texts = Object.entries(settings).map(([name, value]) => [name, String(value)]);
  history.replaceState(null, "", `#${new URLSearchParams(texts)}`);
}
