/** One of several API processes behind one port (fleet.ts): what it is asked on the admin port its supervisor asks it. */
import type { AdminDeps, AdminService } from '@svc/process';
import type { Registry } from 'prom-client';
import {
  type Answers,
  isQuestion,
  type MemberMessage,
  type MetricSnapshot,
  type Question,
  type QuestionKind,
} from './messages.ts';

const tell = (message: MemberMessage): Promise<void> =>
  new Promise((resolve) => {
    // The channel is gone where the supervisor is; the process ends then.
    if (process.connected) process.send?.(message, undefined, {}, () => resolve());
    else resolve();
  });

/**
 * Answers the supervisor from the first moment, so that a process that hangs in its start is found. `isHandedOver`:
 * another one has taken its place. `hurry`: aborted when all are to end meanwhile.
 */
export const answerSupervisor = (): { isHandedOver(): boolean; readonly hurry: AbortSignal } => {
  let isHandedOver = false;
  const hurrying = new AbortController();
  process.on('message', (message: unknown) => {
    if (!isQuestion(message) || !AT_ANY_TIME.has(message.ask)) return;
    isHandedOver ||= message.ask === 'handOver';
    if (message.ask === 'hurry') hurrying.abort();
    void tell({ tell: 'answer', id: message.id, value: null });
  });
  return { isHandedOver: () => isHandedOver, hurry: hurrying.signal };
};

/** Questions that are answered before the process listens, too. */
const AT_ANY_TIME: ReadonlySet<QuestionKind> = new Set(['ping', 'handOver', 'hurry']);

const toldMetrics = async (registry: Registry): Promise<readonly MetricSnapshot[]> =>
  (await registry.getMetricsAsJSON()) as unknown as readonly MetricSnapshot[];

/** In the place of an admin port of its own, beside `answerSupervisor`. Closing it tells the last counts. */
export const createMemberAdmin = ({ registry, readiness, logger }: AdminDeps<Registry>): AdminService => {
  const answers: { readonly [A in QuestionKind]: (() => Promise<Answers[A]>) | null } = {
    ping: null,
    handOver: null,
    hurry: null,
    readiness,
    metrics: () => toldMetrics(registry),
  };
  const answer = async ({ ask, id }: Question): Promise<void> => {
    const find = answers[ask];
    if (find === null) return;
    try {
      await tell({ tell: 'answer', id, value: await find() });
    } catch (error) {
      logger.error({ err: error }, 'admin request failed');
    }
  };
  const onMessage = (message: unknown) => {
    if (isQuestion(message)) void answer(message);
  };
  return {
    listen: async () => {
      process.on('message', onMessage);
      return { address: 'supervisor', family: 'IPC', port: 0 };
    },
    close: async () => {
      await tell({ tell: 'last', metrics: await toldMetrics(registry) });
    },
  };
};

/** Called once it listens. */
export const tellListening = ({ address, port }: { readonly address: string; readonly port: number }) =>
  tell({ tell: 'listening', address, port });
