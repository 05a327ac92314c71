/**
 * Every route × every class of caller × {own, own org's, foreign, absent}, over HTTP, as the table declares it. An
 * answer about a subject that the caller may not access equals, byte for byte except for ids, the answer about one that
 * does not exist.
 */
import { type RouteId, routes } from '@svc/contract';
import { isDeep, sampled } from '@svc/testkit/sampled';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ContractAnswer } from '../world/contract-call.ts';
import { withOwnDeployment } from '../world/deployment.ts';
import { ALL_FROM_ONE_KEY } from '../world/shared-deployment.ts';
import {
  buildNobodies,
  type CallerClass,
  CLASSES,
  credentialOf,
  PROVISION_KEY,
} from './access-matrix/callers.ts';
import { type Call, type Case, type Cell, TABLE } from './access-matrix/table.ts';
import {
  buildWorld,
  type Subject,
  WHOSE,
  type Whose,
  type World,
  withoutIds,
} from './access-matrix/world.ts';

const deployment = withOwnDeployment(
  // Every caller of the matrix has its own key, while all are about the same few subjects.
  {
    SVC_PROVISION_KEYS: PROVISION_KEY,
    SVC_SELF_SERVE: '1',
    SVC_DEMO: '1',
    SVC_SSF: '1',
    SVC_MAX_LIVE_KEYS: '10000',
    SVC_MAX_MEMBERS: '100000',
    SVC_SUBJECT_PER_MINUTE: '100000',
    SVC_ORG_PER_MINUTE: '100000',
  },
  1,
  { ...ALL_FROM_ONE_KEY, selfServePerMinute: 1_000_000 },
);

let world: World;
let nobodies: Readonly<Record<string, string | undefined>>;

beforeAll(async () => {
  world = await buildWorld(deployment);
  nobodies = await buildNobodies(deployment, world);
});

const CASES = (Object.keys(routes) as RouteId[]).flatMap((id) =>
  (TABLE[id] ?? []).map((one) => ({ id, ...one })),
);

it('the table has at least one case for every route, and only existing routes', () => {
  expect(Object.keys(TABLE).sort()).toEqual(Object.keys(routes).sort());
  expect(Object.values(TABLE).filter((cases) => cases.length === 0)).toEqual([]);
});

type Asked = Case & { readonly id: RouteId };

/** Sends the call about each subject, from an address without failures and with a key that has no earlier calls. */
const askAll = async ({ id, call }: Asked, key: string | undefined, subjects: readonly Whose[] = WHOSE) => {
  const answers: Partial<Record<Whose, ContractAnswer>> = {};
  for (const whose of subjects) answers[whose] = await send(id, await call(world[whose], world.own), key);
  return answers;
};

const send = (id: RouteId, { path, body }: Call, key: string | undefined) =>
  deployment.call(routes[id].method.toUpperCase(), path, {
    ...(key === undefined ? {} : { key }),
    ...(body === undefined ? {} : { body }),
  });

type Answers = Readonly<Partial<Record<Whose, ContractAnswer>>>;

const statusesOf = (answers: Answers, subjects: readonly Whose[] = WHOSE) =>
  subjects.map((whose) => answers[whose]?.status);

/** Statuses of these subjects. */
const spread = (cell: Cell, subjects: readonly Whose[] = WHOSE): readonly (number | undefined)[] =>
  subjects.map((whose) => (typeof cell === 'number' ? cell : cell[WHOSE.indexOf(whose)]));

/** Headers that differ between any two answers, whatever the request. */
const VARYING = ['date', 'svc-request-id', 'ratelimit-remaining', 'ratelimit-reset'];

const fingerprint = ({ status, headers, text }: ContractAnswer, subject: Subject) => ({
  status,
  headers: Object.entries(headers).filter(([name]) => !VARYING.includes(name)),
  text: withoutIds(text, subject),
});

/** A refusal with the status of an absent subject does not reveal whether the subject exists. */
const expectIndistinguishable = (answers: Answers) => {
  if (answers.absent === undefined) throw new Error('no answer about an absent subject');
  const absent = fingerprint(answers.absent, world.absent);
  for (const whose of WHOSE) {
    const answer = answers[whose];
    if (answer !== undefined && answer.status >= 400 && answer.status === absent.status)
      expect(fingerprint(answer, world[whose])).toEqual(absent);
  }
};

/** Subjects about which a caller without a valid credential asks. */
const NOBODYS = sampled<readonly Whose[]>({ quick: ['own', 'absent'], deep: WHOSE });

/** A sample takes a part of them at each route, and other ones at the next. */
const oneIn = <T>(parts: number, all: readonly T[], i: number): readonly T[] =>
  isDeep ? all : all.filter((_, at) => (at + i) % parts === 0);

describe.each(CASES.map((one, i) => [`${one.id}: ${one.what}`, one, i] as const))('%s', (_, one, i) => {
  const { outcomes } = one;
  const expected = (caller: CallerClass): Cell =>
    'anybody' in outcomes ? outcomes.anybody : (outcomes[CLASSES.indexOf(caller)] ?? Number.NaN);

  it.each(oneIn(7, CLASSES, i))('caller class %s gets the statuses of the table', async (caller) => {
    const answers = await askAll(one, await credentialOf(deployment, world, caller));
    expect(statusesOf(answers)).toEqual(spread(expected(caller)));
    expectIndistinguishable(answers);
  });

  it(`a caller without a valid credential${isDeep ? '' : ', of one kind in eight,'} gets 401, or the status of a public route`, async () => {
    const cell = 'anybody' in outcomes ? outcomes.anybody : 401;
    for (const [name, key] of oneIn(8, Object.entries(nobodies), i)) {
      const answers = await askAll(one, key, NOBODYS);
      expect([name, statusesOf(answers, NOBODYS)]).toEqual([name, spread(cell, NOBODYS)]);
      expectIndistinguishable(answers);
    }
  });
});
