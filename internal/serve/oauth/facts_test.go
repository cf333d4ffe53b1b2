package oauth

import (
	"strings"
	"testing"
	"time"
)

// TestStatusFacts compares descriptions of logins.
func TestStatusFacts(t *testing.T) {
	now := time.Date(2026, 11, 21, 20, 0, 0, 0, time.UTC)
	later := now.Add(90 * time.Minute)
	for want, status := range map[string]Status{
		"until the server ends it, kept in the file":                 {State: StateValid, Store: "file"},
		"for 1h30m0s, not refreshed after that, kept in the keyring": {State: StateValid, Expiry: &later, Store: "keyring"},
		"refreshed when needed, scopes read write, kept in the file": {State: StateRefreshable, Refresh: true, Expiry: &now, Scopes: []string{"read", "write"}, Store: "file"},
		"expired, log in again for write, kept in the file":          {State: StateExpired, Expiry: &now, Wanted: []string{"write"}, Store: "file"},
	} {
		if got := strings.Join(status.Facts(now), ", "); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
