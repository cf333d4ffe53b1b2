package gate

import (
	"cmp"
	"strings"

	"github.com/petrigate/petrigate/gate/internal/argument"
	"github.com/petrigate/petrigate/gate/internal/naming"
	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/text"
)

// maxWords bounds what a sentence quotes of an argument.
const maxWords = 80

// speakOfCall puts the tool and the text that a map has read in front of the sentence of the block, if that begins
// with a name from a map: the caller knows its call, but perhaps not the name. A sentence that shows the value of a
// key does not need the text.
func (j *judgement) speakOfCall(b *Block, f *finding, l *naming.Label) {
	rest, ok := strings.CutPrefix(b.Reason, l.Text+" ")
	if !ok || l.From != naming.FromMap || b.Cause == CauseNet {
		return
	}
	if read, m := j.readFor(l.Text); m != nil && (f.value() == nil || len(f.net.reasoned) == 1) {
		b.Words = " `" + text.Excerpt(read, maxWords) + "`"
	}
	b.Reason = j.call.Tool + b.Words + " (" + l.Text + ") " + rest
}

// readFor returns the first map that gives the name to the call, with the text that it has read, or nil if no map
// does. A text longer than maxWords is cut to the part that the map has found.
func (j *judgement) readFor(name string) (string, *Map) {
	for _, l := range j.policy.labels {
		for i := range l.Maps {
			if m := &l.Maps[i]; m.As == name && j.isOf(m) {
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

// isOf reports whether a map is of the tool of the call.
func (j *judgement) isOf(m *Map) bool {
	for i := range j.tools {
		if tool := j.tools[i].Text; tool == m.Tool || m.Glob && toolnet.MatchGlob(m.Tool, tool) {
			return true
		}
	}
	return false
}
