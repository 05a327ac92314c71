/** The benchmark's key management service. It is a separate process, so that its work does not count as a signer's. */
import { startKmsServer } from '@svc/testkit/kms-server';

const { env, stop } = await startKmsServer();
process.send?.(env);
process.once('disconnect', () => void stop());
