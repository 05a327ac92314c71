import { expect, it } from 'vitest';
import { urlOfListener } from './report.ts';

it.each([
  ['127.0.0.1', 'http://127.0.0.1:8080/'],
  ['localhost', 'http://localhost:8080/'],
  ['::1', 'http://[::1]:8080/'],
  ['::', 'http://[::]:8080/'],
])('A listener on %s is reached at %s', (host, url) => {
  expect(new URL(urlOfListener(host, 8080)).href).toBe(url);
});
