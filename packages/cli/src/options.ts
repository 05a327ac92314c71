/** The command line as typed options, for every program: `parseArgs` of Node, and in our own words what it refuses. */
import { type ParseArgsConfig, parseArgs } from 'node:util';

type OptionTable = NonNullable<ParseArgsConfig['options']>;

/** Something that the person at the command line has to put right. The answer is "could not decide". */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Throws UsageError with what is wrong and what is right. */
export const parseOptions = <const Options extends OptionTable>(
  args: readonly string[],
  options: Options,
) => {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch {
    throw new UsageError(findProblem(args, options) ?? 'the command line cannot be read');
  }
};

const findProblem = (args: readonly string[], options: OptionTable): string | null => {
  const lenient = { options, allowPositionals: true, strict: false, tokens: true } as const;
  for (const token of parseArgs({ args: [...args], ...lenient }).tokens) {
    if (token.kind !== 'option') continue;
    const { name, rawName, value } = token;
    const option = Object.hasOwn(options, name) ? options[name] : undefined;
    if (option === undefined) return `there is no option ${rawName}`;
    const takesValue = option.type === 'string';
    if (!takesValue && value !== undefined) return `${rawName} takes no value`;
    if (takesValue && (value === undefined || value.startsWith('-')))
      return `${rawName} must be followed by a value${value === undefined ? '' : `, not ${value}`}`;
  }
  return null;
};

/** Throws UsageError for an option that is given and that `what` does not have. */
export const assertAllowed = (values: object, allowed: readonly string[], what: string): void => {
  for (const [option, value] of Object.entries(values))
    if (!allowed.includes(option) && value !== false)
      throw new UsageError(`${what} has no option --${option}`);
};

/** Names that are looked up, such as `x.localhost`, are none: what answers may be another machine. */
const LOOPBACK = /^(?:localhost|127(?:\.[0-9]+){3}|\[::1\])$/;

/** Whether nobody in between can read or change what is said there: https, or http to this machine. */
export const isProtected = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname));
