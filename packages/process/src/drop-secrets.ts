/** Removes secrets from the environment of a process that does not need them, and names them in the log. */
import { fileVariable, SECRET_NAMES } from '@svc/config';
import type { Logger } from 'pino';

const KEY_FILES = [
  'SVC_RECEIPT_KEYS',
  'SVC_STATUS_KEYS',
  'SVC_SANDBOX_KEYS',
  'SVC_KEY_PASSPHRASE_FILE',
  'SVC_PKCS11_PIN_FILE',
];

/** `program`: its name for people. `needed`: the variables that the program reads. */
export const dropSecrets = (
  env: NodeJS.ProcessEnv,
  { program, needed }: { readonly program: string; readonly needed: readonly string[] },
  logger: Pick<Logger, 'warn'>,
): void => {
  const spare = [...SECRET_NAMES, ...KEY_FILES].filter((name) => !needed.includes(name));
  for (const name of [...spare, ...spare.map(fileVariable)]) {
    if ((env[name] ?? '') === '') continue;
    delete env[name];
    logger.warn(
      { note: `${name} is set, and of no use to the ${program}: take it out of its environment` },
      'secrets',
    );
  }
};
