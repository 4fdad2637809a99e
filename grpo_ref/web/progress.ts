/** Load files and say how much of them has arrived. */

const MEGABYTE = 1e6;

export class Progress {
  private loaded = 0;
  private size = 0;
  private told = "";

  /**
   * @param what - what is loaded, in words
   * @param tell - called with a line, such as "Loading Python: 3 of 14 MB"
   */
  constructor(
    private readonly what: string,
    private readonly tell: (text: string) => void,
  ) {}

  /** Load a file of the site. Its bytes are counted as they arrive. */
  async fetched(name: string): Promise<Response> {
    const response = await fetch(name);
    if (!response.ok || response.body === null) throw new Error(`${name}: ${response.status} ${response.statusText}`);
    this.size += Number(response.headers.get("Content-Length") ?? NaN); // a host may not know it
    const counting = new TransformStream<Uint8Array, Uint8Array>({
      transform: (bytes, to) => {
        this.loaded += bytes.length;
        this.show();
        to.enqueue(bytes);
      },
    });
    return new Response(response.body.pipeThrough(counting), { headers: response.headers });
  }

  /** Load a file that is packed with gzip. */
  async unpacked(name: string, type: string): Promise<Response> {
    const { body } = await this.fetched(name);
    const stream = (body as ReadableStream).pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream, { headers: { "Content-Type": type } });
  }

  private show(): void {
    const [loaded, size] = [this.loaded, this.size].map((bytes) => Math.ceil(bytes / MEGABYTE));
    const text = `Loading ${this.what}: ${loaded}${size >= loaded ? ` of ${size}` : ""} MB ...`;
    if (text !== this.told) this.tell(text);
    this.told = text;
  }
}
