package front_test

import (
	"net/http"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/proxy"
	"github.com/petrigate/petrigate/proxy/internal/access/issuertest"
)

// TestJWTOfAnIssuerThatSaysItself: with only the issuer configured, the endpoint accepts the tokens
// of that issuer and of no other.
func TestJWTOfAnIssuerThatSaysItself(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Rules: "block danger\n"})
	ours, other := issuertest.New(t), issuertest.New(t)
	for _, i := range []*issuertest.Issuer{ours, other} {
		i.Rename(ours.Base + "/tenant")
	}
	ours.Page("/.well-known/oauth-authorization-server/tenant", issuertest.Metadata(ours.Name(), ours.URL))
	s.ServeWith(proxy.Access{JWT: &proxy.JWT{Issuer: ours.Name(), Audience: issuertest.Audience}})
	if status, _, body := s.Fetch(s.ModernCallAs(ours.Token("ann"))); status != http.StatusOK {
		t.Errorf("a good token: status %d: %s", status, body)
	}
	if status, _, body := s.Fetch(s.ModernCallAs(other.Token("ann"))); status != http.StatusUnauthorized {
		t.Errorf("a token that others have signed: status %d: %s", status, body)
	}
	if n := s.Log.Executed("read"); n != 1 {
		t.Errorf("%d calls were executed, want 1", n)
	}
}
