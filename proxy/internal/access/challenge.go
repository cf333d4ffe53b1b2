package access

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
)

// Answer returns the HTTP status and the WWW-Authenticate header for an error from
// [Verifier.Verify]. If the token could not be verified, the status is also 401.
func (v *Verifier) Answer(err error) (status int, challenge string) {
	var d *Denial
	if !errors.As(err, &d) {
		d = &Denial{Kind: Unavailable}
	}
	switch d.Kind {
	case Invalid:
		return http.StatusUnauthorized, v.challenge + `, error="invalid_token", error_description="` + d.Reason + `"`
	case Scope:
		return http.StatusForbidden, v.challenge + `, error="insufficient_scope", error_description="` + d.Reason + `"`
	default:
		return http.StatusUnauthorized, v.challenge
	}
}

// wellKnown is the path where protected resource metadata is published (RFC 9728).
const wellKnown = "/.well-known/oauth-protected-resource"

// bearer returns the part of the challenge that is the same for all denials.
func (v *Verifier) bearer() string {
	at := *v.resource
	at.Path, at.RawPath = wellKnown+strings.TrimSuffix(at.Path, "/"), ""
	challenge := `Bearer resource_metadata="` + at.String() + `"`
	if len(v.options.Scopes) > 0 {
		challenge += `, scope="` + strings.Join(v.options.Scopes, " ") + `"`
	}
	return challenge
}

// Metadata returns the protected resource metadata that is published at the given path. It names
// the authorization server of this endpoint. For any other path, Metadata returns nil.
func (v *Verifier) Metadata(path string) []byte {
	if path != wellKnown && path != wellKnown+v.options.Path && path != wellKnown+strings.TrimSuffix(v.resource.Path, "/") {
		return nil
	}
	b, err := json.Marshal(struct {
		Resource string   `json:"resource"`
		Servers  []string `json:"authorization_servers"`
		Scopes   []string `json:"scopes_supported,omitempty"`
		Methods  []string `json:"bearer_methods_supported"`
	}{v.options.Resource, []string{v.options.Issuer}, v.options.Scopes, []string{"header"}})
	if err != nil {
		return nil
	}
	return b
}
