package config

import (
	"time"

	"github.com/petrigate/petrigate/internal/basefile"
)

// A Base is a base policy that the configuration extends and that it may only narrow. The base's
// rules and nets precede the configuration's own in [Config.Rules] and [Config.Nets].
type Base struct {
	Name    string
	Version int
	File    string   // file name or URL for use in messages
	Digest  string   // digest of the file's contents
	Key     string   // public key that verified the signature; empty: the configuration specifies the digest
	Entry   Position // position of the base in the list "extends" of the configuration

	Refresh time.Duration // interval between reads of the URL; 0: no automatic reads
	Copy    string        // reason why a cached copy was used instead of the URL; empty: no cached copy was used

	Rules   []RuleText
	Nets    []Net
	Default string // "allow" or "deny"
	Mode    string // "enforce" or "shadow"

	Read []Read // contents that were read from URLs
}

// A Read is the content read from a URL.
type Read struct {
	Address string
	Data    []byte
}

// KeyID returns the minisign ID of the base's key, or the empty string if the base is not signed.
func (b Base) KeyID() string {
	id, _ := basefile.KeyID(b.Key)
	return id
}
