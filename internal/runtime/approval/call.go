package approval

import (
	"bytes"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
)

// A Call describes the call that a person is asked to approve. The values passed to [Broker.Open]
// must be exactly those that will be forwarded. In a [Record], secrets are masked in all values
// except Meta. To display Meta, use [Call.ShownMeta].
type Call struct {
	Upstream, Tool  string // name of the upstream, and name of the tool at that upstream
	Arguments       []byte // arguments as received or, in a [Record], as displayed; may be empty
	Size            int    // size in bytes of the forwarded arguments
	SHA256          string // SHA-256 hash of the forwarded arguments
	Beside, Meta    []byte // JSON objects to forward in addition to the arguments; may be nil
	Session, Client string
	Principal       string
	Ignored         []string `json:",omitempty"` // names of arguments that the approval does not depend on

	Own     bool `json:",omitempty"` // whether the tool is built into an agent that reports its calls through a hook; Upstream is then the agent's name
	Dropped bool // whether the contents were removed because the call can no longer run

	// The following fields are set by the broker.
	SeenMeta []byte   `json:",omitempty"` // Meta as displayed; set only if parts of it are masked
	Masked   int      `json:",omitempty"` // number of masked values
	Warnings []string `json:",omitempty"` // warnings about content that could mislead a person

	exact     []byte // arguments as forwarded; nil if unknown or too long to compare
	given     int    // total size in bytes of the unmasked Arguments, Beside and Meta
	copied    int    // size in bytes of the parts that do not share memory with the client's message
	presented bool   // whether the call is in displayed form
}

// Subject returns the tool and the upstream or agent that the tool belongs to, for display.
func (c Call) Subject() string {
	whose := " on upstream "
	if c.Own {
		whose = " of "
	}
	return text.Escape(c.Tool) + whose + text.Escape(c.Upstream)
}

// Shown returns the arguments as displayed, or nil if they were removed.
func (c Call) Shown() []byte {
	switch {
	case c.Dropped:
		return nil
	case len(c.Arguments) == 0:
		return []byte("{}")
	}
	return c.Arguments
}

// ignoredPresent returns the names of the ignored arguments that the call contains.
func (c Call) ignoredPresent() []string {
	return slices.DeleteFunc(slices.Clone(c.Ignored), func(field string) bool {
		_, has := rawjson.Member(c.Arguments, field)
		return !has
	})
}

// ShownMeta returns the _meta object in its displayed form.
func (c Call) ShownMeta() []byte {
	if c.SeenMeta != nil {
		return c.SeenMeta
	}
	return c.Meta
}

// bytes returns the total size of the client-supplied contents of c, and of the names and reasons
// in the approval steps.
func (c Call) bytes(steps []gate.Step) int {
	n := max(c.given, len(c.Arguments)+len(c.Beside)+len(c.Meta)+len(c.SeenMeta)) + len(c.Client)
	for _, s := range steps {
		n += len(s.Name) + len(s.Reason)
	}
	return n
}

// detach copies the parts of c that share memory with the client's message, so that the message can
// be released. The argument contains the received values of c.Arguments, c.Beside and c.Meta, in
// this order.
func (c *Call) detach(message [][]byte) {
	for i, part := range []*[]byte{&c.Arguments, &c.Beside, &c.Meta} {
		if len(*part) > 0 && len(message[i]) > 0 && &(*part)[0] == &message[i][0] {
			*part = bytes.Clone(*part)
		}
	}
	c.copied = len(c.Arguments) + len(c.Beside) + len(c.Meta) + len(c.SeenMeta)
}
