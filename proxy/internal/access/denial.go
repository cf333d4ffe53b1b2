package access

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
)

// A Kind is why somebody is not let in.
type Kind int

// The kinds of denials.
const (
	Missing     Kind = iota // there is no token
	Invalid                 // the token is not taken
	Scope                   // the token is good, and for less
	Unavailable             // nobody can tell: the issuer's keys are not there
)

// A Denial is an error of [Verifier.Verify]. Its text is for the client: it
// holds nothing of the token.
type Denial struct {
	Kind   Kind
	Reason string
}

func (d *Denial) Error() string { return d.Reason }

func invalid(reason string) error { return &Denial{Kind: Invalid, Reason: reason} }

// wellKnown is where clients look for metadata (RFC 9728).
const wellKnown = "/.well-known/oauth-protected-resource"

// Answer is the status and the WWW-Authenticate header for an error of
// [Verifier.Verify]. What nobody can tell is 401 too.
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

// bearer is the challenge that all denials have.
func (v *Verifier) bearer() string {
	at := *v.resource
	at.Path, at.RawPath = wellKnown+strings.TrimSuffix(at.Path, "/"), ""
	challenge := `Bearer resource_metadata="` + at.String() + `"`
	if len(v.options.Scopes) > 0 {
		challenge += `, scope="` + strings.Join(v.options.Scopes, " ") + `"`
	}
	return challenge
}

// Metadata is the document for a path, nil if there is none: who gives out
// tokens for this endpoint.
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
