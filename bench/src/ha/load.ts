/**
 * The load beside a fault: verifications at a steady rate and revocations, over both nodes. The clients repeat refused
 * and lost requests under their `Idempotency-Key` on the other node, as `@svc/sdk-rp` behind a proxy would. Some
 * verifications use spent Proofs, revoked Grants, and Grants whose budget runs out.
 */
import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { VerifyRequests } from '../fixtures/verify-requests.ts';
import { BUDGETED, type Holder, makeWorld, type World } from '../fixtures/world.ts';
import { AGENTS } from '../harness/loaded.ts';
import type { Ledger } from './ledger.ts';
import type { Services } from './services.ts';

export interface Rates {
  readonly verifiesPerSecond: number;
  readonly revocationsPerSecond: number;
}

/** Uses of each budget: fewer than a round asks for. */
const USES = 40;
const MAX_UNDER_WAY = 400;
const ATTEMPTS = 4;
const ATTEMPT_MS = 4_000;
const MAX_BACKOFF_MS = 1_000;
/**
 * As in the SDKs: repeats are limited to a share of the calls, and to a rate a second that accumulates for ten seconds.
 */
const REPEATS_PER_CALL = 0.2;
const REPEATS_PER_SECOND = 10;
const MAX_REPEATS = 100;
const REVOCATION_MS = 60_000;
/** Number of bodies kept for sending a second time. */
const REMEMBERED = 500;
const BUDGETS = 20;

interface Ask {
  readonly world: World;
  readonly body: Buffer;
}

export class Load {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 256 });
  readonly #signers = new Map<Holder, VerifyRequests>();
  readonly #spent: Ask[] = [];
  readonly #revoked: { world: World; holder: Holder }[] = [];
  readonly #pending = new Set<Promise<void>>();
  #isStopped = false;
  #sent = 0;
  #repeats = MAX_REPEATS;
  #countedMs = performance.now();
  /** Verifications of which every attempt failed. */
  failed = 0;
  /** Verifications that were not sent, since too many were under way. */
  leftOut = 0;

  private constructor(
    private readonly services: Services,
    private readonly ledger: Ledger,
    private readonly worlds: { steady: World; doomed: World; budgets: World },
    private readonly rates: Rates,
  ) {}

  static async start(services: Services, ledger: Ledger, name: string, rates: Rates): Promise<Load> {
    const service = { baseUrl: services.nodes[0]?.origin ?? '', adminToken: services.adminToken };
    const capability = {
      ...BUDGETED.capability,
      constraints: { ...BUDGETED.capability.constraints, maxUses: USES },
    };
    const worlds = {
      steady: await makeWorld(service, AGENTS, `${name}-a`),
      doomed: await makeWorld(service, AGENTS, `${name}-b`),
      budgets: await makeWorld(service, BUDGETS, `${name}-c`, { profile: 'svc-base-v2', capability }),
    };
    for (const { grantId } of worlds.budgets.holders) ledger.uses.set(grantId, USES);
    const load = new Load(services, ledger, worlds, rates);
    load.#follow(load.#verifyOn());
    load.#follow(load.#revokeOn());
    return load;
  }

  /** Resolves when every request is answered or given up. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    while (this.#pending.size > 0) await Promise.all(this.#pending);
    this.#agent.destroy();
  }

  #follow(work: Promise<void>): void {
    const followed = work.finally(() => this.#pending.delete(followed));
    this.#pending.add(followed);
  }

  async #verifyOn(): Promise<void> {
    const beganMs = performance.now();
    for (let due = 0; !this.#isStopped; due++) {
      await delay(Math.max(0, beganMs + (due * 1_000) / this.rates.verifiesPerSecond - performance.now()));
      if (this.#pending.size > MAX_UNDER_WAY) this.leftOut += 1;
      else this.#follow(this.#verify(this.#choose(due)));
    }
  }

  #choose(due: number): Ask {
    const { steady, doomed, budgets } = this.worlds;
    const kind = due % 20;
    const spent = this.#spent[due % Math.max(1, this.#spent.length)];
    if (kind === 0 && spent !== undefined) return spent;
    const revoked = this.#revoked[due % Math.max(1, this.#revoked.length)];
    if (kind < 3 && revoked !== undefined) return this.#sign(revoked.world, revoked.holder);
    const world = kind < 6 ? budgets : kind < 10 ? doomed : steady;
    return this.#sign(world, world.holders[due % world.holders.length] as Holder);
  }

  #sign(world: World, holder: Holder): Ask {
    const signer = this.#signers.get(holder) ?? new VerifyRequests({ ...world, holders: [holder] });
    this.#signers.set(holder, signer);
    return { world, body: signer.sign(1)[0] as Buffer };
  }

  async #verify(ask: Ask): Promise<void> {
    const { world, body } = ask;
    const sentMs = performance.now();
    const key = randomUUID();
    const first = this.#sent++;
    this.#countCall();
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (attempt > 0) {
        if (this.#repeats < 1) break;
        this.#repeats -= 1;
        await delay(Math.min(MAX_BACKOFF_MS, 100 * 2 ** attempt) * (0.5 + Math.random()));
      }
      const headers = { authorization: `Bearer ${world.relyingParty.apiKey}`, 'idempotency-key': key };
      const { status, text } = await this.#post(first + attempt, '/verify', headers, body);
      if (status !== 200) continue;
      const { receipt_id: receiptId, decision } = JSON.parse(text) as {
        receipt_id: string;
        decision: string;
      };
      const { jti, grant_id: grantId } = claimsOf(body);
      const isAllow = decision === 'ALLOW';
      this.ledger.answered.push({ receiptId, grantId, jti, isAllow, sentMs, answeredMs: performance.now() });
      if (isAllow) this.#spent[this.#sent % REMEMBERED] = ask;
      return;
    }
    this.failed += 1;
  }

  #countCall(): void {
    const nowMs = performance.now();
    const saved = REPEATS_PER_CALL + ((nowMs - this.#countedMs) / 1_000) * REPEATS_PER_SECOND;
    this.#countedMs = nowMs;
    this.#repeats = Math.min(MAX_REPEATS, this.#repeats + saved);
  }

  async #revokeOn(): Promise<void> {
    const { doomed } = this.worlds;
    const headers = { authorization: `Bearer ${doomed.principal.apiKey}` };
    for (const [i, holder] of doomed.holders.entries()) {
      await delay(1_000 / this.rates.revocationsPerSecond);
      if (this.#isStopped) return;
      const body = Buffer.from(JSON.stringify({ grant_id: holder.grantId }));
      const endsMs = performance.now() + REVOCATION_MS;
      for (let attempt = 0; performance.now() < endsMs; attempt++) {
        const { status } = await this.#post(i + attempt, '/revoke', headers, body);
        if (status === 200) {
          this.ledger.revokedMs.set(holder.grantId, performance.now());
          this.#revoked.push({ world: doomed, holder });
          break;
        }
        await delay(MAX_BACKOFF_MS * (0.5 + Math.random()));
      }
    }
  }

  /** Status 0 means no answer. */
  #post(
    turn: number,
    path: string,
    headers: Readonly<Record<string, string>>,
    body: Buffer,
  ): Promise<{ status: number; text: string }> {
    const { nodes } = this.services;
    const { origin } = nodes[turn % nodes.length] ?? { origin: '' };
    return new Promise((resolve) => {
      const options = {
        agent: this.#agent,
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json', 'content-length': body.length },
        signal: AbortSignal.timeout(ATTEMPT_MS),
      };
      const sent = request(`${origin}${path}`, options, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        response.once('error', () => resolve({ status: 0, text: '' }));
        response.once('end', () => resolve({ status: response.statusCode ?? 0, text }));
      });
      sent.once('error', () => resolve({ status: 0, text: '' }));
      sent.end(body);
    });
  }
}

const claimsOf = (body: Buffer): { jti: string; grant_id: string } => {
  const { proof } = JSON.parse(body.toString()) as { proof: string };
  return JSON.parse(Buffer.from(proof.split('.')[1] ?? '', 'base64url').toString());
};
