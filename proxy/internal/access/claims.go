package access

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-jose/go-jose/v4/jwt"
)

// maxName is the maximum length of a principal's name in bytes.
const maxName = 255

// claims contains the claims of a token with a verified signature.
type claims struct {
	registered jwt.Claims
	named      map[string]any
}

// checkClaims checks whether the claims satisfy the options. The signature of the token must
// already have been verified.
func (v *Verifier) checkClaims(c claims) (Grant, error) {
	r := c.registered
	switch now := v.options.Now(); {
	case r.Issuer != v.options.Issuer:
		return Grant{}, invalid("the token is from another issuer")
	case !r.Audience.Contains(v.options.Audience):
		return Grant{}, invalid("the token is for another audience")
	case r.Expiry == nil:
		return Grant{}, invalid("the token never expires")
	case !now.Before(r.Expiry.Time().Add(leeway)):
		return Grant{}, invalid("the token has expired")
	case r.NotBefore != nil && now.Add(leeway).Before(r.NotBefore.Time()):
		return Grant{}, invalid("the token is not valid yet")
	case r.IssuedAt != nil && now.Add(leeway).Before(r.IssuedAt.Time()):
		return Grant{}, invalid("the token is from the future")
	}
	name, ok := c.named[v.options.PrincipalClaim].(string)
	if !ok || !isUnambiguous(name) {
		return Grant{}, invalid("the token has no subject")
	}
	had := c.scopes()
	missing := slices.DeleteFunc(slices.Clone(v.options.Scopes), func(s string) bool { return slices.Contains(had, s) })
	if len(missing) > 0 {
		return Grant{}, &Denial{Kind: Scope, Reason: "the token lacks the scope " + strings.Join(missing, " ")}
	}
	return Grant{Principal: v.options.Issuer + "#" + name, Expires: r.Expiry.Time().Add(leeway)}, nil
}

// isUnambiguous reports whether all people and programs that read the name will take it for the
// same name.
func isUnambiguous(name string) bool {
	return name != "" && len(name) <= maxName && utf8.ValidString(name) && !strings.ContainsFunc(name, unicode.IsControl)
}

// scopes returns the scopes in the claim scope, where they are separated by spaces, and those in
// the claim scp, which some issuers write as a list.
func (c claims) scopes() []string {
	var all []string
	for _, name := range []string{"scope", "scp"} {
		switch value := c.named[name].(type) {
		case string:
			all = append(all, strings.Fields(value)...)
		case []any:
			for _, item := range value {
				if s, ok := item.(string); ok {
					all = append(all, s)
				}
			}
		}
	}
	return all
}

// leeway is the accepted difference between the issuer's clock and the clock of this machine.
const leeway = 30 * time.Second
