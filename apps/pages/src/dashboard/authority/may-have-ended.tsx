/** A note beside Grants that are not revoked: the Grant itself, which the Agent holds, says when it expires. */
export const MayHaveEnded = () => (
  <p class="soft">A Grant that is not revoked may have ended by itself: the service is not told when.</p>
);
