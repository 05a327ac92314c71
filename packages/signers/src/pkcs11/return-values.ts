/** Return values of PKCS#11 that occur in practice, or that this code distinguishes. */
export const CKR = {
  HOST_MEMORY: 0x02,
  SLOT_ID_INVALID: 0x03,
  GENERAL_ERROR: 0x05,
  FUNCTION_FAILED: 0x06,
  ARGUMENTS_BAD: 0x07,
  ATTRIBUTE_TYPE_INVALID: 0x12,
  ATTRIBUTE_VALUE_INVALID: 0x13,
  DEVICE_ERROR: 0x30,
  DEVICE_MEMORY: 0x31,
  DEVICE_REMOVED: 0x32,
  FUNCTION_NOT_SUPPORTED: 0x54,
  KEY_HANDLE_INVALID: 0x60,
  KEY_TYPE_INCONSISTENT: 0x63,
  KEY_FUNCTION_NOT_PERMITTED: 0x68,
  MECHANISM_INVALID: 0x70,
  OBJECT_HANDLE_INVALID: 0x82,
  OPERATION_ACTIVE: 0x90,
  PIN_INCORRECT: 0xa0,
  PIN_INVALID: 0xa1,
  PIN_LEN_RANGE: 0xa2,
  PIN_EXPIRED: 0xa3,
  PIN_LOCKED: 0xa4,
  SESSION_CLOSED: 0xb0,
  SESSION_COUNT: 0xb1,
  SESSION_HANDLE_INVALID: 0xb3,
  TOKEN_NOT_PRESENT: 0xe0,
  TOKEN_WRITE_PROTECTED: 0xe2,
  USER_ALREADY_LOGGED_IN: 0x100,
  USER_NOT_LOGGED_IN: 0x101,
  CRYPTOKI_NOT_INITIALIZED: 0x190,
  CRYPTOKI_ALREADY_INITIALIZED: 0x191,
} as const;

const NAMES = new Map<number, string>(Object.entries(CKR).map(([name, code]) => [code, name]));

/** `CKR_PIN_LOCKED`, or the number for other values of the specification or the vendor. */
export const nameOf = (code: number): string => {
  const name = NAMES.get(code);
  return name === undefined ? `0x${code.toString(16)}` : `CKR_${name}`;
};
