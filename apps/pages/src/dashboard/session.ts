import type { Me } from '../shared/wire.ts';

export interface Session {
  readonly key: string;
  readonly me: Me;
}
