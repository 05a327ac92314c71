/**
 * Instructions for an operator whose key files do not match the records beside the fence. A new key alone does not
 * help, because its number may have been used in the lost span.
 */
export const PUT_KEYS_BACK =
  'Put the key file back as it was last: every other machine has it. Where its private parts are lost, put its public keys into it under ' +
  'their kids, and first a new key with a number above all of them. Where a key was made since under a number that was used in the lost ' +
  'span, restore the backup anew before that: this database keeps that key for ever (docs/operations.md, Restoring)';
