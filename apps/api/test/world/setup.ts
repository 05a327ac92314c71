/** Runs before every test file. Test files share a worker and its modules, but no state. */
import { afterAll } from 'vitest';
import { removeDataFolder } from './data-folder.ts';

afterAll(removeDataFolder);
