package proxytest

import "testing"

// CompareText fails the test if got differs from want, and reports the first difference.
func CompareText(t *testing.T, what, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	from := max(0, i-60)
	t.Fatalf("%s differs at %d of %d and %d bytes:\ngot  ...%s\nwant ...%s", what, i, len(got), len(want), got[from:min(len(got), i+100)], want[from:min(len(want), i+100)])
}

// UnusualMeta is a _meta object with keys of every form that the protocol allows, and of some forms
// that it does not allow.
const UnusualMeta = `{"a/b":1.50,"com.example/k\u00e9y":{"n":-0},"example.com/":null,"":"","io.modelcontextprotocol/unheard":[1E2],"progresstokens":"x","traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","tracestate":"a=b","baggage":"k=\u0076"}`
