package svckit

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"math/big"
	"regexp"
	"strings"
	"unicode/utf8"
)

// SHA256 returns "sha256:" and lower-case hex of the hash over the exact bytes.
func SHA256(data string) string {
	sum := sha256.Sum256([]byte(data))
	return "sha256:" + hex.EncodeToString(sum[:])
}

func encodeBase64url(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

// decodeBase64url reads the only valid spelling: no padding, no stray bits, no white space. Nil and false otherwise.
func decodeBase64url(text string) ([]byte, bool) {
	data, err := base64.RawURLEncoding.Strict().DecodeString(text)
	// Go's decoder skips line breaks, and returns the bytes before a fault.
	if err != nil || strings.ContainsAny(text, "\r\n") {
		return nil, false
	}
	return data, true
}

func decodeBase64urlText(text string) (string, bool) {
	data, ok := decodeBase64url(text)
	return string(data), ok && utf8.Valid(data)
}

const base58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

var multikeyForm = regexp.MustCompile(`^z6Mk[1-9A-HJ-NP-Za-km-z]{44}$`)

// encodeMultikey writes z6Mk…: base58btc of the multicodec prefix and a raw Ed25519 key.
func encodeMultikey(key []byte) string {
	number, digit := new(big.Int).SetBytes(append([]byte{0xed, 0x01}, key...)), new(big.Int)
	text := []byte{}
	for number.Sign() > 0 {
		number.DivMod(number, big.NewInt(58), digit)
		text = append(text, base58[digit.Int64()])
	}
	for i, j := 0, len(text)-1; i < j; i, j = i+1, j-1 {
		text[i], text[j] = text[j], text[i]
	}
	return "z" + string(text)
}

// decodeMultikey returns the raw key, not yet checked for strength, or nil.
func decodeMultikey(text string) []byte {
	if !multikeyForm.MatchString(text) {
		return nil
	}
	number := new(big.Int)
	for _, character := range []byte(text[1:]) {
		number.Mul(number, big.NewInt(58)).Add(number, big.NewInt(int64(strings.IndexByte(base58, character))))
	}
	data := number.Bytes()
	if len(data) != 34 || data[0] != 0xed || data[1] != 0x01 {
		return nil
	}
	return data[2:]
}

// decodeDidKey returns the raw key of did:key:z6Mk…, or nil.
func decodeDidKey(did string) []byte {
	if !strings.HasPrefix(did, "did:key:") {
		return nil
	}
	return decodeMultikey(did[len("did:key:"):])
}

func utf16Length(text string) int {
	length := 0
	for _, character := range text {
		length++
		if character > 0xffff {
			length++
		}
	}
	return length
}
