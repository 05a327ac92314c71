import { describe, expect, it } from 'vitest';
import { AddressLimiter } from './address-limiter.ts';
import { limiterKeyOf } from './client-ip.ts';

const clock = { nowMs: () => 0 };

it.each([
  ['203.0.113.9', ['203.0.113.9', '203.0.113/24', '203.0/16']],
  ['2001:db8:1:2:3::4', ['2001:db8:1:2::/64', '2001:db8:1::/48', '2001:db8::/32']],
  ['2001:db8::1', ['2001:db8:0:0::/64', '2001:db8:0::/48', '2001:db8::/32']],
  ['unknown', ['unknown', 'unknown', 'unknown']],
])('%s belongs to the networks %j', (ip, networks) => {
  expect([0, 1, 2].map((width) => limiterKeyOf(ip, width))).toEqual(networks);
});

describe('A full table of addresses', () => {
  it('counts a new address with its network, and known addresses separately', () => {
    const limiter = new AddressLimiter(clock, 2);
    for (const ip of ['198.51.100.1', '198.51.100.2']) limiter.take(ip, 2);
    expect([limiter.isShared('198.51.100.1'), limiter.isShared('203.0.113.1')]).toEqual([false, true]);
    expect(limiter.take('203.0.113.1', 2).remaining).toBe(1);
    expect(limiter.take('203.0.113.2', 2).remaining).toBe(0);
    expect(limiter.take('203.0.113.3', 2).allowed).toBe(false);
    expect(limiter.take('192.0.2.1', 2).remaining).toBe(1);
    expect(limiter.take('198.51.100.1', 2).remaining).toBe(0);
  });

  it('counts a new address with the next wider network if the table of networks is full too', () => {
    const limiter = new AddressLimiter(clock, 2);
    for (const ip of ['192.0.2.1', '192.0.2.2', '198.51.1.1', '198.51.2.1']) limiter.take(ip, 2);
    expect(limiter.take('203.0.113.1', 2).remaining).toBe(1);
    expect(limiter.take('203.0.7.1', 2).remaining).toBe(0);
    expect(limiter.take('203.0.8.1', 2).allowed).toBe(false);
    expect(limiter.take('198.18.0.1', 2).remaining).toBe(1);
  });

  it('bounds the number of counts for any number of addresses', () => {
    const limiter = new AddressLimiter(clock, 2);
    for (let i = 0; i < 100; i++) limiter.take(`10.${i}.0.1`, 1);
    expect(limiter.take('10.200.0.1', 1).allowed).toBe(false);
  });
});
