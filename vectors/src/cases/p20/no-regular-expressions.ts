/** P20: a pattern is not a regular expression (protocol §6). */

import { resources } from '../../edits/grant-edits.ts';
import { API_CALL, apiCapability, type Scene } from '../../scene.ts';
import { allow, deny, type VectorCase } from '../../vector-case.ts';

const REGEX = 'order/.+(a|b)?[c]{1}$^\\d';

export const cases: readonly VectorCase[] = [
  allow(
    'p20-no-regular-expression',
    'what means something in regular expressions is itself in a pattern',
    { P20: true },
    (s) => {
      resources([REGEX])(s);
      s.action.resource = REGEX;
    },
  ),
  deny(
    'RESOURCE_NOT_AUTHORIZED',
    'p20-dot-is-a-dot',
    'a dot is no other character',
    { P19: true, P20: false },
    (s) => {
      resources(['order/1.01'])(s);
    },
  ),
  allow(
    'p20-url-http',
    'a pattern may be of http',
    { P20: true },
    callTo('http://api.shop.example/v1/**', 'http://api.shop.example/v1/orders'),
  ),
  deny(
    'RESOURCE_NOT_AUTHORIZED',
    'p20-url-dot-is-a-dot',
    'a dot in a host is no other character',
    { P19: true, P20: false },
    callTo('https://api.shop.example/**', 'https://api-shop.example/'),
  ),
  deny(
    'RESOURCE_NOT_AUTHORIZED',
    'p20-url-scheme-inside',
    'nothing stands in front of the scheme',
    { P19: true, P20: false },
    callTo('x-https://api.shop.example/**', 'https://api.shop.example/v1/orders'),
  ),
];

function callTo(pattern: string, resource: string) {
  return (s: Scene) => {
    s.action = { ...API_CALL, resource };
    s.grant.subject.capabilities = [apiCapability({}, { resources: [pattern] })];
  };
}
