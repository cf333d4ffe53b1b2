package access_test

import (
	"context"
	"testing"

	"github.com/petrigate/petrigate/proxy/internal/access"
)

// FuzzVerify checks that no text other than a signed token is accepted.
func FuzzVerify(f *testing.F) {
	f.Add("eyJhbGciOiJFUzI1NiIsImtpZCI6ImVjIn0.eyJzdWIiOiJhIn0.AAAA")
	f.Add("eyJhbGciOiJub25lIn0.e30.")
	f.Add("...")
	f.Fuzz(func(t *testing.T, token string) {
		v, err := access.New(access.Options{
			JWT: access.JWT{Issuer: "i", Audience: "https://g.example/mcp", JWKS: "https://127.0.0.1:1/"},
			Background: func(g func(context.Context)) {
				ctx, cancel := context.WithCancel(context.Background())
				cancel()
				go g(ctx)
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.Verify(t.Context(), token); err == nil {
			t.Errorf("%q is a token", token)
		}
	})
}
