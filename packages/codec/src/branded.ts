/**
 * A string that has passed the parser of one format; nothing else makes one. The mark has a name and is no symbol: each published
 * package holds these declarations, and what one of them has parsed is accepted by the others.
 */
export type Branded<Name extends string> = string & { readonly '~svc': Name };
