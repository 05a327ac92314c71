/** `@svc/transparency/monitor`: follows the checkpoints of a service and keeps them as evidence. */
export type { Alarm, AlarmCode, Doubt } from './monitor/finding.ts';
export { type Look, lookAtCheckpoints, type MonitorOptions } from './monitor/monitor.ts';
export {
  type CheckedCheckpoint,
  type MonitoredKey,
  type MonitorPin,
  pinDocument,
  pinKeys,
} from './monitor/pin.ts';
export { formatSeen, parseSeen, type Seen, type SeenDay } from './monitor/seen.ts';
export { type Answer, type Source, SourceError, type Stream } from './monitor/source.ts';
