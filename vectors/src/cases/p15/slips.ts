/**
 * P15: faults that the cases about single rules do not detect: an array of one text instead of the text, limits off by
 * one.
 */

import { resources } from '../../edits/grant-edits.ts';
import { API_CALL, apiCapability, PURCHASE, type Scene } from '../../scene.ts';
import { allow, deny, type VectorCase } from '../../vector-case.ts';

/** The longest method that is allowed: one letter, repeated. */
const LONGEST_METHOD = 'M'.repeat(32);

const callBy = (method: string) => (s: Scene) => {
  s.action = { ...API_CALL, method };
  s.grant.subject.capabilities = [apiCapability({ methods: [method] })];
};

export const cases: readonly VectorCase[] = [
  ...(
    [
      ['currency-array', 'a currency is a text', { ...PURCHASE, currency: ['USD'] }],
      ['currency-two-letters', 'a currency has three letters', { ...PURCHASE, currency: 'US' }],
      ['amount-null', 'no amount is not none', { ...PURCHASE, amount: null }],
      ['amount-array', 'an amount is a number', { ...PURCHASE, amount: [42700] }],
      ['resource-array', 'a resource is a text', { ...PURCHASE, resource: ['order/1001'] }],
      ['call-of-unknown-type', 'another type with the members of a call', { ...API_CALL, type: 'data:read' }],
      [
        'resource-lone-surrogate',
        'a resource is text that has a UTF-8 form',
        { ...PURCHASE, resource: 'order/\ud800' },
      ],
      ['api-method-array', 'a method is a text', { ...API_CALL, method: ['POST'] }],
      ['api-method-empty', 'a method has at least one letter', { ...API_CALL, method: '' }],
    ] as const
  ).map(([id, description, action]) =>
    deny('ACTION_MALFORMED', `p15-${id}`, description, { P15: false, P14: 'skipped' }, (s) => {
      s.presentedAction = action;
    }),
  ),
  allow('p15-resource-1', 'a resource of one character', { P15: true, P14: true }, (s) => {
    s.action.resource = '7';
    resources(['*'])(s);
  }),
  allow('p15-api-method-1', 'a method of one letter', { P15: true, P14: true }, callBy('M')),
  allow('p15-api-method-32', 'a method of 32 letters', { P15: true, P14: true }, callBy(LONGEST_METHOD)),
];
