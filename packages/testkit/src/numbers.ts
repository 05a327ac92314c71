/** Numbers between 0 and 1, the same for the same seed: for models of load that must be repeatable. */
export const numbers = (seed: number) => {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
};
