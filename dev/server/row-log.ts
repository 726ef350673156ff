/**
 * The dev server's end-points `POST /progress` and `POST /results`: each takes one row of a run as JSON and appends it
 * to `progress.jsonl` or `results.jsonl`. Only the page itself may post: rows from another origin are refused.
 */
import { appendFile, mkdir } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Plugin, PreviewServer, ViteDevServer } from 'vite';
import { type RowPath, rowPaths } from '../bench/rows.js';

/** A row with the phases of an MSM takes about 2 KB, a trace about 80 bytes a pass, of which an MSM in thousands of submits has tens of thousands. */
export const maxRowBytes = 16 * 1024 * 1024;

/** What a request is refused with. */
const refusal = (status: number, message: string) => Object.assign(new Error(message), { status });

/** Browsers send the origin with every POST. */
function checkOrigin({ headers }: IncomingMessage): void {
  const { origin } = headers;
  if (origin === undefined) return;
  const from = URL.canParse(origin) ? new URL(origin).host : null;
  // Over https browsers speak HTTP/2, which has :authority in the place of Host.
  if (from !== (headers[':authority'] ?? headers.host)) throw refusal(403, 'rows are taken from the page itself only');
}

async function readRow(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length > maxRowBytes) throw refusal(413, `a row has at most ${maxRowBytes} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw refusal(400, 'a row is JSON');
  }
}

/** @param folder where the files are; made when the first row comes */
export function createRowLog(folder: string) {
  let last: Promise<void> = Promise.resolve();

  /** Rows are appended one after the other, so that no two lines mix. */
  const append = (path: RowPath, row: unknown): Promise<void> => {
    const appended = last.then(async () => {
      await mkdir(folder, { recursive: true });
      await appendFile(join(folder, `${path}.jsonl`), `${JSON.stringify(row)}\n`);
    });
    last = appended.catch(() => {});
    return appended;
  };

  return async (request: IncomingMessage, response: ServerResponse, next: () => void): Promise<void> => {
    const asked = new URL(request.url ?? '/', 'http://localhost').pathname.slice(1);
    const path = rowPaths.find((known) => known === asked);
    if (path === undefined) return next();
    try {
      if (request.method !== 'POST') throw refusal(405, 'rows are posted');
      checkOrigin(request);
      await append(path, await readRow(request));
      response.writeHead(204).end();
    } catch (error) {
      const { status = 500, message } = error as Partial<ReturnType<typeof refusal>>;
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(message);
    }
  };
}

/** Vite plugin: the end-points, in the dev server and in `vite preview`. */
export function rowLog(folder: string): Plugin {
  const serve = ({ middlewares }: ViteDevServer | PreviewServer): void => {
    middlewares.use(createRowLog(folder));
  };
  return { name: 'row-log', configureServer: serve, configurePreviewServer: serve };
}
