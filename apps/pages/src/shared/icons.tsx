/** The icons of an outcome. Colour is never the only sign: each has a shape, and a word beside it. */
import type { JSX } from 'preact';
import './icons.css';

const PATHS: Readonly<Record<'ok' | 'wrong' | 'idle' | 'waiting', string>> = {
  ok: 'm3.8 8.4 2.9 2.9 5.6-6.2',
  wrong: 'm4.6 4.6 6.8 6.8m0-6.8-6.8 6.8',
  idle: 'M4.4 8h7.2',
  waiting: '',
};

export const Icon = ({ of }: { readonly of: keyof typeof PATHS }): JSX.Element => (
  <svg class={`icon icon-${of}`} viewBox="0 0 16 16" aria-hidden="true">
    <path d={PATHS[of]} />
  </svg>
);
