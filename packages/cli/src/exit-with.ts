/** How the executables end whose exit code is a verdict. */

/** The exit code of what has told nothing. */
export const COULD_NOT_DECIDE = 2;

interface Ending {
  /** What `work` does is done to its end although nobody reads: half of it would be worse. Else that ends it at once. */
  readonly isFinished?: boolean;
  /** Writes the error that ended it to standard error; with its stack unless given. */
  readonly tell?: (error: unknown) => void;
}

/**
 * Ends this process with the exit code of `work`: with 2 where it rejects, where standard output or error takes nothing
 * more (nobody reads, the disk is full), and, at once, where anything outside of `work`'s promise throws or rejects
 * unhandled. Node itself would end with 1, which is a verdict.
 */
export const exitWith = async (
  work: () => Promise<number>,
  { isFinished = false, tell = console.error }: Ending = {},
): Promise<void> => {
  let isUnread = false;
  const onError = () => {
    if (!isFinished) process.exit(COULD_NOT_DECIDE);
    isUnread = true;
    process.exitCode = COULD_NOT_DECIDE;
  };
  for (const stream of [process.stdout, process.stderr]) stream.on('error', onError);
  process.once('uncaughtException', (error) => {
    tell(error);
    process.exit(COULD_NOT_DECIDE);
  });
  const exitCode = await work().catch((error: unknown) => {
    tell(error);
    return COULD_NOT_DECIDE;
  });
  // A write that failed is told of after the last step of `work`, too.
  process.exitCode = isUnread ? COULD_NOT_DECIDE : exitCode;
};
