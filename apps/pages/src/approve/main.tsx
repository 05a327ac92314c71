import { startPage } from '../shared/start.tsx';
import { Approve } from './approve.tsx';

startPage(<Approve />);
