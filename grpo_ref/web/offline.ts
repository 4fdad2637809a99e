/**
 * The service worker: keeps the files of the course, so that a second visit needs no network, and adds the two
 * headers with which a page may share memory with its workers; few static web servers send them.
 */
const worker = self as unknown as ServiceWorkerGlobalScope;

const VERSION = "@VERSION@"; // of all files; `build.py` writes it
const CACHE = `grpo-ref-${VERSION}`;
const COURSE = ["./", "index.html", "course.js", "judge.js", "student.js", "program.js", "style.css", "course.json"];
const COMPUTING = ["play", "surrogates", "explain", "diagnose"].flatMap((name) => [`${name}.html`, `${name}.js`]);
const PAGES = [...COURSE, ...COMPUTING, "surrogates.json", "symptoms.html", "worker.js", "computing.css"];
const HEADERS = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
  "Cross-Origin-Resource-Policy": "same-origin",
};

worker.addEventListener("install", (event) => event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(PAGES))));
worker.addEventListener("activate", (event) => event.waitUntil(begin()));
worker.addEventListener("fetch", (event) => {
  const isOurs = event.request.method === "GET" && new URL(event.request.url).origin === location.origin;
  if (isOurs) event.respondWith(answer(event.request));
});

worker.addEventListener("message", (event) => event.waitUntil(keep(event.data as string)));

/** Keep a file that a page may need later. Without a network, nothing is kept and nothing is said. */
async function keep(name: string): Promise<void> {
  await answer(new Request(name)).catch(() => undefined);
}

/** Forget the files of earlier versions, and serve the pages that are open already. */
async function begin(): Promise<void> {
  const names = (await caches.keys()).filter((name) => name.startsWith("grpo-ref-") && name !== CACHE);
  await Promise.all(names.map((name) => caches.delete(name)));
  await worker.clients.claim();
  keepChapters().catch(() => undefined); // in the background, because no page waits for other chapters
}

/** Keep the texts of all chapters, so that the course can be read without a network. */
async function keepChapters(): Promise<void> {
  const index = await answer(new Request("course.json"));
  for (const { id } of (await index.json()) as { id: string }[]) await keep(`chapter-${id}.json`);
}

async function answer(request: Request): Promise<Response> {
  const cache = await caches.open(CACHE);
  const kept = await cache.match(request, { ignoreSearch: true });
  if (kept !== undefined) return shared(kept);
  const found = await fetch(request);
  if (found.status === 200) await cache.put(request, found.clone());
  return shared(found);
}

function shared(response: Response): Response {
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(HEADERS)) headers.set(name, value);
  const { status, statusText } = response;
  return new Response(response.body, { status, statusText, headers });
}

export {};
