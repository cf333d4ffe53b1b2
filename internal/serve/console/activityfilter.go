package console

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// A filter selects the rows that match all of its nonempty fields.
type filter struct {
	Tool      string // part of a tool's name, or a pattern with * and ? that must match the whole name
	Decision  string // "allow", "refuse", "ask", or "would" for calls that a net in shadow mode would have stopped
	Outcome   string // "success", "failure", "unknown" or "open"
	Session   string
	Principal string
	Client    string
	Net       string
	Kind      string
	Words     string // words that must all occur in the row's visible text
	Since     string // start of the period, as the user typed it
	Only      string // "calls" selects only calls; "acts" selects all rows except the start and end of processes and sessions

	since time.Time
}

// fields maps query parameter names to pointers to the filter's fields.
func (f *filter) fields() map[string]*string {
	return map[string]*string{
		"tool": &f.Tool, "decision": &f.Decision, "outcome": &f.Outcome, "session": &f.Session, "principal": &f.Principal,
		"client": &f.Client, "net": &f.Net, "kind": &f.Kind, "q": &f.Words, "since": &f.Since,
	}
}

// maxFilter is the maximum length of a filter field in bytes.
const maxFilter = 200

// readFilter parses a filter from the query parameters of a URL. Its errors are shown to the user.
func readFilter(v url.Values, now time.Time) (f filter, err error) {
	for name, at := range f.fields() {
		*at = strings.TrimSpace(v.Get(name))
		if len(*at) > maxFilter {
			return filter{}, fmt.Errorf("the filter %s is longer than %d bytes", name, maxFilter)
		}
	}
	if f.Only = v.Get("only"); f.Only != "" && f.Only != "calls" && f.Only != "acts" {
		return filter{}, fmt.Errorf("only must be calls or acts, not %q", f.Only)
	}
	if f.since, err = parseTime(f.Since, now); err != nil {
		return f, err
	}
	if _, err := path.Match(f.Tool, ""); err != nil {
		return f, fmt.Errorf("the tool pattern %q is invalid", f.Tool)
	}
	return f, nil
}

// parseTime parses a point in time. A duration, such as "10m" or "10m ago", is subtracted from the
// current time.
func parseTime(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(strings.TrimSpace(strings.TrimSuffix(s, "ago"))); err == nil {
		return now.Add(-d.Abs()), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("write a time as 10m, 2h, 2026-01-31 or 2026-01-31T15:04:05Z, not %q", s)
}

// values returns the filter as query parameters.
func (f *filter) values() url.Values {
	v := url.Values{}
	for name, at := range f.fields() {
		if *at != "" {
			v.Set(name, *at)
		}
	}
	if f.Only != "" {
		v.Set("only", f.Only)
	}
	return v
}

// Any reports whether any field of the filter is set.
func (f *filter) Any() bool { return len(f.values()) > 0 }

// A matcher is a filter that has been preprocessed, so that matching many rows is fast.
type matcher struct {
	filter
	tool  string // pattern for the tool's name, in lower case
	glob  bool
	words []string
	only  bool // whether to select only calls
}

func (f filter) matcher() *matcher {
	m := &matcher{filter: f, tool: strings.ToLower(f.Tool), glob: strings.ContainsAny(f.Tool, "*?["), words: strings.Fields(strings.ToLower(f.Words))}
	m.only = f.Only == "calls" || f.Tool != "" || f.Decision != "" || f.Outcome != "" || f.Client != "" || f.Net != "" || f.Kind != ""
	return m
}

// matches reports whether the row matches the filter.
func (m *matcher) matches(r *row) bool {
	is := func(want, got string) bool { return want == "" || want == got }
	switch {
	case m.only && !r.IsCall(), m.Only == "acts" && r.isRoutine():
		return false
	case !m.since.IsZero() && r.Time.Before(m.since):
		return false
	case !is(m.Session, r.Session) || !is(m.Principal, r.Principal) || !is(m.Client, r.Client) || !is(m.Kind, r.Kind):
		return false
	case !m.matchesDecision(r) || !m.matchesOutcome(r):
		return false
	}
	return (m.tool == "" || m.matchesTool(r)) && (m.Net == "" || m.matchesNet(r)) && (len(m.words) == 0 || m.hasWords(r))
}

func (m *matcher) matchesDecision(r *row) bool {
	if m.Decision == "would" {
		return r.Would != nil
	}
	return m.Decision == "" || m.Decision == r.Decision
}

func (m *matcher) matchesOutcome(r *row) bool {
	if m.Outcome == "open" {
		return r.Open()
	}
	return m.Outcome == "" || m.Outcome == r.Outcome
}

func (m *matcher) matchesTool(r *row) bool {
	return m.matchesName(r.Tool) || slices.ContainsFunc(r.Names, m.matchesName)
}

func (m *matcher) matchesName(tool string) bool {
	tool = strings.ToLower(tool)
	if !m.glob {
		return strings.Contains(tool, m.tool)
	}
	ok, err := path.Match(m.tool, tool)
	return err == nil && ok
}

func (m *matcher) matchesNet(r *row) bool {
	is := func(n audit.NetVerdict) bool { return n.Net == m.Net }
	return r.About == m.Net || slices.ContainsFunc(r.Nets, is) || r.Would != nil && slices.ContainsFunc(r.Would.Nets, is)
}

// hasWords reports whether each word of the filter occurs in at least one of the row's strings,
// ignoring case. It does not join the strings first, because that would be slower.
func (m *matcher) hasWords(r *row) bool {
	texts := r.texts()
	for i, t := range texts {
		texts[i] = strings.ToLower(t)
	}
	for _, word := range m.words {
		if !slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, word) }) {
			return false
		}
	}
	return true
}

// texts returns all of the row's strings that appear on a page.
func (r *row) texts() []string {
	texts := make([]string, 0, 24)
	texts = append(texts, r.Event, r.Tool, r.Decision, r.Outcome, r.Kind, r.Reason, r.Session, r.Principal, r.Client, r.Approval, r.Channel, r.Actor, r.By, r.About, r.command)
	for i := range r.Nets {
		texts = append(texts, r.Nets[i].Net, r.Nets[i].Rule)
	}
	if r.Would != nil {
		texts = append(texts, r.Would.Reason)
	}
	return append(texts, r.Names...)
}
