/** Prints progress, each line with the seconds since the start. */
const began = performance.now();

export const say = (line: string) =>
  console.log(`${((performance.now() - began) / 1000).toFixed(0).padStart(5)} s  ${line}`);
