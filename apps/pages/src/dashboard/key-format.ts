/**
 * Checks whether a text can be one of the keys that open the dashboard, before anything is sent (interface
 * §Authentication).
 */

/** Classes of keys, by their prefix. */
export const KEY_CLASSES = [
  { prefix: 'dk_rp_', of: 'a relying party', shows: 'its decisions and events' },
  { prefix: 'dk_org_', of: 'an org', shows: 'those of all its relying parties, and its members' },
  { prefix: 'dk_principal_', of: 'a Principal', shows: 'its Grants, its Agents and what they did' },
  { prefix: 'dk_observer_', of: 'an observer', shows: 'counts of the whole service' },
] as const;

/** Null where the text may be a key. Otherwise what is wrong with it, and what is expected. */
export const keyProblem = (text: string): string | null => {
  if (text === '') return 'There is no key in the field.';
  if (!/^[\x21-\x7e]+$/.test(text))
    return 'A key is made of letters, digits and underscores. This text has other characters in it, which no request can carry; copy the key again.';
  if (KEY_CLASSES.some(({ prefix }) => text.startsWith(prefix))) return null;
  if (text.startsWith('dk_'))
    return `Keys of this class do not open the dashboard. Those that do begin with ${PREFIXES}.`;
  return `This is no API key: those begin with ${PREFIXES}. The admin token makes keys and has no decisions of its own; use it for POST /observer-keys, whose key opens the counts of the whole service.`;
};

const PREFIXES = KEY_CLASSES.map(({ prefix }) => prefix)
  .join(', ')
  .replace(/, (?=[^,]*$)/, ' or ');
