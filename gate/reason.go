package gate

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/petrigate/petrigate/gate/internal/keyvalue"
)

func (d *definition) reason(name string) string {
	if d.Reason != "" {
		return d.Reason
	}
	return fmt.Sprintf("Tool '%s' is not available in the current state.", name)
}

func (d *definition) approvalReason(name string, persons int) string {
	switch {
	case d.Reason != "":
		return d.Reason
	case persons > 1:
		return fmt.Sprintf("%s requires the approval of %d different people.", name, persons)
	}
	return name + " requires human approval."
}

// unrest returns the reason for blocking a call because the net's structural transitions, which
// fire by themselves, do not stop firing.
func (d *definition) unrest() string {
	return fmt.Sprintf("Net '%s' never settles: its transitions without tools keep firing.", d.Name)
}

// explained returns the given sentence, preceded by the author's explanation if the net has one.
func (d *definition) explained(sentence string) string {
	switch last, _ := utf8.DecodeLastRuneInString(d.Because); {
	case d.Because == "":
		return sentence
	case unicode.In(last, unicode.Letter, unicode.Digit):
		return d.Because + ". " + sentence
	}
	return d.Because + " " + sentence
}

// reason returns the net's reason for blocking the name, with {key} replaced by the finding's key
// value.
func (f *finding) reason(name string) string {
	if f.value == nil || len(f.net.reasoned) == 1 {
		return f.net.reason(name)
	}
	return strings.Join(f.net.reasoned, keyvalue.Format(f.value.Named))
}

// withReason puts the reason written by the author of a hand-written net before the sentence. It
// omits a reason that contains {key} if the finding has no key value.
func (f *finding) withReason(sentence string) string {
	if f.net.Cause != CauseNet || f.net.Reason == "" || f.value == nil && len(f.net.reasoned) > 1 {
		return sentence
	}
	return f.reason("") + " " + sentence
}

// fillKey replaces {key} in a sentence with the finding's key value, if it has one.
func (f *finding) fillKey(sentence string) string {
	if f.value == nil || !strings.Contains(sentence, "{key}") {
		return sentence
	}
	return strings.ReplaceAll(sentence, "{key}", keyvalue.Format(f.value.Named))
}

// displayName returns the call's name for use in a sentence.
func (f *finding) displayName(c *Call) string {
	for i := range f.labels {
		if l := &f.labels[i]; l.Text == f.choices[0].name && l.Glob == 0 {
			return l.Text
		}
	}
	return c.Tool
}

func listOrNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
