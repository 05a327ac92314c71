/** P20: which resources a pattern matches (protocol §6). */

import { call, NOT_20, purchase } from '../../edits/authority-edits.ts';
import { apiCapability, purchaseCapability } from '../../scene.ts';
import type { VectorCase } from '../../vector-case.ts';
import { allow, deny } from '../../vector-case.ts';

const matches = (
  id: string,
  description: string,
  patterns: readonly string[] | undefined,
  resource: string,
): VectorCase =>
  allow(
    `p20-${id}`,
    description,
    { P20: true },
    purchase([purchaseCapability({}, { resources: patterns })], { resource }),
  );
const misses = (id: string, description: string, patterns: readonly string[], resource: string): VectorCase =>
  deny(
    'RESOURCE_NOT_AUTHORIZED',
    `p20-${id}`,
    description,
    NOT_20,
    purchase([purchaseCapability({}, { resources: patterns })], { resource }),
  );

const RESOURCES: readonly VectorCase[] = [
  matches('resources-absent', 'no resources: every resource', undefined, 'any/thing at all'),
  matches('star-alone', '* alone is every resource, slashes included', ['*'], 'order/a/b'),
  matches('literal', 'a pattern without asterisks is itself', ['order/1001'], 'order/1001'),
  misses('literal-prefix', 'a pattern matches the whole resource', ['order/100'], 'order/1001'),
  matches('star-in-segment', '* stays within one segment', ['order/*'], 'order/1001'),
  matches('star-empty', '* may be empty', ['order/*'], 'order/'),
  misses('star-stops-at-slash', '* does not reach across a slash', ['order/*'], 'order/1001/items'),
  matches('double-star', '** reaches across slashes', ['order/**'], 'order/1001/items/7'),
  misses('double-star-needs-slash', 'order/** begins with order/', ['order/**'], 'order'),
  matches('star-between', 'asterisks in the middle', ['order/*/items/**'], 'order/1001/items/7/8'),
  misses('case', 'resources have case', ['order/**'], 'Order/1001'),
  misses('question-mark', '? is an ordinary character', ['order/100?'], 'order/1001'),
  misses('braces', 'braces are ordinary characters', ['{order,cart}/**'], 'order/1001'),
  misses('brackets', 'brackets are ordinary characters', ['order/[0-9]*'], 'order/1001'),
  misses('negation', 'an exclamation mark is an ordinary character', ['!cart/**'], 'order/1001'),
  misses(
    'dot-segments-stay',
    'the resource of a purchase is no path: nothing is resolved',
    ['cart/1'],
    'order/../cart/1',
  ),
  matches('later-pattern', 'one pattern of several is enough', ['cart/**', 'order/1001'], 'order/1001'),
];

const urlMatches = (id: string, description: string, pattern: string, resource: string): VectorCase =>
  allow(
    `p20-url-${id}`,
    description,
    { P20: true },
    call([apiCapability({}, { resources: [pattern] })], { resource }),
  );
const urlMisses = (id: string, description: string, pattern: string, resource: string): VectorCase =>
  deny(
    'RESOURCE_NOT_AUTHORIZED',
    `p20-url-${id}`,
    description,
    NOT_20,
    call([apiCapability({}, { resources: [pattern] })], { resource }),
  );

/** Paths that one server takes literally and another decodes once more: no wildcard matches them. */
const TREACHEROUS: readonly (readonly [id: string, description: string, path: string])[] = [
  ['escaped-slash', 'an escaped slash', 'a%2Fb'],
  ['escaped-slash-lower-case', 'an escaped slash in lower case', 'a%2fb'],
  ['escaped-slash-twice', 'a slash escaped twice', 'a%252Fb'],
  ['escaped-slash-twice-digits', 'a slash escaped twice, digit by digit', 'a%25%32%46b'],
  ['escaped-slash-three-times', 'a slash escaped three times', 'a%25252fb'],
  ['escaped-backslash', 'an escaped backslash', 'a%5Cb'],
  ['escaped-backslash-twice', 'a backslash escaped twice', 'a%255cb'],
  ['escaped-nul', 'an escaped U+0000', 'a%00b'],
  ['escaped-nul-twice', 'U+0000 escaped twice', 'a%2500b'],
  ['escaped-line-feed', 'an escaped line feed', 'a%0Ab'],
  ['escaped-delete', 'an escaped delete', 'a%7Fb'],
  ['dots-escaped-slash', 'two dots before an escaped slash', '..%2Fadmin'],
  ['dots-escaped-backslash', 'two dots before an escaped backslash', '..%5C'],
  ['dots-with-parameters', 'two dots with parameters', '..;/admin'],
  ['dots-with-named-parameters', 'two dots with named parameters', '..;a=1/admin'],
  ['dots-with-escaped-semicolon', 'two dots before an escaped semicolon', '..%3B/admin'],
  ['dot-with-parameters', 'a dot with parameters', '.;/admin'],
  ['dots-before-question-mark', 'two dots before an escaped question mark', '..%3F'],
  ['dots-before-question-mark-twice', 'two dots before a question mark that is escaped twice', 'a/..%253Fx'],
  ['dots-before-number-sign', 'two dots before an escaped number sign', '..%23x'],
  ['dots-before-wide-question-mark', 'two dots before a full-width question mark', '..%EF%BC%9F'],
  ['dots-escaped-twice', 'two dots escaped twice', '%252e%252e/'],
  ['dot-and-dot-escaped-twice', 'a dot, and one escaped twice', '.%252e/admin'],
  ['dot-escaped-twice-last', 'a dot escaped twice at the end', '%252E'],
  ['slash-two-octets', 'a slash in two octets, which UTF-8 forbids', 'a%C0%AFb'],
  ['slash-three-octets', 'a slash in three octets', 'a%e0%80%afb'],
  ['slash-four-octets', 'a slash in four octets', 'a%F0%80%80%AFb'],
  ['slash-six-octets', 'a slash in six octets', 'a%FC%80%80%80%80%AFb'],
  ['slash-two-octets-twice', 'a slash in two octets, escaped twice', 'a%25C0%25AFb'],
  ['backslash-two-octets', 'a backslash in two octets', 'a%C1%9Cb'],
  ['nul-two-octets', 'U+0000 in two octets', 'a%C0%80b'],
  ['dots-two-octets', 'two dots in two octets each', '%C0%AE%C0%AE/admin'],
  ['unicode-escaped-slash', 'a slash as %u002F, its percent sign escaped', 'a%25u002Fb'],
  ['unicode-escaped-slash-twice', 'the same escaped twice, in the other case', 'a%2525U002fb'],
  ['unicode-escaped-backslash', 'a backslash as %u005C', 'a%25u005Cb'],
  ['unicode-escaped-dots', 'two dots as %u002E', '%25u002e%25u002e/admin'],
  ['unicode-escaped-full-width', 'a full-width slash as %uFF0F', 'a%25uFF0Fb'],
  ['full-width-slash', 'a full-width slash, which NFKC turns into one', 'a%EF%BC%8Fb'],
  ['full-width-slash-twice', 'a full-width slash escaped twice', 'a%25EF%25BC%258Fb'],
  ['full-width-backslash', 'a full-width backslash', 'a%EF%BC%BCb'],
  ['full-width-dots', 'two full-width dots', '%EF%BC%8E%EF%BC%8E/admin'],
  ['full-width-semicolon', 'two dots before a full-width semicolon', '..%EF%BC%9Ba/admin'],
  ['full-width-percent', 'an escape that begins with a full-width percent sign', 'a%EF%BC%852Fb'],
  ['division-slash', 'a division slash, which code pages have no better fit for than a slash', 'a%E2%88%95b'],
  ['fraction-slash', 'a fraction slash', 'a%E2%81%84b'],
  ['set-minus', 'a set minus, the same of a backslash', 'a%E2%88%96b'],
  ['two-dot-leader', 'a two dot leader, which NFKC turns into two dots', '%E2%80%A5/admin'],
];

const IN_PATH: readonly VectorCase[] = TREACHEROUS.map(([id, description, path]) =>
  urlMisses(
    `path-${id}`,
    description,
    'https://api.shop.example/v1/**',
    `https://api.shop.example/v1/${path}`,
  ),
);

const NEAR: readonly VectorCase[] = [
  urlMatches(
    'path-escapes-beside',
    'wildcards before and behind an escaped slash that the pattern spells',
    'https://api.shop.example/v1/**%2F*',
    'https://api.shop.example/v1/a/b%2fc',
  ),
  urlMatches(
    'path-escaped-slash-literal',
    'a pattern without wildcards is what it spells',
    'https://api.shop.example/v1/..%2Fadmin',
    'https://api.shop.example/v1/..%2fadmin',
  ),
  urlMisses(
    'path-dots-beside-literal',
    'a wildcard is no dot segment, also before an escaped slash that the pattern spells',
    'https://api.shop.example/v1/*%2Fadmin',
    'https://api.shop.example/v1/..%2Fadmin',
  ),
  urlMisses(
    'path-parameters-of-dots',
    'nor the parameters of one',
    'https://api.shop.example/v1/..;*/admin',
    'https://api.shop.example/v1/..;a=1/admin',
  ),
  urlMatches(
    'path-three-dots',
    'three dots are a name',
    'https://api.shop.example/v1/**',
    'https://api.shop.example/v1/...;a/b',
  ),
  urlMatches(
    'path-parameters',
    'parameters of a name are passed',
    'https://api.shop.example/v1/**',
    'https://api.shop.example/v1/a;b=..;c',
  ),
  urlMatches(
    'path-other-escapes',
    'escapes of other characters are passed',
    'https://api.shop.example/v1/**',
    'https://api.shop.example/v1/a%20b%E4%B8%80%2520c%25',
  ),
  urlMatches(
    'path-octets-of-names',
    'octets that are no UTF-8, and letters that need several, are passed',
    'https://api.shop.example/v1/**',
    'https://api.shop.example/v1/caf%E9%C3%A9%C3%AF%BC%8F%E4%B8%AF%F0%9F%98%80%E2%80%A6/%C0/%AF',
  ),
  urlMatches(
    'path-no-unicode-escape',
    'an escaped percent sign before what is no escape is passed',
    'https://api.shop.example/v1/**',
    'https://api.shop.example/v1/a%25u002/%25u00g0/u002F',
  ),
  urlMatches(
    'path-look-alike-literal',
    'a pattern that spells a look-alike matches it',
    'https://api.shop.example/v1/*%E2%88%95*',
    'https://api.shop.example/v1/a%E2%88%95b',
  ),
  urlMatches(
    'path-star-alone-passes',
    '* alone is every URL, whatever its path holds',
    '*',
    'https://api.shop.example/v1/..%2Fadmin',
  ),
  urlMisses(
    'wildcard-host-escape',
    'a wildcard in the host passes no escape',
    'https://*.shop.example/**',
    'https://evil.example%E2%84%80.shop.example/v1',
  ),
  urlMatches(
    'host-escape-literal',
    'which a pattern may spell',
    'https://sh%C3%B6p.example/**',
    'https://sh%c3%b6p.example/v1',
  ),
];

const URLS: readonly VectorCase[] = [
  urlMatches('star-alone', '* alone is every URL', '*', 'http://anything.example/a/b'),
  urlMatches(
    'normalised',
    'the normalised URL is matched',
    'https://api.shop.example/v1/~me',
    'https://API.shop.example:443/v1/x/../%7Eme?q=1',
  ),
  urlMatches(
    'wildcard-host',
    'a wildcard in the host',
    'https://*.shop.example/v1/**',
    'https://eu.api.shop.example/v1/orders',
  ),
  urlMatches(
    'wildcard-host-whole',
    'any host, one path',
    'https://**/v1/orders',
    'https://eu.shop.example:8443/v1/orders',
  ),
  urlMatches(
    'no-path',
    'a pattern without a path is the root',
    'https://api.shop.example',
    'https://api.shop.example',
  ),
  urlMatches(
    'double-star-path',
    'every path of a host',
    'https://api.shop.example/**',
    'https://api.shop.example/',
  ),
  urlMisses(
    'wildcard-host-into-path',
    'a wildcard host does not reach into the path',
    'https://**.shop.example/v1/**',
    'https://mallory.example/x.shop.example/v1/orders',
  ),
  urlMisses(
    'wildcard-host-in-path-segment',
    'nor with one asterisk',
    'https://*.shop.example/**',
    'https://mallory.example/.shop.example/v1',
  ),
  urlMisses(
    'question-mark-in-host',
    'a question mark in a pattern begins no query',
    'https://api.shop.example?/**',
    'https://api.shop.example/v1/orders',
  ),
  urlMisses(
    'wildcard-host-suffix',
    'the host is matched to its end',
    'https://*.shop.example/**',
    'https://api.shop.example.mallory.example/',
  ),
  urlMisses(
    'wildcard-host-query',
    'a query cannot lend a host',
    'https://*.shop.example/**',
    'https://mallory.example/?.shop.example/',
  ),
  urlMisses(
    'host-only',
    'a pattern without a path is no other path',
    'https://api.shop.example',
    'https://api.shop.example/v1',
  ),
  urlMisses(
    'no-scheme',
    'a pattern without a scheme matches nothing',
    'api.shop.example/**',
    'https://api.shop.example/v1',
  ),
  urlMisses('double-star-alone', '** alone has no scheme', '**', 'https://api.shop.example/v1'),
  urlMisses(
    'wildcard-scheme',
    'the scheme is no place for an asterisk',
    'http*://api.shop.example/**',
    'https://api.shop.example/v1',
  ),
  urlMisses('other-scheme', 'https is not http', 'https://api.shop.example/**', 'http://api.shop.example/v1'),
  urlMisses(
    'other-port',
    'a port is part of the host',
    'https://api.shop.example/**',
    'https://api.shop.example:8443/v1',
  ),
  urlMisses(
    'dot-segments',
    'dot segments are resolved before matching',
    'https://api.shop.example/public/**',
    'https://api.shop.example/public/../admin',
  ),
  urlMisses(
    'escaped-dot-segments',
    'escaped dot segments too',
    'https://api.shop.example/public/**',
    'https://api.shop.example/public/%2e%2e/admin',
  ),
  urlMisses(
    'pattern-not-normalised',
    'a pattern is taken as written',
    'https://API.shop.example/**',
    'https://API.shop.example/v1',
  ),
];

export const cases: readonly VectorCase[] = [...RESOURCES, ...IN_PATH, ...NEAR, ...URLS];
