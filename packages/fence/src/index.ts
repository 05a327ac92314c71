/** The stores that can hold the fence (protocol §10). */
export { openFolder } from './folder.ts';
export { type OpenedFenceStore, openFenceStore } from './open-fence-store.ts';
