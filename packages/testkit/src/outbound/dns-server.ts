/** A real DNS server on loopback, UDP and TCP on one port. The test decides the answer to each question. */
import { createSocket } from 'node:dgram';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type Answer, decode, encode, RECURSION_AVAILABLE, RECURSION_DESIRED } from 'dns-packet';

export type Transport = 'udp' | 'tcp';

export interface Question {
  readonly name: string;
  readonly type: string;
  readonly transport: Transport;
  /** How often this name and type were asked before, over this transport. */
  readonly nth: number;
}

export type Reply =
  | { readonly answers: readonly Answer[] }
  | { readonly rcode: number }
  | 'silence'
  /** The TC flag: ask again over TCP. */
  | 'truncated'
  /** Bytes that are not a DNS message. */
  | 'garbage'
  /** An answer to another question. */
  | 'other-question'
  /** TCP: the connection is closed without an answer. UDP: silence. */
  | 'hang-up';

export const RCODE = { FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5 } as const;

export interface DnsServer {
  /** `address:port`, for `nodeDns`. */
  readonly server: string;
  readonly questions: readonly Question[];
  close(): Promise<void>;
}

const TRUNCATED = 0x0200;
const FLAGS = RECURSION_DESIRED | RECURSION_AVAILABLE;

export const startDnsServer = async (respond: (question: Question) => Reply): Promise<DnsServer> => {
  const questions: Question[] = [];
  const tcpSockets = new Set<Socket>();

  const answer = (message: Buffer, transport: Transport): Buffer | null => {
    const query = decode(message);
    const [asked] = query.questions ?? [];
    if (asked === undefined) return null;
    const { type } = asked;
    const name = asked.name.toLowerCase();
    const isSame = (past: Question) =>
      past.name === name && past.type === type && past.transport === transport;
    const question = { name, type, transport, nth: questions.filter(isSame).length };
    questions.push(question);
    const reply = respond(question);
    const response = { type: 'response' as const, id: query.id ?? 0, questions: [asked] };
    if (reply === 'silence' || reply === 'hang-up') return null;
    if (reply === 'garbage') return Buffer.concat([message.subarray(0, 2), Buffer.alloc(30, 0xff)]);
    if (reply === 'truncated') return encode({ ...response, flags: FLAGS | TRUNCATED });
    if (reply === 'other-question')
      return encode({ ...response, flags: FLAGS, questions: [{ ...asked, name: 'another.example' }] });
    if ('rcode' in reply) return encode({ ...response, flags: FLAGS | reply.rcode });
    return encode({ ...response, flags: FLAGS, answers: [...reply.answers] });
  };

  const udp = createSocket('udp4');
  udp.on('message', (message, { port, address }) => {
    const response = answer(message, 'udp');
    if (response !== null) udp.send(response, port, address);
  });
  const tcp = createServer((socket) => {
    tcpSockets.add(socket);
    let received = Buffer.alloc(0);
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
        const end = 2 + received.readUInt16BE(0);
        const response = answer(received.subarray(2, end), 'tcp');
        received = received.subarray(end);
        if (response === null) socket.destroy();
        else socket.write(framed(response));
      }
    });
  });
  // TCP chooses the port: other programs take and release TCP ports often, while nearly all UDP ports are free.
  const port = await new Promise<number>((resolve, reject) => {
    tcp.once('error', reject).listen(0, '127.0.0.1', () => resolve((tcp.address() as AddressInfo).port));
  });
  await new Promise<void>((resolve, reject) => {
    udp.once('error', reject).bind(port, '127.0.0.1', resolve);
  });

  return {
    server: `127.0.0.1:${port}`,
    questions,
    close: async () => {
      for (const socket of tcpSockets) socket.destroy();
      await Promise.all([
        new Promise<void>((resolve) => udp.close(() => resolve())),
        new Promise<void>((resolve) => tcp.close(() => resolve())),
      ]);
    },
  };
};

/** RFC 1035 §4.2.2: over TCP the length precedes the message. */
const framed = (message: Buffer): Buffer => {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
};

export const addressRecord = (name: string, data: string, ttl = 60): Answer =>
  data.includes(':') ? { type: 'AAAA', name, data, ttl } : { type: 'A', name, data, ttl };

/** Answers A and AAAA questions from one list of addresses. */
export const addressesReply = ({ name, type }: Question, addresses: readonly string[], ttl = 60): Reply => ({
  answers: addresses
    .map((address) => addressRecord(name, address, ttl))
    .filter((record) => record.type === type),
});
