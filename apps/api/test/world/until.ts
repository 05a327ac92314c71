/** Resolves when `look` answers true; the test's own deadline ends it otherwise. */
export const until = async (look: () => Promise<boolean>): Promise<void> => {
  while (!(await look())) await new Promise((resolve) => setTimeout(resolve, 20));
};
