/** The verifier as one file from disk: whoever opens it gives the service's document. */
import { startPage } from '../shared/start.tsx';
import { Verifier } from './verifier.tsx';

startPage(<Verifier fetchDocument={null} />);
