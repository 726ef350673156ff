/**
 * The dev server's end-points `POST /progress` and `POST /results`: each takes one row of a run as JSON and appends it
 * to `progress.jsonl` or `results.jsonl`. Only the page itself may post: rows from another origin are refused.
 */
import { appendFile, mkdir } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Plugin } from 'vite';
import { type RowPath, rowEvents, rowPaths, runIdPattern } from '../bench/rows.js';

/** A row with the phases of an MSM takes about 2 KB, a trace about 80 bytes a pass, of which an MSM in thousands of submits has tens of thousands. */
export const maxRowBytes = 4 * 1024 * 1024;

/** A request that is refused, and with which status. */
class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
  }
}

function checkOrigin({ headers }: IncomingMessage): void {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') throw new Refusal(403, 'rows are taken from the page itself only');
  const { origin } = headers;
  if (origin === undefined) return;
  const from = URL.canParse(origin) ? new URL(origin).host : null;
  // Over https browsers speak HTTP/2, which has :authority in the place of Host.
  if (from !== (headers[':authority'] ?? headers.host))
    throw new Refusal(403, 'rows are taken from the page itself only');
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length > maxRowBytes) throw new Refusal(413, `a row has at most ${maxRowBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** @throws Refusal that names the field */
export function parseRow(body: string): Record<string, unknown> {
  let row: unknown;
  try {
    row = JSON.parse(body);
  } catch {
    throw new Refusal(400, 'a row is JSON');
  }
  if (typeof row !== 'object' || row === null || Array.isArray(row)) throw new Refusal(400, 'a row is a JSON object');
  const { runId, event, at } = row as Record<string, unknown>;
  if (typeof runId !== 'string' || !runIdPattern.test(runId)) {
    throw new Refusal(400, `runId: not of the form ${runIdPattern.source}`);
  }
  if (!rowEvents.some((known) => known === event)) throw new Refusal(400, `event: not one of ${rowEvents.join(', ')}`);
  if (typeof at !== 'string' || Number.isNaN(Date.parse(at))) throw new Refusal(400, 'at: not a date');
  return row as Record<string, unknown>;
}

/**
 * @param folder where the files are; made when the first row comes
 */
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

  const take = async (path: RowPath, request: IncomingMessage): Promise<void> => {
    if (request.method !== 'POST') throw new Refusal(405, 'rows are posted');
    checkOrigin(request);
    if (!/^application\/json\b/.test(request.headers['content-type'] ?? '')) {
      throw new Refusal(415, 'a row is application/json');
    }
    if (Number(request.headers['content-length'] ?? 0) > maxRowBytes) {
      throw new Refusal(413, `a row has at most ${maxRowBytes} bytes`);
    }
    await append(path, parseRow(await readBody(request)));
  };

  return (request: IncomingMessage, response: ServerResponse, next: () => void): void => {
    const asked = new URL(request.url ?? '/', 'http://localhost').pathname.slice(1);
    const path = rowPaths.find((known) => known === asked);
    if (path === undefined) {
      next();
      return;
    }
    const answer = (status: number, text = ''): void => {
      response.statusCode = status;
      response.setHeader('content-type', 'text/plain; charset=utf-8');
      if (status === 405) response.setHeader('allow', 'POST');
      // What was not read of a refused body must not be taken for the next request; HTTP/2 keeps the two apart by itself.
      if (status >= 400 && request.httpVersionMajor < 2) response.setHeader('connection', 'close');
      response.end(text);
    };
    take(path, request).then(
      () => answer(204),
      (error: unknown) => {
        if (error instanceof Refusal) answer(error.status, error.message);
        else answer(500, 'the row could not be written');
      },
    );
  };
}

/** Vite plugin: the end-points, in the dev server and in `vite preview`. */
export function rowLog(folder: string): Plugin {
  return {
    name: 'row-log',
    configureServer: ({ middlewares }) => {
      middlewares.use(createRowLog(folder));
    },
    configurePreviewServer: ({ middlewares }) => {
      middlewares.use(createRowLog(folder));
    },
  };
}
