import { startPage } from '../shared/start.tsx';
import { Dashboard } from './dashboard.tsx';

startPage(<Dashboard />);
