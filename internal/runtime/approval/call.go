package approval

import (
	"bytes"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
)

// A Call is the call that a person is asked about, with exactly the values that are forwarded.
type Call struct {
	Upstream, Tool  string // name of the upstream, and the tool's name at the upstream
	Arguments       []byte // arguments as received, or their displayed form in a [Record]; empty: no arguments
	Size            int    // size of the forwarded arguments
	SHA256          string // digest of the forwarded arguments
	Beside, Meta    []byte // other forwarded objects; may be nil
	Session, Client string
	Principal       string
	Ignored         []string `json:",omitempty"` // arguments that are not compared, so that an approval also covers other values of these arguments

	Own     bool `json:",omitempty"` // Upstream is an agent that asks through a hook about its own tool
	Dropped bool // the call can no longer run, and its contents were removed

	// Set by the broker.
	SeenMeta []byte   `json:",omitempty"` // Meta in displayed form, if parts of it are masked
	Masked   int      `json:",omitempty"` // number of masked values
	Warnings []string `json:",omitempty"` // warnings about misleading content

	exact     []byte // arguments as forwarded; nil: unknown, or too long to compare
	given     int    // size of the arguments and other objects before masking
	copied    int    // number of bytes copied from the message
	presented bool   // present has been called, so the call has its displayed form
}

// Subject returns the tool and its owner for display. The owner is an upstream or the agent itself.
func (c Call) Subject() string {
	whose := " on upstream "
	if c.Own {
		whose = " of "
	}
	return text.Escape(c.Tool) + whose + text.Escape(c.Upstream)
}

// Shown returns the displayed form of the arguments, or nil if they were removed.
func (c Call) Shown() []byte {
	switch {
	case c.Dropped:
		return nil
	case len(c.Arguments) == 0:
		return []byte("{}")
	}
	return c.Arguments
}

// ignoredPresent returns the ignored arguments that are present in the call.
func (c Call) ignoredPresent() []string {
	return slices.DeleteFunc(slices.Clone(c.Ignored), func(field string) bool {
		_, has := rawjson.Member(c.Arguments, field)
		return !has
	})
}

// ShownMeta returns the displayed form of the _meta object.
func (c Call) ShownMeta() []byte {
	if c.SeenMeta != nil {
		return c.SeenMeta
	}
	return c.Meta
}

// bytes returns the size of those parts of c and of the steps that the client supplied.
func (c Call) bytes(steps []gate.Step) int {
	n := max(c.given, len(c.Arguments)+len(c.Beside)+len(c.Meta)+len(c.SeenMeta)) + len(c.Client)
	for _, s := range steps {
		n += len(s.Name) + len(s.Reason)
	}
	return n
}

// detach copies the parts of c that point into its message. The displayed parts are needed for
// longer than the message, which is needed only while a call waits.
func (c *Call) detach(message [][]byte) {
	for i, part := range []*[]byte{&c.Arguments, &c.Beside, &c.Meta} {
		if len(*part) > 0 && len(message[i]) > 0 && &(*part)[0] == &message[i][0] {
			*part = bytes.Clone(*part)
		}
	}
	c.copied = len(c.Arguments) + len(c.Beside) + len(c.Meta) + len(c.SeenMeta)
}
