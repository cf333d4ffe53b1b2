package proxy_test

import (
	"bytes"
	"strings"
	"testing"
)

// TestFarewell: what a client asked before it closed its side is answered, as
// one expects who pipes a file into a server.
func TestFarewell(t *testing.T) {
	s := start(t, setup{rules: "block danger\n"})
	var out bytes.Buffer
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read"}}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"danger"}}
{"jsonrpc":"2.0","id":3,"method":"tools/list"}
`)
	if err := s.proxy.ServeStdio(t.Context(), in, &out); err != nil {
		t.Error(err)
	}
	for _, want := range []string{`"id":1,"result"`, `"id":2,"result":{"content":[{"type":"text","text":"danger is blocked`, `"id":3,"result":{"tools"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in %s", want, out.String())
		}
	}
	s.executed("read", 1)
}
