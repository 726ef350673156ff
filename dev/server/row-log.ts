/**
 * Endpoints of the dev server, `POST /progress` and `POST /results`. Each takes one row of a run as
 * JSON and appends it to `progress.jsonl` or `results.jsonl`. Rows from another origin than the
 * page are rejected.
 */
import { appendFile, mkdir } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Plugin, PreviewServer, ViteDevServer } from 'vite';
import { rowPaths } from '../bench/rows.js';

/**
 * Largest row. A row with phases takes about 2 KB; a trace takes 80 bytes a pass, and an MSM in
 * thousands of submits has tens of thousands of passes.
 */
export const maxRowBytes = 16 * 1024 * 1024;

const refusal = (status: number, message: string) => Object.assign(new Error(message), { status });

/** Rejects other origins. Browsers send the origin with every POST. */
function checkOrigin({ headers }: IncomingMessage): void {
  const { origin } = headers;
  if (origin === undefined) return;
  const from = URL.canParse(origin) ? new URL(origin).host : null;
  // over https browsers speak HTTP/2, which has :authority instead of Host
  if (from !== (headers[':authority'] ?? headers.host)) throw refusal(403, 'rows must come from the page itself');
}

async function readRow(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length > maxRowBytes) throw refusal(413, `the row exceeds ${maxRowBytes} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw refusal(400, 'the row is not JSON');
  }
}

/** @param folder folder of the files, created with the first row */
export function createRowLog(folder: string) {
  let last: Promise<void> = Promise.resolve();

  /** Appends rows one after the other, so that lines do not mix. */
  const append = (path: string, row: unknown): Promise<void> => {
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
      if (request.method !== 'POST') throw refusal(405, 'send rows with POST');
      checkOrigin(request);
      await append(path, await readRow(request));
      response.writeHead(204).end();
    } catch (error) {
      const { status = 500, message } = error as Partial<ReturnType<typeof refusal>>;
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(message);
    }
  };
}

/** Vite plugin with the endpoints, for the dev server and `vite preview`. */
export function rowLog(folder: string): Plugin {
  const serve = ({ middlewares }: ViteDevServer | PreviewServer): void => {
    middlewares.use(createRowLog(folder));
  };
  return { name: 'row-log', configureServer: serve, configurePreviewServer: serve };
}
