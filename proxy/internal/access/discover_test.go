package access_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/petrigate/petrigate/proxy/internal/access"
	"github.com/petrigate/petrigate/proxy/internal/access/issuertest"
)

// askingDesk returns a desk whose verifier has no configured JWKS address and must discover it. The
// issuer's name has a path.
func askingDesk(t *testing.T, path string, publish func(*issuertest.Issuer)) *desk {
	t.Helper()
	i := issuertest.New(t)
	i.Rename(i.Base + path)
	publish(i)
	d := newDesk(t, func(o *access.Options) { o.Issuer, o.JWKS = i.Name(), "" })
	d.issuer = i
	return d
}

const (
	oauth  = "/.well-known/oauth-authorization-server"
	openid = "/.well-known/openid-configuration"
)

// TestDiscovery checks that metadata is found by RFC 8414 and by OpenID Connect, at each of their
// well-known paths, and that only the issuer's own metadata is accepted.
func TestDiscovery(t *testing.T) {
	good := func(i *issuertest.Issuer) http.HandlerFunc { return issuertest.Metadata(i.Name(), i.URL) }
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	text := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) }
	}
	type pages map[string]http.HandlerFunc
	cases := []struct {
		name, path string
		pages      func(i *issuertest.Issuer) pages
		want       access.Kind
	}{
		{"an authorization server", "", func(i *issuertest.Issuer) pages { return pages{oauth: good(i)} }, taken},
		{"with a slash", "/", func(i *issuertest.Issuer) pages { return pages{oauth: good(i)} }, taken},
		{"an OpenID provider", "", func(i *issuertest.Issuer) pages { return pages{openid: good(i)} }, taken},
		{"a tenant", "/one", func(i *issuertest.Issuer) pages { return pages{oauth + "/one": good(i)} }, taken},
		{"a tenant by OpenID", "/one", func(i *issuertest.Issuer) pages { return pages{"/one" + openid: good(i)} }, taken},
		{"a tenant by OpenID in the other form", "/one", func(i *issuertest.Issuer) pages { return pages{openid + "/one": good(i)} }, taken},
		{"the first is broken", "", func(i *issuertest.Issuer) pages { return pages{oauth: status(500), openid: good(i)} }, taken},
		{"the first is another's", "", func(i *issuertest.Issuer) pages {
			return pages{oauth: issuertest.Metadata("https://evil.example", i.URL), openid: good(i)}
		}, taken},

		{"none", "", func(*issuertest.Issuer) pages { return nil }, access.Unavailable},
		{"a tenant's at the root", "/one", func(i *issuertest.Issuer) pages { return pages{oauth: good(i), openid: good(i)} }, access.Unavailable},
		{"another issuer", "", func(i *issuertest.Issuer) pages {
			return pages{oauth: issuertest.Metadata("https://evil.example", i.URL)}
		}, access.Unavailable},
		{"a slash more", "", func(i *issuertest.Issuer) pages { return pages{oauth: issuertest.Metadata(i.Name()+"/", i.URL)} }, access.Unavailable},
		{"a slash less", "/", func(i *issuertest.Issuer) pages { return pages{oauth: issuertest.Metadata(i.Base, i.URL)} }, access.Unavailable},
		{"in capitals", "/one", func(i *issuertest.Issuer) pages {
			return pages{oauth + "/one": issuertest.Metadata(i.Base+"/ONE", i.URL)}
		}, access.Unavailable},
		{"no issuer", "", func(i *issuertest.Issuer) pages { return pages{oauth: issuertest.Metadata("", i.URL)} }, access.Unavailable},
		{"no keys", "", func(i *issuertest.Issuer) pages { return pages{oauth: issuertest.Metadata(i.Name(), "")} }, access.Unavailable},
		{"keys in the clear", "", func(i *issuertest.Issuer) pages {
			return pages{oauth: issuertest.Metadata(i.Name(), "http://keys.example/keys")}
		}, access.Unavailable},
		{"keys in a file", "", func(i *issuertest.Issuer) pages {
			return pages{oauth: issuertest.Metadata(i.Name(), "file:///etc/passwd")}
		}, access.Unavailable},
		{"keys with a password", "", func(i *issuertest.Issuer) pages {
			return pages{oauth: issuertest.Metadata(i.Name(), strings.Replace(i.URL, "://", "://a:b@", 1))}
		}, access.Unavailable},
		{"no metadata", "", func(*issuertest.Issuer) pages { return pages{oauth: text("<html>")} }, access.Unavailable},
		{"two issuers", "", func(i *issuertest.Issuer) pages {
			return pages{oauth: text(`{"issuer":"https://evil.example","issuer":"` + i.Name() + `","jwks_uri":"` + i.URL + `"}`)}
		}, access.Unavailable},
		{"without end", "", func(i *issuertest.Issuer) pages {
			return pages{oauth: text(`{"issuer":"` + i.Name() + `","jwks_uri":"` + i.URL + `","x":"` + strings.Repeat("x", 300<<10) + `"}`)}
		}, access.Unavailable},
		{"elsewhere", "", func(i *issuertest.Issuer) pages {
			return pages{
				oauth: func(w http.ResponseWriter, r *http.Request) {
					http.Redirect(w, r, "/.well-known/other", http.StatusFound)
				},
				openid: status(404), "/.well-known/other": good(i),
			}
		}, access.Unavailable},
	}
	for _, c := range cases {
		d := askingDesk(t, c.path, func(i *issuertest.Issuer) {
			for path, page := range c.pages(i) {
				i.Page(path, page)
			}
		})
		if got := d.kind(d.token(nil)); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// TestDiscoveryKeepsItsPace checks that keys that have moved are found at their new address, and
// that tokens with unknown keys cause no additional fetches.
func TestDiscoveryKeepsItsPace(t *testing.T) {
	var asked atomic.Int64
	var moved atomic.Bool
	d := askingDesk(t, "", func(i *issuertest.Issuer) {
		i.Page("/keys", http.NotFound)
		i.Page(oauth, func(w http.ResponseWriter, r *http.Request) {
			asked.Add(1)
			where := i.Base + "/first"
			if moved.Load() {
				where = i.Base + "/second"
			}
			issuertest.Metadata(i.Name(), where)(w, r)
		})
	})
	if got := d.kind(d.token(nil)); got != taken {
		t.Fatalf("a good token: %d", got)
	}
	other := func() string { return d.issuer.Sign("ed", jose.EdDSA, nil, d.claims(nil)) }
	d.issuer.Add("ed")
	for range 20 {
		if got := d.kind(other()); got != access.Invalid {
			t.Errorf("a new key within the pause: %d", got)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("the issuer was asked %d times within the pause", n)
	}
	moved.Store(true)
	d.issuer.Page("/first", http.NotFound)
	d.move(31 * time.Second)
	if got := d.kind(other()); got != taken {
		t.Errorf("a new key, and the keys have moved: %d", got)
	}
	if n := asked.Load(); n != 2 {
		t.Errorf("the issuer was asked %d times, want 2", n)
	}
	d.issuer.Page(oauth, http.NotFound)
	d.move(time.Hour)
	long := d.claims(map[string]any{"exp": d.time().Add(100 * time.Hour).Unix()})
	if got := d.kind(d.issuer.Sign("ec", jose.ES256, nil, long)); got != taken {
		t.Errorf("the issuer does not answer, and its keys are at hand: %d", got)
	}
	d.move(24 * time.Hour)
	if got := d.kind(d.issuer.Sign("ec", jose.ES256, nil, long)); got != access.Unavailable {
		t.Errorf("the issuer has not answered for a day: %d", got)
	}
}

// TestDiscoveryWaits checks that an issuer that does not answer does not block a client that has
// disconnected.
func TestDiscoveryWaits(t *testing.T) {
	held := make(chan struct{})
	d := askingDesk(t, "", func(i *issuertest.Issuer) {
		i.Page(oauth, func(http.ResponseWriter, *http.Request) { <-held })
	})
	defer close(held)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Verify(ctx, d.token(nil)); err == nil {
		t.Error("a token is taken before there are keys")
	}
}
