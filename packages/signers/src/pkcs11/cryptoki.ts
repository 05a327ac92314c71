/**
 * The functions of a PKCS#11 library (OASIS PKCS#11 v2.40; the function list of v3 begins with the same functions),
 * called on other threads. The layout of structures is that of every system except Windows, which packs them.
 */
import { KeySetError, messageOf } from '@svc/service';
import { nameOf } from './return-values.ts';

/** An object or a session, as the library numbers them. */
export type Handle = number | bigint;

export interface Attribute {
  readonly type: number;
  readonly value: Buffer;
}

export class CryptokiError extends Error {
  override readonly name = 'CryptokiError';

  constructor(
    readonly call: string,
    readonly code: number,
  ) {
    super(`${call} answered ${nameOf(code)}`);
  }
}

export interface Cryptoki {
  initialize(): Promise<void>;
  finalize(): Promise<void>;
  /** Slots that contain a token. */
  listSlots(): Promise<readonly Handle[]>;
  getToken(slot: Handle): Promise<{ readonly label: string; readonly serial: string }>;
  openSession(slot: Handle, options: { readonly isWriting: boolean }): Promise<Handle>;
  closeSession(session: Handle): Promise<void>;
  login(session: Handle, pin: Buffer): Promise<void>;
  /** At most two: more than one is a fault already. */
  findObjects(session: Handle, template: readonly Attribute[]): Promise<readonly Handle[]>;
  getEcPoint(session: Handle, object: Handle): Promise<Buffer>;
  signEddsa(session: Handle, key: Handle, bytes: Uint8Array): Promise<Uint8Array>;
  generateEd25519(
    session: Handle,
    publicKey: readonly Attribute[],
    privateKey: readonly Attribute[],
  ): Promise<void>;
}

const OS_LOCKING_OK = 2;
const RW_SESSION = 2;
const SERIAL_SESSION = 4;
const USER = 1;
const CKA_EC_PARAMS = 0x180;
const CKA_EC_POINT = 0x181;
const CKM_EC_EDWARDS_KEY_PAIR_GEN = 0x1055;
const CKM_EDDSA = 0x1057;
/** The PrintableString `edwards25519`, as PKCS#11 v3 §2.3.10 names the curve. */
const EDWARDS25519 = Buffer.from('130c656477617264733235353139', 'hex');
const MAX_SLOTS = 1024;
const TOKEN_INFO_BYTES = 512;

type Native = {
  readonly async: (...parameters: readonly unknown[]) => void;
};

/** Position of each function in CK_FUNCTION_LIST, and its signature. */
const FUNCTIONS = {
  C_Initialize: [0, 'SVC_CK_INITIALIZE *arguments'],
  C_Finalize: [1, 'void *reserved'],
  C_GetSlotList: [4, 'uint8_t present, _Out_ uint8_t *slots, _Inout_ ulong *count'],
  C_GetTokenInfo: [6, 'ulong slot, _Out_ uint8_t *info'],
  C_OpenSession: [12, 'ulong slot, ulong flags, void *application, void *notify, _Out_ ulong *session'],
  C_CloseSession: [13, 'ulong session'],
  C_Login: [18, 'ulong session, ulong user, const uint8_t *pin, ulong length'],
  C_GetAttributeValue: [24, 'ulong session, ulong object, _Inout_ SVC_CK_ATTRIBUTE *template, ulong count'],
  C_FindObjectsInit: [26, 'ulong session, SVC_CK_ATTRIBUTE *template, ulong count'],
  C_FindObjects: [27, 'ulong session, _Out_ uint8_t *objects, ulong max, _Out_ ulong *count'],
  C_FindObjectsFinal: [28, 'ulong session'],
  C_SignInit: [42, 'ulong session, SVC_CK_MECHANISM *mechanism, ulong key'],
  C_Sign: [
    43,
    'ulong session, const uint8_t *data, ulong length, _Out_ uint8_t *signature, _Inout_ ulong *count',
  ],
  C_GenerateKeyPair: [
    59,
    'ulong session, SVC_CK_MECHANISM *mechanism, SVC_CK_ATTRIBUTE *public, ulong publics, SVC_CK_ATTRIBUTE *private, ulong privates, _Out_ ulong *publicKey, _Out_ ulong *privateKey',
  ],
} as const;

type FunctionName = keyof typeof FUNCTIONS;
type Call = (name: FunctionName, ...parameters: readonly unknown[]) => Promise<void>;

/** Throws `KeySetError` if the library cannot be loaded. */
export const loadCryptoki = async (path: string): Promise<Cryptoki> => cryptokiOf(await loadLibrary(path));

let areTypesDefined = false;

const loadLibrary = async (path: string): Promise<Call> => {
  if (process.platform === 'win32') throw new KeySetError('pkcs11: is not supported on Windows');
  const { default: koffi } = await import('koffi').catch(() => {
    throw new KeySetError(
      'pkcs11: needs the package koffi with its binary for this platform, which is not installed',
    );
  });
  if (!areTypesDefined) {
    koffi.struct('SVC_CK_ATTRIBUTE', { type: 'ulong', pValue: 'void *', ulValueLen: 'ulong' });
    koffi.struct('SVC_CK_MECHANISM', { mechanism: 'ulong', pParameter: 'void *', ulParameterLen: 'ulong' });
    const [create, destroy, lock, unlock, pReserved] = Array<string>(5).fill('void *') as [
      string,
      string,
      string,
      string,
      string,
    ];
    koffi.struct('SVC_CK_INITIALIZE', { create, destroy, lock, unlock, flags: 'ulong', pReserved });
    areTypesDefined = true;
  }
  const list: unknown[] = [null];
  try {
    const library = koffi.load(path);
    libraries.add(library);
    library.func('ulong C_GetFunctionList(_Out_ void **list)')(list);
  } catch (error) {
    const why = messageOf(error);
    throw new KeySetError(`pkcs11: ${path} cannot be loaded as a PKCS#11 library: ${why}`);
  }
  const natives = new Map<string, Native>();
  for (const [name, [index, parameters]] of Object.entries(FUNCTIONS)) {
    // The list begins with a version, which takes as much space as a pointer.
    const pointer = koffi.decode(list[0], 8 + 8 * index, 'void *');
    const prototype = `ulong Svc_${name}_${natives.size}_${prototypes++}(${parameters})`;
    natives.set(name, koffi.decode(pointer, koffi.proto(prototype)) as Native);
  }
  return (name, ...parameters) =>
    new Promise((resolve, reject) => {
      underWay.add(parameters);
      natives.get(name)?.async(...parameters, (error: unknown, code: number) => {
        underWay.delete(parameters);
        if (error !== null && error !== undefined) reject(error);
        else if (code === 0) resolve();
        else reject(new CryptokiError(name, Number(code)));
      });
    });
};

/**
 * Kept here because koffi unloads a library without references, together with the functions that its list points to.
 */
const libraries = new Set<unknown>();

/** Memory that a call on another thread reads and writes must not be collected before the call has ended. */
const underWay = new Set<readonly unknown[]>();

/** Prototype names are global in koffi, so each gets a number. */
let prototypes = 0;

const templateOf = (attributes: readonly Attribute[]) =>
  attributes.map(({ type, value }) => ({ type, pValue: value, ulValueLen: value.length }));

const handlesIn = (bytes: Buffer, count: number): bigint[] =>
  Array.from({ length: count }, (_, i) => bytes.readBigUInt64LE(8 * i));

const cryptokiOf = (call: Call): Cryptoki => ({
  initialize: () => call('C_Initialize', { flags: OS_LOCKING_OK }),
  finalize: () => call('C_Finalize', null),
  listSlots: async () => {
    const slots = Buffer.alloc(8 * MAX_SLOTS);
    const count = [MAX_SLOTS];
    await call('C_GetSlotList', 1, slots, count);
    return handlesIn(slots, Number(count[0]));
  },
  getToken: async (slot) => {
    const info = Buffer.alloc(TOKEN_INFO_BYTES);
    await call('C_GetTokenInfo', slot, info);
    // Label, manufacturer, model and serial number are padded with blanks.
    const text = (from: number, to: number) => info.toString('utf8', from, to).trimEnd();
    return { label: text(0, 32), serial: text(80, 96) };
  },
  openSession: async (slot, { isWriting }) => {
    const session: Handle[] = [0];
    const flags = SERIAL_SESSION | (isWriting ? RW_SESSION : 0);
    await call('C_OpenSession', slot, flags, null, null, session);
    return session[0] ?? 0;
  },
  closeSession: (session) => call('C_CloseSession', session),
  login: (session, pin) => call('C_Login', session, USER, pin, pin.length),
  findObjects: async (session, template) => {
    await call('C_FindObjectsInit', session, templateOf(template), template.length);
    const found = Buffer.alloc(16);
    const count = [0];
    try {
      await call('C_FindObjects', session, found, 2, count);
    } finally {
      await call('C_FindObjectsFinal', session);
    }
    return handlesIn(found, Number(count[0]));
  },
  getEcPoint: async (session, object) => {
    const point = Buffer.alloc(256);
    const template = templateOf([{ type: CKA_EC_POINT, value: point }]);
    await call('C_GetAttributeValue', session, object, template, 1);
    return point.subarray(0, Number(template[0]?.ulValueLen ?? 0));
  },
  signEddsa: async (session, key, bytes) => {
    await call('C_SignInit', session, { mechanism: CKM_EDDSA, pParameter: null, ulParameterLen: 0 }, key);
    const signature = Buffer.alloc(64);
    const count = [signature.length];
    await call('C_Sign', session, bytes, bytes.length, signature, count);
    return new Uint8Array(signature.subarray(0, Number(count[0])));
  },
  generateEd25519: (session, publicKey, privateKey) => {
    const publics = templateOf([...publicKey, { type: CKA_EC_PARAMS, value: EDWARDS25519 }]);
    const privates = templateOf(privateKey);
    const mechanism = { mechanism: CKM_EC_EDWARDS_KEY_PAIR_GEN, pParameter: null, ulParameterLen: 0 };
    return call(
      'C_GenerateKeyPair',
      ...[session, mechanism, publics, publics.length, privates, privates.length, [0], [0]],
    );
  },
});
