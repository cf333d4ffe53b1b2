package proxy

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/plain"
)

// maxShown is how much of a question a client is given to show. What is
// longer is never cut: it is left to a channel that shows all of it.
const maxShown = 32 << 10

// A shownCall is a call as a person is asked about it: the very values that
// are forwarded.
type shownCall struct {
	upstream, tool  string // the upstream's names
	exposed         string
	arguments       []byte // the source bytes
	sum             string // their SHA-256
	beside, meta    []byte // what else is forwarded: objects; nil: nothing
	session, client string
	principal       string
}

// question is what a person reads: what would run, who wants it, and why they
// are asked. It is plain text for every surface.
func (p *Proxy) question(call shownCall, ask *gate.Ask, id string, left time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Allow %s on upstream %s?\n", plain.Visible(call.tool), plain.Visible(call.upstream))
	for _, s := range ask.Steps {
		fmt.Fprintf(&b, "Asked by %s: %s (fires %s in net %s)\n",
			plain.Visible(cmp.Or(p.where(s.Rule), "the policy")), plain.Visible(s.Reason), plain.Visible(s.Transition), plain.Visible(s.Net))
	}
	if call.client != "" {
		fmt.Fprintf(&b, "Client: %s, session %s\n", plain.Visible(call.client), plain.Visible(call.session))
	}
	fmt.Fprintf(&b, "Arguments (%d bytes, sha256 %s):\n", len(call.arguments), call.sum)
	b.WriteString(plain.Lines(rawjson.AppendIndent([]byte("  "), call.shownArguments(), "  ", "  ")))
	writeBeside(&b, "Beside the arguments", call.beside)
	writeBeside(&b, "In _meta", call.meta)
	fmt.Fprintf(&b, "\nApproval %s, good for %s.", id, plain.Span(left))
	return b.String()
}

// writeBeside shows what is forwarded, and is not among the arguments.
func writeBeside(b *strings.Builder, what string, object []byte) {
	if object == nil {
		return
	}
	fmt.Fprintf(b, "\n%s:\n%s", what, plain.Lines(rawjson.AppendIndent([]byte("  "), object, "  ", "  ")))
}

// where is a position as clients and operators read it: from the folder of
// the configuration, since the rest of the path is nobody's business.
func (p *Proxy) where(at gate.Position) string {
	if root := p.options.Root; root != "" {
		if rel, err := filepath.Rel(root, at.File); err == nil && filepath.IsLocal(rel) {
			at.File = rel
		}
	}
	return at.String()
}

func (c shownCall) shownArguments() []byte {
	if len(c.arguments) == 0 {
		return []byte("{}")
	}
	return c.arguments
}
