package gate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate/internal/argument"
	"github.com/petrigate/petrigate/gate/naming"
	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/text"
)

// maxWords is the maximum number of bytes of a call's arguments to quote in a message.
const maxWords = 80

// quoteCall makes b.Reason understandable to a caller that does not know the names given by map
// statements (see [Map]). If the reason starts with such a name, quoteCall puts the call's tool and
// a quotation of its arguments before the name. It omits the quotation if the map statement does
// not read a single string, or if the reason already shows a key value. For a hand-written net,
// quoteCall does nothing.
func (c *namedCall) quoteCall(b *Block, f *finding, l *naming.Label) {
	rest, ok := strings.CutPrefix(b.Reason, l.Text+" ")
	if !ok || l.From != naming.FromMap || b.Cause == CauseNet {
		return
	}
	if read, m := c.mappedText(l.Text); m != nil && (f.value == nil || len(f.net.reasoned) == 1) {
		b.Words = " `" + text.Excerpt(read, maxWords) + "`"
	}
	b.Reason = c.call.Tool + b.Words + " (" + l.Text + ") " + rest
}

// mappedText returns the first map (see [Map]) that gives the name to the call, and the text that
// this map reads from the call. If the text is longer than maxWords, only the part matched by the
// map is returned. If no map gives the name, the returned map is nil.
func (c *namedCall) mappedText(name string) (string, *Map) {
	for _, l := range c.policy.labels {
		for i := range l.Maps {
			if m := &l.Maps[i]; m.As == name && c.appliesToCall(m) {
				read, ok := argument.Text(m, c.call)
				switch {
				case !ok || m.Match != nil && !m.Match(read):
				case m.Reader == nil || len(read) <= maxWords:
					return read, m
				default:
					if code, ok := naming.Code(m, c.call, read); ok {
						return cmp.Or(code, read), m
					}
				}
			}
		}
	}
	return "", nil
}

// appliesToCall reports whether the [Map] applies to the call's tool.
func (c *namedCall) appliesToCall(m *Map) bool {
	return slices.ContainsFunc(c.tools, func(l naming.Label) bool {
		return l.Text == m.Tool || m.Glob && toolnet.MatchGlob(m.Tool, l.Text)
	})
}
