/** The client closed the connection before the request ended, so no answer can be sent. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}
