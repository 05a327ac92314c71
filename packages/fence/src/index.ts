/** The stores that can hold the fence (protocol §10). */
export { openFolder } from './folder.ts';
export { MayNotWrite } from './may-not-write.ts';
export { type OpenedFenceStore, openFenceStore } from './open-fence-store.ts';
