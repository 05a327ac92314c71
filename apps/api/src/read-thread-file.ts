/** Beside the program, as a source and as it is built. */
export const READ_THREAD = new URL(
  import.meta.url.endsWith('.ts') ? './read-thread.ts' : './read-thread.js',
  import.meta.url,
);
