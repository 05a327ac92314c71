/**
 * Replaces the list by the whole reference once the reader opens an operation, or follows a link to one. Redoc renders
 * the document as this service serves it, in either colour scheme. Redoc is 300 KB and takes a second of work.
 */
import redocAddress from 'redoc/bundles/redoc.standalone.js?url';
import { start } from './show.ts';

const open = (): void => void start(redocAddress);

if (location.hash === '') addEventListener('hashchange', open, { once: true });
else open();
