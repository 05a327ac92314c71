// usage: svc-health [livez|readyz|servez]   Exit code 0 if the admin port of this container answers 200, else 1.
const what = process.argv[2] ?? 'livez';
const { SVC_ADMIN_HOST: host, SVC_ADMIN_PORT: port } = process.env;
const address = host === undefined || host === '' || host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
const authority = `${address.includes(':') ? `[${address}]` : address}:${port || 9464}`;
try {
  const answer = await fetch(`http://${authority}/${what}`, { signal: AbortSignal.timeout(2000) });
  if (!answer.ok) console.error(await answer.text());
  process.exitCode = answer.ok ? 0 : 1;
} catch (error) {
  console.error(`${authority}: ${error.cause?.message ?? error.message}`);
  process.exitCode = 1;
}
