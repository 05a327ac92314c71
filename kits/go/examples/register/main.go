// Command register registers a shop and a Principal with the operator's token. It prints the environment of the other
// examples as shell commands.
package main

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
	"time"

	"svckit"
)

func main() {
	seed := make([]byte, 32)
	_, err := rand.Read(seed)
	check(err)
	key, err := svckit.NewAgent(seed)
	check(err)
	publicKey := strings.TrimPrefix(key.DID, "did:key:") // of an Ed25519 key, whosever it is
	name := fmt.Sprintf("kit-%d", time.Now().UnixNano())
	shop := register("/relying-parties", map[string]any{"kind": "managed", "slug": name})
	acme := register("/principals", map[string]any{
		"kind": "managed", "slug": name, "keys": []any{map[string]any{"publicKeyMultibase": publicKey}},
	})
	fmt.Printf("export SHOP_DID='%s' SVC_RP_KEY='%s'\n", shop.DID, shop.APIKey)
	fmt.Printf("export PRINCIPAL_DID='%s' SVC_PRINCIPAL_KEY='%s' PRINCIPAL_SEED='%s'\n", acme.DID, acme.APIKey, hex.EncodeToString(seed))
}

type registered struct {
	DID    string `json:"did"`
	APIKey string `json:"api_key"`
}

func register(path string, body map[string]any) (made registered) {
	text, err := json.Marshal(body)
	check(err)
	request, err := http.NewRequest(http.MethodPost, os.Getenv("SVC_URL")+path, bytes.NewReader(text))
	check(err)
	request.Header.Set("Authorization", "Bearer "+os.Getenv("SVC_ADMIN_TOKEN"))
	request.Header.Set("Content-Type", "application/json")
	client := http.Client{Timeout: 5 * time.Second}
	answer, err := client.Do(request)
	check(err)
	defer answer.Body.Close()
	text, err = io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	check(err)
	if answer.StatusCode != http.StatusCreated {
		log.Fatalf("%s: %s", answer.Status, text)
	}
	check(json.Unmarshal(text, &made))
	return made
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
