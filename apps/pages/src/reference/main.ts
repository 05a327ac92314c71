/** Puts the whole reference into the place of the list: the document as this service serves it, in Redoc, in either scheme. */
import redocAddress from 'redoc/bundles/redoc.standalone.js?url';
import { start } from './show.ts';

void start(redocAddress);
