package svckit

import (
	"crypto/ed25519"
	"math/big"
	"sync"
)

var (
	fieldPrime   = fromDecimal("57896044618658097711785492504343953926634992332820282019728792003956564819949")
	groupOrder   = fromDecimal("7237005577332262213973186563042994240857116359379907606001950938285454250989")
	curveD       = fromDecimal("37095705934669439343138083508754565189542113879843219016388785533085940283555")
	rootOfMinus1 = fromDecimal("19681161376707505956807079304988542015446066515923890162744021073123829784752")
	// The y coordinates of the eight points whose order divides 8: five, because (x, y) and (-x, y) share one.
	smallOrderY = []*big.Int{
		big.NewInt(0),
		big.NewInt(1),
		new(big.Int).Sub(fieldPrime, big.NewInt(1)),
		fromDecimal("2707385501144840649318225287225658788936804267575313519463743609750303402022"),
		fromDecimal("55188659117513257062467267217118295137698188065244968500265048394206261417927"),
	}
	one = big.NewInt(1)
)

func fromDecimal(text string) *big.Int {
	number, _ := new(big.Int).SetString(text, 10)
	return number
}

// strictKeys caches verdicts on keys, because the arithmetic takes a millisecond. It is emptied when it is full.
var strictKeys = struct {
	sync.Mutex
	verdicts map[string]bool
}{verdicts: map[string]bool{}}

// isStrictPublicKey says whether these are 32 bytes that canonically encode a point of the prime-order group other than
// the neutral one. With a key of small order one signature is valid for every message, and verifiers differ on torsion.
func isStrictPublicKey(key []byte) bool {
	if len(key) != 32 || !isCanonicalOfLargeOrder(key) {
		return false
	}
	strictKeys.Lock()
	verdict, isKnown := strictKeys.verdicts[string(key)]
	strictKeys.Unlock()
	if isKnown {
		return verdict
	}
	verdict = isTorsionFree(key)
	strictKeys.Lock()
	defer strictKeys.Unlock()
	if len(strictKeys.verdicts) >= 10_000 {
		strictKeys.verdicts = map[string]bool{}
	}
	strictKeys.verdicts[string(key)] = verdict
	return verdict
}

// verifyStrict is strict Ed25519 (protocol §1): S < L, R canonical and not of small order, and a strict key. Then
// crypto/ed25519 checks the cofactorless equation by comparing encodings.
func verifyStrict(key, message, signature []byte) bool {
	if len(signature) != 64 || littleEndian(signature[32:]).Cmp(groupOrder) >= 0 {
		return false
	}
	return isCanonicalOfLargeOrder(signature[:32]) && isStrictPublicKey(key) && ed25519.Verify(key, message, signature)
}

func littleEndian(data []byte) *big.Int {
	reversed := make([]byte, len(data))
	for i, octet := range data {
		reversed[len(data)-1-i] = octet
	}
	return new(big.Int).SetBytes(reversed)
}

// isCanonicalOfLargeOrder says whether y < p and y is not that of a point of small order. The other non-canonical form,
// x = 0 with a sign, has y = ±1.
func isCanonicalOfLargeOrder(encoded []byte) bool {
	y := littleEndian(encoded)
	y.SetBit(y, 255, 0)
	for _, small := range smallOrderY {
		if y.Cmp(small) == 0 {
			return false
		}
	}
	return y.Cmp(fieldPrime) < 0
}

// point has extended coordinates: x = X/Z, y = Y/Z, xy = T/Z. All computations use public data only.
type point struct{ x, y, z, t *big.Int }

func multiplied(factors ...*big.Int) *big.Int {
	product := new(big.Int).Set(factors[0])
	for _, factor := range factors[1:] {
		product.Mul(product, factor).Mod(product, fieldPrime)
	}
	return product
}

func isTorsionFree(key []byte) bool {
	p, ok := decodePoint(key)
	if !ok {
		return false
	}
	total := point{big.NewInt(0), one, one, big.NewInt(0)}
	for i := groupOrder.BitLen() - 1; i >= 0; i-- {
		total = total.plus(total)
		if groupOrder.Bit(i) == 1 {
			total = total.plus(p)
		}
	}
	difference := new(big.Int).Sub(total.y, total.z)
	return total.x.Sign() == 0 && difference.Mod(difference, fieldPrime).Sign() == 0
}

// decodePoint is RFC 8032 §5.1.3; false for a point off the curve.
func decodePoint(encoded []byte) (point, bool) {
	y := littleEndian(encoded)
	sign := y.Bit(255)
	y.SetBit(y, 255, 0)
	square := multiplied(y, y)
	u := new(big.Int).Sub(square, one)
	u.Mod(u, fieldPrime)
	v := new(big.Int).Add(multiplied(curveD, square), one)
	exponent := new(big.Int).Rsh(new(big.Int).Sub(fieldPrime, big.NewInt(5)), 3)
	x := multiplied(u, v, v, v, new(big.Int).Exp(multiplied(u, v, v, v, v, v, v, v), exponent, fieldPrime))
	if multiplied(v, x, x).Cmp(u) != 0 {
		x = multiplied(x, rootOfMinus1)
		if multiplied(v, x, x).Cmp(u) != 0 {
			return point{}, false
		}
	}
	if x.Bit(0) != sign {
		x.Sub(fieldPrime, x)
	}
	return point{x, y, one, multiplied(x, y)}, true
}

// plus is RFC 8032 §5.1.4. The formula is complete, so it also doubles a point.
func (p point) plus(q point) point {
	sub := func(a, b *big.Int) *big.Int { return new(big.Int).Sub(a, b) }
	add := func(a, b *big.Int) *big.Int { return new(big.Int).Add(a, b) }
	a := multiplied(sub(p.y, p.x), sub(q.y, q.x))
	b := multiplied(add(p.y, p.x), add(q.y, q.x))
	c := multiplied(big.NewInt(2), p.t, q.t, curveD)
	d := multiplied(big.NewInt(2), p.z, q.z)
	e, f, g, h := sub(b, a), sub(d, c), add(d, c), add(b, a)
	return point{multiplied(e, f), multiplied(g, h), multiplied(f, g), multiplied(e, h)}
}
