import { defineConfig } from 'tsup';
import { library } from '../../tsup.shared.ts';

export default defineConfig(
  library([
    'src/index.ts',
    'src/express.ts',
    'src/fastify.ts',
    'src/fetch.ts',
    'src/mcp.ts',
    'src/web-bot-auth.ts',
  ]),
);
