/** The connection ended before the request did. There is nobody left to answer. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}
