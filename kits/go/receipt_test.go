package svckit

import (
	"os"
	"strings"
	"testing"
)

func TestAJWSInPlaceOfItsReceiptIsCalledOne(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile("../../examples/bundle/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	keys, err := ReadServiceKeys(read("did.json"))
	if err != nil {
		t.Fatal(err)
	}
	jws := objectOf(read("bundle.json"))["receipt"].(map[string]any)["receipt"].(string)
	_, err = VerifyReceipt(jws, keys)
	if CodeOf(err) != "malformed-receipt" || !strings.Contains(err.Error(), "this is a JWS: pass the whole answer") {
		t.Errorf("a JWS alone: %v", err)
	}
}
