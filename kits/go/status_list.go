package svckit

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
)

const (
	statusMinBytes = 131_072 / 8
	statusMaxBytes = 1_048_576
	statusMaxChars = ((statusMaxBytes+statusMaxBytes/256+64)*4 + 2) / 3
)

// decodeBitstring returns the bits of an encoded list (u and base64url of one gzip member), at most 1 MiB.
func decodeBitstring(text string) ([]byte, bool) {
	if !strings.HasPrefix(text, "u") || len(text) > statusMaxChars {
		return nil, false
	}
	member, ok := decodeBase64url(text[1:])
	// The header must have no optional fields, so that everything that is read has a meaning here.
	if !ok || len(member) < 18 || member[3] != 0 {
		return nil, false
	}
	rest := bytes.NewReader(member)
	inflate, err := gzip.NewReader(rest)
	if err != nil {
		return nil, false
	}
	inflate.Multistream(false)
	bits, err := io.ReadAll(io.LimitReader(inflate, statusMaxBytes+1))
	return bits, err == nil && rest.Len() == 0 && len(bits) >= statusMinBytes && len(bits) <= statusMaxBytes
}

// StatusList is a Bitstring Status List that the service signed.
type StatusList struct {
	URL, ValidFrom string
	bits           []byte
}

// Entries returns the number of entries.
func (s *StatusList) Entries() int {
	if s == nil {
		return 0
	}
	return len(s.bits) * 8
}

// IsRevoked says whether the entry is set; the left-most bit is entry 0. A missing entry must never read as valid, so
// it is an error.
func (s *StatusList) IsRevoked(index int) (bool, error) {
	if index < 0 || index >= s.Entries() {
		return true, fmt.Errorf("the status list has no entry %d", index)
	}
	return s.bits[index>>3]&(0x80>>(index&7)) != 0, nil
}

// VerifyStatusList verifies a list as GET /status-lists/… serves it (protocol §9). The caller must check ValidFrom to
// decide whether it is recent enough.
func VerifyStatusList(credential string, keys *ServiceKeys) (*StatusList, error) {
	if keys == nil {
		return nil, errNoKeys
	}
	jws, err := parseJWS(credential, 2*statusMaxChars)
	if err != nil {
		return nil, err
	}
	kid, err := exactKID(jws.headerText, grantTyp)
	if err != nil {
		return nil, err
	}
	id, _ := jws.payload["id"].(string)
	isText := func(right string) shape { return scalar(right, func(value any) bool { return value == right }) }
	isExactly := func(right ...string) shape {
		return scalar(strings.Join(right, ", "), func(value any) bool { return isList(value, right) })
	}
	err = closed(members{
		"@context": isExactly("https://www.w3.org/ns/credentials/v2"), "id": aText,
		"type": isExactly("VerifiableCredential", "BitstringStatusListCredential"), "issuer": isText(keys.DID),
		"validFrom": scalar("a time", isTime),
		"credentialSubject": closed(members{
			"id": isText(id + "#list"), "type": isText("BitstringStatusList"), "statusPurpose": isText("revocation"),
			"encodedList": aText, "ttl": aCount,
		}, noMembers),
	}, members{"validUntil": scalar("a time", isTime)})(jws.payload, "")
	if err != nil {
		return nil, refuse("malformed-status-list", "%s", err)
	}
	bits, ok := decodeBitstring(jws.payload["credentialSubject"].(map[string]any)["encodedList"].(string))
	if !ok {
		return nil, refuse("malformed-status-list", "encodedList is no list")
	}
	at, _ := parseTime(jws.payload["validFrom"])
	untimely, err := keys.check("status", kid, jws, &at)
	if err == nil && untimely != "" {
		err = refuse("key-not-in-force", "%s", untimely)
	}
	if err != nil {
		return nil, err
	}
	return &StatusList{id, jws.payload["validFrom"].(string), bits}, nil
}
