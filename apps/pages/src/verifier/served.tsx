/** The verifier as the API serves it: pinned to the service that served it. */
import { startPage } from '../shared/start.tsx';
import { ownServiceDocument } from '../shared/verify-own-receipt.ts';
import { Verifier } from './verifier.tsx';

startPage(<Verifier fetchDocument={ownServiceDocument} />);
