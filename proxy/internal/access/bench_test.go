package access_test

import (
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/petrigate/petrigate/proxy/internal/access"
	"github.com/petrigate/petrigate/proxy/internal/access/issuertest"
)

// BenchmarkVerify measures the cost of a token for each request.
func BenchmarkVerify(b *testing.B) {
	for id, alg := range map[string]jose.SignatureAlgorithm{"ec": jose.ES256, "ed": jose.EdDSA, "rs": jose.RS256} {
		b.Run(string(alg), func(b *testing.B) {
			i := issuertest.New(b)
			i.Add(id)
			v, err := access.New(access.Options{JWT: access.JWT{Issuer: i.Name(), Audience: issuertest.Audience, JWKS: i.URL}})
			if err != nil {
				b.Fatal(err)
			}
			token := i.Sign(id, alg, nil, i.Claims("ann", time.Now()))
			for b.Loop() {
				if _, err := v.Verify(b.Context(), token); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
