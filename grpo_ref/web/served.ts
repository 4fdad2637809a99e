/** How this page is served: by the service worker, which keeps its files, and with the headers for shared memory. */

const RELOADED = "grpo-ref/reloaded";
const PATIENCE = 5000;

/** Let the service worker serve this page and keep what it loads; resolves when it does, or is late. */
export async function kept(): Promise<void> {
  if (!("serviceWorker" in navigator)) return;
  const controlled = new Promise((done) => navigator.serviceWorker.addEventListener("controllerchange", done));
  const late = new Promise((done) => setTimeout(done, PATIENCE));
  await navigator.serviceWorker.register("offline.js");
  if (navigator.serviceWorker.controller === null) await Promise.race([controlled, late]);
}

/** Whether memory can be shared with workers; the page is loaded once more if it came without the headers for it. */
export async function isolated(): Promise<boolean> {
  await kept();
  if (crossOriginIsolated || sessionStorage.getItem(RELOADED) !== null) return crossOriginIsolated;
  sessionStorage.setItem(RELOADED, "yes");
  location.reload();
  return new Promise(() => undefined);
}
