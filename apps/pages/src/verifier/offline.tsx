/** The verifier as one file from disk: its user supplies the service's document. Nothing is there before the script. */
import { render } from 'preact';
import { Verifier } from './verifier.tsx';

const place = document.getElementById('page');
if (place !== null) render(<Verifier fetchDocument={null} />, place);
