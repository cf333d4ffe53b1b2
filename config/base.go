package config

import (
	"time"

	"github.com/petrigate/petrigate/internal/basefile"
)

// A Base is a base policy that the configuration extends and may only narrow. In [Config.Rules] and
// [Config.Nets], the base's rules and nets come before the configuration's own.
type Base struct {
	Name    string
	Version int
	File    string   // file name or URL of the base policy, for messages
	Digest  string   // digest of the file's contents
	Key     string   // public key used to verify the signature; empty if the base was verified by its digest instead
	Entry   Position // position of the policy's entry in "extends"

	Refresh time.Duration // how often to fetch the base policy again; 0 means never
	Copy    string        // why a cached copy was used instead of fetching the URL; empty if no copy was used

	Rules   []RuleText
	Nets    []Net
	Default string // verdict if all nets of the base policy abstain: "allow" or "deny"
	Mode    string // mode that the base policy sets: "enforce" or "shadow"

	Read []Read // content read from each URL; returned by [Config.Fetched]
}

// A Read holds the content that was read from a URL.
type Read struct {
	Address string
	Data    []byte
}

// KeyID returns the minisign ID of the key that signed the base policy, or the empty string if the
// policy is not signed.
func (b Base) KeyID() string {
	id, _ := basefile.KeyID(b.Key)
	return id
}
