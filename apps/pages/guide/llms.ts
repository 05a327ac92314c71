/** llms.txt (llmstxt.org): the list of pages, as Markdown, for programs. */
import type { Head } from './head.ts';
import { relative } from './markdown.ts';
import type { Source } from './sources.ts';

interface Named extends Head {
  readonly source: Source;
}

/** `from` is the address of llms.txt itself, to which its links are relative. */
export const llmsText = (pages: readonly Named[], from: string): string => {
  const names = [...new Set(pages.map(({ source }) => source.section))];
  const parts = names.map((name) => {
    const entries = pages
      .filter(({ source }) => source.section === name)
      .map(
        ({ source, title, description }) =>
          `- [${title}](${relative(from, `${source.address}.md`)}): ${description}`,
      );
    // The format gives this name to the section that a reader with little room may leave out.
    return `## ${name === 'Decisions' ? 'Optional' : name}\n\n${entries.join('\n')}`;
  });
  return `# svc

> Delegated-authority verification: did a Principal really allow this Agent this one action? A relying party asks with Grant, Proof and
> Action; the answer is ALLOW or DENY as a signed Receipt that anybody can check offline.

Every page of the guide is there as Markdown: its address with \`.md\`, or asked for with \`Accept: text/markdown\`. The API for programs:
[openapi.json](${relative(from, 'openapi.json')}).

${parts.join('\n\n')}
`;
};
