/**
 * One of several API processes behind one port (fleet.ts). Its supervisor asks it what an admin port would be asked.
 */
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
    // The channel is gone if the supervisor has ended; then this process ends too.
    if (process.connected) process.send?.(message, undefined, {}, () => resolve());
    else resolve();
  });

/**
 * Answers the supervisor from the first moment, so that a process that hangs during its start is found. `isHandedOver`:
 * another process has taken this one's place. `hurry`: aborted when the supervisor has to end during a hand-over.
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

/** Questions that are also answered before the process listens. */
const AT_ANY_TIME: ReadonlySet<QuestionKind> = new Set(['ping', 'handOver', 'hurry']);

const toldMetrics = async (registry: Registry): Promise<readonly MetricSnapshot[]> =>
  (await registry.getMetricsAsJSON()) as unknown as readonly MetricSnapshot[];

/** Replaces the admin port of a single process, beside `answerSupervisor`. Closing it sends the last counts. */
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

/** Tells the supervisor that this process listens. */
export const tellListening = ({ address, port }: { readonly address: string; readonly port: number }) =>
  tell({ tell: 'listening', address, port });
