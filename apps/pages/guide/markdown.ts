/** Renders Markdown of this repository as a page: headings with anchors, links between pages, coloured code. */
import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { slug } from 'github-slugger';
import anchors from 'markdown-it-anchor';
import Prism from 'prismjs';
import loadLanguages from 'prismjs/components/index.js';
import { ROOT, type Source } from './sources.ts';

loadLanguages(['bash', 'json', 'jsx', 'python', 'go', 'sql', 'tsx', 'typescript', 'yaml']);
const ALIASES: Readonly<Record<string, string>> = { sh: 'bash', js: 'javascript', ts: 'typescript' };

/** Most characters of a cell that is kept narrow. */
const SHORT = 5;

type Plain = Pick<Source, 'address' | 'file'>;

/** The target of a link, as seen from the page that contains it. */
export type Resolved =
  | { readonly kind: 'page'; readonly address: string; readonly hash: string }
  | { readonly kind: 'picture'; readonly address: string }
  | { readonly kind: 'file'; readonly path: string }
  /** Another page of the service that serves the guide. */
  | { readonly kind: 'service'; readonly address: string }
  | { readonly kind: 'elsewhere' };

/** The resolver throws where a link has no target, so a guide with such a link is not built. */
export const createResolver = (sources: readonly Plain[], pictureOf: (path: string) => string) => {
  const byFile = new Map(sources.flatMap(({ file, address }) => (file === null ? [] : [[file, address]])));
  const addresses = new Set(sources.map(({ address }) => address));
  return (from: Plain, target: string): Resolved => {
    if (/^[a-z]+:/.test(target)) return { kind: 'elsewhere' };
    if (target.startsWith('#')) return { kind: 'page', address: from.address, hash: target };
    const [path = '', hash = ''] = target.split(/(?=#)/);
    if (path.startsWith('/')) return { kind: 'service', address: path.slice(1) };
    const base = posix.dirname(from.file ?? from.address);
    const joined = posix.join(base, path);
    const address =
      from.file === null
        ? joined
        : (byFile.get(joined) ??
          byFile.get(`${joined}/`) ??
          byFile.get(posix.join(joined, 'README.md')) ??
          // Pages without a file: `docs/guide/errors` is at `guide/errors`.
          joined.replace(/^docs\//, ''));
    if (address !== undefined && addresses.has(address)) return { kind: 'page', address, hash };
    if (from.file !== null && existsSync(new URL(joined, ROOT)))
      return /\.(?:png|jpg)$/.test(joined)
        ? { kind: 'picture', address: pictureOf(joined) }
        : { kind: 'file', path: joined };
    throw new Error(`${from.file ?? from.address}: ${target} leads nowhere`);
  };
};
export type Resolver = ReturnType<typeof createResolver>;

/** The relative link from one address to another, as a browser resolves it. It also works behind a path prefix. */
export const relative = (from: string, to: string): string =>
  posix.join(posix.relative(posix.dirname(`/${from}`), posix.dirname(`/${to}`)), posix.basename(to));

interface Token {
  readonly type: string;
  tag: string;
  readonly info: string;
  content: string;
  children: Token[] | null;
  attrGet(name: string): string | null;
  attrSet(name: string, value: string): void;
  attrIndex(name: string): number;
  readonly map: [number, number] | null;
  hidden: boolean;
}
/** The part of markdown-it that is used here; Eleventy brings the package. */
export interface Markdown {
  use(plugin: unknown, options?: object): Markdown;
  set(options: object): Markdown;
  parse(text: string, environment: object): Token[];
  render(text: string, environment: object): string;
  readonly core: { readonly ruler: { push(name: string, rule: (state: State) => void): void } };
  readonly renderer: { readonly rules: Record<string, (tokens: readonly Token[], at: number) => string> };
}
interface State {
  readonly tokens: Token[];
  readonly env: Environment;
  readonly Token: new (type: string, tag: string, nesting: number) => Token;
}
/** The input of a rendering. */
export interface Environment {
  readonly source: Plain;
}

export const amendMarkdown = (md: Markdown, resolve: Resolver): Markdown => {
  md.set({ html: false, linkify: false, highlight: colour });
  md.use(anchors, { slugify: slug, level: [1, 2, 3, 4], tabIndex: false });
  const { rules } = md.renderer;
  let isNarrow = false;
  // A table wider than the screen scrolls on its own, by keyboard too.
  rules.table_open = () => {
    isNarrow = true;
    return '<div class="wide" tabindex="0"><table>\n';
  };
  rules.table_close = () => {
    isNarrow = false;
    return '</table></div>\n';
  };
  rules.heading_open = (tokens, at) => {
    isNarrow = true;
    const { tag = '' } = tokens[at] ?? {};
    return `<${tag} id="${tokens[at]?.attrGet('id')}">`;
  };
  rules.heading_close = (tokens, at) => {
    isNarrow = false;
    return `</${tokens[at]?.tag}>\n`;
  };
  // In a narrow column, or in large letters, the name of a code breaks between the words that it is made of.
  const breakable = (text = ''): string =>
    isNarrow ? escapeHtml(text).replaceAll('_', '_<wbr>') : escapeHtml(text);
  rules.text = (tokens, at) => breakable(tokens[at]?.content);
  rules.code_inline = (tokens, at) => `<code>${breakable(tokens[at]?.content)}</code>`;
  // A column of numbers is only as wide as they are.
  md.core.ruler.push('short', ({ tokens }) => {
    for (const [i, token] of tokens.entries())
      if (token.type === 'td_open' && (tokens[i + 1]?.content.length ?? 0) <= SHORT)
        token.attrSet('class', 'short');
  });
  // The corner cell of a table is not a heading.
  md.core.ruler.push('corners', ({ tokens }) => {
    for (const [i, token] of tokens.entries())
      if (token.type === 'th_open' && tokens[i + 1]?.content === '') {
        token.tag = 'td';
        Object.assign(tokens[i + 2] ?? {}, { tag: 'td' });
      }
  });
  md.core.ruler.push('links', ({ tokens, env, Token: NewToken }) => {
    for (const { children } of tokens) {
      let isInFile: string | null = null;
      for (const token of children ?? []) {
        const name = token.type === 'image' ? 'src' : 'href';
        const link = token.attrGet(name);
        if (link !== null) {
          const target = resolve(env.source, link);
          const { address } = env.source;
          if (target.kind === 'page') token.attrSet(name, relative(address, target.address) + target.hash);
          if (target.kind === 'picture' || target.kind === 'service')
            token.attrSet(name, relative(address, target.address));
          isInFile = target.kind === 'file' ? target.path : null;
        }
        // A link to a file becomes its name: the file is in the repository, and has no address that every reader can
        // open.
        if (isInFile !== null && (token.type === 'link_open' || token.type === 'link_close')) {
          const { type } = token;
          Object.assign(token, new NewToken('text', '', 0));
          if (type === 'link_close') {
            Object.assign(token, { content: ` (${isInFile} in the repository)` });
            isInFile = null;
          }
        }
      }
    }
  });
  return md;
};

const colour = (code: string, info: string): string => {
  const [name = ''] = info.split(' ');
  const language = ALIASES[name] ?? name;
  const grammar = Prism.languages[language];
  const html = grammar === undefined ? '' : Prism.highlight(code, grammar, language);
  return `<pre tabindex="0"><code>${html || escapeHtml(code)}</code></pre>`;
};

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/**
 * The Markdown of a page, for programs. Its links lead to other Markdown; links to files of the repository become
 * names.
 */
export const markdownFor = (source: Source, resolve: Resolver): string =>
  source.markdown
    .replaceAll(/(?<!!)\[([^\]]*)\]\(([^)\s]+)\)/g, (whole, text: string, target: string) => {
      const found = resolve(source, target);
      return found.kind === 'file' ? `${text} (\`${found.path}\` in the repository)` : whole;
    })
    .replaceAll(/(?<=\]\()[^)\s]+(?=\))/g, (target) => {
      const found = resolve(source, target);
      if (found.kind === 'picture' || found.kind === 'service')
        return relative(source.address, found.address);
      if (found.kind !== 'page' || target.startsWith('#')) return target;
      return `${relative(source.address, `${found.address}.md`)}${found.hash}`;
    });

export interface Section {
  readonly heading: string;
  readonly id: string;
  readonly level: number;
  readonly text: string;
}

/** The entries of the search: a page divided at its headings. */
export const sectionsOf = (tokens: readonly Token[]): readonly Section[] => {
  const sections: (Section & { text: string })[] = [];
  for (const [i, token] of tokens.entries()) {
    const next = tokens[i + 1];
    if (token.type === 'heading_open' && next !== undefined)
      sections.push({
        heading: textOf(next),
        id: token.attrGet('id') ?? '',
        level: Number(token.tag.slice(1)),
        text: '',
      });
    else if (token.type === 'inline' && tokens[i - 1]?.type !== 'heading_open') add(textOf(token));
    else if (token.type === 'fence') add(token.content);
  }
  function add(text: string): void {
    const last = sections.at(-1);
    if (last !== undefined) last.text += `${text} `;
  }
  return sections;
};

const textOf = ({ children, content }: Token): string =>
  children === null
    ? content
    : children
        .filter(({ type }) => ['text', 'code_inline', 'softbreak'].includes(type))
        .map(({ type, content }) => (type === 'softbreak' ? ' ' : content))
        .join('');
