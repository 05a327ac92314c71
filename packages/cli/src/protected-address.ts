/**
 * Hosts that are this machine. A name that needs a DNS lookup, such as `x.localhost`, is excluded: another machine may
 * answer.
 */
const LOOPBACK = /^(?:localhost|127(?:\.[0-9]+){3}|\[::1\])$/;

/** Whether the connection is protected from others who might read or change it: https, or http to this machine. */
export const isProtected = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname));
