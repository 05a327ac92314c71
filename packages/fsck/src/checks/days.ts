/**
 * Checks every closed day (protocol §12):
 *
 * - the trees rebuilt from the stored Receipts have the published root, the content root and the stored tiles;
 * - the checkpoint is signed by the service and agrees with its row;
 * - the days form an unbroken chain from the first one, each naming the previous root.
 */
import { CompactRange, formatHash, hashLeaf, type Tile, TileBuilder } from '@svc/merkle';
import { nativeSha256 } from '@svc/merkle/native';
import { sha256Of } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { type Checkpoint, findChainBreak, verifyCheckpoint } from '@svc/transparency';
import { type Check, type CheckContext, differing, pages } from '../check.ts';
import { listColdDays } from '../cold-days.ts';
import { isOfDay } from '../receipt-days.ts';
import { listReinstatedDays } from './restores.ts';

interface Row {
  readonly day: string;
  readonly treeSize: string;
  readonly root: string;
  readonly previousRoot: string | null;
  readonly firstReceiptId: string | null;
  readonly lastReceiptId: string | null;
  readonly kid: string;
  readonly jws: string;
  readonly hash: string;
  readonly contentRoot: string;
}

const CHECKPOINTS = `
  select day::text as day, tree_size as "treeSize", root, previous_root as "previousRoot",
    first_receipt_id as "firstReceiptId", last_receipt_id as "lastReceiptId", kid, jws, hash,
    content_root as "contentRoot"
  from checkpoints order by checkpoints.day`;

const COUNT = 'select count(*) from checkpoints';

const treeCheck: Check = {
  name: 'trees',
  promise:
    'the Receipts of every closed day lead to its published root, its content root and its tiles, but for those stated as lost and those of cold days',
  countSql: COUNT,
  async run(context) {
    const reinstated = await listReinstatedDays(context);
    const cold = await listColdDays(context);
    if (cold.size > 0 && !context.hasObjects)
      context.note(
        `${cold.size} days are cold: their Receipts are not in the database, and were not looked at`,
      );
    for (const row of await context.query<Row>(CHECKPOINTS)) {
      if (!reinstated.has(row.day) && !cold.has(row.day)) await checkTree(context, row);
      context.advance(1);
    }
  },
};

const chainCheck: Check = {
  name: 'chain',
  promise: 'every day since the first is signed by the service and names the root of the day before',
  countSql: COUNT,
  async run(context) {
    const rows = await context.query<Row>(CHECKPOINTS);
    let previous: Checkpoint | null = null;
    for (const row of rows) {
      const checkpoint = checkSigned(context, row);
      if (previous !== null && checkpoint !== null) checkNext(context, previous, checkpoint);
      previous = checkpoint ?? previous;
      context.advance(1);
    }
    await checkFirst(context, rows[0]);
  },
};

export const dayChecks: readonly Check[] = [treeCheck, chainCheck];

/** If the first checkpoint is of a later day, or names a previous root, days were deleted. */
const checkFirst = async ({ query, report }: CheckContext, first: Row | undefined): Promise<void> => {
  const [deployment] = await query<{ day: string }>('select first_day::text as day from deployment');
  if (first === undefined) return;
  if (deployment?.day !== first.day) report(first.day, `the first checkpoint must be of ${deployment?.day}`);
  if (first.previousRoot !== null) report(first.day, 'the first checkpoint names a day before it');
};

/** The service's DID may change between two days: each checkpoint was verified under one that the service has had. */
const checkNext = ({ report }: CheckContext, previous: Checkpoint, checkpoint: Checkpoint): void => {
  const found = findChainBreak([{ ...previous, iss: checkpoint.iss }, checkpoint]);
  if (found !== null) report(found.day, `${found.member} must be ${found.expected}, and is ${found.got}`);
};

const checkSigned = ({ keys, report }: CheckContext, row: Row): Checkpoint | null => {
  const verified = verifyCheckpoint({
    checkpoint: row.jws,
    serviceDidDocument: keys.documentOf(row.jws),
    crypto: nativeCrypto,
  });
  if (!verified.ok) {
    report(row.day, verified.failures.map(({ message }) => message).join('; '));
    return null;
  }
  const { checkpoint, kid } = verified;
  const wrong = differing([
    ['day', row.day, checkpoint.day],
    ['tree_size', Number(row.treeSize), checkpoint.tree_size],
    ['root', row.root, checkpoint.root],
    ['previous_root', row.previousRoot, checkpoint.previous_root],
    ['first_receipt_id', row.firstReceiptId, checkpoint.first_receipt_id],
    ['last_receipt_id', row.lastReceiptId, checkpoint.last_receipt_id],
    ['kid', row.kid, kid],
    ['checkpoint_hash', row.hash, sha256Of(nativeCrypto, row.jws)],
  ]);
  for (const [name, stored, said] of wrong)
    report(row.day, `${name} is stored as ${stored}, and the checkpoint says ${said}`);
  return checkpoint;
};

const LEAVES = (day: string) => `
  select receipt_id as "receiptId", sha256(convert_to(jws, 'UTF8')) as "contentHash"
  from receipts where receipt_id > $1 and ${isOfDay(day)} order by receipt_id limit $2`;

interface Leaf {
  readonly receiptId: string;
  readonly contentHash: Buffer;
}

const checkTree = async (context: CheckContext, row: Row): Promise<void> => {
  const { day } = row;
  const tiles = new Map<string, string>();
  const firstIds: string[] = [];
  const tree = new TileBuilder((tile) => tiles.set(nameOf(tile), describeTile(tile, firstIds)), nativeSha256);
  const content = new CompactRange(nativeSha256);
  for await (const leaves of pages<Leaf>(context, LEAVES(day), ({ receiptId }) => receiptId, 1_000))
    for (const { receiptId, contentHash } of leaves) {
      if (content.size % 256 === 0) firstIds.push(receiptId);
      tree.push(hashLeaf(receiptId, nativeSha256));
      content.push(hashLeaf(contentHash, nativeSha256));
    }
  const { size, root } = tree.finish();
  if (size !== Number(row.treeSize)) context.report(day, `it has ${size} Receipts, not ${row.treeSize}`);
  if (`sha256:${formatHash(root)}` !== row.root) context.report(day, 'its Receipts lead to another root');
  if (`sha256:${formatHash(content.root())}` !== row.contentRoot)
    context.report(day, 'the bytes of its Receipts lead to another content root');
  await checkTiles(context, day, tiles);
};

const nameOf = ({ level, index }: Pick<Tile, 'level' | 'index'>): string => `tile ${index} of level ${level}`;

const describeTile = ({ level, index, hashes }: Tile, firstIds: readonly string[]): string => {
  const ids = level === 1 ? firstIds.slice(index * 256, (index + 1) * 256).join(',') : '';
  return `${Buffer.from(hashes).toString('hex')} ${ids}`;
};

const checkTiles = async (
  { query, report }: CheckContext,
  day: string,
  tiles: ReadonlyMap<string, string>,
): Promise<void> => {
  const stored = await query<{ level: number; index: number; hashes: Buffer; ids: string }>(
    `select level, index, hashes, coalesce(array_to_string(first_receipt_ids, ','), '') as ids
     from merkle_tiles where day = $1`,
    [day],
  );
  const found = new Map(
    stored.map((tile) => [nameOf(tile), `${tile.hashes.toString('hex')} ${tile.ids}`] as const),
  );
  for (const name of new Set([...tiles.keys(), ...found.keys()]))
    if (tiles.get(name) !== found.get(name)) report(day, `${name} is not what its Receipts lead to`);
};
