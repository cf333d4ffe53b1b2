package access

import "time"

// A Kind is a kind of [Denial].
type Kind int

// Kinds of denials.
const (
	Missing     Kind = iota // the token is missing
	Invalid                 // the token is invalid
	Scope                   // the token is valid but lacks a required scope
	Unavailable             // the token cannot be verified, because the issuer's keys are unavailable
)

// A Denial explains why [Verifier.Verify] has rejected a token. Its text may be sent to the client.
// It contains no part of the token.
type Denial struct {
	Kind   Kind
	Reason string
}

func (d *Denial) Error() string { return d.Reason }

func invalid(reason string) error { return &Denial{Kind: Invalid, Reason: reason} }

// A Grant is the result of verifying a token successfully.
type Grant struct {
	Principal string    // issuer and subject; together, they are unique for each caller
	Expires   time.Time // expiry time of the token, plus the leeway
}
