/** The parts that the guide uses of packages that have no types. */
declare module '@11ty/eleventy' {
  export interface EleventyConfig {
    setTemplateFormats(formats: readonly string[]): void;
    amendLibrary(name: 'md', amend: (markdown: import('./markdown.ts').Markdown) => void): void;
    addTemplate(path: string, content: string, data: object): void;
    addTransform(
      name: string,
      transform: (this: { readonly page: { readonly inputPath: string } }, content: string) => string,
    ): void;
  }
  export default class Eleventy {
    constructor(input: string, output: string, options: object);
    write(): Promise<void>;
  }
}

declare module 'prismjs' {
  type Grammar = object;
  const Prism: {
    readonly languages: Readonly<Record<string, Grammar | undefined>>;
    highlight(code: string, grammar: Grammar, language: string): string;
  };
  export default Prism;
}

declare module 'prismjs/components/index.js' {
  export default function loadLanguages(names: readonly string[]): void;
}
