/** Starts the KMS stub, and sets its address in the environment variable that the AWS SDK reads. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export const startKmsProcess = async (): Promise<{ stop(): Promise<void> }> => {
  const child = fork(fileURLToPath(new URL('./kms-stub.js', import.meta.url)));
  const [env] = (await once(child, 'message')) as [Record<string, string>];
  Object.assign(process.env, env);
  return {
    stop: async () => {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
};
