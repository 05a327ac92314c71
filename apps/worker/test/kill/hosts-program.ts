/**
 * The hosts of hosted Principals, in a separate process, so that a busy test cannot delay their answers beyond the
 * worker's deadline. Reads the answers as JSON by host name and path; writes its address to standard output.
 */
import { createServer } from 'node:http';

const answers = JSON.parse(process.argv[2] ?? '{}') as Record<string, Record<string, string>>;

const server = createServer((request, response) => {
  const body = answers[request.headers.host ?? '']?.[request.url ?? ''];
  response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' });
  response.end(body ?? '{}');
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`);
});
process.on('disconnect', () => process.exit());
