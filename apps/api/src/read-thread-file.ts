/** The file lies beside the program, both in the sources and in the build. */
export const READ_THREAD = new URL(
  import.meta.url.endsWith('.ts') ? './read-thread.ts' : './read-thread.js',
  import.meta.url,
);
