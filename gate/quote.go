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

// maxWords is the maximum length, in bytes, of the part of an argument that is quoted in a
// sentence.
const maxWords = 80

// quoteCall puts the tool and the text that a map has read before the block's sentence, if that
// sentence starts with a name given by a map. The caller knows which call it made, but might not
// know that name. quoteCall omits the text if the sentence already shows a key value.
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

// mappedText returns the first map that gives the name to the call, and the text that the map has
// read. It returns nil if no map gives the name. If the text is longer than maxWords, only the part
// matched by the map is returned.
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

// appliesToCall reports whether m applies to the call's tool.
func (c *namedCall) appliesToCall(m *Map) bool {
	return slices.ContainsFunc(c.tools, func(l naming.Label) bool {
		return l.Text == m.Tool || m.Glob && toolnet.MatchGlob(m.Tool, l.Text)
	})
}
