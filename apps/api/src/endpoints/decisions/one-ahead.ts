/** Produces one item ahead, and no more: the next item is made while the one before is sent. */
export async function* oneAhead<T>(items: AsyncGenerator<T>): AsyncGenerator<T> {
  const begin = () => {
    const next = items.next();
    // It is awaited later; a rejection before that must not count as unhandled.
    next.catch(() => {});
    return next;
  };
  try {
    for (let next = begin(); ; ) {
      const { done, value } = await next;
      if (done) return;
      next = begin();
      yield value;
    }
  } finally {
    await items.return(undefined);
  }
}
