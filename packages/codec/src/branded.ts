/**
 * A string that has passed the parser of one format; nothing else makes one. The mark is a named property, not a
 * symbol, because each published package contains its own copy of these declarations: so a value parsed by one is
 * accepted by the others.
 */
export type Branded<Name extends string> = string & { readonly '~svc': Name };
