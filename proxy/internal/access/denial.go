package access

import "time"

// A Kind is a kind of [Denial].
type Kind int

// The kinds of denials.
const (
	Missing     Kind = iota // no token
	Invalid                 // invalid token
	Scope                   // valid token without a required scope
	Unavailable             // not verifiable: the issuer's keys are unavailable
)

// A Denial is an error of [Verifier.Verify]. Its text is for the client and contains no part of the
// token.
type Denial struct {
	Kind   Kind
	Reason string
}

func (d *Denial) Error() string { return d.Reason }

func invalid(reason string) error { return &Denial{Kind: Invalid, Reason: reason} }

// A Grant is the result of verifying a token.
type Grant struct {
	Principal string    // issuer and subject; unique for each caller
	Expires   time.Time // expiry of the token, including the leeway
}
