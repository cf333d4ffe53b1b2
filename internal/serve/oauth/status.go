package oauth

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// A Status describes a login to a server without revealing tokens.
type Status struct {
	Server   string     `json:"server"`
	State    string     `json:"state"` // "none", "valid", "expired", or "refreshable" (expired, but will be refreshed at the next use)
	Issuer   string     `json:"issuer,omitempty"`
	Scopes   []string   `json:"scopes,omitempty"`
	Wanted   []string   `json:"wanted,omitempty"` // additional scopes that the server has demanded since the login
	Expiry   *time.Time `json:"expiry,omitempty"` // nil if unknown
	Refresh  bool       `json:"refreshable"`
	Store    string     `json:"store,omitempty"`
	Obtained *time.Time `json:"obtained,omitempty"`
}

// Values of [Status.State].
const (
	StateNone        = "none"
	StateValid       = "valid"
	StateExpired     = "expired"
	StateRefreshable = "refreshable"
)

// StatusOf returns the status of the login to s, based on the tokens in the store.
func StatusOf(s Server, store *Store, now time.Time) (Status, error) {
	none := Status{Server: s.Name, State: StateNone}
	g, where, err := store.find(s.key())
	if err != nil || g == nil || !s.matches(g) {
		return none, err
	}
	return statusOf(g, where, now), nil
}

func statusOf(g *Grant, where string, now time.Time) Status {
	s := Status{
		Server: g.Server, State: StateValid, Issuer: g.Issuer, Scopes: g.Scopes, Wanted: g.Wanted,
		Refresh: g.RefreshToken != "", Store: where, Obtained: &g.Obtained,
	}
	if !g.Expiry.IsZero() {
		s.Expiry = &g.Expiry
	}
	switch {
	case g.alive(now):
	case s.Refresh:
		s.State = StateRefreshable
	default:
		s.State = StateExpired
	}
	return s
}

// Logout deletes the tokens for s and, if the authorization server supports it, revokes them there.
// The first result reports whether tokens were found and deleted. If it is true and the error is
// not nil, the tokens were deleted but could not be revoked.
func Logout(ctx context.Context, s Server, store *Store) (was bool, err error) {
	if store.changeTime(s.key()).IsZero() {
		return false, nil
	}
	unlock, err := store.lock(ctx, s.key())
	if err != nil {
		return false, err
	}
	defer unlock()
	g, err := store.load(s.key()) // a grant can be deleted even if it cannot be read
	if err := store.drop(s.key()); err != nil {
		return false, fmt.Errorf("deleting the tokens for %s: %w", s.Name, err)
	}
	if err == nil {
		if g == nil || g.RevokeURL == "" {
			return g != nil, nil
		}
		client := newClient(s)
		defer client.CloseIdleConnections()
		err = g.revoke(ctx, client)
	}
	if err != nil {
		return true, fmt.Errorf("revoking the tokens for %s: %s", s.Name, s.redact(err.Error()))
	}
	return true, nil
}

// Facts returns short, readable phrases that describe the login, such as "refreshed when needed".
func (s Status) Facts(now time.Time) []string {
	var list []string
	switch {
	case s.State == StateExpired:
		list = append(list, "expired")
	case s.Refresh:
		list = append(list, "refreshed when needed")
	case s.Expiry != nil:
		list = append(list, "for "+s.Expiry.Sub(now).Round(time.Second).String()+", not refreshed after that")
	default:
		list = append(list, "until the server ends it")
	}
	if len(s.Scopes) > 0 {
		list = append(list, "scopes "+strings.Join(s.Scopes, " "))
	}
	if len(s.Wanted) > 0 {
		list = append(list, "log in again for "+strings.Join(s.Wanted, " "))
	}
	return append(list, "kept in the "+s.Store)
}
