import { Gauge, type GaugeConfiguration, type Registry } from 'prom-client';

interface Read extends Pick<GaugeConfiguration<string>, 'help' | 'aggregator'> {
  readonly read: () => number | Promise<number>;
}

/** A metric whose value is read at each scrape. */
export const gauge = (registry: Registry, name: string, { read, ...described }: Read): void => {
  new Gauge({
    ...described,
    name,
    registers: [registry],
    async collect() {
      this.set(await read());
    },
  });
};
