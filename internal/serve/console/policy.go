package console

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/serve/draft"
)

// policyBody holds the data for the policy page: the policy in force, a draft that changes some of
// its rules or nets, and the results of evaluating the draft.
type policyBody struct {
	*draft.Policy
	Text  draft.Text // rules or nets in the editor, including the user's changes
	Dirty bool       // whether the user has changed the rules or nets in the editor
	Known bool       // whether to check the tool names in the draft against the tools that the servers list
	Since string     // start of the period to replay
	Claim *claimBody // refuted claim of the policy in force, with its counterexample; nil if none is displayed

	Checked  *draft.Checked
	Compared *draft.Compared
	Replayed *draft.Replayed
	Steps    *claimBody // refuted claim of the draft, with its counterexample; nil if none is displayed
	Wrong    string     // why the evaluation failed
}

// sinces lists the periods that the user can choose for a replay.
var sinces = []struct {
	Name, Label string
	For         time.Duration // length of the period; 0 means all records
}{{"", "all records", 0}, {"1h", "the last hour", time.Hour}, {"24h", "the last day", 24 * time.Hour}, {"168h", "the last week", 7 * 24 * time.Hour}}

// policy serves the page with an editor that contains the policy in force.
func (c *Console) policy(w http.ResponseWriter, r *http.Request) {
	if b := c.policyBody(w, r, r.FormValue("text")); b != nil {
		number, err := strconv.Atoi(r.FormValue("claim"))
		if b.Report != nil && err == nil {
			b.Claim = claimOf(b.Report, number, r.FormValue("step"))
		}
		c.show(w, r, "policy", "Policy", b)
	}
}

// policyBody returns the data common to all policy pages. The editor shows the [draft.Text] with
// the given ID. If the ID is unknown, it shows the first text that can be edited or, if none can be
// edited, simply the first text. If the console does not show policies, policyBody writes an error
// page and returns nil. If the browser has disconnected, policyBody returns nil.
func (c *Console) policyBody(w http.ResponseWriter, r *http.Request, text string) *policyBody {
	if c.options.Drafts == nil {
		c.fail(w, r, http.StatusNotFound, "This proxy does not show its policy.")
		return nil
	}
	p, err := c.options.Drafts.Policy(r.Context(), visitorOf(r).Token)
	if err != nil {
		return nil // the browser has disconnected
	}
	b := &policyBody{Policy: p, Known: p.Tools > 0}
	at := slices.IndexFunc(p.Texts, func(t draft.Text) bool { return t.ID == text })
	if at < 0 {
		at = max(0, slices.IndexFunc(p.Texts, func(t draft.Text) bool { return t.Closed == "" }))
	}
	if len(p.Texts) > 0 {
		b.Text = p.Texts[at]
	}
	return b
}

// draft serves the result of checking, comparing or replaying a draft, as selected by the last
// element of the path.
func (c *Console) draft(w http.ResponseWriter, r *http.Request) {
	b := c.policyBody(w, r, r.PostForm.Get("of"))
	if b == nil {
		return
	}
	d := draft.Draft{Of: r.PostForm.Get("of"), Text: r.PostForm.Get("text"), Known: r.PostForm.Get("known") != ""}
	b.Known, b.Since = d.Known, r.PostForm.Get("since")
	if b.Text.ID == d.Of {
		b.Dirty = strings.ReplaceAll(d.Text, "\r\n", "\n") != strings.ReplaceAll(b.Text.Text, "\r\n", "\n")
		b.Text.Text = d.Text
	}
	var err error
	switch r.PathValue("what") {
	case "check":
		b.Checked, err = c.options.Drafts.Check(r.Context(), visitorOf(r).Token, d)
	case "diff":
		b.Compared, err = c.options.Drafts.Compare(r.Context(), visitorOf(r).Token, d)
	case "replay":
		b.Replayed, err = c.options.Drafts.Replay(r.Context(), d, c.since(b.Since))
	default:
		c.fail(w, r, http.StatusNotFound, "There is no such page.")
		return
	}
	if r.Context().Err() != nil {
		return // the browser has disconnected
	}
	if err != nil {
		b.Wrong = err.Error()
	}
	if number, step, ok := strings.Cut(r.PostForm.Get("at"), "."); ok && b.Checked != nil {
		if n, err := strconv.Atoi(number); err == nil {
			if b.Steps = claimOf(&b.Checked.Report, n, step); b.Steps != nil {
				b.Steps.Draft = true
			}
		}
	}
	if r.PostForm.Get("part") == "report" { // the request is from a script that replaces only the report on the page
		c.write(w, http.StatusOK, "part", page{Visitor: visitorOf(r), Now: c.options.Now(), Body: b})
		return
	}
	c.show(w, r, "policy", "Policy", b)
}

func (c *Console) since(name string) time.Time {
	for _, s := range sinces {
		if s.Name == name && s.For > 0 {
			return c.options.Now().Add(-s.For)
		}
	}
	return time.Time{}
}

// Sinces returns the periods that the user can choose for a replay.
func (b *policyBody) Sinces() any { return sinces }
