/** The verifier as one file from disk: its user supplies the service's document. */
import { startPage } from '../shared/start.tsx';
import { Verifier } from './verifier.tsx';

startPage(<Verifier fetchDocument={null} />);
