/** Where the fence lies (protocol §10). */
export { openFolder } from './folder.ts';
export { type OpenedOutside, openOutside } from './open-outside.ts';
