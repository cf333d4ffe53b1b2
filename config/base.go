package config

import (
	"time"

	"github.com/petrigate/petrigate/internal/basefile"
)

// A Base is a base policy that the configuration extends. The configuration may only narrow it. In
// [Config.Rules] and [Config.Nets], the base's rules and nets come before the configuration's own.
type Base struct {
	Name    string
	Version int
	File    string   // file name or URL, for use in messages
	Digest  string   // digest of the file's contents
	Key     string   // public key that verified the signature; empty: the configuration specifies a digest instead
	Entry   Position // position of the base's entry in the list "extends"

	Refresh time.Duration // interval between two reads of the URL; 0: the URL is not read again automatically
	Copy    string        // the reason why a cached copy was used instead of the URL; empty: no cached copy was used

	Rules   []RuleText
	Nets    []Net
	Default string // the default that the base sets: "allow" or "deny"
	Mode    string // the mode that the base sets: "enforce" or "shadow"

	Read []Read // contents that were read from URLs, for [Config.Fetched]
}

// A Read is the content read from a URL.
type Read struct {
	Address string
	Data    []byte
}

// KeyID returns the minisign ID of the key that signed the base. It returns the empty string if the
// base is not signed.
func (b Base) KeyID() string {
	id, _ := basefile.KeyID(b.Key)
	return id
}
