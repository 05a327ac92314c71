import { type LoggedRevocations, RevocationLog } from '@svc/service';

/** Reads the lines of one file. Throws where a line that may be a revocation cannot be parsed. */
export const readRevocationLog = (lines: Iterable<string>): LoggedRevocations => {
  const log = new RevocationLog();
  const file = log.open();
  for (const line of lines) file.read(line);
  const { fault } = file.end();
  if (fault !== null) throw new Error(fault);
  return log.found();
};
