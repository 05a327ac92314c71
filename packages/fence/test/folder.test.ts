import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { openFolder } from '../src/index.ts';
import { describeOutside } from './contract.ts';

const root = mkdtempSync(join(tmpdir(), 'svc-fence-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

describeOutside('a folder', () => openFolder(mkdtempSync(join(root, 'one-'))));
