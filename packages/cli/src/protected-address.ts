/** Names that are looked up, such as `x.localhost`, are none: what answers may be another machine. */
const LOOPBACK = /^(?:localhost|127(?:\.[0-9]+){3}|\[::1\])$/;

/** Whether nobody in between can read or change what is said there: https, or http to this machine. */
export const isProtected = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname));
