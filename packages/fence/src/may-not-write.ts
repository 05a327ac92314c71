/** The credentials do not allow the write by which a bucket is tried. */
export class MayNotWrite extends Error {}
