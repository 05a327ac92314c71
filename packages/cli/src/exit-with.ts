/** How executables end if their exit code is a verdict. */

/** The exit code of a run that reached no verdict. */
export const COULD_NOT_DECIDE = 2;

interface Ending {
  /**
   * Whether `work` must finish even if nobody reads its output, because half of it would be worse. Otherwise a failed
   * write ends the process at once.
   */
  readonly isFinished?: boolean;
  /** Reports the error that ended `work` on standard error; unless given, with its stack. */
  readonly tell?: (error: unknown) => void;
}

/**
 * Ends this process with the exit code of `work`. The exit code is 2 if `work` rejects, or if standard output or error
 * cannot be written (nobody reads, the disk is full). The process ends with 2 at once if anything outside of `work`'s
 * promise throws or rejects unhandled. Node's own exit code 1 would be a verdict.
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
  // A failed write counts even if it is reported after the last step of `work`.
  process.exitCode = isUnread ? COULD_NOT_DECIDE : exitCode;
};
