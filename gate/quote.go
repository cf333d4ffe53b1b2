package gate

import (
	"cmp"
	"strings"

	"github.com/petrigate/petrigate/gate/internal/argument"
	"github.com/petrigate/petrigate/gate/internal/naming"
	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/text"
)

// maxWords is the maximum length of a quotation from an argument in a sentence.
const maxWords = 80

// quoteCall puts the tool and the text that a map has read in front of the block's sentence if
// that starts with a name given by a map: the caller knows its call, but perhaps not the name. The
// text is omitted if the sentence already shows the value of a key.
func (j *judgement) quoteCall(b *Block, f *finding, l *naming.Label) {
	rest, ok := strings.CutPrefix(b.Reason, l.Text+" ")
	if !ok || l.From != naming.FromMap || b.Cause == CauseNet {
		return
	}
	if read, m := j.mappedText(l.Text); m != nil && (f.value() == nil || len(f.net.reasoned) == 1) {
		b.Words = " `" + text.Excerpt(read, maxWords) + "`"
	}
	b.Reason = j.call.Tool + b.Words + " (" + l.Text + ") " + rest
}

// mappedText returns the first map that gives the name to the call, and the text that the map has
// read; nil if no map does. If the text is longer than maxWords, only the part that the map matched
// is returned.
func (j *judgement) mappedText(name string) (string, *Map) {
	for _, l := range j.policy.labels {
		for i := range l.Maps {
			if m := &l.Maps[i]; m.As == name && j.appliesToCall(m) {
				read, ok := argument.Text(m, j.call)
				switch {
				case !ok || m.Match != nil && !m.Match(read):
				case m.Reader == nil || len(read) <= maxWords:
					return read, m
				default:
					if code, ok := naming.Code(m, j.call, read); ok {
						return cmp.Or(code, read), m
					}
				}
			}
		}
	}
	return "", nil
}

// appliesToCall reports whether the map applies to the tool of the call.
func (j *judgement) appliesToCall(m *Map) bool {
	for i := range j.tools {
		if tool := j.tools[i].Text; tool == m.Tool || m.Glob && toolnet.MatchGlob(m.Tool, tool) {
			return true
		}
	}
	return false
}
