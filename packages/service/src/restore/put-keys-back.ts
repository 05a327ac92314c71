/** What to do where the key files do not go with what was kept beside the fence. A new key alone may take a number that was used in the lost span. */
export const PUT_KEYS_BACK =
  'Put the key file back as it was last: every other machine has it. Where its private parts are lost, put its public keys into it under ' +
  'their kids, and first a new key with a number above all of them. Where a key was made since under a number that was used in the lost ' +
  'span, restore the backup anew before that: this database keeps that key for ever (docs/operations.md, Restoring)';
