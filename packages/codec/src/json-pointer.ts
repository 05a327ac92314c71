/** JSON pointers (RFC 6901), as texts. The pointer to the whole value is the empty text. */

/** The pointer to the member or array item `name` of the value that `parent` points to. */
export const joinPointer = (parent: string, name: string): string =>
  `${parent}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
