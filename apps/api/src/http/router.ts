/**
 * Which of the known paths a request names. In a template `{name}` stands for one segment that is not empty; everything
 * else is compared as it stands, case and a slash at the end included.
 */
import type { Exchange } from './exchange.ts';

export type PathParams = Readonly<Record<string, string>>;

export type Respond = (exchange: Exchange, params: PathParams) => void | Promise<void>;

export interface Place {
  readonly template: string;
  /** By method, in capitals. What answers GET answers HEAD too. */
  readonly methods: ReadonlyMap<string, Respond>;
  /** Answers all other methods. Null: to them there is no such path. */
  readonly others: Respond | null;
}

/** The responder of a path and method, and what its template took from the path. */
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

  /** Null: nothing is there. Throws URIError where a parameter is not well percent-encoded. */
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

/** The path of a request target, which may be a whole URL (RFC 9112 §3.2.2). */
export const pathOf = (target: string): string => {
  const path = /^(?:https?:\/\/[^/?#]*)?([^?#]*)/i.exec(target)?.[1] ?? target;
  return path === '' ? '/' : path;
};
