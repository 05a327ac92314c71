/**
 * vectors/status-list.json: status entries, encoded lists and two signed lists (protocol §9). Compressors differ, so an
 * encoder is tested by decoding its output; bytes are compared only for decoding.
 */
import { decodeBase64url, encodeBase64url } from '@svc/protocol';
import {
  buildStatusEntry,
  createBitstring,
  DEFAULT_MAX_BYTES,
  encodeBitstring,
  MIN_ENTRIES,
  setBit,
} from '@svc/status-list';
import { gzipSync } from 'fflate';
import { STATUS_LISTS } from './status-lists.ts';
import { STATUS_KID } from './test-keys.ts';

interface Content {
  readonly entries: number;
  /** Indexes whose bit is 1. */
  readonly set: readonly number[];
}

const bitsOf = ({ entries, set }: Content): Uint8Array => {
  const bits = createBitstring(entries);
  for (const index of set) setBit(bits, index);
  return bits;
};

const listOf = (content: Content): string => encodeBitstring(bitsOf(content));
const memberOf = (text: string): Uint8Array => decodeBase64url(text.slice(1)) ?? new Uint8Array();
const encodedMember = (...parts: readonly Uint8Array[]): string =>
  `u${encodeBase64url(Buffer.concat(parts))}`;

const EMPTY: Content = { entries: MIN_ENTRIES, set: [] };
const CONTENTS: readonly (readonly [description: string, content: Content])[] = [
  ['the smallest list, nothing set', EMPTY],
  ['the first entry is the left-most bit', { entries: MIN_ENTRIES, set: [0] }],
  ['the last entry is the right-most bit', { entries: MIN_ENTRIES, set: [MIN_ENTRIES - 1] }],
  ['both sides of a byte', { entries: MIN_ENTRIES, set: [7, 8] }],
  ['scattered entries', { entries: MIN_ENTRIES, set: [3, 94567, 131000] }],
  ['a longer list', { entries: 262144, set: [131072, 262143] }],
];

/** The encoding of an empty list given in Bitstring Status List 1.0. */
const SPECIFICATION_EXAMPLE = 'uH4sIAAAAAAAAA-3BMQEAAADCoPVPbQwfoAAAAAAAAAAAAAAAAAAAAIC3AYbSVKsAQAAA';

const decodeCases = () => {
  const good = listOf({ entries: MIN_ENTRIES, set: [94567] });
  const member = memberOf(good);
  const wrongSum = Uint8Array.from(member);
  wrongSum[member.length - 8] = (wrongSum[member.length - 8] ?? 0) ^ 1;
  const zeros = new Uint8Array(DEFAULT_MAX_BYTES + 1);
  const refused: readonly (readonly [string, string])[] = [
    ['no text', ''],
    ['no multibase prefix', good.slice(1)],
    ['another multibase prefix', `z${good.slice(1)}`],
    ['padding', `${good}=`],
    ['white space', `${good}\n`],
    ['bits that are not compressed', encodedMember(new Uint8Array(MIN_ENTRIES / 8))],
    [
      'a list of fewer than 131,072 entries',
      encodedMember(gzipSync(new Uint8Array(MIN_ENTRIES / 8 - 1), { mtime: 0 })),
    ],
    ['a cut-off gzip member', encodedMember(member.subarray(0, -9))],
    ['a gzip member with a wrong checksum', encodedMember(wrongSum)],
    ['a byte behind the gzip member', encodedMember(member, new Uint8Array(1))],
    ['two gzip members', encodedMember(member, member)],
    ['a list that inflates to more than 1 MiB', encodeBitstring(zeros)],
  ];
  return [
    { description: 'the example of the specification', encoded_list: SPECIFICATION_EXAMPLE, expected: EMPTY },
    ...CONTENTS.map(([description, content]) => ({
      description,
      encoded_list: listOf(content),
      expected: content,
    })),
    ...refused.map(([description, encoded_list]) => ({ description, encoded_list, expected: null })),
  ];
};

const entryCases = () =>
  [0, 94567, 131071].map((index) => ({
    description: `the entry of index ${index}`,
    credential_url: STATUS_LISTS.current.url,
    index,
    expected: buildStatusEntry({ credentialUrl: STATUS_LISTS.current.url, index }),
  }));

export const statusListFile = () => ({
  description:
    'Bitstring Status List 1.0: entries, encoded lists, and the signed lists that evaluate/ refers to.',
  entry: entryCases(),
  encode: CONTENTS.map(([description, content]) => ({ description, ...content })),
  decode: decodeCases(),
  credentials: Object.values(STATUS_LISTS).map(({ url, jws, hash, revoked }) => ({
    description: `the list with ${revoked.join(', ')} set`,
    url,
    kid: STATUS_KID,
    set: revoked,
    credential_hash: hash,
    credential: jws,
  })),
});
