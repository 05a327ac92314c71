/** Hosts that are this machine. A name that is looked up, such as `x.localhost`, is not one: another machine may answer. */
const LOOPBACK = /^(?:localhost|127(?:\.[0-9]+){3}|\[::1\])$/;

/** Whether nobody in between can read or change the connection: https, or http to this machine. */
export const isProtected = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname));
