/** The key management service of the benchmark, a process of its own: its work must not count as a signer's. */
import { startKmsServer } from '@svc/testkit/kms-server';

const { env, stop } = await startKmsServer();
process.send?.(env);
process.once('disconnect', () => void stop());
