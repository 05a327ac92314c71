// Package svckit signs Grants and Proofs, and verifies Receipts, bundles, checkpoints and status lists offline. It has no
// dependency beyond the standard library. The protocol is docs/protocol.md of the service.
package svckit

import (
	"errors"
	"fmt"
)

// Refused says that input is not what it claims to be. Code is one of a closed list, the same as in the TypeScript packages
// (FailureCode, InclusionFailureCode, BundleFailureCode): the first fault that was found, where those list all.
type Refused struct {
	Code    string
	Message string
	// ReceiptID is of an answer to RelyingParty.Verify: the id in it, which nobody has verified where Receipt is nil; "" where it has
	// none. Receipt is what came with that answer, where its signature has been verified, by a key in force; else nil.
	ReceiptID string
	Receipt   map[string]any
}

func (r *Refused) Error() string {
	if r == nil {
		return "<nil>"
	}
	return r.Code + ": " + r.Message
}

func refuse(code, format string, arguments ...any) error {
	return &Refused{Code: code, Message: fmt.Sprintf(format, arguments...)}
}

// misused says that no answer could make a call right: of its arguments, or of the clock here.
func misused(format string, arguments ...any) error {
	return fmt.Errorf("svckit: "+format, arguments...)
}

var errNoKeys = errors.New("svckit: this takes the keys of the service: ReadServiceKeys makes them")

// CodeOf returns the code of a *Refused that err is or wraps, and "" for any other error.
func CodeOf(err error) string {
	var refused *Refused
	if errors.As(err, &refused) && refused != nil {
		return refused.Code
	}
	return ""
}
