/**
 * Finds the known path that a request names. `{name}` in a template matches one segment that is not empty. Everything
 * else is compared exactly, including case and a trailing slash.
 */
import type { Exchange } from './exchange.ts';

export type PathParams = Readonly<Record<string, string>>;

export type Respond = (exchange: Exchange, params: PathParams) => void | Promise<void>;

export interface Place {
  readonly template: string;
  /** By method, in capitals. The responder of GET answers HEAD too. */
  readonly methods: ReadonlyMap<string, Respond>;
  /** Answers all other methods. Null: for these the path does not exist. */
  readonly others: Respond | null;
}

/** The responder of a path and method, and the parameters that its template matched. */
export interface RouteMatch {
  readonly respond: Respond;
  readonly params: PathParams;
}

export class Router {
  readonly #fixed: ReadonlyMap<string, Place>;
  readonly #patterns: readonly { readonly pattern: RegExp; readonly place: Place }[];

  constructor(places: readonly Place[]) {
    const isFixed = ({ template }: Place) => !template.includes('{');
    this.#fixed = new Map(places.filter(isFixed).map((place) => [place.template, place]));
    this.#patterns = places
      .filter((place) => !isFixed(place))
      .map((place) => ({ pattern: patternOf(place.template), place }));
  }

  /** Null: there is no such route. Throws URIError if a parameter is not correctly percent-encoded. */
  find(method: string, target: string): RouteMatch | null {
    const path = pathOf(target);
    const fixed = this.#fixed.get(path);
    const respond = fixed === undefined ? null : responderOf(fixed, method);
    if (respond !== null) return { respond, params: {} };
    for (const { pattern, place } of this.#patterns) {
      const groups = pattern.exec(path)?.groups;
      if (groups === undefined) continue;
      const params = Object.fromEntries(
        Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value)]),
      );
      const respond = responderOf(place, method);
      if (respond !== null) return { respond, params };
    }
    return null;
  }
}

const responderOf = ({ methods, others }: Place, method: string): Respond | null =>
  methods.get(method) ?? (method === 'HEAD' ? methods.get('GET') : undefined) ?? others;

const patternOf = (template: string): RegExp =>
  new RegExp(
    `^${template.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&').replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`,
  );

/** The path of a request target, which may be an absolute URL (RFC 9112 §3.2.2). */
export const pathOf = (target: string): string => {
  const path = /^(?:https?:\/\/[^/?#]*)?([^?#]*)/i.exec(target)?.[1] ?? target;
  return path === '' ? '/' : path;
};
