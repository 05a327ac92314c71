import { createColdStoreHealth } from '@svc/process';
import type { Sha256 } from '@svc/protocol';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { addUp, addUpFormer, lasting } from './fleet-metrics.ts';
import type { MetricSnapshot } from './messages.ts';

type Values = Readonly<Record<string, number>>;

/** The report of a process: gauges by name, and the given number of decisions of 0.2 s each. */
const told = async (gauges: Values, decisions = 0): Promise<readonly MetricSnapshot[]> => {
  const registry = new Registry();
  const registers = [registry];
  for (const [name, value] of Object.entries(gauges)) new Gauge({ name, help: name, registers }).set(value);
  const labelNames = ['decision'];
  const counter = new Counter({ name: 'svc_decisions_total', help: 'd', labelNames, registers });
  const histogram = new Histogram({ name: 'svc_seconds', help: 's', buckets: [0.1, 1], registers });
  for (let i = 0; i < decisions; i++) {
    counter.inc({ decision: i % 2 === 0 ? 'ALLOW' : 'DENY' });
    histogram.observe(0.2);
  }
  return (await registry.getMetricsAsJSON()) as unknown as readonly MetricSnapshot[];
};

const lines = async (registry: Registry): Promise<readonly string[]> =>
  (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));

describe('The metrics of a fleet', () => {
  it('are the sums over its processes: counters by label, histograms by bucket, and gauges of running work', async () => {
    const of = [
      await told({ svc_http_requests_in_flight: 2 }, 3),
      await told({ svc_http_requests_in_flight: 5 }, 4),
    ];
    expect(await lines(addUp(of, [], []))).toEqual(
      expect.arrayContaining([
        'svc_http_requests_in_flight 7',
        'svc_decisions_total{decision="ALLOW"} 4',
        'svc_decisions_total{decision="DENY"} 3',
        'svc_seconds_bucket{le="0.1"} 0',
        'svc_seconds_bucket{le="1"} 7',
        'svc_seconds_bucket{le="+Inf"} 7',
        'svc_seconds_count 7',
      ]),
    );
  });

  it.each(['svc_holds', 'svc_fence_oldest_note_seconds', 'nodejs_eventloop_lag_p99_seconds'])(
    'have for %s the highest value',
    async (name) => {
      const of = [await told({ [name]: 1 }), await told({ [name]: 3 }), await told({ [name]: 0 })];
      expect(await lines(addUp(of, [], []))).toContain(`${name} 3`);
    },
  );

  it.each([
    [[2, 1], 2],
    [[-1, 1], -1],
    [[0, 0], 0],
  ])(
    'have for broken days %j the value %i: a process without an answer of storage is not hidden',
    async (days, expected) => {
      const of = await Promise.all(days.map((count) => told({ svc_content_broken_days: count })));
      expect(await lines(addUp(of, [], []))).toContain(`svc_content_broken_days ${expected}`);
    },
  );

  it.each([
    ['is the wrong one for one process', [100, null], -1],
    ['is the right one for all', [100, 100], 1],
  ] as const)('show that the cold store %s', async (_, sizes, expected) => {
    const of = await Promise.all(
      sizes.map(async (size) => {
        const registry = new Registry();
        const manifest = { day: '2026-01-01', manifestHash: `sha256:${'1'.repeat(64)}` as Sha256 };
        const { describe: look } = createColdStoreHealth(registry, {
          objects: { head: async () => size },
          store: { coldDays: { listLatestManifests: async () => [manifest] } },
          log: { warn: () => {} },
        });
        await expect.poll(look).not.toBe('unknown');
        return (await registry.getMetricsAsJSON()) as unknown as readonly MetricSnapshot[];
      }),
    );
    expect(await lines(addUp(of, [], []))).toContain(`svc_cold_store_known ${expected}`);
  });

  it('keep the counters of ended processes, but not their gauges', async () => {
    const ended = [lasting(await told({ svc_holds: 1 }, 3)), lasting(await told({}, 2))];
    const living = [await told({ svc_holds: 0 }, 1)];
    for (const former of [ended, [await addUpFormer(ended)]]) {
      const found = await lines(addUp(living, former, []));
      expect(found).toEqual(
        expect.arrayContaining([
          'svc_holds 0',
          'svc_decisions_total{decision="ALLOW"} 4',
          'svc_decisions_total{decision="DENY"} 2',
          'svc_seconds_count 6',
        ]),
      );
    }
  });

  it('keep the start time of the supervisor when processes are replaced', async () => {
    const start = (at: number) => told({ process_start_time_seconds: at });
    const found = await lines(addUp([await start(200), await start(300)], [], await start(100)));
    expect(found).toContain('process_start_time_seconds 100');
  });
});
