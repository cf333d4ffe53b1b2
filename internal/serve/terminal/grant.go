package terminal

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/internal/text"
)

// ReadSpan parses a grant's lifetime, which is either a duration such as 10m or the word "session".
func ReadSpan(word string) (operator.Grant, error) {
	if word == "session" {
		return operator.Grant{Session: true}, nil
	}
	d, err := time.ParseDuration(word)
	if err != nil || d <= 0 {
		return operator.Grant{}, errors.New("a duration is required, for example 10m, or session")
	}
	return operator.Grant{For: d}, nil
}

// DescribeGrant returns a sentence that describes the calls that a grant would allow.
func DescribeGrant(g *operator.Grant) string {
	like := "exactly these arguments"
	if len(g.Like) > 0 {
		like = "the same " + text.And(text.EscapeAll(g.Like)) + ", and any values of its other arguments"
	}
	return fmt.Sprintf("For %s, calls to this tool in this session with %s would also pass without a question.", g.Span(), like)
}

// startGrant asks the first question about a grant. If no grant is possible for the displayed call,
// startGrant explains why instead.
func (w *watch) startGrant() {
	switch {
	case w.shown.Masked > 0:
		w.say("There are no grants for calls with masked values: you can only allow what you see.\n")
	case w.shown.Needs > 1:
		w.say("There are no grants for calls that require several approvals.\n")
	default:
		w.stage = atSpan
	}
	w.prompt()
}

// readGrant processes the line that the person has typed in reply to a question about a grant. An
// empty reply to the question about the lifetime means that the person does not want a grant.
func (w *watch) readGrant(line string) {
	switch w.stage {
	case atSpan:
		g, err := ReadSpan(line)
		switch {
		case line == "":
			w.stage = atCall
		case err != nil:
			w.say("%v.\n", err)
		default:
			w.grant, w.stage = g, atLike
		}
		w.prompt()
	case atLike:
		names := list.Map(strings.Split(line, ","), strings.TrimSpace)
		w.grant.Like = list.Filter(names, func(name string) bool { return name != "" })
		w.stage = atGrant
		w.say("%s approves %s on %s now. %s\n", w.shown.ID, text.Escape(w.shown.Tool), text.Escape(w.shown.Upstream), DescribeGrant(&w.grant))
		w.armed = time.After(armDelay) // ignore input typed before the question
	default:
		if word := strings.ToLower(line); word != "y" && word != "yes" {
			w.say("No answer was given.\n")
			w.stage = atCall
			w.prompt()
			return
		}
		w.submit(control.Answer{Approve: true, Grant: &w.grant})
	}
}
