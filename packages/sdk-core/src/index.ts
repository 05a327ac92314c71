/** How both client libraries talk to the service. Bundled into each of them; not published by itself. */
export { type Answer, type Failure, readAnswer, readText } from './answer.ts';
export { type Deadline, startDeadline } from './deadline.ts';
export { SvcError, type SvcErrorKind } from './errors.ts';
export { type Call, createTransport, type Transport, type TransportOptions } from './transport.ts';
