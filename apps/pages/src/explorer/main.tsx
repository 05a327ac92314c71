import { startPage } from '../shared/start.tsx';
import { Explorer } from './explorer.tsx';

startPage(<Explorer />);
