/** A string that has passed the parser of one format; nothing else makes one. */
declare const brand: unique symbol;
export type Branded<Name extends string> = string & { readonly [brand]: Name };
