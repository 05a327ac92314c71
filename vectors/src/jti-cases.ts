/** vectors/jti.json: `isJti`, 22 to 64 base64url characters (interface §Proof). Expectations are written by hand. */
type Row = readonly [input: string, expected: boolean, description: string];

const ROWS: readonly Row[] = [
  ['a'.repeat(22), true, '22 characters: 128 bits and a little'],
  ['a'.repeat(64), true, '64 characters'],
  ['AZaz09-_AZaz09-_AZaz09', true, 'the whole alphabet'],
  ['-'.repeat(22), true, 'a nonce of hyphens'],
  ['a'.repeat(43), true, '43 characters: 256 bits'],
  ['', false, 'an empty string'],
  ['a'.repeat(21), false, '21 characters'],
  ['a'.repeat(65), false, '65 characters'],
  [`${'a'.repeat(22)}=`, false, 'padding'],
  [`${'a'.repeat(22)}\n`, false, 'a line end behind'],
  [` ${'a'.repeat(22)}`, false, 'white space in front'],
  [`${'a'.repeat(21)}+`, false, 'the standard alphabet: +'],
  [`${'a'.repeat(21)}/`, false, 'the standard alphabet: /'],
  [`${'a'.repeat(21)}.`, false, 'a full stop'],
  [`${'a'.repeat(21)}\u00e9`, false, 'a letter that is not ASCII'],
  [`${'a'.repeat(21)}\uff41`, false, 'a full-width letter'],
  [`${'a'.repeat(21)}\u0000`, false, 'U+0000'],
  ['123e4567-e89b-12d3-a456-426614174000', true, 'a UUID has 36 characters of the alphabet'],
];

export const jtiFile = () => ({
  description: 'isJti: whether a text may be the nonce of a Proof.',
  cases: ROWS.map(([input, expected, description]) => ({ description, input, expected })),
});
