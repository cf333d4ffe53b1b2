package config

import (
	"time"

	"github.com/petrigate/petrigate/internal/basefile"
)

// A Base is a policy that the configuration extends and may only narrow. Its rules and nets precede
// the configuration's own in [Config.Rules] and [Config.Nets].
type Base struct {
	Name    string
	Version int
	File    string   // file name or URL, for messages
	Digest  string   // digest of the file
	Key     string   // public key that verified the signature; empty: the configuration pins the digest
	Entry   Position // entry of "extends" in the configuration

	Refresh time.Duration // interval between reads of the URL; 0: never automatically
	Copy    string        // reason why a cached copy was used instead of the URL; empty: the URL was read

	Rules   []RuleText
	Nets    []Net
	Default string // "allow" or "deny"
	Mode    string // "enforce" or "shadow"

	Read []Read // contents read from URLs
}

// A Read is the content that was read from one URL.
type Read struct {
	Address string
	Data    []byte
}

// KeyID returns the minisign ID of the base's key; empty if the base is not signed.
func (b Base) KeyID() string {
	id, _ := basefile.KeyID(b.Key)
	return id
}
