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

// speakOfCall begins the sentence of the block, if it is about a name that a map gives and not the words of an
// author, with the tool and what the map has read: the caller knows these, and may not know the name. A
// sentence that shows the value of a key does not need the latter.
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

// readFor returns the text that the first map of the call which gives the name has read, with the map; nil: none has. Of
// a text that is longer than what is shown, it is the part that the map has found.
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
