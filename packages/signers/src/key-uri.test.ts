import { KeySetError } from '@svc/service';
import { describe, expect, it } from 'vitest';
import { parseKeyUri } from './key-uri.ts';

const ARN = 'arn:aws:kms:eu-central-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab';

describe('parseKeyUri', () => {
  it('reads file: URIs, relative and absolute', () => {
    expect(parseKeyUri('file:receipt-2.pem')).toEqual({ kind: 'file', path: 'receipt-2.pem' });
    expect(parseKeyUri('file:///etc/svc/a%20b.pem')).toEqual({ kind: 'file', path: '/etc/svc/a b.pem' });
  });

  it('reads pkcs11: URIs as RFC 7512 defines them', () => {
    expect(
      parseKeyUri(
        'pkcs11:token=my%20svc;object=receipt-1;id=%01%ff;type=private?module-path=/m.so&pin-source=file:/run/pin',
      ),
    ).toEqual({
      ...{ kind: 'pkcs11', token: 'my svc', serial: null, object: 'receipt-1', id: Buffer.from([1, 255]) },
      ...{ modulePath: '/m.so', pinPath: '/run/pin' },
    });
  });

  it('reads aws-kms: URIs with an ARN, which contains the region, or with a region', () => {
    expect(parseKeyUri(`aws-kms:${ARN}`)).toEqual({ kind: 'aws-kms', arn: ARN, region: 'eu-central-1' });
    expect(parseKeyUri('aws-kms:us-gov-west-1')).toEqual({
      kind: 'aws-kms',
      arn: null,
      region: 'us-gov-west-1',
    });
  });

  it.each([
    ['receipt-2.pem', /private_key must be file:/],
    ['https://keys.example/1', /private_key must be file:/],
    ['file:', /must be file:<path>/],
    ['file://host/a.pem', /must be file:<path>/],
    ['file:a.pem?x', /must be file:<path>/],
    ['file:%', /two hexadecimal digits/],
    ['pkcs11:token=a;object=b', /module-path/],
    ['pkcs11:object=b?module-path=/m.so', /token= or serial=/],
    ['pkcs11:token=a;token=b?module-path=/m.so', /once/],
    ['pkcs11:token=a;slot-id=3?module-path=/m.so', /slot-id/],
    ['pkcs11:token=a;type=public?module-path=/m.so', /must be private/],
    ['pkcs11:token=a?module-path=/m.so&pin-value=hunter2', /a PIN does not belong into a URI/],
    ['aws-kms:alias/svc', /not of an alias/],
    [`aws-kms:${ARN.replace('key/', 'alias/')}`, /not of an alias/],
  ])('refuses %s with an error that says what is valid', (uri, expected) => {
    expect(() => parseKeyUri(uri)).toThrow(KeySetError);
    expect(() => parseKeyUri(uri)).toThrow(expected);
    expect(() => parseKeyUri(uri)).not.toThrow(/hunter2/);
  });
});
