/** The verifier as the API serves it: pinned to the service that served it. */

import { ownServiceDocument } from '../shared/own-service-document.ts';
import { startPage } from '../shared/start.tsx';
import { Verifier } from './verifier.tsx';

startPage(<Verifier fetchDocument={ownServiceDocument} />);
