import { defineConfig } from 'tsup';
import { program } from '../tsup.shared.ts';

// Every measured program runs as plain JavaScript. The entries are `bench` and the programs that it starts.
export default defineConfig(
  program({
    bench: 'src/bench.ts',
    load: 'src/load/load.ts',
    floor: 'src/floor/floor.ts',
    plain: 'src/plain/plain.ts',
    'lone-commit': 'src/floor/lone-commit.ts',
    'ucanto-server': 'src/peers/ucanto-server.ts',
    'kms-stub': 'src/signers/kms-stub.ts',
  }),
);
