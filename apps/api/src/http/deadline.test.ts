/** One deadline for a verification, from the end of its headers: it covers authentication and body (protocol §11). */
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { exampleBody, startService, TOKENS } from '../../test/world/http-fixture.ts';

const DEADLINE_MS = 1_700;
/** Delay that a loaded machine may add. Node itself ends a request after 15 s; nothing else ends a forgotten one. */
const SLACK_MS = 8_000;
const never = new Promise<never>(() => {});

interface Timed {
  readonly status: number;
  readonly text: string;
  readonly elapsedMs: number;
}

/** Sends the parts, and times the answer from the first byte on. */
const send = (port: number, ...parts: readonly string[]): Promise<Timed> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    const startedAtMs = performance.now();
    let text = '';
    socket.setEncoding('utf8').on('error', reject);
    socket.on('data', (chunk: string) => {
      text += chunk;
      if (!text.includes('\r\n\r\n') || !text.endsWith('}')) return;
      resolve({ status: Number(text.split(' ')[1]), text, elapsedMs: performance.now() - startedAtMs });
      socket.destroy();
    });
    for (const part of parts) socket.write(part);
  });

const head = (path: string, length: number) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKENS.rp}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
const body = JSON.stringify(exampleBody('verify'));

const expectLate = ({ status, text, elapsedMs }: Timed) => {
  expect([status, text]).toEqual([503, expect.stringMatching(/Retry-After: [1-9]/)]);
  expect(elapsedMs).toBeGreaterThan(DEADLINE_MS - 50);
  expect(elapsedMs).toBeLessThan(DEADLINE_MS + SLACK_MS);
};

describe('The deadline of a verification', () => {
  it('answers 503 if the key look-up or the body does not end; the next verification is answered', async () => {
    const silent = await startService({ deps: { authenticate: () => never } });
    const { port, call } = await startService();
    const late = await Promise.all([
      send(silent.port, head('/verify', body.length), body),
      send(silent.port, head('/access/v1/evaluation', body.length), body),
      send(port, head('/verify', body.length), body.slice(0, -1)),
    ]);
    for (const one of late) expectLate(one);
    expect((await call('POST', '/verify', { token: TOKENS.rp, rawBody: body })).status).toBe(200);
  });

  it('starts with the headers: the handler gets what the body has left of it', async () => {
    const verifyDeadlineMs = 20_000;
    const due: (number | null)[] = [];
    const { port, authenticated } = await startService({
      limits: { verifyDeadlineMs },
      handlers: {
        verify: async ({ answerByMs }) => {
          due.push(answerByMs);
          return { status: 200, rawBody: '{}' };
        },
      },
    });
    const half = body.length >> 1;
    const socket = connect(port, '127.0.0.1');
    const answered = new Promise((resolve) => socket.once('data', resolve));
    const sentAtMs = performance.now();
    socket.write(head('/verify', body.length) + body.slice(0, half));
    await expect.poll(() => authenticated).toHaveLength(1);
    const headCameByMs = performance.now();
    socket.write(body.slice(half));
    await answered;
    socket.destroy();
    expect(due[0]).toBeGreaterThanOrEqual(sentAtMs + verifyDeadlineMs);
    expect(due[0]).toBeLessThanOrEqual(headCameByMs + verifyDeadlineMs);
  });
});
