import { startPage } from '../shared/start.tsx';
import { Playground } from './playground.tsx';

startPage(<Playground />);
