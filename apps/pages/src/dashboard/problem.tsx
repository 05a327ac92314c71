export { Problem } from '../shared/problem.tsx';
