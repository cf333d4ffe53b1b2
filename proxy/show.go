package proxy

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
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
	fmt.Fprintf(&b, "Allow %s on upstream %s?\n", visible(call.tool), visible(call.upstream))
	for _, s := range ask.Steps {
		fmt.Fprintf(&b, "Asked by %s: %s (fires %s in net %s)\n",
			visible(orText(p.where(s.Rule), "the policy")), visible(s.Reason), visible(s.Transition), visible(s.Net))
	}
	if call.client != "" {
		fmt.Fprintf(&b, "Client: %s, session %s\n", visible(call.client), visible(call.session))
	}
	fmt.Fprintf(&b, "Arguments (%d bytes, sha256 %s):\n", len(call.arguments), call.sum)
	b.WriteString(visibleLines(rawjson.AppendIndent([]byte("  "), call.shownArguments(), "  ", "  ")))
	writeBeside(&b, "Beside the arguments", call.beside)
	writeBeside(&b, "In _meta", call.meta)
	fmt.Fprintf(&b, "\nApproval %s, good for %s.", id, span(left))
	return b.String()
}

// writeBeside shows what is forwarded, and is not among the arguments.
func writeBeside(b *strings.Builder, what string, object []byte) {
	if object == nil {
		return
	}
	fmt.Fprintf(b, "\n%s:\n%s", what, visibleLines(rawjson.AppendIndent([]byte("  "), object, "  ", "  ")))
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

// span is a time for people: whole seconds, and no seconds of a whole minute.
func span(d time.Duration) string {
	text := d.Round(time.Second).String()
	if d.Round(time.Second)%time.Minute == 0 && d >= time.Minute {
		text = strings.TrimSuffix(text, "0s")
	}
	return text
}

func (c shownCall) shownArguments() []byte {
	if len(c.arguments) == 0 {
		return []byte("{}")
	}
	return c.arguments
}

func orText(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

// visibleLines is visible for the lines of text that we broke ourselves.
func visibleLines(text []byte) string {
	lines := bytes.Split(text, []byte("\n"))
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = visible(string(line))
	}
	return strings.Join(out, "\n")
}

// visible makes a string show what it is: every character that moves the
// cursor, changes the direction, is invisible, or only looks like a space
// becomes an escape. It is the one sanitiser for all that people read.
func visible(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case hidden(r):
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// hidden reports whether r would not be seen for what it is.
func hidden(r rune) bool {
	if r == ' ' {
		return false
	}
	return !unicode.IsPrint(r) || unicode.IsSpace(r) ||
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.Is(unicode.Variation_Selector, r) ||
		r == '\u3164' || r == '\uffa0' || r == '\u115f' || r == '\u1160' || r == '\u2800'
}
