// Command conformance serves this kit by svc-conformance-http v1, on this machine only: go run ./cmd/conformance
// [PORT]. The kit is a library without an engine, so it has no evaluate. Test it with svc-conformance run --library.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"time"

	"svckit"
)

const (
	contract        = "svc-conformance-http v1"
	maxRequestBytes = 1_048_576
	maxCases        = 1_000
	deadline        = 30 * time.Second
)

var ops = map[string]func(text string) any{
	"normalizeHtu": func(text string) any {
		if normal, ok := svckit.NormalizeHTU(text); ok {
			return normal
		}
		return nil
	},
	"canonicalize": func(text string) any {
		value, err := svckit.ParseJSONOfAnyNumbers(text)
		if err != nil {
			return nil
		}
		if canonical, err := svckit.Canonicalize(value); err == nil {
			return canonical
		}
		return nil
	},
	"sha256": func(text string) any { return svckit.SHA256(text) },
	"isJti":  func(text string) any { return svckit.IsJTI(text) },
}

// answer returns the status and the body of an answer.
func answer(text string) (int, map[string]any) {
	read, _ := svckit.ParseJSONOfAnyNumbers(text)
	request, _ := read.(map[string]any)
	if request["contract"] != contract {
		return refuse(`the request must be a JSON object with "contract": "` + contract + `"`)
	}
	op, _ := request["op"].(string)
	if op == "describe" {
		return 200, map[string]any{
			"contract": contract, "op": op,
			"implementation": map[string]any{"name": "svckit for Go", "version": version()},
			"ops":            []string{"describe", "normalizeHtu", "canonicalize", "sha256", "isJti"},
			"profiles":       []string{}, "receipts": false, "max_request_bytes": maxRequestBytes, "max_cases": maxCases,
		}
	}
	run, isKnown := ops[op]
	if !isKnown {
		return refuse("this op is not supported: ask for describe")
	}
	cases, isList := request["cases"].([]any)
	if !isList || len(cases) > maxCases {
		return refuse(fmt.Sprintf("cases must be at most %d of {id, input}", maxCases))
	}
	results := []any{}
	for _, one := range cases {
		of, _ := one.(map[string]any)
		id, hasID := of["id"].(string)
		input, isText := of["input"].(string)
		if !hasID || !isText {
			return refuse("a case must be {id, input}, and input a text")
		}
		results = append(results, map[string]any{"id": id, "result": run(input)})
	}
	return 200, map[string]any{"contract": contract, "op": op, "results": results}
}

func refuse(problem string) (int, map[string]any) {
	return 400, map[string]any{"contract": contract, "error": problem}
}

func version() string {
	if built, ok := debug.ReadBuildInfo(); ok && built.Main.Version != "" {
		return built.Main.Version
	}
	return "source"
}

func serve(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequestBytes))
	status, body := refuse(fmt.Sprintf("a request has %d bytes at most", maxRequestBytes))
	if err == nil {
		status, body = answer(string(text))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func main() {
	port := "8090"
	if len(os.Args) > 1 {
		port = os.Args[1]
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s at http://%s/\n", contract, listener.Addr())
	server := http.Server{Handler: http.HandlerFunc(serve), ReadTimeout: deadline, WriteTimeout: deadline}
	log.Fatal(server.Serve(listener))
}
