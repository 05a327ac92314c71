/** Beside Grants that are not revoked: until when each is valid stands in the Grant, which is with the Agent. */
export const MayHaveEnded = () => (
  <p class="soft">A Grant that is not revoked may have ended by itself: the service is not told when.</p>
);
