package front_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/proxytest"
)

// TestRequestsBeforeEndOfInputAreAnswered: requests that a client sent before it closed its side
// are answered, as expected when a file is piped into a server.
func TestRequestsBeforeEndOfInputAreAnswered(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Rules: "block danger\n"})
	const said = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read"}}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"danger"}}
{"jsonrpc":"2.0","id":3,"method":"tools/list"}
`
	var out bytes.Buffer
	for range 20 {
		out.Reset()
		began := time.Now()
		if err := s.Proxy.ServeStdio(t.Context(), strings.NewReader(said), &out); err != nil {
			t.Error(err)
		}
		if time.Since(began) < time.Second {
			break
		} // otherwise the machine was too busy to answer within the second
	}
	for _, want := range []string{`"id":1,"result"`, `"id":2,"result":{"content":[{"type":"text","text":"danger is blocked`, `"id":3,"result":{"tools"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in %s", want, out.String())
		}
	}
	if s.Log.Executed("read") == 0 {
		t.Error("it was not executed")
	}
}
