// Package svckit signs Grants and Proofs, and verifies Receipts, bundles, checkpoints and status lists offline. It
// depends only on the standard library. The protocol is docs/protocol.md of the service.
package svckit

import (
	"errors"
	"fmt"
)

// Refused says that input is not what it claims to be. Code is one of a closed list, the same as in the TypeScript
// packages (FailureCode, InclusionFailureCode, BundleFailureCode). It is that of the first fault found, whereas those
// packages list all faults.
type Refused struct {
	Code    string
	Message string
	// ReceiptID and Receipt are set for an answer to RelyingParty.Verify. ReceiptID is the id in that answer, or "" if it
	// has none; it is not verified if Receipt is nil. Receipt is what came with that answer, if its signature was verified
	// with a key in force; else nil.
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

// misused returns the error of a call that no answer could make right: its arguments or the clock here are wrong.
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
