/** `npm run ha`: runs the reference deployment of `deploy/ha/` on this host until Ctrl-C, and leaves nothing behind. */
import { once } from 'node:events';
import { Cleanup } from '../harness/cleanup.ts';
import { Cluster } from './cluster.ts';
import { lookAtPatroni } from './patroni.ts';
import { makePlace } from './place.ts';
import { startServices } from './services.ts';

const cleanup = new Cleanup();
try {
  const place = makePlace('svc-ha-', cleanup);
  const cluster = await Cluster.start(place);
  const throughProxy = cluster.urlOf(cluster.proxyPort);
  const direct = cluster.urlOf(...cluster.machines.map(({ port }) => port));
  const routes = { first: throughProxy, second: direct, others: throughProxy };
  const { nodes, adminToken } = await startServices(place, routes);
  console.log(lookAtPatroni().said);
  console.log(`logs and data     ${place.folder}
admin token       ${adminToken}
primary, by name  ${(await cluster.primary()).name}
database          ${cluster.urlOf(cluster.proxyPort)}`);
  for (const { name, port, restPort } of cluster.machines)
    console.log(`${name}              PostgreSQL 127.0.0.1:${port}, Patroni http://127.0.0.1:${restPort}`);
  for (const { name, origin, adminOrigin } of nodes)
    console.log(`${name}             ${origin}, admin port ${adminOrigin}`);
  console.log('Ctrl-C ends all of it.');
  setInterval(() => {}, 60_000);
  await once(process, 'exit');
} catch (problem) {
  console.error(problem);
  process.exitCode = 1;
} finally {
  await cleanup.run();
}
