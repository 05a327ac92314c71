/**
 * Puts the whole reference into the place of the list once somebody opens an operation, or comes by a link to one: the
 * document as this service serves it, in Redoc, in either scheme. It is 300 KB, and a second of work.
 */
import redocAddress from 'redoc/bundles/redoc.standalone.js?url';
import { start } from './show.ts';

const open = (): void => void start(redocAddress);

if (location.hash === '') addEventListener('hashchange', open, { once: true });
else open();
